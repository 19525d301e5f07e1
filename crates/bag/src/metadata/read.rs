//! From YAML to [`BagMetadata`].

use super::statistics_yaml::{FOUND_AGAIN, found_again, statistics, timeline};
use super::{BagMetadata, FileRecord, TopicRecord};
use crate::yaml::{self, Form, Node};
use crate::{Error, Result, TopicInfo};

pub(super) const ROOT: &str = "rosbag2_bagfile_information";

impl BagMetadata {
    /// Reads a metadata text: a `metadata.yaml`, or the bare map that storages keep inside the file.
    pub fn parse(text: &str) -> Result<Self> {
        Self::parse_with_form(text).map(|(metadata, _)| metadata)
    }

    /// Like [`parse`](Self::parse), also returns the form of the text.
    pub(super) fn parse_with_form(text: &str) -> Result<(Self, Form)> {
        let (document, form) = yaml::parse_with_form(text)?;
        // A bare map has a version of its own; it may hold a key with the name of the root.
        let root = match document.get("version") {
            Some(_) => None,
            None => document.get(ROOT),
        };
        Ok((Self::from_node(root.unwrap_or(&document))?, form))
    }

    fn from_node(node: &Node) -> Result<Self> {
        let Node::Map(entries) = node else {
            return Err(Error::metadata(ROOT, "is missing"));
        };
        let mut metadata = Self {
            version: number(node, "version", "version")?,
            ..Self::default()
        };
        for (key, value) in entries {
            metadata.field(key, value)?;
        }
        Ok(metadata)
    }

    fn field(&mut self, key: &str, value: &Node) -> Result<()> {
        match key {
            "version" => {}
            "storage_identifier" => self.storage_identifier = string(value, key)?,
            "duration" => self.duration_ns = number(value, "nanoseconds", key)?,
            "starting_time" => {
                self.starting_time_ns = number(value, "nanoseconds_since_epoch", key)?;
            }
            "message_count" => self.message_count = scalar_number(value, key)?,
            "topics_with_message_count" => {
                self.topics = items(value, key)?
                    .iter()
                    .map(topic_record)
                    .collect::<Result<_>>()?;
            }
            "compression_format" => self.compression_format = string(value, key)?,
            "compression_mode" => self.compression_mode = string(value, key)?,
            "relative_file_paths" => {
                self.relative_file_paths = items(value, key)?
                    .iter()
                    .map(|item| string(item, key))
                    .collect::<Result<_>>()?;
            }
            "files" => {
                self.files = items(value, key)?
                    .iter()
                    .map(file_record)
                    .collect::<Result<_>>()?;
            }
            "custom_data" => self.custom_data = custom_data(value)?,
            "ros_distro" => self.ros_distro = string(value, key)?,
            _ => self.extra.push((key.to_owned(), value.clone())),
        }
        Ok(())
    }
}

fn custom_data(value: &Node) -> Result<Vec<(String, String)>> {
    let Some(entries) = value.as_map() else {
        return Err(Error::metadata("custom_data", "is not a map"));
    };
    entries
        .iter()
        .map(|(key, value)| Ok((key.clone(), string(value, "custom_data")?)))
        .collect()
}

fn topic_record(node: &Node) -> Result<TopicRecord> {
    const FIELD: &str = "topics_with_message_count";
    let entries = node
        .as_map()
        .ok_or_else(|| Error::metadata(FIELD, "is not a list of maps"))?;
    let mut record = TopicRecord::default();
    for (key, value) in entries {
        match key.as_str() {
            "topic_metadata" => record.topic = topic_info(value, &mut record.extra)?,
            "message_count" => record.message_count = scalar_number(value, key)?,
            "statistics" => record.statistics = Some(statistics(value)?),
            "missing_by_time" => record.timeline = timeline(value)?,
            FOUND_AGAIN => record.found_again = found_again(value)?,
            _ => record.extra.push((key.clone(), value.clone())),
        }
    }
    if record.topic.name.is_empty() {
        return Err(Error::metadata(FIELD, "has a topic without a name"));
    }
    Ok(record)
}

fn topic_info(node: &Node, extra: &mut Vec<(String, Node)>) -> Result<TopicInfo> {
    let entries = node
        .as_map()
        .ok_or_else(|| Error::metadata("topic_metadata", "is not a map"))?;
    let mut topic = TopicInfo::default();
    for (key, value) in entries {
        match key.as_str() {
            "name" => topic.name = string(value, key)?,
            "type" => topic.type_name = string(value, key)?,
            "serialization_format" => topic.serialization_format = string(value, key)?,
            "offered_qos_profiles" => {
                topic.offered_qos_profiles = value
                    .as_str()
                    .map_or_else(|| yaml::emit(value), str::to_owned);
            }
            "type_description_hash" => topic.type_description_hash = string(value, key)?,
            _ => extra.push((format!("topic_metadata.{key}"), value.clone())),
        }
    }
    Ok(topic)
}

fn file_record(node: &Node) -> Result<FileRecord> {
    let entries = node
        .as_map()
        .ok_or_else(|| Error::metadata("files", "is not a list of maps"))?;
    let mut record = FileRecord::default();
    for (key, value) in entries {
        match key.as_str() {
            "path" => record.path = string(value, key)?,
            "starting_time" => {
                record.starting_time_ns =
                    number(value, "nanoseconds_since_epoch", "files.starting_time")?;
            }
            "duration" => record.duration_ns = number(value, "nanoseconds", "files.duration")?,
            "message_count" => record.message_count = scalar_number(value, "files.message_count")?,
            "topics_statistics" => {
                for item in items(value, key)? {
                    let name = item
                        .get("topic_name")
                        .ok_or_else(|| Error::metadata(key.as_str(), "has no topic_name"))?;
                    record
                        .topics_statistics
                        .push((string(name, "topic_name")?, statistics(item)?));
                }
            }
            _ => record.extra.push((key.clone(), value.clone())),
        }
    }
    Ok(record)
}

pub(super) fn items<'n>(node: &'n Node, field: &str) -> Result<&'n [Node]> {
    node.as_sequence()
        .ok_or_else(|| Error::metadata(field, "is not a list"))
}

pub(super) fn string(node: &Node, field: &str) -> Result<String> {
    if node.is_null() {
        return Ok(String::new());
    }
    node.as_str()
        .map(str::to_owned)
        .ok_or_else(|| Error::metadata(field, "is not a scalar"))
}

pub(super) fn scalar_number<T: std::str::FromStr>(node: &Node, field: &str) -> Result<T> {
    let text = node
        .as_str()
        .ok_or_else(|| Error::metadata(field, "is not a number"))?;
    text.parse().map_err(|_parse| {
        Error::metadata(
            field,
            format!("\"{}\" is not a number in range", shorten(text)),
        )
    })
}

fn number<T: std::str::FromStr>(node: &Node, key: &str, field: &str) -> Result<T> {
    let value = node
        .get(key)
        .ok_or_else(|| Error::metadata(field, format!("has no {key}")))?;
    scalar_number(value, field)
}

fn shorten(text: &str) -> String {
    text.chars().take(40).collect()
}
