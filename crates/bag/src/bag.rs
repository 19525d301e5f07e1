//! Bags: directories of files with their metadata, or single files.

mod accounts;
mod closed_files;
mod layout;
mod merge;
mod namer;
mod reader;
mod sent_order;
mod time_map;
mod writer;

pub use closed_files::ClosedFiles;
pub(crate) use layout::bag_files;
pub use layout::{BagFile, BagLayout, RESERVED_FILE, open_file, open_file_in};
pub use namer::FileNaming;
pub use reader::BagReader;
pub use sent_order::SentOrder;
pub use time_map::TimeMap;
pub(crate) use writer::described::{add_file, take_back};
pub use writer::{BagOptions, BagWriter, FinishedBag, SplitEvent, StorageOptions};
