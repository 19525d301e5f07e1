//! Behaviour of catalogues, on bags of this machine.
#![expect(
    clippy::unwrap_used,
    reason = "in helpers of tests too a failure is a failed test"
)]

mod edits;
mod folders;
mod support;
mod tables;
mod updates;
