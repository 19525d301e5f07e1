//! The bags that arguments name.

use std::path::{Path, PathBuf};

use anyhow::Context as _;
use timeloom_bag::StorageId;
use timeloom_bag::metadata::METADATA_FILE;

use crate::failure::Failure;

const A_BAG: &str = "a bag is a directory with metadata.yaml, or one .mcap or .db3 file";

/// The bags of a path: itself, or those directly below it. A directory without bags has none.
pub(super) fn bags_of(path: &Path) -> anyhow::Result<Vec<PathBuf>> {
    if path.is_file() && StorageId::from_path(path).is_none() {
        let text = format!("{}: not a bag", path.display());
        return Err(Failure::new(text).hint(A_BAG).into());
    }
    if !path.exists() {
        let text = format!("{}: no such file or directory", path.display());
        return Err(Failure::new(text).hint(A_BAG).into());
    }
    if path.is_file() || is_bag(path)? {
        return Ok(vec![path.to_path_buf()]);
    }
    let mut bags = Vec::new();
    for below in entries(path)? {
        if below.is_dir() && is_bag(&below)? {
            bags.push(below);
        }
    }
    bags.sort();
    Ok(bags)
}

/// Whether a directory is a bag: it has metadata, or files of a recorder that has written none yet.
fn is_bag(directory: &Path) -> anyhow::Result<bool> {
    if directory.join(METADATA_FILE).is_file() {
        return Ok(true);
    }
    let mut files = entries(directory)?.into_iter();
    Ok(files.any(|path| path.is_file() && StorageId::from_path(&path).is_some()))
}

fn entries(directory: &Path) -> anyhow::Result<Vec<PathBuf>> {
    let cannot_read = || format!("cannot read {}", directory.display());
    let entries = std::fs::read_dir(directory).with_context(cannot_read)?;
    let paths = entries.map(|entry| Ok(entry?.path()));
    paths
        .collect::<std::io::Result<_>>()
        .with_context(cannot_read)
}
