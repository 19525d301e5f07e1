//! Options of reading remote files.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

/// Options of a place; the defaults are those of `object_store` where it has one.
#[derive(Clone)]
pub struct RemoteOptions {
    /// Number of retries of a request.
    pub max_retries: usize,
    /// No retry begins later than this after the first attempt.
    pub retry_timeout: Duration,
    /// Size of the cache of fetched bytes, for the whole place.
    pub cache_bytes: usize,
    /// Directory for copies of files that cannot be read in parts; `None` for the temporary directory of the system.
    pub directory: Option<PathBuf>,
    /// Called for such a file, first with `done` 0, then repeatedly.
    pub on_fetch: Option<FetchListener>,
}

impl Default for RemoteOptions {
    fn default() -> Self {
        Self {
            max_retries: 10,
            retry_timeout: Duration::from_mins(3),
            cache_bytes: 64 << 20,
            directory: None,
            on_fetch: None,
        }
    }
}

/// A callback for files that are fetched completely.
pub type FetchListener = Arc<dyn Fn(&Fetch<'_>) + Send + Sync>;

/// A file that is being fetched completely.
#[derive(Debug, Clone, Copy)]
pub struct Fetch<'a> {
    /// Its address, without secrets.
    pub uri: &'a str,
    /// The reason.
    pub reason: FetchReason,
    /// Its size.
    pub size: u64,
    /// Fetched bytes.
    pub done: u64,
    /// The directory of the copy.
    pub directory: &'a Path,
}

/// The reason why a file is fetched completely.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FetchReason {
    /// An sqlite3 database or a file that is compressed as a whole.
    NotReadableInParts,
    /// The web server has no ranges.
    NoRanges,
}
