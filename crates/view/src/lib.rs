#![doc = include_str!("../README.md")]

mod channel;
mod client_state;
mod definition_text;
mod error;
mod frame;
mod graph_services;
mod graph_view;
#[doc(hidden)]
pub mod http;
mod hub;
mod options;
mod outgoing;
mod page;
mod page_data;
mod peer;
mod player_view;
#[doc(hidden)]
pub mod protocol;
mod send_queue;
mod server;
mod snapshot;
mod source;
mod source_output;
mod tap;

pub use channel::{Channel, ChannelId, Retention, ServiceId, ServiceInfo};
pub use error::{Error, Result};
pub use graph_view::{GraphView, GraphViewOptions, Hidden, Listening, TakesTopic};
pub use options::ViewOptions;
pub use player_view::{BagContents, BagMark, BagMarks, PlayerTap, PlayerView};
pub use protocol::{ConnectionGraph, Level, PlaybackStatus};
pub use server::Server;
pub use snapshot::{
    Fact, FactLevel, Snapshot, SnapshotKind, Timeline, TimelineMark, TopicRow, seconds_since,
};
pub use source::{Ability, Demand, Description, Playback, Source};
pub use source_output::SourceOutput;
