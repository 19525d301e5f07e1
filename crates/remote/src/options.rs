//! What can be set about reading from afar.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

/// How a place is read; the defaults are those of `object_store` where it has one.
#[derive(Clone)]
pub struct RemoteOptions {
    /// How often a request is tried again.
    pub max_retries: usize,
    /// No new try begins later than this after the first one.
    pub retry_timeout: Duration,
    /// Bytes that were fetched and stay in memory, for the whole place.
    pub cache_bytes: usize,
    /// Where files are fetched to that cannot be read in parts; `None` for the temporary directory of the system.
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

/// A callback for files that are fetched whole.
pub type FetchListener = Arc<dyn Fn(&Fetch<'_>) + Send + Sync>;

/// A file that is being fetched whole.
#[derive(Debug, Clone, Copy)]
pub struct Fetch<'a> {
    /// Its address, without secrets.
    pub uri: &'a str,
    /// Why.
    pub reason: FetchReason,
    /// Its size.
    pub size: u64,
    /// Bytes that are here.
    pub done: u64,
    /// Where the copy is written.
    pub directory: &'a Path,
}

/// Why a file is fetched whole.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FetchReason {
    /// An sqlite3 database or a file that is compressed as a whole.
    NotReadableInParts,
    /// The web server gives no ranges.
    NoRanges,
}
