//! What the environment of a ROS process asks for, as a pure function of its variables.

mod notes;
mod read;
mod zenoh;

pub use notes::{Note, NoteKind};
pub use read::{Backend, DiscoveryRange, Environment};
pub use zenoh::{RouterCheck, ZenohEnvironment};
