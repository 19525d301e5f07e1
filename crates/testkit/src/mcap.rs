//! A strict validator of MCAP files, independent of the reader and the writer of `bag`.
//!
//! [`violations`] checks the rules of the specification and, beyond it, what libmcap (the C++ library, hence
//! `ros2 bag`) needs to read a file in the order of log times. [`ForgedMcap`] builds files, right and wrong ones, byte
//! by byte. [`BagScratch`] is a directory for a test: every MCAP file in it is checked when the test ends.

mod check;
mod chunk;
mod data_section;
mod fields;
mod forge;
mod rule;
mod scratch;
mod summary;

pub use check::{Layout, violations};
pub use forge::{ForgedChunk, ForgedChunkIndex, ForgedMcap, ForgedStatistics};
pub use rule::{Rule, Violation};
pub use scratch::{BagScratch, assert_valid_bag, assert_valid_mcap};
