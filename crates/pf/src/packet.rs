//! Packets of scan data, parsed from and written to bytes.

mod header;
mod packet_type;
mod parse;
mod points;
mod reader;
mod stream;
mod write;

pub use header::{Header, Layer, SendStamps};
pub use packet_type::PacketType;
pub use parse::Packet;
pub use points::{Point, Points};
pub use stream::PacketStream;
pub use write::HeaderForm;

/// The first two bytes of every packet, little endian.
pub const MAGIC: u16 = 0xa25c;
/// The largest packet that is read: what fits a UDP datagram.
pub const LARGEST_PACKET: usize = 65_535;
