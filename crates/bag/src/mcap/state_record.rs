//! The metadata records that hold the state of the robot.

use super::record::{Metadata, Records, op};
use crate::robot::StatePart;

/// Appends a record.
pub(super) fn put(out: &mut Vec<u8>, part: StatePart, text: &str) {
    Metadata {
        name: part.record_name(),
        map: vec![(part.key(), text)],
    }
    .put(out);
}

/// The text in the body of a record; `None` when it is another one.
pub(super) fn parse(body: &[u8]) -> Option<(StatePart, &str)> {
    let record = Metadata::parse(body)?;
    let part = StatePart::of_record(record.name)?;
    Some((part, record.get(part.key())?))
}

/// A record in a run of records: its part, its offset, and its length with opcode and length field.
pub(super) fn places(records: &[u8]) -> impl Iterator<Item = (StatePart, usize, usize)> {
    Records::new(records)
        .filter(|(opcode, ..)| *opcode == op::METADATA)
        .filter_map(|(_, at, body)| {
            let (part, _) = parse(body)?;
            Some((part, at, super::record::RECORD_HEAD + body.len()))
        })
}
