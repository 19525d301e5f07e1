#![doc = include_str!("../README.md")]

pub mod bag;
mod compression;
#[cfg(feature = "conformance")]
pub mod conformance;
mod error;
pub mod info;
pub mod mcap;
mod message;
pub mod metadata;
mod source;
pub mod sqlite;
mod statistics;
pub mod storage;
mod topic;
pub mod yaml;

pub use bag::{BagOptions, BagReader, BagWriter, StorageOptions};
pub use compression::{CompressionMode, compress_file};
pub use error::{Error, Result};
pub use info::BagInfo;
pub use message::Message;
pub use metadata::BagMetadata;
pub use statistics::{LossCause, RecorderLoss, TopicStatistics};
pub use storage::{Order, Query, StorageId, StorageReader, StorageWriter, WriteOutcome};
pub use topic::{MessageDefinition, TopicId, TopicInfo};
