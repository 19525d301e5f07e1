//! Where bags come from: the one place that turns what a user wrote into a reader.

use std::path::Path;

use timeloom_bag::{BagReader, TopicInfo};
use timeloom_msg::{Definitions, Schema, TypeHash};

/// Opens bags by name, and knows the types of their topics.
///
/// Every read of a query goes through it: bags that are not on this disk need no more than another source.
pub trait BagSource: Send + Sync + 'static {
    /// Opens a bag anew; each partition of a query has a reader of its own. May block.
    ///
    /// # Errors
    /// When there is no such bag, or nothing of it can be read.
    fn open(&self, bag: &str) -> timeloom_bag::Result<BagReader>;

    /// The type of a topic in a bag of this distribution: what the bag itself says, else the built-in definition.
    ///
    /// # Errors
    /// Why there is none, in words.
    fn schema(&self, topic: &TopicInfo, ros_distro: &str) -> std::result::Result<Schema, String> {
        stored_schema(topic).unwrap_or_else(|| built_in(topic, ros_distro))
    }
}

/// Bags on this machine: directories and single files.
#[derive(Debug, Clone, Copy, Default)]
pub struct LocalBags;

impl BagSource for LocalBags {
    fn open(&self, bag: &str) -> timeloom_bag::Result<BagReader> {
        BagReader::open(Path::new(bag))
    }
}

/// The definition that the bag carries; `None` when it has none.
fn stored_schema(topic: &TopicInfo) -> Option<std::result::Result<Schema, String>> {
    let definition = &topic.definition;
    let format = topic.serialization_format.as_str();
    if !matches!(format, "" | "cdr") {
        return Some(Err(format!("cannot decode {format}: only cdr is known")));
    }
    if definition.text.trim().is_empty() {
        return None;
    }
    let parsed = match definition.encoding.as_str() {
        "ros2msg" => Schema::parse_ros2msg(&topic.type_name, &definition.text),
        "ros2idl" => Schema::parse_ros2idl(&topic.type_name, &definition.text),
        _ => return None,
    };
    parsed.ok().map(Ok)
}

fn built_in(topic: &TopicInfo, ros_distro: &str) -> std::result::Result<Schema, String> {
    let name = &topic.type_name;
    let found = match topic.type_description_hash.parse::<TypeHash>() {
        Ok(hash) => Definitions::builtin_with_hash(name, &hash).ok().flatten(),
        Err(_) => Definitions::builtin_of(ros_distro.parse().unwrap_or_default())
            .schema(name)
            .ok(),
    };
    found.ok_or_else(|| format!("no definition of {name}: not in the bag, not built in"))
}
