//! Rebuilds `metadata.yaml` from the files of a bag.

use std::path::Path;

use crate::bag::{BagFile, BagLayout, bag_files, open_file};
use crate::metadata::{FileRecord, NO_START_TIME, TopicRecord, write_metadata_file};
use crate::{BagMetadata, Error, LocalPlace, Order, Query, Result, TopicInfo, TopicStatistics};

/// What a rebuild found.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ReindexReport {
    /// The metadata that was written.
    pub metadata: BagMetadata,
    /// What is wrong with the files, in words.
    pub damage: Vec<String>,
}

/// Rebuilds `metadata.yaml` of a bag directory with version 9 or 10 from all its messages.
///
/// Every message is read and checked, so the counts, times and sizes are exact. What only the old metadata knows is
/// kept: custom data, topics without messages, lost messages.
pub fn reindex(directory: &Path, version: u32) -> Result<ReindexReport> {
    let files = bag_files(&LocalPlace, directory)?;
    if files.is_empty() {
        return Err(Error::NotABag {
            path: directory.to_path_buf(),
            reason: "it holds no .mcap or .db3 files",
        });
    }
    let old = BagLayout::find(directory)
        .ok()
        .and_then(|layout| layout.metadata);
    let mut rebuild = Rebuild::new(
        version,
        files.first().map_or("mcap", |file| file.storage.name()),
    );
    for file in &files {
        rebuild.take_file(file, old.as_ref());
    }
    rebuild.keep_old(old.as_ref());
    write_metadata_file(directory, &rebuild.metadata)?;
    Ok(ReindexReport {
        metadata: rebuild.metadata,
        damage: rebuild.damage,
    })
}

struct Rebuild {
    metadata: BagMetadata,
    /// The newest metadata inside the files, for what is not in the messages.
    embedded: Option<BagMetadata>,
    damage: Vec<String>,
}

impl Rebuild {
    fn new(version: u32, storage: &str) -> Self {
        let metadata = BagMetadata {
            version,
            storage_identifier: storage.to_owned(),
            starting_time_ns: NO_START_TIME,
            ..BagMetadata::default()
        };
        Self {
            metadata,
            embedded: None,
            damage: Vec::new(),
        }
    }

    /// Reads a file and adds it; one that cannot be opened is named as damage.
    fn take_file(&mut self, file: &BagFile, old: Option<&BagMetadata>) {
        let name = file
            .path
            .file_name()
            .map(|name| name.to_string_lossy().into_owned())
            .unwrap_or_default();
        let unpack = old.map(BagMetadata::compresses_messages);
        let (topics, statistics) = match self.read_file(file, &name, unpack) {
            Ok(found) => found,
            Err(error) => {
                self.damage.push(format!("{name}: {error}"));
                return;
            }
        };
        let mut total = TopicStatistics::default();
        let mut named = Vec::new();
        for (topic, mut account) in topics.into_iter().zip(statistics) {
            self.add_losses(&mut account, old, &name, &topic.name);
            total.merge(&account);
            named.push((topic.name.clone(), account));
            let record = self.topic(&topic);
            record.message_count += account.messages_recorded;
            record.statistics.get_or_insert_default().merge(&account);
        }
        let start = total.first_time_ns.unwrap_or(NO_START_TIME);
        let end = total
            .last_time_ns
            .into_iter()
            .chain(self.metadata.ending_time_ns())
            .max();
        if name.strip_suffix(".zstd").is_some() {
            self.metadata.compression_format = "zstd".into();
            self.metadata.compression_mode = "FILE".into();
        }
        self.metadata.message_count += total.messages_recorded;
        self.metadata.starting_time_ns = self.metadata.starting_time_ns.min(start);
        self.metadata.duration_ns =
            end.map_or(0, |end| end.saturating_sub(self.metadata.starting_time_ns));
        self.metadata.relative_file_paths.push(name.clone());
        self.metadata.files.push(FileRecord {
            path: name,
            starting_time_ns: start,
            duration_ns: total
                .last_time_ns
                .map_or(0, |last| last.saturating_sub(start)),
            message_count: total.messages_recorded,
            topics_statistics: named,
            extra: Vec::new(),
        });
    }

    /// Adds what was lost while this file was written: from the old metadata, else from the file itself.
    fn add_losses(
        &self,
        account: &mut TopicStatistics,
        old: Option<&BagMetadata>,
        file: &str,
        topic: &str,
    ) {
        let plain = file.strip_suffix(".zstd").unwrap_or(file);
        let files = old
            .into_iter()
            .chain(&self.embedded)
            .flat_map(|metadata| &metadata.files);
        let known = files.filter(|known| known.path == file || known.path == plain);
        let mut accounts = known.flat_map(|known| &known.topics_statistics);
        if let Some((_, lost)) = accounts.find(|(name, _)| name == topic) {
            account.messages_lost_in_transport = lost.messages_lost_in_transport;
            account.lost_in_recorder = lost.lost_in_recorder;
            account.left_out = lost.left_out;
            account.unknown = lost.unknown;
        }
    }

    fn read_file(
        &mut self,
        file: &BagFile,
        name: &str,
        unpack: Option<bool>,
    ) -> Result<(Vec<TopicInfo>, Vec<TopicStatistics>)> {
        // Sizes in the account are those of the stored payloads: messages are not unpacked.
        let mut reader = open_file(file, Some(false))?;
        let info = reader.info().clone();
        self.damage
            .extend(info.damage.iter().map(|damage| format!("{name}: {damage}")));
        let messages_packed = unpack.unwrap_or_else(|| {
            info.metadata
                .as_ref()
                .is_some_and(BagMetadata::compresses_messages)
        });
        if messages_packed {
            self.metadata.compression_format = "zstd".into();
            self.metadata.compression_mode = "MESSAGE".into();
        }
        if self.metadata.ros_distro.is_empty() {
            self.metadata.ros_distro.clone_from(&info.ros_distro);
        }
        self.embedded = info.metadata.or(self.embedded.take());
        let mut statistics = vec![TopicStatistics::default(); info.topics.len()];
        reader.start(&Query {
            order: Order::File,
            ..Query::default()
        })?;
        loop {
            match reader.next_message() {
                Ok(Some(message)) => {
                    if let Some(account) = statistics.get_mut(message.topic.index()) {
                        account.record(message.log_time_ns, message.size());
                    }
                }
                Ok(None) => break,
                Err(error) => self.damage.push(format!("{name}: {error}")),
            }
        }
        Ok((info.topics, statistics))
    }

    fn topic(&mut self, topic: &TopicInfo) -> &mut TopicRecord {
        let topics = &mut self.metadata.topics;
        let at = topics.iter().position(|known| {
            known.topic.name == topic.name && known.topic.type_name == topic.type_name
        });
        let at = at.unwrap_or_else(|| {
            topics.push(TopicRecord::new(topic));
            topics.len() - 1
        });
        &mut topics[at]
    }

    /// Takes over what no message tells.
    fn keep_old(&mut self, old: Option<&BagMetadata>) {
        let embedded = self.embedded.take();
        let Some(base) = old.or(embedded.as_ref()) else {
            return;
        };
        self.metadata.custom_data.clone_from(&base.custom_data);
        self.metadata.extra.clone_from(&base.extra);
        if !base.ros_distro.is_empty() {
            self.metadata.ros_distro.clone_from(&base.ros_distro);
        }
        let per_file = base
            .files
            .iter()
            .any(|file| !file.topics_statistics.is_empty());
        for record in &base.topics {
            let kept = self.topic(&record.topic);
            // Without an account per file, only the total tells what was lost.
            if let (false, Some(lost)) = (per_file, &record.statistics) {
                let account = kept.statistics.get_or_insert_default();
                account.messages_lost_in_transport = lost.messages_lost_in_transport;
                account.lost_in_recorder = lost.lost_in_recorder;
                account.left_out = lost.left_out;
                account.unknown = lost.unknown;
            }
            kept.timeline.clone_from(&record.timeline);
        }
    }
}
