#![doc = include_str!("../README.md")]

mod error;
pub mod player;

pub use error::{Error, Result};
