//! Bags sent to object storage: file by file as they are closed, resumed after a cut, checked by hash.

mod bag_upload;
mod file_upload;
mod hashes;
mod journal;
mod target;
mod worker;

pub use bag_upload::{BagUpload, UploadStatus};
pub use target::UploadTarget;
pub use worker::{UploadReport, UploadWorker};

use std::sync::Arc;

use timeloom_time::{CancelToken, Clock, Steady};

/// Settings of an upload.
#[derive(Debug, Clone, Default)]
pub struct UploadOptions {
    /// Delete each local file once it has arrived and was compared; the directory of the bag once all of it has.
    pub delete: bool,
    /// Replace objects of the same name with other content; otherwise they are an error.
    pub overwrite: bool,
    /// Bytes a second at most; `None` for as fast as the network is.
    pub bytes_per_second: Option<u64>,
}

/// Called with the address of each bag that is complete, on the thread of the upload. An error does not fail the upload:
/// it is called again a few times, and the last error is in the report.
pub type AfterUpload = Arc<dyn Fn(&str) -> Result<(), String> + Send + Sync>;

/// The clock that limits the rate, and the way to stop.
#[derive(Debug, Clone)]
pub struct UploadControl {
    /// Steady time.
    pub clock: Clock<Steady>,
    /// Cancelled, the upload ends after the requests under way.
    pub stop: CancelToken,
}
