//! The suite that every storage passes; a new storage is complete when [`run`] returns.
//!
//! It panics with a sentence when the storage breaks the contract of [`StorageWriter`] or [`StorageReader`].

mod checks;

use std::path::Path;

use crate::storage::FileSummary;
use crate::{
    BagMetadata, Message, MessageDefinition, Query, Result, StorageReader, StorageWriter, TopicId,
    TopicInfo,
};

/// A storage under test.
pub trait Subject {
    /// Name of the storage in messages and file names.
    fn name(&self) -> &str;
    /// Creates a file.
    fn create(&self, path: &Path, metadata: Option<&BagMetadata>)
    -> Result<Box<dyn StorageWriter>>;
    /// Opens a file.
    fn open(&self, path: &Path) -> Result<Box<dyn StorageReader>>;
    /// Whether publish times and sequence numbers survive.
    fn keeps_publish_time(&self) -> bool;
}

/// Runs all checks of the suite in an empty directory.
pub fn run(subject: &dyn Subject, directory: &Path) {
    for (name, check) in checks::ALL {
        let path = directory.join(format!("{}_{name}", subject.name()));
        check(subject, &path);
    }
}

/// A message that owns its payload, for comparisons.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OwnedMessage {
    /// Name of the topic.
    pub topic: String,
    /// Log time.
    pub log_time_ns: i64,
    /// Publish time.
    pub publish_time_ns: i64,
    /// Its sequence number.
    pub sequence: u32,
    /// Its payload.
    pub data: Vec<u8>,
}

/// Reads everything that a query selects.
pub fn read_all(reader: &mut dyn StorageReader, query: &Query) -> Result<Vec<OwnedMessage>> {
    reader.start(query)?;
    let names: Vec<String> = reader
        .info()
        .topics
        .iter()
        .map(|topic| topic.name.clone())
        .collect();
    let mut messages = Vec::new();
    while let Some(message) = reader.next_message()? {
        messages.push(owned(&names, &message));
    }
    Ok(messages)
}

/// Copies a message.
pub fn owned(names: &[String], message: &Message<'_>) -> OwnedMessage {
    OwnedMessage {
        topic: names
            .get(message.topic.index())
            .cloned()
            .unwrap_or_default(),
        log_time_ns: message.log_time_ns,
        publish_time_ns: message.publish_time_ns,
        sequence: message.sequence,
        data: message.data.to_vec(),
    }
}

/// Topics with all properties that a bag keeps.
pub fn sample_topics() -> Vec<TopicInfo> {
    ["/imu", "/camera", "/never"]
        .into_iter()
        .zip([
            "sensor_msgs/msg/Imu",
            "sensor_msgs/msg/Image",
            "std_msgs/msg/String",
        ])
        .map(|(name, type_name)| TopicInfo {
            offered_qos_profiles: "- history: keep_last\n  depth: 10".into(),
            type_description_hash: format!("RIHS01_{}", "5".repeat(64)),
            definition: MessageDefinition {
                encoding: "ros2msg".into(),
                text: format!("# {type_name}\nuint8[] data\n"),
            },
            ..TopicInfo::new(name, type_name)
        })
        .collect()
}

/// Messages of the first two topics: several sizes, out of order, with equal times.
pub fn sample_messages() -> Vec<(TopicId, i64, Vec<u8>)> {
    let sizes = [0usize, 1, 3, 100, 4096, 300_000];
    (0..120i64)
        .map(|k| {
            let jitter = (k * 7919) % 13 - 6;
            let size = sizes[usize::try_from(k).unwrap_or(0) % sizes.len()];
            let fill = u8::try_from(k % 251).unwrap_or(0);
            (
                TopicId(u32::from(k % 3 == 0)),
                1_000_000_000 + (k / 2) * 1000 + jitter * 500,
                vec![fill; size],
            )
        })
        .collect()
}

/// Writes a file with [`sample_topics`] and [`sample_messages`] and returns the expected messages, in file order.
pub fn write_sample(subject: &dyn Subject, path: &Path) -> (Vec<OwnedMessage>, FileSummary) {
    let mut writer = subject
        .create(path, None)
        .expect("a new file can be created");
    let topics = sample_topics();
    for (index, topic) in topics.iter().enumerate() {
        let id = writer.add_topic(topic).expect("a topic can be added");
        assert_eq!(id.index(), index, "ids are dense");
    }
    let samples = sample_messages();
    let messages: Vec<Message<'_>> = (0u32..)
        .zip(&samples)
        .map(|(sequence, (topic, time, data))| Message {
            topic: *topic,
            log_time_ns: *time,
            publish_time_ns: *time - 10,
            sequence,
            data,
        })
        .collect();
    for batch in messages.chunks(7) {
        let outcome = writer.write(batch, 0);
        assert!(
            outcome.is_ok(),
            "a write to a healthy disk succeeds: {outcome:?}"
        );
    }
    let (summary, outcome) = writer.finish(&mut |_| sample_metadata());
    assert!(outcome.is_ok(), "a file can be finished: {outcome:?}");
    let names: Vec<String> = topics.iter().map(|topic| topic.name.clone()).collect();
    let mut expected: Vec<_> = messages
        .iter()
        .map(|message| owned(&names, message))
        .collect();
    if !subject.keeps_publish_time() {
        for message in &mut expected {
            message.publish_time_ns = message.log_time_ns;
            message.sequence = 0;
        }
    }
    (expected, summary)
}

/// Metadata to embed.
pub fn sample_metadata() -> BagMetadata {
    BagMetadata {
        version: 9,
        storage_identifier: "any".into(),
        ros_distro: "jazzy".into(),
        custom_data: vec![("operator".into(), "ana".into())],
        ..BagMetadata::default()
    }
}
