#![doc = include_str!("../README.md")]

mod error;
pub mod recorder;

pub use error::{Error, Result};
