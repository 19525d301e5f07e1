#![doc = include_str!("../README.md")]

mod channel;
mod command;
mod error;
mod frame;
pub mod http;
mod hub;
mod insight;
mod options;
mod outgoing;
mod page;
mod peer;
pub mod protocol;
mod send_queue;
mod server;
mod session;
mod snapshot;
mod source;
mod stage;

pub use channel::{Channel, ChannelId, Retention, ServiceId, ServiceInfo};
pub use command::Command;
pub use error::{Error, Result};
pub use options::ViewOptions;
pub use server::Server;
pub use snapshot::{Fact, Mood, Snapshot, SnapshotKind, Timeline, TopicRow, seconds_since};
pub use source::{Ability, Demand, Description, Playback, Source};
pub use stage::Stage;
