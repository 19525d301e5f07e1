//! Behaviour of `timeloom-zenoh`, all on 127.0.0.1.

#![expect(clippy::unwrap_used, reason = "a test stops at the first error")]

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
