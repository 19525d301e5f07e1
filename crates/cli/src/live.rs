//! The live verbs' place in a ROS domain: a participant, a hidden node, the graph.

mod arguments;
mod endpoint_lines;
mod feed;
mod interrupt;
mod json_value;
mod mismatch;
mod network;
mod qos_arguments;
mod types;
mod view;

pub(crate) use arguments::{LiveArguments, seconds};
pub(crate) use endpoint_lines::{endpoint_json, endpoint_text};
pub(crate) use feed::{Account, Feed, FeedArguments};
pub(crate) use interrupt::Interrupt;
pub(crate) use json_value::message_value;
pub(crate) use mismatch::mismatches;
pub(crate) use network::{Live, full_name};
pub(crate) use qos_arguments::QosArguments;
pub(crate) use types::TypeFinder;
