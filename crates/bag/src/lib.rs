#![doc = include_str!("../README.md")]

pub mod bag;
mod compression;
#[cfg(feature = "conformance")]
pub mod conformance;
pub mod convert;
mod decoder;
mod error;
pub mod export;
pub mod graph;
mod host_clock;
pub mod info;
pub mod mcap;
mod merged_host;
mod message;
pub mod metadata;
pub mod place;
pub mod recover;
pub mod reindex;
pub mod robot;
mod shared_payload;
mod source;
pub mod sqlite;
mod statistics;
pub mod storage;
mod summary;
mod topic;
mod trigger_window;
/// The YAML tree of rosbag2's files, for the other crates of the workspace. It is not part of the public interface.
#[doc(hidden)]
pub mod yaml;

pub use bag::{BagOptions, BagReader, BagWriter, StorageOptions};
pub use compression::{CompressionMode, compress_file};
pub use convert::convert;
pub use decoder::Decoder;
pub use error::{Error, Result};
pub use graph::{EndpointRole, GraphEndpoint, RobotGraph};
pub use host_clock::{HOST_CLOCK_KEY, HostClockRecord};
pub use info::BagInfo;
pub use merged_host::{MERGED_HOSTS_KEY, MergedHost};
pub use message::Message;
pub use metadata::BagMetadata;
pub use place::{LocalPlace, Place};
pub use recover::recover;
pub use reindex::reindex;
pub use robot::{
    ENVIRONMENT_KEY, MessagePublishers, NodeParameters, ParameterEntry, PublisherRun,
    RecordingEnvironment, RobotParameter, RobotParameters, RobotState, StatePart,
};
pub use shared_payload::SharedPayload;
pub use source::{FileSource, Source};
pub use statistics::{
    LeftOut, LeftOutCause, LossCause, LossInterval, LossTimeline, MissingCause, RecorderLoss,
    TopicAccount, TopicStatistics, UnknownMessages,
};
pub use storage::{
    DiskWait, Order, Query, StorageId, StorageReader, StorageWriter, StoredAt, WriteOutcome,
};
pub use summary::BagSummary;
pub use topic::{MessageDefinition, TopicId, TopicInfo};
pub use trigger_window::{TRIGGER_WINDOWS_KEY, TriggerFiring, TriggerWindow};
