//! As much HTTP/1.1 as PFSDP needs, sans-IO.
//!
//! It is written here, and not taken from a library, because a request for the device's time must be stamped right
//! before its bytes go out and right when the answer's come in, on one socket that stays open; because every read is
//! bounded; and because the whole of it is three short files.

mod request;
mod response;

pub(crate) use request::{escape, parse_request_target, request_text, unescape};
pub use response::{Response, ResponseParser};
