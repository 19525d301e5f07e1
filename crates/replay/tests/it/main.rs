//! Plans and processes of replay tests; whole runs are tested with the binary.
#![expect(
    clippy::unwrap_used,
    reason = "in helpers of tests too a failure is a failed test"
)]

mod plan;
mod process;
