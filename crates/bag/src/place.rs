//! Places that bags are read from: they list names and open files. Local directories are here, object storage is in
//! `timeloom-remote`.

mod local;

pub use local::LocalPlace;

use std::any::Any;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::{Result, Source};

/// A file system or object store that bags are read from.
///
/// A path has the syntax of the place: a path of this machine, or an address such as `s3://bucket/bag`. Names are
/// joined to it with `/`. Calls block until the place has answered.
pub trait Place: Send + Sync {
    /// The entry at a path; an error when there is none.
    fn kind(&self, path: &Path) -> Result<PlaceKind>;

    /// Size of the file at a path; `None` when there is no file of that name.
    fn size(&self, path: &Path) -> Result<Option<u64>>;

    /// Announces files that will most likely be opened soon; a remote place requests all of them at once.
    fn expect(&self, _paths: &[PathBuf]) {}

    /// The files directly in a folder. A place that cannot list returns an error.
    fn list(&self, folder: &Path) -> Result<Vec<PlaceEntry>>;

    /// All files below a folder, those of its folders included. A place that cannot list returns an error.
    fn list_below(&self, folder: &Path) -> Result<Listing>;

    /// Opens a file for reading at any offset.
    fn open(&self, path: &Path) -> Result<Box<dyn Source>>;

    /// The file as a file of this machine, if that costs nothing.
    fn at_hand(&self, path: &Path) -> Option<LocalCopy>;

    /// The file as a file of this machine, for formats that cannot be read in pieces; may fetch all of it.
    fn local_copy(&self, path: &Path) -> Result<LocalCopy>;
}

/// Whether a path is an address with a scheme, such as `s3://bucket/bag`, rather than a path of this machine.
pub fn is_address(path: &Path) -> bool {
    let scheme = path.to_str().and_then(|text| text.split_once("://"));
    let plain = |c: char| c.is_ascii_alphanumeric() || "+.-".contains(c);
    scheme.is_some_and(|(scheme, _)| {
        scheme.starts_with(|c: char| c.is_ascii_alphabetic()) && scheme.chars().all(plain)
    })
}

/// An entry of a place.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PlaceKind {
    /// A file.
    File,
    /// A folder.
    Folder,
}

/// A file in a folder.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PlaceEntry {
    /// The whole path, not only the name.
    pub path: PathBuf,
    /// Bytes.
    pub size: u64,
}

/// All files below a folder.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Listing {
    /// The files, in no order.
    pub files: Vec<ListedFile>,
    /// Folders that could not be listed, with the reason.
    pub unlisted: Vec<String>,
}

/// A file below a folder, with what shows that it changed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ListedFile {
    /// The name below the folder, with `/` between its parts.
    pub name: String,
    /// Bytes.
    pub size: u64,
    /// Differs after the content changed: the `ETag` of an object, times and number of a local file.
    pub version: String,
    /// System time of the last change, where the version consists of times: a change shortly after it may have the same
    /// version. `None` where each content has its own version.
    pub changed_ns: Option<i64>,
}

/// A file of this machine; a fetched one exists as long as this value.
#[derive(Clone)]
pub struct LocalCopy {
    path: PathBuf,
    /// Removes a fetched file when it is dropped.
    keep: Option<Arc<dyn Any + Send + Sync>>,
}

impl LocalCopy {
    /// A file that stays.
    pub fn original(path: &Path) -> Self {
        Self {
            path: path.to_path_buf(),
            keep: None,
        }
    }

    /// A file that was fetched and is removed when `keep` is dropped.
    pub fn fetched(path: &Path, keep: Arc<dyn Any + Send + Sync>) -> Self {
        Self {
            path: path.to_path_buf(),
            keep: Some(keep),
        }
    }

    /// Its path.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Whether the file has no name that another process could open.
    pub(crate) fn is_private(&self) -> bool {
        self.keep.is_some()
    }
}
