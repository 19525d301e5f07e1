//! The rooms' behaviour through their public face, on the loopback and on virtual time.
#![expect(
    clippy::unwrap_used,
    reason = "in helpers of tests too a failure is a failed test"
)]

mod recorder;
mod recorder_faults;
mod recorder_world;
