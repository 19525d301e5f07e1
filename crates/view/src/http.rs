//! As much HTTP as a page and a WebSocket handshake need, without any I/O.

mod doorman;
mod host;
mod request_head;
mod response;

pub use doorman::{Doorman, Refusal};
pub use request_head::RequestHead;
pub(crate) use response::{Response, switching_protocols};
