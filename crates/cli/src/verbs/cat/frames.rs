//! Messages as a binary stream, for programs: the Python reader uses it.
//!
//! A line of JSON that describes the topics, then one frame per message: topic (u32), length (u32), log time (i64),
//! publish time (i64), all little-endian, and the payload. The last frame has the topic [`END`] and a JSON text that
//! says what was lost: a stream without it was cut off.

use std::io::{self, Write};

use serde_json::{Value, json};
use timeloom_bag::storage::FileInfo;
use timeloom_bag::{Decoder, Message};

/// The version of the form, in the first line.
const VERSION: u32 = 1;
/// The topic of the last frame.
const END: u32 = u32::MAX;

/// The first line.
pub(super) fn header(info: &FileInfo, decoder: &Decoder) -> String {
    let topics: Vec<Value> = (0..info.topics.len())
        .filter_map(|index| topic(info, decoder, index))
        .collect();
    json!({
        "timeloom_frames": VERSION,
        "start_time_ns": info.start_time_ns,
        "end_time_ns": info.end_time_ns,
        "ros_distro": info.ros_distro,
        "topics": topics,
    })
    .to_string()
}

fn topic(info: &FileInfo, decoder: &Decoder, index: usize) -> Option<Value> {
    let topic = info.topics.get(index)?;
    // Messages that cannot be decoded are passed on raw, with the reason for the reader.
    let (description, undecodable) = match decoder.schema(index) {
        Ok(schema) => match schema.type_description() {
            Ok(description) => (Some(description.to_hash_json()), None),
            Err(error) => (None, Some(error.to_string())),
        },
        Err(error) => (None, Some(error.to_string())),
    };
    let description = description.and_then(|text| serde_json::from_str::<Value>(&text).ok());
    Some(json!({
        "id": index,
        "name": topic.name,
        "type": topic.type_name,
        "serialization_format": topic.serialization_format,
        "offered_qos_profiles": topic.offered_qos_profiles,
        "type_hash": topic.type_description_hash,
        "definition": topic.definition.text,
        "definition_format": topic.definition.encoding,
        "message_count": info.message_counts.get(index),
        "description": description,
        "undecodable": undecodable,
    }))
}

/// One message.
pub(super) fn write(out: &mut dyn Write, message: &Message<'_>) -> io::Result<()> {
    let topic = u32::try_from(message.topic.index()).map_err(io::Error::other)?;
    let (log, publish) = (message.log_time_ns, message.publish_time_ns);
    frame(out, topic, log, publish, message.data)
}

/// The losses as text, which ends the stream.
pub(super) fn end(out: &mut dyn Write, lost: &[String]) -> io::Result<()> {
    frame(
        out,
        END,
        0,
        0,
        json!({ "lost": lost }).to_string().as_bytes(),
    )
}

fn frame(
    out: &mut dyn Write,
    topic: u32,
    log_ns: i64,
    publish_ns: i64,
    data: &[u8],
) -> io::Result<()> {
    let length = u32::try_from(data.len()).map_err(io::Error::other)?;
    out.write_all(&topic.to_le_bytes())?;
    out.write_all(&length.to_le_bytes())?;
    out.write_all(&log_ns.to_le_bytes())?;
    out.write_all(&publish_ns.to_le_bytes())?;
    out.write_all(data)
}
