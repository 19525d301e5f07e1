//! Reads messages of bags as batches of rows.

mod bounds;
mod column;
mod decoded_fields;
mod exec;
mod piece;
mod read;
mod rows;

pub(crate) use bounds::Bounds;
pub(crate) use column::{Column, Source};
pub(crate) use exec::{Scan, ScanExec};
pub(crate) use piece::{Spread, pieces};
