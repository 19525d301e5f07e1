#![doc = include_str!("../README.md")]

mod align;
mod batch;
mod column;
#[cfg(feature = "files")]
mod directory;
mod error;
#[cfg(feature = "files")]
mod file;
mod layout;
#[cfg(feature = "files")]
mod plain_table;
mod rows;
#[cfg(feature = "stream")]
mod stream;
mod topic_reader;

pub use align::{
    AlignOptions, AlignStream, Aligned, Alignment, Correction, Method, Partner, Samples,
    TopicTimes, align,
};
pub use arrow_array::RecordBatch;
pub use arrow_schema::SchemaRef;
pub use batch::Batch;
pub use column::arrow::{UTC, time_type};
pub use column::{Column, Lists, Strings, StructColumn};
#[cfg(feature = "files")]
pub use directory::{ExportTablesOptions, export_tables};
pub use error::{Error, Result};
#[cfg(feature = "files")]
pub use file::{FileMetadata, RowOrder, TableFile, TableFormat};
#[cfg(feature = "files")]
pub use plain_table::{
    PlainColumn, PlainReader, PlainType, PlainValues, PlainWriter, TextValues, read_plain,
};
pub use rows::{Rows, Undecoded};
#[cfg(feature = "stream")]
pub use stream::{FFI_ArrowArrayStream, FFI_ArrowSchema, array_schema, array_stream};
pub use topic_reader::{TimeBase, TopicReader, TopicRequest, lost_in, undecoded_text};
