//! Samples and results as CSV text: pure functions, no files.

mod read;
mod write;

pub use read::{Row, read_samples};
pub use write::{write_mapped, write_samples};
