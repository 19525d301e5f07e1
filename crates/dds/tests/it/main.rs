//! Behaviour of `timeloom-dds`, all on 127.0.0.1.

#![expect(
    clippy::print_stderr,
    clippy::unwrap_used,
    reason = "the helpers of tests say and fail as tests do"
)]

mod bad_peers;
mod best_available;
mod captured;
mod conformance;
mod domains;
mod events;
mod fast;
mod fuzz;
mod last_announced;
mod local;
mod loss;
mod peer;
mod python;
mod services;
