#![doc = include_str!("../README.md")]

mod attachment;
mod client;
mod config;
mod departure;
mod dispatcher;
#[doc(hidden)]
pub mod fuzzing;
mod latched_history;
mod node;
mod options;
mod participant;
mod payload;
mod publisher;
mod qos_code;
mod roster;
mod router;
mod router_keeper;
mod server;
mod session_call;
mod shared;
mod subscription;
mod token;

pub use options::{Options, RouterUse};
pub use participant::ZenohParticipant;
pub use router::ZenohRouter;
pub use timeloom_wire::backend::{Note, NoteKind, Reporter};
