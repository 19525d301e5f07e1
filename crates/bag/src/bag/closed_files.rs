//! The files of a bag that no recorder writes to any more.

use std::path::{Path, PathBuf};

use super::layout::candidates;
use crate::Result;
use crate::metadata::{METADATA_FILE, read_metadata_file, safe_relative_path};

/// The closed files of a bag's directory, as `metadata.yaml` has them.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ClosedFiles {
    /// Paths of closed files that exist, in the order of the recording.
    pub files: Vec<PathBuf>,
    /// Files in the metadata that do not exist: deleted, or moved away.
    pub absent: Vec<String>,
    /// Whether the recording has ended properly: no file follows, and `metadata.yaml` is final.
    pub is_finished: bool,
}

impl ClosedFiles {
    /// Reads the metadata of a directory. A directory without metadata has no closed files: the recorder of rosbag2 writes
    /// it at the end.
    ///
    /// # Errors
    /// When the metadata cannot be read.
    pub fn find(bag: &Path) -> Result<Self> {
        if !bag.join(METADATA_FILE).is_file() {
            return Ok(Self::default());
        }
        let metadata = read_metadata_file(bag)?;
        let mut closed = Self {
            is_finished: !metadata.is_unfinished(),
            ..Self::default()
        };
        let parent = bag.parent().filter(|_| metadata.version < 4);
        let names = metadata.relative_file_paths.len();
        let count = if closed.is_finished {
            names
        } else {
            names.saturating_sub(1)
        };
        for name in metadata.relative_file_paths.iter().take(count) {
            let paths = candidates(bag, parent, &safe_relative_path(name)?);
            match paths.into_iter().find(|path| path.is_file()) {
                Some(path) => closed.files.push(path),
                None => closed.absent.push(name.clone()),
            }
        }
        Ok(closed)
    }
}
