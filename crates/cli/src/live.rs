//! The live verbs' place in a ROS domain: a participant, a hidden node, the graph.

mod arguments;
mod endpoint_lines;
mod feed;
mod filter;
mod full_screen;
#[cfg(any(test, fuzzing))]
pub(crate) mod fuzzing;
mod interrupt;
mod json_value;
mod mismatch;
mod name_list;
mod network;
mod notices;
mod qos_arguments;
mod sim_clock;
mod template;
mod types;
mod view;

pub(crate) use arguments::{LiveArguments, hertz, seconds};
pub(crate) use endpoint_lines::{endpoint_json, endpoint_text};
pub(crate) use feed::{Feed, FeedArguments, FeedTimes};
pub(crate) use filter::{check_filter, passes};
pub(crate) use full_screen::has_terminal;
pub(crate) use interrupt::Interrupt;
pub(crate) use mismatch::{mismatch_text, mismatches};
pub(crate) use name_list::{NameList, Shown};
pub(crate) use network::{Live, full_name, participant};
pub(crate) use notices::{Notices, print_note};
pub(crate) use qos_arguments::QosArguments;
pub(crate) use sim_clock::SimClock;
pub(crate) use template::Template;
pub(crate) use types::{TypeFinder, service_type};
