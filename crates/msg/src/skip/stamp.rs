//! The time stamp of a message.

use super::field::FieldProgram;
use super::program::read_u32;
use crate::cdr::Endian;
use crate::definition::ArrayShape;
use crate::schema::{Element, Schema, SchemaType};
use crate::{Error, Result};

/// A time as ROS sends it: `builtin_interfaces/msg/Time`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Default)]
pub struct Stamp {
    /// Seconds since the epoch of the clock.
    pub sec: i32,
    /// Nanoseconds of the second.
    pub nanosec: u32,
}

impl Stamp {
    /// Nanoseconds since the epoch of the clock.
    pub fn nanos(self) -> i64 {
        i64::from(self.sec) * 1_000_000_000 + i64::from(self.nanosec)
    }
}

/// The position of the stamp of a type.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum StampPlace {
    /// In `header.stamp`.
    Header,
    /// In `stamp`.
    TopLevel,
}

/// Reads the stamp of a message without decoding it: `header.stamp`, or else a top-level `stamp`.
///
/// ```
/// use timeloom_msg::{Definitions, StampProgram};
///
/// let schema = Definitions::builtin().schema("sensor_msgs/msg/Imu")?;
/// let mut imu = schema.default_value()?;
/// imu.set("header.stamp.sec", 7)?;
/// let stamp = StampProgram::compile(&schema).expect("an Imu has a header");
/// assert_eq!(stamp.read(&schema.encode(&imu)?)?.nanos(), 7_000_000_000);
/// # Ok::<(), timeloom_msg::Error>(())
/// ```
#[derive(Debug, Clone)]
pub struct StampProgram {
    place: StampPlace,
    field: FieldProgram,
}

impl StampProgram {
    /// Compiles the program for the stamp, or `None` if the type has none that can be reached.
    pub fn compile(schema: &Schema) -> Option<Self> {
        let places = [
            (StampPlace::Header, "header.stamp"),
            (StampPlace::TopLevel, "stamp"),
        ];
        places.into_iter().find_map(|(place, path)| {
            let field = FieldProgram::compile(schema, path).ok()?;
            is_time(field.ty()).then_some(Self { place, field })
        })
    }

    /// The position of the stamp.
    pub fn place(&self) -> StampPlace {
        self.place
    }

    /// The offset of the stamp after the encapsulation header, when it is the same in every payload.
    pub fn fixed_offset(&self) -> Option<u64> {
        self.field
            .fixed_offset()
            .and_then(|offset| offset.checked_next_multiple_of(4))
    }

    /// Reads the stamp of a payload, in nanoseconds of CPU time.
    ///
    /// # Errors
    /// When the payload is too short or not plain CDR.
    #[inline]
    pub fn read(&self, payload: &[u8]) -> Result<Stamp> {
        let (offset, endian) = self.field.locate(payload)?;
        let body = payload.get(4..).unwrap_or_default();
        let stamp = match endian {
            Endian::Little => read_stamp::<false>(body, offset),
            Endian::Big => read_stamp::<true>(body, offset),
        };
        let available = body.len();
        stamp.ok_or(Error::ShortPayload {
            offset: 4,
            what: "stamp",
            needed: offset.saturating_add(8),
            available,
        })
    }
}

fn is_time(ty: &SchemaType) -> bool {
    matches!(&ty.element, Element::Struct(time) if time.is_time()) && ty.shape == ArrayShape::Single
}

#[inline]
fn read_stamp<const BIG_ENDIAN: bool>(body: &[u8], at: u64) -> Option<Stamp> {
    let (sec, after) = read_u32::<BIG_ENDIAN>(body, at)?;
    let (nanosec, _) = read_u32::<BIG_ENDIAN>(body, after)?;
    Some(Stamp {
        sec: sec.cast_signed(),
        nanosec,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cdr::EncodeOptions;
    use crate::{Definitions, Value};

    fn program(name: &str) -> Option<StampProgram> {
        StampProgram::compile(&Definitions::builtin().schema(name).unwrap())
    }

    #[test]
    fn positions_of_stamps() {
        assert_eq!(
            program("sensor_msgs/msg/Imu").unwrap().fixed_offset(),
            Some(0)
        );
        assert_eq!(
            program("sensor_msgs/msg/Imu").unwrap().place(),
            StampPlace::Header
        );
        assert_eq!(
            program("rcl_interfaces/msg/Log").unwrap().place(),
            StampPlace::TopLevel
        );
        assert_eq!(
            program("tilde_msg/msg/DeadlineNotification")
                .unwrap()
                .place(),
            StampPlace::Header
        );
        assert_eq!(
            program("tilde_msg/msg/SteeSource").unwrap().fixed_offset(),
            None
        );
        assert!(program("std_msgs/msg/String").is_none());
        assert!(program("tf2_msgs/msg/TFMessage").is_none());
        // A header that is not the message header of ROS.
        assert!(program("pf_interfaces/msg/PFR2000Header").is_none());
    }

    #[test]
    fn stamps_equal_those_of_the_full_decode() {
        for message in Definitions::builtin().iter() {
            let schema = Definitions::builtin()
                .schema(&message.name.to_string())
                .unwrap();
            let Some(program) = StampProgram::compile(&schema) else {
                continue;
            };
            let path = if program.place() == StampPlace::Header {
                "header.stamp"
            } else {
                "stamp"
            };
            let mut value = schema.default_value().unwrap();
            value.set(&format!("{path}.sec"), Value::Int32(-7)).unwrap();
            value
                .set(&format!("{path}.nanosec"), Value::Uint32(123))
                .unwrap();
            for endian in [Endian::Little, Endian::Big] {
                let payload = schema
                    .encode_with(
                        &value,
                        EncodeOptions {
                            endian,
                            ..EncodeOptions::default()
                        },
                    )
                    .unwrap();
                let stamp = program.read(&payload).unwrap();
                assert_eq!(
                    stamp,
                    Stamp {
                        sec: -7,
                        nanosec: 123
                    },
                    "{}",
                    message.name
                );
                assert_eq!(stamp.nanos(), -6_999_999_877);
                assert!(program.read(&payload[..8]).is_err());
            }
        }
    }
}
