#![doc = include_str!("../README.md")]

mod error;
mod join;

pub use error::{Error, Result};
pub use join::{HAS_ZENOH, JoinOptions, Joined, join};
