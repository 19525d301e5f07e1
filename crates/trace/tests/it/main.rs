//! Behaviour of the room `trace` through its public API.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on fails")]

mod bounds;
mod capture;
mod clocks;
mod deadlines;
mod engine;
mod outcomes;
mod synchronizer;
mod wire;
mod world;
