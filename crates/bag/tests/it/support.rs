//! Paths and helpers that the test modules share.

use std::fs;
use std::path::{Path, PathBuf};

/// The golden bags, recorded by the real rosbag2.
pub(crate) fn bags() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../testdata/bags")
}

/// All files below a directory, sorted.
pub(crate) fn files_below(directory: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut open = vec![directory.to_path_buf()];
    while let Some(directory) = open.pop() {
        for entry in fs::read_dir(&directory).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                open.push(path)
            } else {
                found.push(path)
            }
        }
    }
    found.sort();
    found
}

/// Every directory below the golden bags that holds a `metadata.yaml`.
pub(crate) fn bag_directories() -> Vec<PathBuf> {
    files_below(&bags())
        .into_iter()
        .filter(|path| path.file_name().is_some_and(|name| name == "metadata.yaml"))
        .map(|path| path.parent().unwrap().to_path_buf())
        .collect()
}
