//! Behaviour of `timeloom-zenoh`, all on 127.0.0.1.

#![expect(
    clippy::print_stderr,
    clippy::unwrap_used,
    reason = "the helpers of tests say and fail as tests do"
)]

mod bad_peers;
mod blob;
mod conformance;
mod fuzz;
mod graph;
mod local;
mod loss;
mod peer;
mod python;
mod routers;
