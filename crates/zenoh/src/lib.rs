#![doc = include_str!("../README.md")]

mod attachment;
mod client;
mod config;
mod departure;
mod dispatcher;
#[doc(hidden)]
pub mod fuzzing;
mod node;
mod notes;
mod options;
mod participant;
mod payload;
mod prelude;
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

pub use notes::{Note, NoteKind};
pub use options::{Options, Reporter, RouterUse};
pub use participant::ZenohParticipant;
pub use router::ZenohRouter;
