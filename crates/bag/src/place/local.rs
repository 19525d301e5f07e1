//! The folders of this machine.

use std::collections::BTreeSet;
use std::fs;
use std::io::ErrorKind;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

use super::{ListedFile, Listing, LocalCopy, Place, PlaceEntry, PlaceKind};
use crate::source::FileSource;
use crate::{Error, Result, Source};

/// The file system.
#[derive(Debug, Clone, Copy, Default)]
pub struct LocalPlace;

impl Place for LocalPlace {
    fn kind(&self, path: &Path) -> Result<PlaceKind> {
        let kind = fs::metadata(path).map_err(Error::io(path, "open"))?;
        Ok(if kind.is_dir() {
            PlaceKind::Folder
        } else {
            PlaceKind::File
        })
    }

    fn size(&self, path: &Path) -> Result<Option<u64>> {
        match fs::metadata(path) {
            Ok(metadata) => Ok(metadata.is_file().then_some(metadata.len())),
            Err(error)
                if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) =>
            {
                Ok(None)
            }
            Err(error) => Err(Error::io(path, "inspect")(error)),
        }
    }

    fn list(&self, folder: &Path) -> Result<Vec<PlaceEntry>> {
        let mut entries = Vec::new();
        for entry in fs::read_dir(folder).map_err(Error::io(folder, "list"))? {
            let path = entry.map_err(Error::io(folder, "list"))?.path();
            // A file that vanished meanwhile is skipped.
            if let Ok(Some(size)) = self.size(&path) {
                entries.push(PlaceEntry { path, size });
            }
        }
        Ok(entries)
    }

    fn list_below(&self, folder: &Path) -> Result<Listing> {
        let mut listing = Listing::default();
        let mut known = BTreeSet::new();
        let mut folders = vec![(folder.to_path_buf(), String::new())];
        while let Some((folder, name)) = folders.pop() {
            match list_folder(&folder, &name, &mut known) {
                Ok((files, below)) => {
                    listing.files.extend(files);
                    folders.extend(below);
                }
                Err(error) if name.is_empty() => return Err(error),
                // A folder that vanished meanwhile is skipped.
                Err(_) if !folder.exists() => {}
                Err(error) => listing.unlisted.push(error.to_string()),
            }
        }
        Ok(listing)
    }

    fn open(&self, path: &Path) -> Result<Box<dyn Source>> {
        Ok(Box::new(FileSource::open(path)?))
    }

    fn at_hand(&self, path: &Path) -> Option<LocalCopy> {
        Some(LocalCopy::original(path))
    }

    fn local_copy(&self, path: &Path) -> Result<LocalCopy> {
        Ok(LocalCopy::original(path))
    }
}

/// Folders with their names below the first one.
type Folders = Vec<(PathBuf, String)>;

/// The files of one folder, and its folders. Symbolic links are followed; `known` has the folders that were listed, so
/// that a link to a parent ends.
fn list_folder(
    folder: &Path,
    name: &str,
    known: &mut BTreeSet<(u64, u64)>,
) -> Result<(Vec<ListedFile>, Folders)> {
    let (mut files, mut folders) = (Vec::new(), Vec::new());
    let own = fs::metadata(folder).map_err(Error::io(folder, "list"))?;
    if !known.insert((own.dev(), own.ino())) {
        return Ok((files, folders));
    }
    for entry in fs::read_dir(folder).map_err(Error::io(folder, "list"))? {
        let path = entry.map_err(Error::io(folder, "list"))?.path();
        // A file that vanished meanwhile is skipped.
        let Ok(metadata) = fs::metadata(&path) else {
            continue;
        };
        let last = path.file_name().unwrap_or_default().to_string_lossy();
        let name = match name {
            "" => last.into_owned(),
            name => format!("{name}/{last}"),
        };
        if metadata.is_dir() {
            folders.push((path, name));
        } else if metadata.is_file() {
            files.push(listed(name, &metadata));
        }
    }
    // The last one is listed first: of two links to one folder, it is always the same that counts.
    folders.sort_unstable_by(|a, b| b.1.cmp(&a.1));
    Ok((files, folders))
}

/// The time of the last change of the inode cannot be set, unlike that of the content.
fn listed(name: String, metadata: &fs::Metadata) -> ListedFile {
    let nanos =
        |seconds: i64, nanos: i64| seconds.saturating_mul(1_000_000_000).saturating_add(nanos);
    let modified = nanos(metadata.mtime(), metadata.mtime_nsec());
    let changed = nanos(metadata.ctime(), metadata.ctime_nsec());
    ListedFile {
        name,
        size: metadata.len(),
        version: format!("{modified} {changed} {}", metadata.ino()),
        changed_ns: Some(modified.max(changed)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(listing: &Listing) -> Vec<&str> {
        let mut names: Vec<&str> = listing
            .files
            .iter()
            .map(|file| file.name.as_str())
            .collect();
        names.sort_unstable();
        names
    }

    #[test]
    fn all_files_below_a_folder_are_listed_once() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path();
        fs::create_dir_all(path.join("a/b")).unwrap();
        for name in ["x", "a/y", "a/b/z"] {
            fs::write(path.join(name), name).unwrap();
        }
        std::os::unix::fs::symlink(path, path.join("a/b/up")).unwrap();
        let listing = LocalPlace.list_below(path).unwrap();
        assert_eq!(names(&listing), ["a/b/z", "a/y", "x"]);
        assert_eq!(listing.unlisted, Vec::<String>::new());
        assert!(LocalPlace.list_below(&path.join("none")).is_err());
    }

    #[test]
    fn a_changed_file_has_another_version_even_if_its_times_are_set_back() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("x");
        fs::write(&file, "one").unwrap();
        let before = LocalPlace.list_below(folder.path()).unwrap().files;
        let modified = fs::metadata(&file).unwrap().modified().unwrap();
        let again = folder.path().join("y");
        fs::write(&again, "two").unwrap();
        fs::File::options()
            .write(true)
            .open(&again)
            .unwrap()
            .set_modified(modified)
            .unwrap();
        fs::rename(&again, &file).unwrap();
        let after = LocalPlace.list_below(folder.path()).unwrap().files;
        assert_eq!(before.len(), 1);
        assert_ne!(before[0].version, after[0].version);
    }
}
