//! Helpers for the tests and benchmarks of all crates.
//!
//! This crate is not published: rooms name it under `[dev-dependencies]` only.

pub mod bench;
mod chromium;
mod domain;
mod json_peer;
mod locking;
pub mod mcap;
pub mod mutation;
#[cfg(feature = "bag")]
pub mod place;
mod python;
mod sandbox;
pub mod transport;
mod wait;

pub use chromium::chromium;
pub use domain::{hold_domain, new_domain};
pub use json_peer::JsonPeer;
pub use python::python;
pub use sandbox::{Run, Sandbox, golden_bags};
pub use wait::until;
