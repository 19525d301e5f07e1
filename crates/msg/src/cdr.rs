//! CDR: the encoding of payloads on DDS, on Zenoh and in bags.
//!
//! A payload starts with four bytes that name the encoding; offsets for alignment count from after them.

mod cursor;
mod decode;
mod encapsulation;
mod encode;
mod reader;
mod writer;

pub use cursor::{Cursor, Number};
pub use encapsulation::{Encapsulation, Endian, WideChars};
pub use encode::EncodeOptions;

pub(crate) use reader::Reader;
