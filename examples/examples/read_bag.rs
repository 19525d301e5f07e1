//! Reads a bag to values: topics, then every message as JSON, and one field of it by its path.
//!
//! `cargo run --example read_bag -p timeloom-examples -- my_bag`

use std::error::Error;
use std::io::{self, Write};
use std::path::Path;

use timeloom_bag::{BagReader, Decoder, StorageReader};
use timeloom_msg::TypeResolver;

fn main() -> Result<(), Box<dyn Error>> {
    let path = std::env::args_os().nth(1).ok_or("usage: read_bag BAG")?;
    print_bag(Path::new(&path), &mut io::stdout().lock())
}

/// Prints the topics and messages of a bag.
pub(crate) fn print_bag(path: &Path, out: &mut dyn Write) -> Result<(), Box<dyn Error>> {
    let mut reader = BagReader::open(path)?;
    let info = reader.info().clone();
    for (topic, count) in info.topics.iter().zip(&info.message_counts) {
        writeln!(
            out,
            "{} ({}): {count} messages",
            topic.name, topic.type_name
        )?;
    }

    // Types come from the bag itself; types that it does not define are built in.
    let decoder = Decoder::new(&info, &TypeResolver::default());
    while let Some(message) = reader.next_message()? {
        let topic = &info.topics[message.topic.index()].name;
        let value = decoder.decode(&message)?;
        writeln!(out, "{} {topic} {}", message.log_time_ns, value.to_json())?;
        if let Some(frame) = value.get("header.frame_id") {
            writeln!(out, "  frame: {}", frame.to_json())?;
        }
    }
    Ok(())
}
