//! Behaviour of the public API, one module per subject.
#![expect(
    clippy::unwrap_used,
    reason = "in helpers of tests too a failure is a failed test"
)]

mod assembly;
mod real_packets;
mod support;
mod wild;
