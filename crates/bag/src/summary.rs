//! What opening a bag tells, without its messages.

use std::sync::Arc;

use crate::metadata::METADATA_FILE;
use crate::{BagReader, StorageId, StorageReader as _, TopicInfo, TopicStatistics};

/// The contents of a bag as its index has them: enough to plan a query without opening the bag.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct BagSummary {
    /// Topics by dense id. Bags with the same topics may share them.
    pub topics: Arc<[TopicInfo]>,
    /// Messages per topic by dense id.
    pub message_counts: Vec<u64>,
    /// The account of each topic by dense id; `None` where the bag keeps none, so that its losses are not known.
    pub statistics: Vec<Option<TopicStatistics>>,
    /// Log time of the first message.
    pub start_time_ns: Option<i64>,
    /// Log time of the last message.
    pub end_time_ns: Option<i64>,
    /// The ROS distribution, empty if the bag does not say it.
    pub ros_distro: String,
    /// The storage of the first file; `None` for a bag without files.
    pub storage: Option<StorageId>,
    /// Number of files with messages.
    pub files: u64,
    /// Bytes of everything in the folder of the bag, or of the single file.
    pub file_size: u64,
    /// Descriptions of damage; empty when the bag is whole.
    pub damage: Vec<String>,
}

impl BagSummary {
    /// The summary of an open bag.
    pub fn of(reader: &BagReader) -> Self {
        let info = reader.info();
        let files = || reader.bags().iter().flat_map(|bag| &bag.files);
        let accounts = reader.accounts().iter();
        Self {
            topics: info.topics.clone().into(),
            message_counts: info.message_counts.clone(),
            statistics: accounts
                .map(|account| account.as_ref().map(|account| account.statistics))
                .collect(),
            start_time_ns: info.start_time_ns,
            end_time_ns: info.end_time_ns,
            ros_distro: info.ros_distro.clone(),
            storage: files().next().map(|file| file.storage),
            files: u64::try_from(files().count()).unwrap_or(u64::MAX),
            file_size: info.file_size,
            damage: info.damage.clone(),
        }
    }

    /// Messages of all topics.
    pub fn message_count(&self) -> u64 {
        self.message_counts
            .iter()
            .fold(0, |sum, count| sum.saturating_add(*count))
    }

    /// The damage that may cost messages; a `metadata.yaml` that is missing or wrong costs none.
    ///
    /// Each text begins with the name of the file, unless that is the name of the bag.
    pub fn costly_damage<'s>(&'s self, bag: &'s str) -> impl Iterator<Item = &'s str> {
        let bag = bag.rsplit('/').next().unwrap_or(bag);
        let costly = |damage: &&String| !damage.starts_with(METADATA_FILE);
        self.damage.iter().filter(costly).map(move |damage| {
            let own = damage.strip_prefix(bag);
            own.and_then(|text| text.strip_prefix(": "))
                .unwrap_or(damage)
        })
    }
}
