//! The player on the loopback, on virtual time: exact and deterministic.
#![expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "the numbers of the messages are small"
)]

mod bags;
mod burst;
mod clock;
pub(crate) mod fixture;
mod follow;
mod guest;
mod in_step;
mod next;
mod owner;
mod pace;
mod requests;
mod seek;
mod services;
mod splits;
mod start;
mod timing;
