//! As much HTTP/1.1 as PFSDP needs, sans-IO.
//!
//! A complete HTTP client is no alternative: a request for the device's time must be stamped right before its bytes are
//! sent and right when those of the answer arrive, on one socket that stays open. Heads and chunks are parsed by
//! `httparse`.

mod request;
mod response;

pub(crate) use request::{escape, request_text};
#[cfg(feature = "simulator")]
pub(crate) use request::{parse_request_target, unescape};
pub use response::{Response, ResponseParser};
