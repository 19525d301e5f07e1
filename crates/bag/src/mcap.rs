//! The MCAP storage. Its writer is our own for its cost (`bag.write.*` in BENCHMARKS.md) and for its behaviour in
//! crashes.

mod account_record;
mod carry_over;
mod chunk_buffer;
mod chunk_table;
mod compatibility;
mod cursor;
mod decode;
mod extra;
mod fields;
mod index_log;
mod options;
mod output_file;
mod pipeline;
mod read_chunk;
mod reader;
mod record;
mod scan;
mod sink;
mod state_record;
mod summary;
mod summary_writer;
mod unpack_ahead;
mod write_chunk;
mod writer;

pub(crate) use carry_over::CarryOver;
pub use options::{McapCompression, McapLimits, McapOptions};
pub use output_file::WritePath;
pub use reader::McapReader;
pub use writer::McapWriter;
