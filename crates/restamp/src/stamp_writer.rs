//! Replaces the stamp of a payload.

use timeloom_msg::{Schema, StampPlace, StampProgram, Value};

use crate::{Error, Result};

/// Nanoseconds in a second.
const SECOND: i64 = 1_000_000_000;

/// Reads and replaces `header.stamp` of one type.
#[derive(Debug)]
pub(crate) struct StampWriter {
    schema: Schema,
    program: StampProgram,
}

/// A message with another stamp, and its header as it was.
#[derive(Debug)]
pub(crate) struct Restamped {
    pub(crate) payload: Vec<u8>,
    pub(crate) original: Value,
}

impl StampWriter {
    /// Refuses types without a `header.stamp`.
    pub(crate) fn new(schema: &Schema, topic: &str) -> Result<Self> {
        let program = StampProgram::compile(schema);
        let program = program.filter(|program| program.place() == StampPlace::Header);
        let program = program.ok_or_else(|| Error::NoStamp {
            topic: topic.to_owned(),
            type_name: schema.name().to_string(),
        })?;
        Ok(Self {
            schema: schema.clone(),
            program,
        })
    }

    /// The stamp of a payload, in nanoseconds.
    pub(crate) fn read(&self, payload: &[u8]) -> Result<i64> {
        Ok(self.program.read(payload)?.nanos())
    }

    /// A payload with another stamp.
    pub(crate) fn replace(&self, payload: &[u8], nanos: i64) -> Result<Restamped> {
        let seconds = i32::try_from(nanos.div_euclid(SECOND))
            .map_err(|_outside| Error::StampOutOfRange { nanos })?;
        let rest = u32::try_from(nanos.rem_euclid(SECOND)).unwrap_or(0);
        let mut value = self.schema.decode(payload)?;
        let original = value
            .get("header")
            .ok_or(Error::StampOutOfRange { nanos })?;
        let patched = self.patched(payload, seconds, rest);
        let payload = if let Some(patched) = patched {
            patched
        } else {
            value.set("header.stamp.sec", seconds)?;
            value.set("header.stamp.nanosec", rest)?;
            self.schema.encode(&value)?
        };
        Ok(Restamped { payload, original })
    }

    /// The same bytes but for the stamp, where it always stands in the same place.
    fn patched(&self, payload: &[u8], seconds: i32, nanos: u32) -> Option<Vec<u8>> {
        let place = usize::try_from(self.program.fixed_offset()?)
            .ok()?
            .checked_add(4)?;
        let little = *payload.get(1)? & 1 == 1;
        let mut patched = payload.to_vec();
        let stamp = patched.get_mut(place..place.checked_add(8)?)?;
        let (first, second) = stamp.split_at_mut(4);
        if little {
            first.copy_from_slice(&seconds.to_le_bytes());
            second.copy_from_slice(&nanos.to_le_bytes());
        } else {
            first.copy_from_slice(&seconds.to_be_bytes());
            second.copy_from_slice(&nanos.to_be_bytes());
        }
        Some(patched)
    }
}

#[cfg(test)]
mod tests {
    use timeloom_msg::Definitions;

    use super::*;

    #[test]
    fn only_the_stamp_changes() {
        for name in ["sensor_msgs/msg/Imu", "sensor_msgs/msg/LaserScan"] {
            let schema = Definitions::builtin().schema(name).unwrap();
            let mut value = schema.default_value().unwrap();
            value.set("header.frame_id", "laser").unwrap();
            value.set("header.stamp.sec", 7).unwrap();
            let payload = schema.encode(&value).unwrap();
            let writer = StampWriter::new(&schema, "/scan").unwrap();
            assert_eq!(writer.read(&payload).unwrap(), 7 * SECOND);
            let restamped = writer
                .replace(&payload, 1_700_000_000 * SECOND + 5)
                .unwrap();
            let mut expected = value.clone();
            expected.set("header.stamp.sec", 1_700_000_000).unwrap();
            expected.set("header.stamp.nanosec", 5_u32).unwrap();
            assert_eq!(schema.decode(&restamped.payload).unwrap(), expected);
            assert_eq!(restamped.original, value.get("header").unwrap());
            assert!(writer.replace(&payload, i64::MAX).is_err());
            assert!(writer.replace(&payload[..9], 0).is_err());
        }
        let schema = Definitions::builtin()
            .schema("std_msgs/msg/String")
            .unwrap();
        assert!(StampWriter::new(&schema, "/chatter").is_err());
    }
}
