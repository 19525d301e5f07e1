#![doc = include_str!("../README.md")]

mod error;
mod message;
pub mod metadata;
mod statistics;
mod topic;
pub mod yaml;

pub use error::{Error, Result};
pub use message::Message;
pub use metadata::BagMetadata;
pub use statistics::{LossCause, RecorderLoss, TopicStatistics};
pub use topic::{MessageDefinition, TopicId, TopicInfo};
