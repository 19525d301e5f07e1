//! `metadata.yaml` on disk: bounded when read, atomic when written, never referring outside the bag.

use std::fs::{self, File};
use std::io::{self, BufWriter};
use std::path::{Component, Path, PathBuf};

use super::BagMetadata;
use crate::source::head;
use crate::yaml::Form;
use crate::{Error, FileSource, Result, Source};

/// Name of the metadata file in a bag directory.
pub const METADATA_FILE: &str = "metadata.yaml";
/// A larger metadata file is refused.
const MAX_BYTES: u64 = 256 << 20;

/// Reads the `metadata.yaml` of a bag directory and checks that its paths stay inside the bag.
pub fn read_metadata_file(bag: &Path) -> Result<BagMetadata> {
    let (metadata, _text) = read_metadata(&mut FileSource::open(&bag.join(METADATA_FILE))?)?;
    Ok(metadata)
}

/// Like [`read_metadata_file`], from any source; also returns the text for [`KnownMetadata`](super::KnownMetadata), if it
/// is of the form that is needed.
pub(crate) fn read_metadata(source: &mut dyn Source) -> Result<(BagMetadata, Option<String>)> {
    if source.size() > MAX_BYTES {
        return Err(Error::TooLarge {
            path: source.path().to_path_buf(),
            what: "metadata",
            size: source.size(),
            limit: MAX_BYTES,
        });
    }
    let bytes = head(source, MAX_BYTES)?;
    let text = String::from_utf8(bytes)
        .map_err(|e| Error::metadata(METADATA_FILE, format!("is not UTF-8: {}", e.utf8_error())))?;
    let (metadata, form) = BagMetadata::parse_with_form(&text)?;
    for name in metadata
        .relative_file_paths
        .iter()
        .chain(metadata.files.iter().map(|file| &file.path))
    {
        safe_relative_path(name)?;
    }
    Ok((metadata, (form == Form::Block).then_some(text)))
}

/// Writes `metadata.yaml` atomically: a reader sees the old text or the new one, never half of it, even after a power cut.
pub fn write_metadata_file(bag: &Path, metadata: &BagMetadata) -> Result<()> {
    let target = bag.join(METADATA_FILE);
    let temporary = bag.join(".metadata.yaml.tmp");
    let file = create_afresh(&temporary).map_err(Error::io(&temporary, "create"))?;
    let mut writer = BufWriter::new(file);
    let written = metadata.write_yaml(&mut writer);
    let file = written.and_then(|()| Ok(writer.into_inner()?));
    let file = file.map_err(Error::io(&temporary, "write"))?;
    file.sync_all().map_err(Error::io(&temporary, "sync"))?;
    drop(file);
    fs::rename(&temporary, &target).map_err(Error::io(&target, "replace"))?;
    sync_directory(bag)
}

/// Creates a file in place of one that was left behind. A bag may be from an untrusted source: a link of that name is
/// removed, and its target is not touched.
pub(crate) fn create_afresh(path: &Path) -> io::Result<File> {
    match fs::remove_file(path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
        _ => {}
    }
    File::create_new(path)
}

/// Makes names that were created or renamed in a directory survive a power cut.
pub(crate) fn sync_directory(directory: &Path) -> Result<()> {
    let handle = File::open(directory).map_err(Error::io(directory, "open"))?;
    handle.sync_all().map_err(Error::io(directory, "sync"))
}

/// A path of the metadata as a path below the bag; refuses absolute paths and every `..`.
pub(crate) fn safe_relative_path(name: &str) -> Result<PathBuf> {
    let path = Path::new(name);
    let inside = path
        .components()
        .all(|part| matches!(part, Component::Normal(_) | Component::CurDir));
    if name.is_empty() || name.contains('\0') || !inside {
        return Err(Error::UnsafePath {
            path: name.to_owned(),
        });
    }
    Ok(path.to_path_buf())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_cannot_leave_the_bag() {
        for name in ["../x.mcap", "/etc/passwd", "a/../../x", "", "a\0b"] {
            assert!(
                matches!(safe_relative_path(name), Err(Error::UnsafePath { .. })),
                "{name:?}"
            );
        }
        for name in ["x_0.mcap", "bag/x_0.db3", "./x"] {
            assert!(safe_relative_path(name).is_ok(), "{name:?}");
        }
    }

    #[test]
    fn a_written_file_reads_back_and_leaves_no_temporary() {
        let dir = tempfile::tempdir().unwrap();
        let metadata = BagMetadata {
            version: 9,
            storage_identifier: "mcap".into(),
            ..BagMetadata::default()
        };
        write_metadata_file(dir.path(), &metadata).unwrap();
        write_metadata_file(dir.path(), &metadata).unwrap();
        assert_eq!(read_metadata_file(dir.path()).unwrap(), metadata);
        assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 1);
    }
}
