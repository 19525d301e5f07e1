//! The metadata of a bag as its files are added and removed.

use crate::metadata::{FileRecord, NO_START_TIME, TopicRecord};
use crate::storage::{FileSummary, WriteOutcome};
use crate::{BagMetadata, MissingCause, TopicAccount, TopicInfo, TopicStatistics};

/// Number of accounts per file and topic in a bag's metadata. Every file has its own; a bag of very many files does not
/// repeat them all, so that the memory of a recorder and the time of a split stay bounded.
const MAX_FILE_ACCOUNTS: usize = 8192;

/// Adds a file that was just opened.
pub(super) fn add_open_file(metadata: &mut BagMetadata, topics: &[TopicInfo], name: &str) {
    metadata.relative_file_paths.push(name.to_owned());
    metadata.files.push(FileRecord::open(name));
    for topic in topics.get(metadata.topics.len()..).unwrap_or_default() {
        metadata.topics.push(TopicRecord::new(topic));
    }
}

/// Removes the file that [`add_open_file`] added.
pub(super) fn remove_open_file(metadata: &mut BagMetadata) {
    metadata.relative_file_paths.pop();
    metadata.files.pop();
}

/// The same bag without its files and counts.
pub(super) fn without_files(metadata: &BagMetadata) -> BagMetadata {
    let mut base = BagMetadata {
        version: metadata.version,
        storage_identifier: metadata.storage_identifier.clone(),
        starting_time_ns: NO_START_TIME,
        compression_format: metadata.compression_format.clone(),
        compression_mode: metadata.compression_mode.clone(),
        custom_data: metadata.custom_data.clone(),
        ros_distro: metadata.ros_distro.clone(),
        ..BagMetadata::default()
    };
    if metadata.is_interrupted() {
        base.set_interrupted();
    }
    base
}

/// The account of each topic in a file, including messages missing before the storage.
pub(super) fn with_missing(summary: &FileSummary, missing: &[TopicAccount]) -> Vec<TopicAccount> {
    let stored = summary.topics.iter().map(|statistics| TopicAccount {
        statistics: *statistics,
        ..TopicAccount::default()
    });
    let mut topics: Vec<_> = stored.collect();
    topics.resize(topics.len().max(missing.len()), TopicAccount::default());
    for (topic, missing) in topics.iter_mut().zip(missing) {
        topic.merge(missing);
    }
    topics
}

/// Adds the times of messages that the storage lost when it was closed.
pub(super) fn add_times(accounts: &mut [TopicAccount], outcome: &WriteOutcome) {
    for lost in &outcome.unwritten {
        if let Some(account) = accounts.get_mut(lost.topic.index()) {
            let cause = MissingCause::Recorder(lost.cause);
            account
                .timeline
                .add(lost.first_time_ns, cause, lost.messages);
        }
    }
}

/// Adds a finished file.
pub(crate) fn add_file(
    metadata: &mut BagMetadata,
    topics: &[TopicInfo],
    name: &str,
    accounts: &[TopicAccount],
) {
    let mut total = TopicStatistics::default();
    for (index, topic) in topics.iter().enumerate() {
        if metadata.topics.len() <= index {
            metadata.topics.push(TopicRecord::new(topic));
        }
        let Some(file) = accounts.get(index) else {
            continue;
        };
        total.merge(&file.statistics);
        if let Some(record) = metadata.topics.get_mut(index) {
            record.message_count += file.statistics.messages_recorded;
            let statistics = record.statistics.get_or_insert_default();
            statistics.merge(&file.statistics);
            record.timeline.merge(&file.timeline);
            record.found_again.merge(&file.found_again);
        }
    }
    let (start, end) = (total.first_time_ns, total.last_time_ns);
    let file_start = start.unwrap_or(NO_START_TIME);
    metadata.relative_file_paths.push(name.to_owned());
    let mut record = FileRecord {
        path: name.to_owned(),
        starting_time_ns: file_start,
        duration_ns: end.map_or(0, |end| end.saturating_sub(file_start)),
        message_count: total.messages_recorded,
        ..FileRecord::default()
    };
    if accounts.is_empty() {
        record.extra.push(FileRecord::closed_mark());
    }
    let kept = metadata
        .files
        .iter()
        .map(|file| file.topics_statistics.len());
    if kept.sum::<usize>() + topics.len() <= MAX_FILE_ACCOUNTS || metadata.files.is_empty() {
        let accounts = topics.iter().zip(accounts);
        let named = accounts.map(|(topic, file)| (topic.name.clone(), file.statistics));
        record.topics_statistics = named.collect();
    }
    metadata.files.push(record);
    metadata.message_count += total.messages_recorded;
    let end = end.into_iter().chain(metadata.ending_time_ns()).max();
    metadata.starting_time_ns = metadata.starting_time_ns.min(file_start);
    metadata.duration_ns = end.map_or(0, |end| end.saturating_sub(metadata.starting_time_ns));
}

/// Takes back messages that earlier files counted as missing and later files found.
pub(crate) fn take_back(metadata: &mut BagMetadata) {
    for record in &mut metadata.topics {
        record.take_back_found();
    }
}

/// Removes the first file and its account from the metadata; returns the number of its messages.
///
/// The account is carried on in a later file; the times stay.
pub(super) fn forget_first_file(metadata: &mut BagMetadata, accounts: &[TopicStatistics]) -> u64 {
    if metadata.files.is_empty() || metadata.relative_file_paths.is_empty() {
        return 0;
    }
    metadata.relative_file_paths.remove(0);
    let gone = metadata.files.remove(0);
    let starts = metadata.files.iter().map(|file| file.starting_time_ns);
    let start = starts.min().unwrap_or(NO_START_TIME);
    for (record, account) in metadata.topics.iter_mut().zip(accounts) {
        let total = record.statistics.get_or_insert_default();
        subtract(total, account);
        let begins_in = |name: &str, file: &FileRecord| {
            let mut topics = file.topics_statistics.iter();
            topics.find(|(topic, _)| topic == name).map_or_else(
                || Some(file.starting_time_ns),
                |(_, file)| file.first_time_ns,
            )
        };
        let begins = metadata.files.iter();
        let begins = begins.filter_map(|file| begins_in(&record.topic.name, file));
        total.first_time_ns = begins.min().filter(|_| total.messages_recorded > 0);
        total.last_time_ns = total.last_time_ns.filter(|_| total.messages_recorded > 0);
        record.message_count = total.messages_recorded;
    }
    metadata.message_count = metadata
        .topics
        .iter()
        .map(|record| record.message_count)
        .sum();
    metadata.starting_time_ns = start;
    let with_messages = metadata.files.iter().filter(|file| file.message_count > 0);
    let ends = with_messages.map(|file| file.starting_time_ns.saturating_add(file.duration_ns));
    let end = ends.max().unwrap_or(metadata.starting_time_ns);
    metadata.duration_ns = end.saturating_sub(metadata.starting_time_ns);
    gone.message_count
}

fn subtract(total: &mut TopicStatistics, part: &TopicStatistics) {
    let less = |from: &mut u64, part: u64| *from = from.saturating_sub(part);
    less(&mut total.messages_recorded, part.messages_recorded);
    less(&mut total.bytes_written, part.bytes_written);
    let mut rest = TopicStatistics {
        lost_in_recorder: crate::RecorderLoss::default(),
        left_out: crate::LeftOut::default(),
        messages_lost_in_transport: 0,
        ..*total
    };
    for cause in MissingCause::all() {
        rest.miss(
            cause,
            total.missing(cause).saturating_sub(part.missing(cause)),
        );
    }
    less(&mut rest.unknown.before_first, part.unknown.before_first);
    less(
        &mut rest.unknown.open_publishers,
        part.unknown.open_publishers,
    );
    less(&mut rest.unknown.unplaced, part.unknown.unplaced);
    *total = rest;
}
