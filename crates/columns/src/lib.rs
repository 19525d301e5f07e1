#![doc = include_str!("../README.md")]

mod align;
mod batch;
mod column;
mod cursor;
mod error;
#[cfg(feature = "files")]
mod file;
mod layout;
mod rows;
#[cfg(feature = "stream")]
mod stream;
mod topic_reader;

pub use align::{AlignOptions, Aligned, Method, Partner, Samples, align};
pub use batch::Batch;
pub use column::{Column, Lists, Strings, StructColumn};
pub use cursor::Cursor;
pub use error::{Error, Result};
#[cfg(feature = "files")]
pub use file::{TableFile, TableFormat};
pub use rows::{Rows, Undecoded};
#[cfg(feature = "stream")]
pub use stream::stream_bytes;
pub use topic_reader::{TimeBase, TopicReader, TopicRequest, lost_in};
