//! The metadata of a bag as its files come and go.

use crate::metadata::{FileRecord, NO_START_TIME, TopicRecord};
use crate::storage::FileSummary;
use crate::{BagMetadata, LossTimeline, MissingCause, TopicAccount, TopicInfo, TopicStatistics};

/// The metadata with a file that was just opened.
pub(super) fn with_open_file(
    mut metadata: BagMetadata,
    topics: &[TopicInfo],
    name: &str,
) -> BagMetadata {
    metadata.relative_file_paths.push(name.to_owned());
    metadata.files.push(FileRecord {
        path: name.to_owned(),
        starting_time_ns: NO_START_TIME,
        ..FileRecord::default()
    });
    for topic in topics.get(metadata.topics.len()..).unwrap_or_default() {
        metadata.topics.push(TopicRecord::new(topic));
    }
    metadata
}

/// The same bag without its files and counts.
pub(super) fn without_files(metadata: &BagMetadata) -> BagMetadata {
    BagMetadata {
        version: metadata.version,
        storage_identifier: metadata.storage_identifier.clone(),
        starting_time_ns: NO_START_TIME,
        compression_format: metadata.compression_format.clone(),
        compression_mode: metadata.compression_mode.clone(),
        custom_data: metadata.custom_data.clone(),
        ros_distro: metadata.ros_distro.clone(),
        ..BagMetadata::default()
    }
}

/// The account of each topic in a file, with what went missing before the storage.
pub(super) fn with_missing(summary: &FileSummary, missing: &[TopicAccount]) -> Vec<TopicAccount> {
    let stored = summary.topics.iter().map(|statistics| TopicAccount {
        statistics: *statistics,
        timeline: LossTimeline::default(),
    });
    let mut topics: Vec<_> = stored.collect();
    topics.resize(topics.len().max(missing.len()), TopicAccount::default());
    for (topic, missing) in topics.iter_mut().zip(missing) {
        topic.merge(missing);
    }
    topics
}

/// The metadata with one more finished file.
pub(super) fn with_file(
    mut metadata: BagMetadata,
    topics: &[TopicInfo],
    name: &str,
    accounts: &[TopicAccount],
) -> BagMetadata {
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
        }
    }
    let (start, end) = (total.first_time_ns, total.last_time_ns);
    let file_start = start.unwrap_or(NO_START_TIME);
    metadata.relative_file_paths.push(name.to_owned());
    metadata.files.push(FileRecord {
        path: name.to_owned(),
        starting_time_ns: file_start,
        duration_ns: end.map_or(0, |end| end.saturating_sub(file_start)),
        message_count: total.messages_recorded,
        topics_statistics: topics
            .iter()
            .zip(accounts)
            .map(|(topic, file)| (topic.name.clone(), file.statistics))
            .collect(),
        extra: Vec::new(),
    });
    metadata.message_count += total.messages_recorded;
    let end = end.into_iter().chain(metadata.ending_time_ns()).max();
    metadata.starting_time_ns = metadata.starting_time_ns.min(file_start);
    metadata.duration_ns = end.map_or(0, |end| end.saturating_sub(metadata.starting_time_ns));
    metadata
}

/// Takes messages back that were counted as missing and came after all.
pub(super) fn take_back(metadata: &mut BagMetadata, found_again: &[TopicStatistics]) {
    for (record, found) in metadata.topics.iter_mut().zip(found_again) {
        if let Some(statistics) = &mut record.statistics {
            statistics.find_all(found);
            for cause in MissingCause::all() {
                record.timeline.take_back(cause, found.missing(cause));
            }
        }
    }
}

/// Takes the first file out of the metadata; gives how many messages it had.
pub(super) fn forget_first_file(metadata: &mut BagMetadata) -> u64 {
    if metadata.files.is_empty() || metadata.relative_file_paths.is_empty() {
        return 0;
    }
    metadata.relative_file_paths.remove(0);
    let gone = metadata.files.remove(0);
    metadata.message_count = 0;
    for record in &mut metadata.topics {
        let mut left = TopicStatistics::default();
        for file in &metadata.files {
            let of_topic = file
                .topics_statistics
                .iter()
                .filter(|(name, _)| *name == record.topic.name);
            of_topic.for_each(|(_, statistics)| left.merge(statistics));
        }
        record.message_count = left.messages_recorded;
        metadata.message_count += left.messages_recorded;
        record.statistics = Some(left);
    }
    let starts = metadata.files.iter().map(|file| file.starting_time_ns);
    metadata.starting_time_ns = starts.min().unwrap_or(NO_START_TIME);
    let with_messages = metadata.files.iter().filter(|file| file.message_count > 0);
    let ends = with_messages.map(|file| file.starting_time_ns.saturating_add(file.duration_ns));
    let end = ends.max().unwrap_or(metadata.starting_time_ns);
    metadata.duration_ns = end.saturating_sub(metadata.starting_time_ns);
    gone.message_count
}
