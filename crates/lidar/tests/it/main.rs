//! Behaviour tests of timeloom-lidar, on the loopback.
#![expect(
    clippy::unwrap_used,
    reason = "in helpers of tests too a failure is a failed test"
)]

mod lidar;
mod world;
