//! The bags of a query, as they were when they were opened.

mod planned;

use std::collections::BTreeMap;
use std::fmt;
use std::path::Path;
use std::sync::Arc;

use datafusion::error::{DataFusionError, Result as DataFusionResult};
use timeloom_bag::storage::FileInfo;
use timeloom_bag::{BagReader, HostClockRecord, StorageReader as _, TopicAccount, TopicId};

pub(crate) use self::planned::{PlannedBag, planned_topics};
use crate::findings::Findings;
use crate::{BagSource, Error, Result};

/// All bags with what opens them.
pub(crate) struct BagSet {
    pub(crate) bags: Vec<Bag>,
    pub(crate) source: Arc<dyn BagSource>,
    pub(crate) findings: Arc<Findings>,
}

/// A bag before a message of it was read.
#[derive(Debug)]
pub(crate) struct Bag {
    /// The name in column `bag`.
    pub(crate) name: String,
    /// As it was given, for the source.
    pub(crate) uri: String,
    pub(crate) storage: String,
    pub(crate) files: u64,
    pub(crate) info: FileInfo,
    /// The history of the clock of the recording host.
    pub(crate) host_clock: Vec<HostClockRecord>,
    /// The account of each topic.
    accounts: Vec<Option<TopicAccount>>,
    /// Whether messages may be missing.
    pub(crate) is_damaged: bool,
    /// What another process saw of it when it planned the query; `None` when this one opened it.
    pub(crate) planned: Option<PlannedBag>,
}

impl fmt::Debug for BagSet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list()
            .entries(self.bags.iter().map(|bag| &bag.name))
            .finish()
    }
}

impl BagSet {
    /// Opens every bag once and remembers what it holds.
    pub(crate) fn open(source: Arc<dyn BagSource>, uris: &[String]) -> Result<Self> {
        if uris.is_empty() {
            return Err(Error::NoBags);
        }
        let findings = Arc::new(Findings::default());
        let names = names(uris);
        let mut bags = Vec::with_capacity(uris.len());
        for (uri, name) in uris.iter().zip(names) {
            bags.push(open(source.as_ref(), uri, name, &findings)?);
        }
        Ok(Self {
            bags,
            source,
            findings,
        })
    }
}

impl BagSet {
    /// Opens a bag to read it; it must be as it was planned.
    pub(crate) fn open_bag(&self, bag: &Bag) -> DataFusionResult<BagReader> {
        let reader = self.source.open(&bag.uri);
        let reader =
            reader.map_err(|error| DataFusionError::Execution(format!("{}: {error}", bag.name)))?;
        planned::check(bag, reader.info())?;
        Ok(reader)
    }
}

fn open(source: &dyn BagSource, uri: &str, name: String, findings: &Findings) -> Result<Bag> {
    let reader = source.open(uri).map_err(|source| Error::Bag {
        bag: uri.to_owned(),
        source,
    })?;
    let info = reader.info().clone();
    // A `metadata.yaml` that is missing or wrong costs no message.
    let costly = |damage: &&String| !damage.starts_with(timeloom_bag::metadata::METADATA_FILE);
    for damage in info.damage.iter().filter(costly) {
        findings.add_opened(format!("{name}: {damage}"));
    }
    let metadata = reader.bags().iter().filter_map(|bag| bag.metadata.as_ref());
    let host_clock = metadata.flat_map(|it| HostClockRecord::history(&it.custom_data));
    let files = reader.bags().iter().flat_map(|bag| &bag.files);
    Ok(Bag {
        storage: files
            .clone()
            .next()
            .map_or("", |file| file.storage.name())
            .to_owned(),
        files: u64::try_from(files.count()).unwrap_or(u64::MAX),
        is_damaged: info.damage.iter().any(|damage| costly(&damage)),
        uri: uri.to_owned(),
        name,
        info,
        host_clock: host_clock.collect(),
        accounts: reader.accounts().to_vec(),
        planned: None,
    })
}

impl Bag {
    /// The topics that a test takes, by id.
    pub(crate) fn topics(&self, mut takes: impl FnMut(usize) -> bool) -> Vec<TopicId> {
        (0..self.info.topics.len())
            .filter(|index| takes(*index))
            .filter_map(TopicId::from_index)
            .collect()
    }

    /// Messages of some topics, as the index says.
    pub(crate) fn count(&self, topics: &[TopicId]) -> u64 {
        let count = |topic: &TopicId| self.info.message_counts.get(topic.index()).copied();
        topics.iter().filter_map(count).sum()
    }

    /// A bag as a plan of another process describes it: opened when it is read.
    #[cfg(any(feature = "cluster", test))]
    pub(crate) fn planned(
        name: &str,
        uri: &str,
        planned: PlannedBag,
        topics: Vec<timeloom_bag::TopicInfo>,
    ) -> Self {
        Self {
            name: name.to_owned(),
            uri: uri.to_owned(),
            storage: String::new(),
            files: 0,
            info: FileInfo {
                topics,
                ..FileInfo::default()
            },
            host_clock: Vec::new(),
            accounts: Vec::new(),
            is_damaged: false,
            planned: Some(planned),
        }
    }

    /// The account of a topic by its number, if the recorder left one.
    pub(crate) fn account(&self, topic: usize) -> Option<&TopicAccount> {
        self.accounts.get(topic)?.as_ref()
    }
}

/// Short names that differ: the last part of each path, or all of it where that is not enough.
fn names(uris: &[String]) -> Vec<String> {
    let short = |uri: &String| {
        let name = Path::new(uri.trim_end_matches('/')).file_name();
        name.map_or_else(|| uri.clone(), |name| name.to_string_lossy().into_owned())
    };
    let mut uses: BTreeMap<String, usize> = BTreeMap::new();
    for uri in uris {
        *uses.entry(short(uri)).or_default() += 1;
    }
    let name = |uri: &String| match short(uri) {
        name if uses.get(&name) == Some(&1) => name,
        _ => uri.clone(),
    };
    uris.iter().map(name).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bags_have_short_names_unless_two_are_the_same() {
        let uris = ["/d/one/bag", "/d/two/bag/", "three.mcap"].map(str::to_owned);
        assert_eq!(names(&uris), ["/d/one/bag", "/d/two/bag/", "three.mcap"]);
        let uris = ["/d/one", "s3://b/two/"].map(str::to_owned);
        assert_eq!(names(&uris), ["one", "two"]);
    }
}
