#![doc = include_str!("../README.md")]

mod client;
mod config;
mod discovery;
mod dispatcher;
#[doc(hidden)]
pub mod fuzzing;
mod graph_join;
mod inbox;
mod node;
mod node_info;
mod options;
mod own_nodes;
mod participant;
mod payload_pool;
mod publisher;
mod server;
mod service_ends;
mod service_header;
mod shared;
mod subscription;
#[expect(unsafe_code, reason = "the room's one door to C")]
mod sys;
mod user_data;

pub use options::{DiscoveryRange, Options};
pub use participant::DdsParticipant;
pub use timeloom_wire::backend::{Note, NoteKind, Reporter};
