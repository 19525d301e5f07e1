//! What the tests and benchmarks of every room share.
//!
//! This crate is not published: rooms name it under `[dev-dependencies]` only.

pub mod bench;
pub mod mcap;
pub mod mutation;
mod python;
pub mod transport;
mod wait;

pub use python::python;
pub use wait::until;
