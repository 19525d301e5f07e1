//! The messages that a node receives, and the tags of its outputs: no blocking locks, no allocation.

mod input;
mod input_set;
#[cfg(all(test, loom))]
mod loom_models;
mod output;
mod ring;
mod synchronizer;
mod tracker;

pub use input::TrackedInput;
pub use input_set::{InputSet, Used};
pub use output::TrackedOutput;
pub use ring::Received;
pub use synchronizer::{MatchRule, Matched, Synchronizer};
pub use tracker::{Tracker, TrackerOptions};
