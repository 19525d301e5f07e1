//! The contents of a bag, as text and as JSON.

mod account_text;
mod render;
mod service_events;

pub use render::{InfoLayout, SortTopics, render};

use std::path::Path;
use std::sync::Arc;

use serde::Serialize;

use self::service_events::ServiceCounts;
use crate::bag::{BagFile, BagLayout};
use crate::mcap::McapReader;
use crate::metadata::NO_START_TIME;
use crate::source::{ZstdSource, is_compressed};
use crate::sqlite::SqliteReader;
use crate::{
    BagMetadata, BagReader, LocalPlace, LossTimeline, Place, Query, Result, StorageId,
    StorageReader, TopicAccount, TopicInfo, TopicStatistics,
};

/// The contents of a bag; [`render`] makes it text, serde makes it JSON.
///
/// ```no_run
/// use std::path::Path;
/// use timeloom_bag::BagInfo;
/// use timeloom_bag::info::{InfoLayout, render};
///
/// let info = BagInfo::open(Path::new("my_bag"))?;
/// print!("{}", render(&info, &InfoLayout::default()));
/// # Ok::<(), timeloom_bag::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct BagInfo {
    /// The files, as the metadata names them.
    pub files: Vec<String>,
    /// Size of the bag's directory, or of the single file.
    pub size_bytes: u64,
    /// `mcap` or `sqlite3`.
    pub storage_identifier: String,
    /// The distribution that recorded it; `unknown` when it is not stated.
    pub ros_distro: String,
    /// From the first to the last message.
    pub duration_ns: i64,
    /// Log time of the first message; `None` when there is none.
    pub start_time_ns: Option<i64>,
    /// Log time of the last message.
    pub end_time_ns: Option<i64>,
    /// Messages of ordinary topics; service events are not in it.
    pub message_count: u64,
    /// Ordinary topics.
    pub topics: Vec<TopicEntry>,
    /// Services whose events were recorded.
    pub services: Vec<ServiceEntry>,
    /// `zstd`, or empty.
    pub compression_format: String,
    /// `FILE`, `MESSAGE`, or empty.
    pub compression_mode: String,
    /// The user's own keys.
    pub custom_data: Vec<(String, String)>,
    /// Whether the recorder was killed, or files are lost: messages may be missing, and topics that are not listed.
    pub interrupted: bool,
    /// Descriptions of damage; empty when no damage was found.
    pub damage: Vec<String>,
    /// Descriptions of data that `ros2 bag` does not read although it is there; `recover` repairs it.
    pub compatibility: Vec<String>,
}

/// One topic of a bag.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct TopicEntry {
    /// Name.
    pub name: String,
    /// Type.
    #[serde(rename = "type")]
    pub type_name: String,
    /// Encoding of the payload.
    pub serialization_format: String,
    /// Messages.
    pub message_count: u64,
    /// RIHS01 hash of the type; may be empty.
    pub type_description_hash: String,
    /// `QoS` profiles as YAML text; may be empty.
    pub offered_qos_profiles: String,
    /// The account of the topic, if the bag has one.
    pub statistics: Option<TopicStatistics>,
    /// The times at which messages of the topic were lost or left out.
    pub timeline: LossTimeline,
    /// Payload bytes, when they are known or were counted.
    pub size_bytes: Option<u64>,
}

/// One service of a bag.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ServiceEntry {
    /// Name of the service.
    pub name: String,
    /// Type of the service.
    #[serde(rename = "type")]
    pub type_name: String,
    /// Encoding of the events.
    pub serialization_format: String,
    /// Recorded events.
    pub event_count: u64,
    /// Requests, once they were counted.
    pub request_count: Option<u64>,
    /// Responses, once they were counted.
    pub response_count: Option<u64>,
    /// The account of its events, if the bag has one.
    pub statistics: Option<TopicStatistics>,
    /// The times at which events were lost or left out.
    pub timeline: LossTimeline,
    /// Payload bytes of the events, when they are known or were counted.
    pub size_bytes: Option<u64>,
}

impl ServiceEntry {
    /// The sort key of `ros2 bag info --sort count`: requests and responses once they were counted, else events.
    fn count(&self) -> u64 {
        match (self.request_count, self.response_count) {
            (Some(requests), Some(responses)) => requests + responses,
            _ => self.event_count,
        }
    }
}

impl BagInfo {
    /// Reads the metadata and the summaries of the files, never the messages.
    ///
    /// Contradictions between metadata and files are listed in [`damage`](Self::damage).
    pub fn open(path: &Path) -> Result<Self> {
        Self::open_in(Arc::new(LocalPlace), path)
    }

    /// Like [`open`](Self::open), in any [`Place`].
    pub fn open_in(place: Arc<dyn Place>, path: &Path) -> Result<Self> {
        let layout = BagLayout::find_in(place.as_ref(), path)?;
        let size = layout.size();
        let usable = layout
            .metadata
            .as_ref()
            .filter(|metadata| !metadata.is_unfinished());
        let Some(metadata) = usable else {
            return Self::from_files(place, &layout, size);
        };
        let mut info = Self::from_metadata(metadata, size);
        info.damage.clone_from(&layout.damage);
        info.check_files(place.as_ref(), &layout)?;
        Ok(info)
    }

    fn from_metadata(metadata: &BagMetadata, size_bytes: u64) -> Self {
        let mut info = Self {
            files: metadata.relative_file_paths.clone(),
            size_bytes,
            storage_identifier: metadata.storage_identifier.clone(),
            ros_distro: if metadata.ros_distro.is_empty() {
                "unknown".into()
            } else {
                metadata.ros_distro.clone()
            },
            duration_ns: metadata.duration_ns,
            start_time_ns: (metadata.starting_time_ns != NO_START_TIME)
                .then_some(metadata.starting_time_ns),
            end_time_ns: metadata.ending_time_ns(),
            message_count: 0,
            topics: Vec::new(),
            services: Vec::new(),
            compression_format: metadata.compression_format.clone(),
            compression_mode: metadata.compression_mode.clone(),
            custom_data: metadata.custom_data.clone(),
            interrupted: metadata.is_interrupted(),
            damage: Vec::new(),
            compatibility: Vec::new(),
        };
        for record in &metadata.topics {
            let account = record.account();
            let size = record.statistics.map(|it| it.bytes_written);
            info.add_topic(&record.topic, record.message_count, account.as_ref(), size);
        }
        info
    }

    /// For bags whose metadata is missing, broken or that of a recording that never ended.
    fn from_files(place: Arc<dyn Place>, layout: &BagLayout, size_bytes: u64) -> Result<Self> {
        let reader = BagReader::open_in(place, &[&layout.path])?;
        let found = reader.info();
        let mut metadata = found.metadata.as_deref().cloned().unwrap_or_default();
        metadata.topics.clear();
        metadata.relative_file_paths = layout
            .files
            .iter()
            .map(|file| match &file.path {
                // A single file is shown as it was named, as rosbag2 does.
                path if *path == layout.path => path.display().to_string(),
                path => file_name(path),
            })
            .collect();
        let storage = layout
            .files
            .first()
            .map_or(StorageId::Mcap, |file| file.storage);
        storage.name().clone_into(&mut metadata.storage_identifier);
        metadata.ros_distro.clone_from(&found.ros_distro);
        metadata.starting_time_ns = found.start_time_ns.unwrap_or(NO_START_TIME);
        metadata.duration_ns = found
            .end_time_ns
            .unwrap_or(0)
            .saturating_sub(found.start_time_ns.unwrap_or(0));
        let mut info = Self::from_metadata(&metadata, size_bytes);
        let counted = found.topics.iter().zip(&found.message_counts);
        for ((topic, count), account) in counted.zip(reader.accounts()) {
            // The contents of an unfinished file are known from its messages only.
            let whole = account.as_ref().map(|it| it.statistics);
            let whole = whole.filter(|it| !it.unknown.interrupted);
            let size = whole.map(|it| it.bytes_written);
            info.add_topic(topic, *count, account.as_ref(), size);
        }
        info.interrupted = reader.is_interrupted();
        info.damage.clone_from(&found.damage);
        info.compatibility.clone_from(&found.compatibility);
        let never_ended = |metadata: &BagMetadata| {
            metadata.is_open() || metadata.message_count != found.message_count()
        };
        if layout.metadata.as_deref().is_some_and(never_ended) {
            info.damage
                .push("metadata.yaml is that of a recording that never ended".into());
        }
        Ok(info)
    }

    fn add_topic(
        &mut self,
        topic: &TopicInfo,
        message_count: u64,
        account: Option<&TopicAccount>,
        size_bytes: Option<u64>,
    ) {
        let statistics = account.map(|account| account.statistics);
        let timeline = account.map(|account| account.timeline.clone());
        let timeline = timeline.unwrap_or_default();
        // Like rosbag2 of Jazzy, which takes the events of actions for topics.
        let service = topic
            .service_name()
            .filter(|_| topic.type_name.contains("/srv/"));
        if let (Some(name), Some(type_name)) = (service, topic.service_type()) {
            self.services.push(ServiceEntry {
                name: name.to_owned(),
                type_name: type_name.to_owned(),
                serialization_format: topic.serialization_format.clone(),
                event_count: message_count,
                request_count: None,
                response_count: None,
                statistics,
                timeline,
                size_bytes,
            });
            return;
        }
        self.message_count += message_count;
        self.topics.push(TopicEntry {
            name: topic.name.clone(),
            type_name: topic.type_name.clone(),
            serialization_format: topic.serialization_format.clone(),
            message_count,
            type_description_hash: topic.type_description_hash.clone(),
            offered_qos_profiles: topic.offered_qos_profiles.clone(),
            statistics,
            timeline,
            size_bytes,
        });
    }

    /// Compares the metadata with the files, where that is cheap.
    fn check_files(&mut self, place: &dyn Place, layout: &BagLayout) -> Result<()> {
        for file in &layout.files {
            match self.check_file(place, file) {
                Err(error) if !error.is_damage() => return Err(error),
                Err(error) => self.damage.push(error.to_string()),
                Ok(()) => {}
            }
        }
        Ok(())
    }

    fn check_file(&mut self, place: &dyn Place, file: &BagFile) -> Result<()> {
        match file.storage {
            _ if is_compressed(&file.path) => ZstdSource::probe(place.open(&file.path)?.as_mut()),
            StorageId::Sqlite3 => SqliteReader::probe_in(place, &file.path),
            StorageId::Mcap => {
                let reader = McapReader::open_index(place, &file.path)?;
                self.check_mcap(file, &reader);
                Ok(())
            }
        }
    }

    fn check_mcap(&mut self, file: &BagFile, reader: &McapReader) {
        let (name, found) = (file_name(&file.path), reader.info());
        self.damage.extend(
            found
                .damage
                .iter()
                .map(|damage| format!("{name}: {damage}")),
        );
        let compatibility = found.compatibility.iter();
        self.compatibility
            .extend(compatibility.map(|text| format!("{name}: {text}")));
        let (claimed, held) = (
            file.record.as_ref().map(|record| record.message_count),
            found.message_count(),
        );
        if let Some(claimed) = claimed.filter(|claimed| *claimed != held) {
            self.damage.push(format!(
                "{name}: metadata.yaml claims {claimed} messages, the file holds {held}"
            ));
        }
    }

    /// Reads all messages once and adds the numbers that only they have: sizes of topics, requests and responses of
    /// services.
    pub fn count_messages(&mut self, mut reader: BagReader) -> Result<()> {
        reader.start(&Query {
            order: crate::Order::File,
            ..Query::default()
        })?;
        let topics = reader.info().topics.clone();
        let mut sizes = vec![0u64; topics.len()];
        let mut counts: Vec<ServiceCounts> =
            topics.iter().map(|_| ServiceCounts::default()).collect();
        while let Some(message) = reader.next_message()? {
            let at = message.topic.index();
            if let (Some(size), Some(count), Some(topic)) =
                (sizes.get_mut(at), counts.get_mut(at), topics.get(at))
            {
                *size += message.size();
                if topic.service_name().is_some() {
                    count.take(message.data);
                }
            }
        }
        for (at, topic) in topics.iter().enumerate() {
            if let Some(entry) = self
                .topics
                .iter_mut()
                .find(|entry| entry.name == topic.name)
            {
                entry.size_bytes = sizes.get(at).copied();
            }
            let service = topic.service_name();
            if let Some(entry) = self
                .services
                .iter_mut()
                .find(|entry| Some(entry.name.as_str()) == service)
            {
                entry.request_count = counts.get(at).map(ServiceCounts::requests);
                entry.response_count = counts.get(at).map(ServiceCounts::responses);
                entry.size_bytes = sizes.get(at).copied();
            }
        }
        Ok(())
    }
}

fn file_name(path: &Path) -> String {
    path.file_name()
        .map(|name| name.to_string_lossy().into_owned())
        .unwrap_or_default()
}
