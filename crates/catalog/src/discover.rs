//! Which bags there are below a folder, from the names of its files.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use sha2::{Digest as _, Sha256};
use timeloom_bag::StorageId;
use timeloom_bag::metadata::METADATA_FILE;
use timeloom_bag::place::ListedFile;

use crate::hex::hex;

/// A bag as a listing shows it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FoundBag {
    /// The name below the folder, empty for the folder itself.
    pub name: String,
    /// Names, sizes and versions of its files, as a hash.
    pub identity: String,
    /// Bytes of its files.
    pub size: u64,
    /// System time of the last change, where versions consist of times.
    pub changed_ns: Option<i64>,
}

/// The bags of a listing, by name.
///
/// A folder with `metadata.yaml` is a bag, with everything below it. So is a folder without it whose files with messages
/// are numbered parts of one recording (`run_0.mcap`, `run_1.mcap`), if there are no bags below it. Any other file with
/// messages is a bag of its own. Names that begin with a dot are skipped.
pub fn discover(files: &[ListedFile]) -> Vec<FoundBag> {
    let with_metadata: BTreeSet<&str> = files
        .iter()
        .filter_map(|file| {
            let (folder, name) = split(&file.name);
            (name == METADATA_FILE).then_some(folder)
        })
        .collect();
    let mut bags: BTreeMap<&str, Vec<&ListedFile>> = BTreeMap::new();
    let mut loose: BTreeMap<&str, Vec<&ListedFile>> = BTreeMap::new();
    for file in files {
        let owner = folders_of(&file.name).find(|folder| with_metadata.contains(folder));
        match owner {
            Some(bag) => bags.entry(bag).or_default().push(file),
            None => loose.entry(split(&file.name).0).or_default().push(file),
        }
    }
    loose.retain(|_, files| files.iter().any(|file| is_storage(file)));
    // Folders with bags below them.
    let parents: BTreeSet<&str> = bags
        .keys()
        .chain(loose.keys())
        .filter(|folder| !folder.is_empty())
        .flat_map(|folder| folders_of(folder))
        .collect();
    for (folder, files) in &loose {
        if !parents.contains(folder) && are_one_recording(files) {
            bags.insert(folder, files.clone());
            continue;
        }
        for file in files.iter().filter(|file| is_storage(file)) {
            bags.insert(&file.name, vec![file]);
        }
    }
    bags.retain(|name, _| !name.split('/').any(|part| part.starts_with('.')));
    bags.into_iter()
        .map(|(name, files)| found(name, files))
        .collect()
}

/// The folder and the last part of a name.
fn split(name: &str) -> (&str, &str) {
    name.rsplit_once('/').unwrap_or(("", name))
}

/// All folders that a file is in, from the first one on.
fn folders_of(name: &str) -> impl Iterator<Item = &str> {
    let below = name.match_indices('/').map(|(at, _)| at);
    std::iter::once(0)
        .chain(below)
        .filter_map(|end| name.get(..end))
}

fn is_storage(file: &ListedFile) -> bool {
    StorageId::from_path(Path::new(&file.name)).is_some()
}

/// Whether the files with messages are named as the parts of one recording.
fn are_one_recording(files: &[&ListedFile]) -> bool {
    let mut stems = files
        .iter()
        .filter(|file| is_storage(file))
        .map(|file| recording(split(&file.name).1));
    let first = stems.next().flatten();
    first.is_some() && stems.all(|stem| stem == first)
}

/// `run` for `run_7.mcap`.
fn recording(name: &str) -> Option<&str> {
    let name = name.strip_suffix(".zstd").unwrap_or(name);
    let (stem, _) = name.rsplit_once('.')?;
    let (recording, number) = stem.rsplit_once('_')?;
    let is_number = !number.is_empty() && number.bytes().all(|letter| letter.is_ascii_digit());
    is_number.then_some(recording)
}

fn found(name: &str, mut files: Vec<&ListedFile>) -> FoundBag {
    files.sort_unstable_by(|a, b| a.name.cmp(&b.name));
    let mut hash = Sha256::new();
    for file in &files {
        let below = file.name.strip_prefix(name).unwrap_or(&file.name);
        // No name has a zero byte.
        hash.update(format!("{below}\0{}\0{}\0", file.size, file.version));
    }
    let hash = hash.finalize();
    // Half of the hash tells versions of one bag apart.
    let half = hash.get(..16).unwrap_or_default();
    FoundBag {
        name: name.to_owned(),
        identity: hex(half),
        size: files
            .iter()
            .fold(0, |sum, file| sum.saturating_add(file.size)),
        changed_ns: files.iter().filter_map(|file| file.changed_ns).max(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn file(name: &str) -> ListedFile {
        ListedFile {
            name: name.to_owned(),
            size: 7,
            version: "v".to_owned(),
            changed_ns: None,
        }
    }

    fn names(files: &[&str]) -> Vec<String> {
        let files: Vec<ListedFile> = files.iter().map(|name| file(name)).collect();
        discover(&files).into_iter().map(|bag| bag.name).collect()
    }

    #[test]
    fn a_folder_with_metadata_is_a_bag_with_all_below_it() {
        let found = names(&[
            "r2/run_7/metadata.yaml",
            "r2/run_7/run_7_0.mcap",
            "r2/run_7/more/other.mcap",
            "r2/run_8/metadata.yaml",
            "r2/notes.txt",
            "timeloom_catalog.parquet",
        ]);
        assert_eq!(found, ["r2/run_7", "r2/run_8"]);
        assert_eq!(names(&["metadata.yaml", "a/metadata.yaml"]), [""]);
    }

    #[test]
    fn parts_of_one_recording_are_one_bag_and_other_files_are_bags_alone() {
        assert_eq!(names(&["run/run_0.mcap", "run/run_1.mcap.zstd"]), ["run"]);
        let found = names(&["day/a.mcap", "day/b.db3", "day/c.txt"]);
        assert_eq!(found, ["day/a.mcap", "day/b.db3"]);
        assert_eq!(names(&["run_0.mcap", "run_1.mcap"]), [""]);
        // With bags below, a folder is not a bag.
        let found = names(&["run_0.mcap", "x/metadata.yaml"]);
        assert_eq!(found, ["run_0.mcap", "x"]);
        let found = names(&["a/run_0.mcap", "a/b/run_0.mcap"]);
        assert_eq!(found, ["a/b", "a/run_0.mcap"]);
    }

    #[test]
    fn hidden_names_are_skipped() {
        assert_eq!(
            names(&[".trash/a/metadata.yaml", "x/.y.mcap", "x/z.mcap"]),
            ["x/z.mcap"]
        );
    }

    #[test]
    fn every_change_of_a_file_changes_the_identity() {
        let files = [file("a/metadata.yaml"), file("a/a_0.mcap"), file("a/.x")];
        let identity = |files: &[ListedFile]| discover(files)[0].identity.clone();
        let before = identity(&files);
        let reversed: Vec<ListedFile> = files.iter().rev().cloned().collect();
        assert_eq!(identity(&reversed), before);
        let moved: Vec<ListedFile> = files
            .iter()
            .map(|file| ListedFile {
                name: file.name.replace("a/", "b/"),
                ..file.clone()
            })
            .collect();
        assert_eq!(identity(&moved), before, "not by the name of the folder");
        for index in 0..files.len() {
            let changes: [fn(&mut ListedFile); 3] = [
                |file| file.size += 1,
                |file| file.version.push('1'),
                |file| file.name.push('1'),
            ];
            for change in changes {
                let mut changed = files.clone();
                change(&mut changed[index]);
                if changed.iter().any(|file| file.name == "a/metadata.yaml") {
                    assert_ne!(identity(&changed), before, "{index}");
                }
            }
        }
        assert_ne!(identity(&files[..2]), before);
    }
}
