#![doc = include_str!("../README.md")]

mod address;
mod block_cache;
mod credentials;
mod download;
mod error;
mod listing;
mod object;
mod object_source;
mod options;
mod plan;
mod read_ahead;
mod remote_place;
mod runtime;
mod stores;
mod upload;
mod versioned_object;

pub use address::local_path;
pub use error::{Error, Result};
pub use options::{Fetch, FetchListener, FetchReason, RemoteOptions};
pub use remote_place::{RemotePlace, open};
pub use upload::{
    AfterUpload, BagUpload, UploadControl, UploadOptions, UploadReport, UploadStatus, UploadTarget,
    UploadWorker,
};
pub use versioned_object::{Replaced, VersionedObject};
