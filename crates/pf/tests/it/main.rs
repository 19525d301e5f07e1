//! Behaviour of the public API, one module per subject.
#![expect(
    clippy::unwrap_used,
    reason = "in helpers of tests too a failure is a failed test"
)]

mod accuracy;
mod assembly;
mod bad_devices;
mod client;
mod driver;
mod fuzz;
mod headers;
mod numbers;
mod output;
mod real_packets;
mod session;
mod support;
mod watcher;
mod wild;
