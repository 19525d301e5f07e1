//! Rebuilds `metadata.yaml` from the files of a bag.

use std::path::Path;
use std::sync::Arc;

use crate::bag::{BagFile, BagLayout, bag_files, open_file, take_back};
use crate::metadata::{FileRecord, NO_START_TIME, TopicRecord, write_metadata_file};
use crate::storage::{FileAccount, FileInfo};
use crate::{
    BagMetadata, Error, LeftOut, LocalPlace, LossCause, Order, Query, RecorderLoss, Result,
    TopicAccount, TopicInfo, TopicStatistics, UnknownMessages,
};

/// The result of a rebuild.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ReindexReport {
    /// The metadata that was written.
    pub metadata: BagMetadata,
    /// Descriptions of damage.
    pub damage: Vec<String>,
    /// Descriptions of data that `ros2 bag` does not read: [`recover`](crate::recover()) rewrites such files.
    pub compatibility: Vec<String>,
}

/// Rebuilds `metadata.yaml` of a bag directory with version 9 or 10 from all its messages.
///
/// Every message is read and checked, so that the counts, times and sizes are exact. Lost and left out messages are
/// taken from the accounts of the files; other fields of the old metadata are kept.
///
/// ```no_run
/// let report = timeloom_bag::reindex("my_bag".as_ref(), 9)?;
/// println!("{:?}", report.damage);
/// # Ok::<(), timeloom_bag::Error>(())
/// ```
pub fn reindex(directory: &Path, version: u32) -> Result<ReindexReport> {
    rebuild(directory, version, false)
}

/// Like [`reindex`]; `files_are_gone` is whether files of the bag could not be read and are no longer part of it.
pub(crate) fn rebuild(
    directory: &Path,
    version: u32,
    files_are_gone: bool,
) -> Result<ReindexReport> {
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
    rebuild.interrupted = files_are_gone;
    for file in &files {
        rebuild.take_file(file, old.as_deref());
    }
    take_back(&mut rebuild.metadata);
    rebuild.keep_old(old.as_deref());
    rebuild.mark_unknown();
    write_metadata_file(directory, &rebuild.metadata)?;
    Ok(ReindexReport {
        metadata: rebuild.metadata,
        damage: rebuild.damage,
        compatibility: rebuild.compatibility,
    })
}

struct Rebuild {
    metadata: BagMetadata,
    /// The newest metadata inside the files, for fields that are not in the messages.
    embedded: Option<Arc<BagMetadata>>,
    damage: Vec<String>,
    /// Whether a file may have held more.
    interrupted: bool,
    compatibility: Vec<String>,
}

/// The contents of one file, by topic.
type FileContent = Vec<(TopicInfo, TopicAccount)>;

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
            interrupted: false,
            compatibility: Vec::new(),
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
        let content = match self.read_file(file, &name, unpack, old) {
            Ok(found) => found,
            Err(error) => {
                self.damage.push(format!("{name}: {error}"));
                self.interrupted = true;
                return;
            }
        };
        let mut total = TopicStatistics::default();
        let mut named = Vec::new();
        for (topic, account) in content {
            total.merge(&account.statistics);
            named.push((topic.name.clone(), account.statistics));
            let record = self.topic(&topic);
            record.message_count += account.statistics.messages_recorded;
            let statistics = record.statistics.get_or_insert_default();
            statistics.merge(&account.statistics);
            record.timeline.merge(&account.timeline);
            record.found_again.merge(&account.found_again);
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
            extra: if named.is_empty() {
                vec![FileRecord::closed_mark()]
            } else {
                Vec::new()
            },
            topics_statistics: named,
        });
    }

    fn read_file(
        &mut self,
        file: &BagFile,
        name: &str,
        unpack: Option<bool>,
        old: Option<&BagMetadata>,
    ) -> Result<FileContent> {
        // Sizes in the account are those of the stored payloads: messages are not unpacked.
        let mut reader = open_file(file, Some(false))?;
        let info = reader.info().clone();
        self.damage
            .extend(info.damage.iter().map(|damage| format!("{name}: {damage}")));
        let compatibility = info.compatibility.iter();
        self.compatibility
            .extend(compatibility.map(|text| format!("{name}: {text}")));
        let messages_packed = unpack.unwrap_or_else(|| {
            info.metadata
                .as_deref()
                .is_some_and(BagMetadata::compresses_messages)
        });
        if messages_packed {
            self.metadata.compression_format = "zstd".into();
            self.metadata.compression_mode = "MESSAGE".into();
        }
        if self.metadata.ros_distro.is_empty() {
            self.metadata.ros_distro.clone_from(&info.ros_distro);
        }
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
        let known = known_account(&info, old, name);
        self.interrupted |= known.as_ref().is_some_and(|known| known.interrupted);
        self.embedded = info.metadata.or(self.embedded.take());
        Ok(match known {
            Some(account) => account.with_messages(info.topics, &statistics),
            None => FileAccount::default().with_messages(info.topics, &statistics),
        })
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

    /// Keeps the fields that neither messages nor accounts of files contain.
    fn keep_old(&mut self, old: Option<&BagMetadata>) {
        let embedded = self.embedded.take();
        let Some(base) = old.or(embedded.as_deref()) else {
            return;
        };
        self.metadata.custom_data.clone_from(&base.custom_data);
        self.metadata.extra.clone_from(&base.extra);
        if !base.ros_distro.is_empty() {
            self.metadata.ros_distro.clone_from(&base.ros_distro);
        }
        // The totals of a finished bag whose files are all unchanged are exact.
        let whole = old.is_some_and(|old| {
            !old.is_unfinished()
                && self.damage.is_empty()
                && !self.interrupted
                && old.relative_file_paths == self.metadata.relative_file_paths
                && old.message_count == self.metadata.message_count
        });
        let is_finished = old.is_some_and(BagMetadata::is_finished);
        let per_file = base
            .files
            .iter()
            .any(|file| !file.topics_statistics.is_empty());
        for record in &base.topics {
            let kept = self.topic(&record.topic);
            let Some(known) = record.statistics else {
                if is_finished {
                    // A bag without accounts still has the number of its messages.
                    let gone = record.message_count.saturating_sub(kept.message_count);
                    let account = kept
                        .statistics
                        .get_or_insert_with(TopicStatistics::uncounted);
                    account.lost_in_recorder.add(LossCause::Storage, gone);
                }
                continue;
            };
            let account = kept.statistics.get_or_insert_default();
            if whole || !per_file {
                let recorded = *account;
                *account = known.missing_only();
                account.merge(&TopicStatistics {
                    messages_lost_in_transport: 0,
                    lost_in_recorder: RecorderLoss::default(),
                    left_out: LeftOut::default(),
                    unknown: UnknownMessages::default(),
                    ..recorded
                });
                kept.timeline.clone_from(&record.timeline);
            }
            account.unknown.interrupted |= known.unknown.interrupted;
        }
    }

    /// Unknown messages of one file are unknown for every topic of the bag.
    fn mark_unknown(&mut self) {
        if self.interrupted {
            self.metadata.set_interrupted();
            for record in &mut self.metadata.topics {
                let statistics = record.statistics.get_or_insert_default();
                statistics.unknown.interrupted = true;
            }
        }
    }
}

/// The account of a file: its own, or, if that is missing or incomplete, that of the finished bag.
pub(crate) fn known_account(
    info: &FileInfo,
    old: Option<&BagMetadata>,
    name: &str,
) -> Option<FileAccount> {
    let own = info.account.as_deref().cloned();
    // A recovered file is complete, too, and marked as interrupted.
    let ends = info
        .metadata
        .as_deref()
        .is_some_and(BagMetadata::is_finished);
    if own.as_ref().is_some_and(|own| ends || !own.interrupted) {
        return own;
    }
    let Some(old) = old.filter(|old| old.is_finished()) else {
        return own;
    };
    if let Some(known) = account_in(old, name) {
        return Some(known);
    }
    // The recorder ended normally, so that the bag's counts show what a file lost that was damaged later.
    let counts_only = old.topics.iter().all(|record| record.statistics.is_none());
    if counts_only {
        return own.map(|_| FileAccount::default());
    }
    own
}

/// The account of one file in the metadata of its bag.
fn account_in(metadata: &BagMetadata, file: &str) -> Option<FileAccount> {
    let plain = file.strip_suffix(".zstd").unwrap_or(file);
    let is_it = |known: &&FileRecord| known.path == file || known.path == plain;
    let record = metadata.files.iter().find(is_it)?;
    let topics = record.topics_statistics.iter().map(|(name, statistics)| {
        let topic = metadata.topics.iter().find(|it| it.topic.name == *name);
        TopicRecord {
            topic: topic.map_or_else(TopicInfo::default, |it| it.topic.clone()),
            statistics: Some(*statistics),
            ..TopicRecord::default()
        }
    });
    let topics: Vec<_> = topics.filter(|it| !it.topic.name.is_empty()).collect();
    let interrupted = metadata.is_interrupted();
    (interrupted || !topics.is_empty()).then_some(FileAccount {
        counts_missing: !topics.is_empty(),
        topics,
        interrupted,
    })
}
