//! The sqlite3 storage: schemas 1 to 4 read, 4 written.

mod options;
mod page;
mod reader;
mod schema;
mod writer;

pub use options::SqliteOptions;
pub use reader::SqliteReader;
pub use writer::SqliteWriter;
