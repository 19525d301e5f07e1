#![doc = include_str!("../README.md")]

mod error;
mod host_times;
mod relay;
mod retime;
mod sample_fields;
mod stamp_writer;

pub use error::{Error, Result};
pub use host_times::host_times;
pub use relay::{Relay, Relayed};
pub use retime::{ORIGINAL_HEADER, Retimed, RetimedTopic, TopicReport, retime};
pub use sample_fields::{FieldOptions, SampleFields};
