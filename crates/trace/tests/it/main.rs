//! Behaviour of the room `trace` through its public API.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on fails")]

mod allocations;
mod bounds;
mod capture;
mod clocks;
mod deadlines;
mod engine;
mod exports;
mod fuzz;
mod infer;
mod outcomes;
mod peers;
mod plan;
mod real_graphs;
mod synchronizer;
mod wire;
mod world;
