//! The nodes as others see them: on the loopback and on virtual time.
#![expect(
    clippy::unwrap_used,
    reason = "in helpers of tests too a failure is a failed test"
)]

mod player;
