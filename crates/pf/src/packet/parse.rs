use super::header::{Header, Layer, SendStamps};
use super::packet_type::PacketType;
use super::points::Points;
use super::reader::Reader;
use super::{LARGEST_PACKET, MAGIC};
use crate::error::{Error, Result};
use crate::status::StatusFlags;

/// Bytes that all headers begin with.
pub(super) const COMMON: usize = 14;

/// A packet in its bytes: the header, and the points behind it.
#[derive(Debug, Clone)]
pub struct Packet<'a> {
    /// The header, checked against the length.
    pub header: Header,
    points: &'a [u8],
}

/// The fixed start of a packet, parsed before the rest arrived.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Frame {
    pub(super) packet_type: PacketType,
    pub(super) packet_size: u32,
    pub(super) header_size: u16,
}

impl<'a> Packet<'a> {
    /// Reads a datagram, which is one packet and nothing else.
    ///
    /// # Errors
    ///
    /// [`Error::NoPacket`] without the magic number, [`Error::UnknownPacketType`], and
    /// [`Error::PacketSize`] or [`Error::HeaderSize`] when lengths and bytes do not fit each other.
    pub fn parse(bytes: &'a [u8]) -> Result<Self> {
        let frame = Frame::read(bytes)?;
        if frame.size() != bytes.len() {
            return Err(Error::PacketSize {
                said: frame.packet_size,
                received: bytes.len(),
            });
        }
        let header = read_header(frame, bytes).ok_or(Error::HeaderSize {
            packet_type: frame.packet_type,
            header_size: frame.header_size,
            packet_size: frame.packet_size,
        })?;
        let payload = bytes.get(usize::from(header.header_size)..).unwrap_or(&[]);
        let wanted = usize::from(header.num_points_packet) * header.packet_type.point_size();
        // A checksum may follow the points.
        let points = payload.get(..wanted).ok_or(Error::PointsMissing {
            said: header.num_points_packet,
            bytes: payload.len(),
            point_size: header.packet_type.point_size(),
        })?;
        Ok(Self { header, points })
    }

    /// The points, in their order.
    pub fn points(&self) -> Points<'a> {
        Points {
            packet_type: self.header.packet_type,
            bytes: self.points,
        }
    }
}

impl Frame {
    pub(super) fn size(self) -> usize {
        usize::try_from(self.packet_size).unwrap_or(usize::MAX)
    }

    /// Reads and checks the start of a packet.
    pub(super) fn read(bytes: &[u8]) -> Result<Self> {
        let short = || Error::PacketSize {
            said: u32::try_from(COMMON).unwrap_or(0),
            received: bytes.len(),
        };
        let mut reader = Reader(bytes);
        let magic = reader.u16().ok_or_else(short)?;
        if magic != MAGIC {
            return Err(Error::NoPacket { magic });
        }
        let code = reader.u16().ok_or_else(short)?;
        let packet_type = PacketType::from_code(code).ok_or(Error::UnknownPacketType { code })?;
        let packet_size = reader.u32().ok_or_else(short)?;
        let header_size = reader.u16().ok_or_else(short)?;
        let frame = Self {
            packet_type,
            packet_size,
            header_size,
        };
        let header = usize::from(header_size);
        if header < packet_type.least_header() || header > frame.size() {
            return Err(Error::HeaderSize {
                packet_type,
                header_size,
                packet_size,
            });
        }
        if frame.size() > LARGEST_PACKET {
            return Err(Error::PacketTooLarge {
                said: packet_size,
                limit: LARGEST_PACKET,
            });
        }
        Ok(frame)
    }
}

/// Reads the fields; none if the header is shorter than they are.
fn read_header(frame: Frame, bytes: &[u8]) -> Option<Header> {
    let header = bytes.get(..usize::from(frame.header_size))?;
    let mut reader = Reader(header.get(10..)?);
    let (scan_number, packet_number) = (reader.u16()?, reader.u16()?);
    let layer = match frame.packet_type {
        PacketType::C1 => Some(Layer {
            index: reader.u16()?,
            inclination: reader.i32()?,
        }),
        _ => None,
    };
    Some(Header {
        packet_type: frame.packet_type,
        packet_size: frame.packet_size,
        header_size: frame.header_size,
        scan_number,
        packet_number,
        layer,
        timestamp_raw: reader.u64()?,
        timestamp_sync: reader.u64()?,
        status: StatusFlags(reader.u32()?),
        scan_frequency: reader.u32()?,
        num_points_scan: reader.u16()?,
        num_points_packet: reader.u16()?,
        first_index: reader.u16()?,
        first_angle: reader.i32()?,
        angular_increment: reader.i32()?,
        // Reserved in the R2300, and not in every firmware.
        iq_input: reader.u32().unwrap_or(0),
        iq_overload: reader.u32().unwrap_or(0),
        iq_stamps: read_stamps(&mut reader),
    })
}

fn read_stamps(reader: &mut Reader<'_>) -> Option<SendStamps> {
    Some(SendStamps {
        raw: reader.u64()?,
        sync: reader.u64()?,
    })
}
