use super::MAGIC;
use super::header::{Header, Layer};
use super::packet_type::PacketType;
use super::points::Point;
use crate::error::{Error, Result};

/// The header format of a device.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum HeaderForm {
    /// All fields and padding: 76 bytes, or 84 of an R2300.
    #[default]
    Full,
    /// As old firmware does: without the stamps of the switching inputs.
    Old,
}

impl HeaderForm {
    /// Bytes of a header of this form.
    pub const fn size(self, packet_type: PacketType) -> u16 {
        match (self, packet_type) {
            (Self::Full, PacketType::C1) => 84,
            (Self::Full, _) => 76,
            (Self::Old, PacketType::C1) => 58,
            (Self::Old, _) => 60,
        }
    }
}

impl Header {
    /// Writes a packet: this header, with updated sizes and number of points, and the points.
    ///
    /// # Errors
    ///
    /// [`Error::TooManyPoints`] if they do not fit a packet.
    pub fn write(&self, form: HeaderForm, points: &[Point]) -> Result<Vec<u8>> {
        let header_size = form.size(self.packet_type);
        let size = usize::from(header_size) + points.len() * self.packet_type.point_size();
        let too_many = || Error::TooManyPoints {
            points: points.len(),
            limit: super::LARGEST_PACKET,
        };
        let count = u16::try_from(points.len()).map_err(|_too_large| too_many())?;
        let packet_size = u32::try_from(size).map_err(|_too_large| too_many())?;
        if size > super::LARGEST_PACKET {
            return Err(too_many());
        }
        let mut out = Vec::with_capacity(size);
        self.write_start(&mut out, packet_size, header_size);
        self.write_rest(&mut out, count);
        // Old headers are shorter, new ones of the R2300 are padded.
        out.resize(usize::from(header_size), 0);
        for point in points {
            write_point(&mut out, self.packet_type, point);
        }
        Ok(out)
    }

    fn write_start(&self, out: &mut Vec<u8>, packet_size: u32, header_size: u16) {
        out.extend(MAGIC.to_le_bytes());
        out.extend(self.packet_type.code().to_le_bytes());
        out.extend(packet_size.to_le_bytes());
        out.extend(header_size.to_le_bytes());
        out.extend(self.scan_number.to_le_bytes());
        out.extend(self.packet_number.to_le_bytes());
        if self.packet_type == PacketType::C1 {
            let layer = self.layer.unwrap_or(Layer {
                index: 0,
                inclination: 0,
            });
            out.extend(layer.index.to_le_bytes());
            out.extend(layer.inclination.to_le_bytes());
        }
    }

    fn write_rest(&self, out: &mut Vec<u8>, count: u16) {
        out.extend(self.timestamp_raw.to_le_bytes());
        out.extend(self.timestamp_sync.to_le_bytes());
        out.extend(self.status.0.to_le_bytes());
        out.extend(self.scan_frequency.to_le_bytes());
        out.extend(self.num_points_scan.to_le_bytes());
        out.extend(count.to_le_bytes());
        out.extend(self.first_index.to_le_bytes());
        out.extend(self.first_angle.to_le_bytes());
        out.extend(self.angular_increment.to_le_bytes());
        out.extend(self.iq_input.to_le_bytes());
        out.extend(self.iq_overload.to_le_bytes());
        let stamps = self.iq_stamps.map_or([0; 2], |iq| [iq.raw, iq.sync]);
        out.extend(stamps.into_iter().flat_map(u64::to_le_bytes));
    }
}

fn write_point(out: &mut Vec<u8>, packet_type: PacketType, point: &Point) {
    let amplitude = point.amplitude.unwrap_or(0);
    match packet_type {
        PacketType::A => out.extend(point.distance.unwrap_or(u32::MAX).to_le_bytes()),
        PacketType::B => {
            out.extend(point.distance.unwrap_or(u32::MAX).to_le_bytes());
            out.extend(amplitude.to_le_bytes());
        }
        PacketType::C | PacketType::C1 => {
            let distance = point.distance.unwrap_or(u32::MAX).min(0x000f_ffff);
            let word = distance | u32::from(amplitude.min(0x0fff)) << 20;
            out.extend(word.to_le_bytes());
        }
    }
}
