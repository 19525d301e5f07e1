//! The part of HTTP that a page and a WebSocket handshake need, without I/O.

mod access_rules;
mod host;
mod request_head;
mod response;

pub use access_rules::{AccessRules, Refusal};
pub use request_head::RequestHead;
pub(crate) use response::{Response, switching_protocols};
