#![doc = include_str!("../README.md")]

mod duplicates;
mod error;
mod evidence;
mod host_map;
mod hosts;
mod message_pairs;
mod options;
mod publishers;
mod solve;
mod survey;
mod tag_links;
mod text;
mod write;

pub use error::{Error, Result};
pub use evidence::Evidence;
pub use host_map::{HostMap, HostTime};
pub use hosts::{Host, HostOffset, Hosts};
pub use options::{Duplicates, MergeOptions, Stamps};
pub use survey::{Survey, survey};
pub use write::{MergeReport, write};
