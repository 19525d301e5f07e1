//! Behaviour of `timeloom-msg` against real data.
#![expect(
    clippy::unwrap_used,
    reason = "in helpers of tests too a failure is a failed test"
)]

mod ament;
mod bags;
mod fuzz;
mod golden;
mod hashes;
mod idl;
mod qos;
mod round_trip;
mod schemas;
mod wire;
