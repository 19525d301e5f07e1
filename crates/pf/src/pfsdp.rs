//! PFSDP: commands as requests, replies as values.

mod command;
mod error_code;
mod reply;

pub use command::{Command, HandleRequest};
pub use error_code::ErrorCode;
pub use reply::{Handle, ProtocolInfo, Reply};
