use std::path::PathBuf;

use timeloom_bag::bag::FinishedBag;
use timeloom_bag::{BagMetadata, LossCause, TopicStatistics, WriteOutcome};
use timeloom_time::Duration;

use super::end_reason::EndReason;
use super::shared::Shared;
use super::status::TopicStatus;

/// The result of a recording.
#[derive(Debug)]
pub struct Report {
    /// The directory of the bag.
    pub directory: PathBuf,
    /// Why it ended.
    pub reason: EndReason,
    /// Its duration.
    pub elapsed: Duration,
    /// The final account of each topic; nothing is in flight.
    pub topics: Vec<TopicStatus>,
    /// The metadata of the bag.
    pub metadata: BagMetadata,
    /// The number of old files that were deleted.
    pub deleted_files: usize,
    /// Messages in those files.
    pub deleted_messages: u64,
    /// Topics, services and actions that were selected by name and never appeared.
    pub absent: Vec<String>,
    /// The first error when the bag was closed.
    pub error: Option<timeloom_bag::Error>,
}

impl Report {
    pub(super) fn new(shared: &Shared, summary: FinishedBag, outcome: WriteOutcome) -> Self {
        let progress = shared.progress();
        let reason = progress.ended.clone().unwrap_or(EndReason::Asked);
        let vanished = reason == EndReason::Vanished;
        // The bag has the topics in the order of their declaration.
        let in_bag = |name: &str| {
            let records = summary.metadata.topics.iter();
            let place = records
                .into_iter()
                .position(|record| record.topic.name == name);
            place.and_then(|place| summary.topics.get(place)).copied()
        };
        let inputs = shared.inputs.all();
        let topics = inputs.iter().enumerate().map(|(index, input)| {
            let counts = input.counts();
            let live = progress.topics.get(index).copied().unwrap_or_default();
            // A topic that could not be declared is not in the bag.
            let mut statistics =
                in_bag(&input.name).unwrap_or_else(|| counts.complete(&live.statistics));
            if vanished {
                lose_all(&mut statistics);
            }
            TopicStatus {
                name: input.name.clone(),
                type_name: input.type_name.clone(),
                statistics,
                repeated: live.repeated,
                in_flight: 0,
            }
        });
        Self {
            directory: shared.directory.clone(),
            reason,
            elapsed: shared.clock.now() - shared.started,
            topics: topics.collect(),
            absent: shared
                .options
                .selection
                .absent(inputs.iter().map(|input| input.name.as_str())),
            deleted_files: summary.deleted_files,
            deleted_messages: summary.deleted_messages,
            error: outcome.error,
            metadata: summary.metadata,
        }
    }

    /// All topics in one account.
    pub fn total(&self) -> TopicStatistics {
        let mut total = TopicStatistics::default();
        for topic in &self.topics {
            total.merge(&topic.statistics);
        }
        total
    }
}

/// Messages in files that were deleted by another program are lost.
fn lose_all(statistics: &mut TopicStatistics) {
    let gone = statistics.messages_recorded;
    statistics.messages_recorded = 0;
    statistics.bytes_written = 0;
    statistics.lost_in_recorder.add(LossCause::Storage, gone);
}
