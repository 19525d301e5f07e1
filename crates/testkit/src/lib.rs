//! Helpers for the tests and benchmarks of all crates.
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
