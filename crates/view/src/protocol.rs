//! The Foxglove WebSocket protocol: bytes and texts to values and back, without any I/O.
//!
//! Binary messages are little endian and begin with an opcode; all else is JSON with an `op`.

mod advertise;
mod client_binary;
mod client_json;
mod client_message;
mod frames;
mod graph_update;
mod notice;
mod page_request;
mod playback_request;
mod playback_state;
mod reader;
mod server_binary;
mod server_info;
mod services;
mod subprotocol;

pub use advertise::{SchemaTable, advertise, unadvertise};
pub use client_binary::parse_binary;
pub use client_json::parse_text;
pub use client_message::{ClientChannel, ClientMessage, ServiceCall, Subscription};
pub(crate) use frames::frame_limits;
pub use frames::{ClientFrame, read_frames};
pub use graph_update::{ConnectionGraph, graph_update};
pub use notice::{Level, remove_status, status};
pub use page_request::PageRequest;
pub use playback_request::{PlaybackCommand, PlaybackRequest};
pub use playback_state::{PlaybackState, PlaybackStatus};
pub use server_binary::{message_head, service_response, time};
pub use server_info::{Capability, Moment, ServerInfo};
pub use services::{advertise_services, service_failure, unadvertise_services};
pub use subprotocol::Subprotocol;
