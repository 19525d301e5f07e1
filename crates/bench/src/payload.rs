//! Verifiable messages: the topic and the number determine every byte.

use timeloom_msg::value::{Array, Value};
use timeloom_msg::{Definitions, Schema, TypeName};

/// Offset of the number in a message that begins with a header: in its stamp.
const STAMP: usize = 4;
/// Offset in a `ByteMultiArray`: at the start of its data.
const DATA: usize = 16;
const NANOS: u64 = 1_000_000_000;

/// The content of the messages of a group.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Content {
    ByteArray,
    Image,
    PointCloud2,
    NavSatFix,
    Imu,
    Range,
}

impl Content {
    const ALL: [Self; 6] = [
        Self::ByteArray,
        Self::Image,
        Self::PointCloud2,
        Self::NavSatFix,
        Self::Imu,
        Self::Range,
    ];

    /// The type on the wire. `ByteArray` of rosbag2's benchmark package is replaced by a type that every ROS
    /// installation has.
    pub(super) fn type_name(self) -> &'static str {
        match self {
            Self::ByteArray => "std_msgs/msg/ByteMultiArray",
            Self::Image => "sensor_msgs/msg/Image",
            Self::PointCloud2 => "sensor_msgs/msg/PointCloud2",
            Self::NavSatFix => "sensor_msgs/msg/NavSatFix",
            Self::Imu => "sensor_msgs/msg/Imu",
            Self::Range => "sensor_msgs/msg/Range",
        }
    }

    /// From the last part of a type name: `sensor_msgs::msg::Image`, `ByteArray`.
    pub(super) fn parse(text: &str) -> Option<Self> {
        let last = text.rsplit([':', '/']).next().unwrap_or(text);
        let of = |content: &Self| format!("{content:?}") == last;
        Self::ALL.into_iter().find(of)
    }

    /// From the type on the wire.
    pub(super) fn of_type(name: &str) -> Option<Self> {
        Self::ALL
            .into_iter()
            .find(|content| content.type_name() == name)
    }

    /// Whether its size is configurable.
    pub(super) fn has_data(self) -> bool {
        matches!(self, Self::ByteArray | Self::Image | Self::PointCloud2)
    }

    pub(super) fn schema(self) -> anyhow::Result<Schema> {
        let name = TypeName::parse(self.type_name())?;
        Ok(Schema::compile(Definitions::builtin(), &name)?)
    }
}

/// The messages of one topic, which differ only in their number.
pub(crate) struct Payload {
    bytes: Vec<u8>,
    number_at: usize,
    stamped: bool,
}

impl Payload {
    pub(super) fn new(content: Content, topic: &str, size: usize) -> anyhow::Result<Self> {
        let schema = content.schema()?;
        let mut value = schema.default_value()?;
        let stamped = content != Content::ByteArray;
        if stamped {
            value.set("header.frame_id", topic)?;
        }
        if content.has_data() {
            let size = if stamped { size } else { size.max(8) };
            value.set("data", Value::Array(Array::Uint8(noise(topic, size))))?;
            describe(&mut value, content, size)?;
        }
        Ok(Self {
            bytes: schema.encode(&value)?,
            number_at: if stamped { STAMP } else { DATA },
            stamped,
        })
    }

    /// The length of each message.
    pub(super) fn len(&self) -> usize {
        self.bytes.len()
    }

    /// The message with that number.
    pub(super) fn message(&self, number: u64) -> Vec<u8> {
        let mut bytes = self.bytes.clone();
        if let Some(place) = bytes.get_mut(self.number_at..self.number_at + 8) {
            place.copy_from_slice(&self.encode(number));
        }
        bytes
    }

    /// The number of a message; `None` if any byte differs from the sent message.
    pub(super) fn number(&self, message: &[u8]) -> Option<u64> {
        let (before, behind) = (self.number_at, self.number_at + 8);
        let same = message.len() == self.bytes.len()
            && message.get(..before)? == self.bytes.get(..before)?
            && message.get(behind..)? == self.bytes.get(behind..)?;
        let place: [u8; 8] = message.get(before..behind)?.try_into().ok()?;
        same.then(|| self.decode(place)).flatten()
    }

    /// A stamp must be a valid time, with nanoseconds below a second.
    fn encode(&self, number: u64) -> [u8; 8] {
        if self.stamped {
            ((number / NANOS) | (number % NANOS) << 32).to_le_bytes()
        } else {
            number.to_le_bytes()
        }
    }

    fn decode(&self, place: [u8; 8]) -> Option<u64> {
        let number = u64::from_le_bytes(place);
        if !self.stamped {
            return Some(number);
        }
        let (seconds, nanos) = (number & 0xffff_ffff, number >> 32);
        (nanos < NANOS).then_some(seconds * NANOS + nanos)
    }
}

/// The metadata of an image or a point cloud, so that other tools can show it.
fn describe(value: &mut Value, content: Content, size: usize) -> anyhow::Result<()> {
    let size = u32::try_from(size)?;
    match content {
        Content::Image => {
            value.set("height", 1_u32)?;
            value.set("width", size)?;
            value.set("step", size)?;
            value.set("encoding", "mono8")?;
        }
        Content::PointCloud2 => {
            value.set("height", 1_u32)?;
            value.set("width", size / 16)?;
            value.set("point_step", 16_u32)?;
            value.set("row_step", size)?;
        }
        _ => {}
    }
    Ok(())
}

/// Incompressible bytes, always the same for a topic.
fn noise(topic: &str, size: usize) -> Vec<u8> {
    let seed = topic.bytes().fold(0xcbf2_9ce4_8422_2325, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
    });
    let mut state: u64 = seed | 1;
    let mut bytes = Vec::with_capacity(size + 8);
    while bytes.len() < size {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        bytes.extend_from_slice(&state.to_le_bytes());
    }
    bytes.truncate(size);
    bytes
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_message_contains_its_number() {
        for content in Content::ALL {
            let payload = Payload::new(content, "/a", 100).unwrap();
            for number in [0, 1, NANOS, 7 * NANOS + 5] {
                let message = payload.message(number);
                assert_eq!(payload.number(&message), Some(number), "{content:?}");
                assert_eq!(message.len(), payload.len());
                assert!(content.schema().unwrap().decode(&message).is_ok());
            }
        }
    }

    /// Also in the number itself: an invalid stamp is noticed here, and a wrong number when counting.
    #[test]
    fn a_changed_byte_is_noticed() {
        for content in Content::ALL {
            let payload = Payload::new(content, "/a", 40).unwrap();
            for at in 0..payload.len() {
                let mut message = payload.message(3);
                message[at] ^= 0x80;
                assert_ne!(payload.number(&message), Some(3), "{content:?} {at}");
            }
            let mut short = payload.message(3);
            short.pop();
            assert_eq!(payload.number(&short), None);
        }
    }

    #[test]
    fn topics_have_distinct_messages() {
        let a = Payload::new(Content::Image, "/a", 64).unwrap();
        let b = Payload::new(Content::Image, "/b", 64).unwrap();
        assert_eq!(b.number(&a.message(1)), None);
    }

    #[test]
    fn types_are_recognised_by_their_last_part() {
        for name in ["sensor_msgs::msg::Image", "sensor_msgs/msg/Image", "Image"] {
            assert_eq!(Content::parse(name), Some(Content::Image), "{name}");
        }
        assert_eq!(Content::parse("ByteArray"), Some(Content::ByteArray));
        assert_eq!(Content::parse("sensor_msgs::msg::Imag"), None);
    }
}
