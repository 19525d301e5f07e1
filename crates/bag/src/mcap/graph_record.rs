//! The metadata records that hold the graph of the robot.

use super::record::{Metadata, Records, op};
use crate::graph::{GRAPH_KEY, GRAPH_NAME};

/// Appends a record.
pub(super) fn put(out: &mut Vec<u8>, graph: &str) {
    Metadata {
        name: GRAPH_NAME,
        map: vec![(GRAPH_KEY, graph)],
    }
    .put(out);
}

/// The text in the body of a record; `None` when it is another one.
pub(super) fn parse(body: &[u8]) -> Option<&str> {
    let record = Metadata::parse(body)?;
    (record.name == GRAPH_NAME)
        .then(|| record.get(GRAPH_KEY))
        .flatten()
}

/// Offsets of the records in a run of records, and the length of each with opcode and length field.
pub(super) fn places(records: &[u8]) -> impl Iterator<Item = (usize, usize)> {
    Records::new(records)
        .filter(|(opcode, _, body)| *opcode == op::METADATA && parse(body).is_some())
        .map(|(_, at, body)| (at, super::record::RECORD_HEAD + body.len()))
}
