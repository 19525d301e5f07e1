//! Exports for other tools.

mod chrome;
mod graph_text;
mod html;
mod junit;
mod messages;
mod otlp;

pub use graph_text::{dot, mermaid};
pub use html::html;
pub use junit::junit;
pub use messages::MessageTrace;
