//! From [`BagMetadata`] to YAML, byte for byte as rosbag2 for version 9.

use std::io::{self, Write};

use super::statistics_yaml::{found_again_entry, statistics_entries, timeline_node};
use super::{BagMetadata, FileRecord, ROSBAG2_VERSION, STATISTICS_VERSION, TopicRecord, qos_text};
use crate::yaml::{self, Node};

const ROOT: &str = "rosbag2_bagfile_information";

impl BagMetadata {
    /// The text of a `metadata.yaml`.
    ///
    /// The account is in additional keys that older readers skip, in every version.
    pub fn to_yaml(&self) -> String {
        let mut text = format!("{ROOT}:\n  ");
        self.put(&mut text, 2, &mut |_| Ok(())).unwrap_or_default();
        text
    }

    /// The text that storages keep inside the file: the same map without its root key.
    pub fn to_embedded_yaml(&self) -> String {
        let mut text = String::new();
        self.put(&mut text, 0, &mut |_| Ok(())).unwrap_or_default();
        text
    }

    /// Writes the text of a `metadata.yaml` piece by piece: that of very many files needs no memory of its size.
    pub(super) fn write_yaml(&self, out: &mut dyn Write) -> io::Result<()> {
        let mut text = format!("{ROOT}:\n  ");
        self.put(&mut text, 2, &mut |text| {
            out.write_all(text.as_bytes())?;
            text.clear();
            Ok(())
        })?;
        out.write_all(text.as_bytes())
    }

    /// Appends the map; `flush` may remove the text after each file.
    fn put(
        &self,
        text: &mut String,
        depth: usize,
        flush: &mut dyn FnMut(&mut String) -> io::Result<()>,
    ) -> io::Result<()> {
        let indent = " ".repeat(depth);
        yaml::emit_map_at(text, &self.entries_before_files(), depth);
        text.extend(["\n", &indent, "files:"]);
        if self.files.is_empty() {
            text.extend(["\n", &indent, "  []"]);
        }
        for file in &self.files {
            text.extend(["\n", &indent, "  - "]);
            let item = file_entries(file, self.version >= STATISTICS_VERSION);
            yaml::emit_map_at(text, &item, depth + 4);
            flush(text)?;
        }
        text.extend(["\n", &indent]);
        let mut behind = vec![
            ("custom_data".into(), custom_data_node(&self.custom_data)),
            ("ros_distro".into(), Node::text(&self.ros_distro)),
        ];
        behind.extend(self.extra.iter().cloned());
        yaml::emit_map_at(text, &behind, depth);
        Ok(())
    }

    fn entries_before_files(&self) -> Vec<(String, Node)> {
        vec![
            ("version".into(), Node::number(self.version)),
            (
                "storage_identifier".into(),
                Node::text(&self.storage_identifier),
            ),
            ("duration".into(), one("nanoseconds", self.duration_ns)),
            (
                "starting_time".into(),
                one("nanoseconds_since_epoch", self.starting_time_ns),
            ),
            ("message_count".into(), Node::number(self.message_count)),
            (
                "topics_with_message_count".into(),
                Node::Sequence(
                    self.topics
                        .iter()
                        .map(|topic| topic_node(topic, self.version))
                        .collect(),
                ),
            ),
            (
                "compression_format".into(),
                Node::text(&self.compression_format),
            ),
            (
                "compression_mode".into(),
                Node::text(&self.compression_mode),
            ),
            (
                "relative_file_paths".into(),
                Node::Sequence(self.relative_file_paths.iter().map(Node::text).collect()),
            ),
        ]
    }
}

fn one(key: &str, value: i64) -> Node {
    Node::Map(vec![(key.into(), Node::number(value))])
}

fn custom_data_node(custom_data: &[(String, String)]) -> Node {
    if custom_data.is_empty() {
        return Node::null();
    }
    let mut entries: Vec<(String, Node)> = Vec::new();
    for (key, value) in custom_data {
        let value = custom_value(value);
        // The last value of a key wins, as in rosbag2.
        match entries.iter_mut().find(|(known, _)| known == key) {
            Some((_, known)) => *known = value,
            None => entries.push((key.clone(), value)),
        }
    }
    Node::Map(entries)
}

/// A value as yaml-cpp writes it for rosbag2: quoted only where necessary, so that other readers see numbers and
/// booleans.
fn custom_value(value: &str) -> Node {
    let plain = Node::Plain(value.to_owned());
    if plain.is_null() {
        Node::text(value)
    } else {
        plain
    }
}

fn topic_node(record: &TopicRecord, version: u32) -> Node {
    const INNER: &str = "topic_metadata.";
    let topic = &record.topic;
    let mut metadata = vec![
        ("name".into(), Node::text(&topic.name)),
        ("type".into(), Node::text(&topic.type_name)),
        (
            "serialization_format".into(),
            Node::text(&topic.serialization_format),
        ),
        (
            "offered_qos_profiles".into(),
            if version < ROSBAG2_VERSION {
                Node::text(qos_text::with_numbers(&topic.offered_qos_profiles))
            } else {
                qos_text::to_node(&topic.offered_qos_profiles)
            },
        ),
        (
            "type_description_hash".into(),
            Node::text(&topic.type_description_hash),
        ),
    ];
    for (key, value) in &record.extra {
        if let Some(key) = key.strip_prefix(INNER) {
            metadata.push((key.to_owned(), value.clone()));
        }
    }
    let mut map = vec![
        ("topic_metadata".into(), Node::Map(metadata)),
        ("message_count".into(), Node::number(record.message_count)),
    ];
    if let Some(statistics) = &record.statistics {
        map.push((
            "statistics".into(),
            Node::Map(statistics_entries(statistics)),
        ));
    }
    if !record.timeline.is_empty() {
        let timeline = timeline_node(&record.timeline);
        map.push(("missing_by_time".into(), timeline));
    }
    map.extend(found_again_entry(&record.found_again));
    map.extend(
        record
            .extra
            .iter()
            .filter(|(key, _)| !key.starts_with(INNER))
            .cloned(),
    );
    Node::Map(map)
}

fn file_entries(file: &FileRecord, with_statistics: bool) -> Vec<(String, Node)> {
    let mut map = vec![
        ("path".into(), Node::text(&file.path)),
        (
            "starting_time".into(),
            one("nanoseconds_since_epoch", file.starting_time_ns),
        ),
        ("duration".into(), one("nanoseconds", file.duration_ns)),
        ("message_count".into(), Node::number(file.message_count)),
    ];
    if with_statistics || !file.topics_statistics.is_empty() {
        let topics = file.topics_statistics.iter().map(|(name, statistics)| {
            let mut entries = vec![("topic_name".to_owned(), Node::text(name))];
            entries.extend(statistics_entries(statistics));
            Node::Map(entries)
        });
        map.push(("topics_statistics".into(), Node::Sequence(topics.collect())));
    }
    map.extend(file.extra.iter().cloned());
    map
}
