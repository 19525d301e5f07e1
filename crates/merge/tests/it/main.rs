//! Bags of simulated hosts, merged.
#![expect(
    clippy::unwrap_used,
    reason = "in helpers of tests too a failure is a failed test"
)]

mod evidence;
mod fleet;
mod output;
mod tags;
