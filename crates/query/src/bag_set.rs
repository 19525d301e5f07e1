//! The bags of a query, as they were when they were opened.

mod open;
mod planned;

use std::collections::BTreeMap;
use std::fmt;
use std::path::Path;
use std::sync::{Arc, OnceLock};

use datafusion::error::{DataFusionError, Result as DataFusionResult};
use timeloom_bag::{
    BagReader, BagSummary, HostClockRecord, StorageReader as _, TopicAccount, TopicId,
};

pub(crate) use self::open::try_map;
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
    pub(crate) info: Arc<BagSummary>,
    /// Whether messages may be missing.
    pub(crate) is_damaged: bool,
    /// What only few queries need; a bag that was not opened is opened for it.
    details: OnceLock<Details>,
    /// Whether `info` is by a catalogue, and no reader has confirmed it.
    is_catalogued: bool,
    /// What another process saw of it when it planned the query; `None` when this one opened it.
    pub(crate) planned: Option<PlannedBag>,
}

/// What a summary does not have.
#[derive(Debug)]
pub(crate) struct Details {
    /// The history of the clock of the recording host.
    pub(crate) host_clock: Vec<HostClockRecord>,
    /// The account of each topic.
    pub(crate) accounts: Vec<Option<TopicAccount>>,
}

impl fmt::Debug for BagSet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list()
            .entries(self.bags.iter().map(|bag| &bag.name))
            .finish()
    }
}

impl BagSet {
    /// Opens every bag that the source knows no summary of, several at a time, and remembers what they hold.
    pub(crate) fn open(source: Arc<dyn BagSource>, uris: &[String]) -> Result<Self> {
        if uris.is_empty() {
            return Err(Error::NoBags);
        }
        let findings = Arc::new(Findings::default());
        let names = names(uris);
        let named: Vec<(&String, String)> = uris.iter().zip(names).collect();
        let found = try_map(&named, |(uri, name)| {
            match Bag::find(source.as_ref(), uri, name) {
                Err(error) if !source.may_be_unreadable(uri) => Err(Error::Bag {
                    bag: (*uri).clone(),
                    source: error,
                }),
                found => Ok(found),
            }
        })?;
        let mut bags = Vec::with_capacity(uris.len());
        for ((_, name), found) in named.iter().zip(found) {
            match found {
                Ok(bag) => {
                    for damage in bag.info.costly_damage(name) {
                        findings.add_opened(format!("{name}: {damage}"));
                    }
                    bags.push(bag);
                }
                Err(error) => findings.add_opened(format!("{name}: cannot be opened: {error}")),
            }
        }
        Ok(Self {
            bags,
            source,
            findings,
        })
    }

    /// A set without bags, for the columns of tables.
    pub(crate) fn empty(source: &Arc<dyn BagSource>) -> Self {
        Self {
            bags: Vec::new(),
            source: Arc::clone(source),
            findings: Arc::default(),
        }
    }

    /// Opens a bag to read it; the error names the bag.
    pub(crate) fn open_bag(&self, bag: &Bag) -> DataFusionResult<BagReader> {
        let reader = self.reader(bag);
        reader.map_err(|error| DataFusionError::Execution(format!("{}: {error}", bag.name)))
    }

    /// A new reader of a bag. One that the catalogue, the plan or the first reader described otherwise is an error.
    fn reader(&self, bag: &Bag) -> timeloom_bag::Result<BagReader> {
        let reader = self.source.open(&bag.uri)?;
        if bag.is_catalogued && *bag.info != BagSummary::of(&reader) {
            return Err(timeloom_bag::Error::Place {
                source: "the bag changed since its catalogue was read; ask again".into(),
            });
        }
        planned::check(bag, reader.info())?;
        if bag.planned.is_none() && !planned::continues(&bag.info, reader.info()) {
            return Err(timeloom_bag::Error::Place {
                source: "the bag was replaced during the query; run it again".into(),
            });
        }
        Ok(reader)
    }

    /// What the summary of a bag does not have; opens a bag that was not opened before.
    pub(crate) fn details<'a>(&self, bag: &'a Bag) -> timeloom_bag::Result<&'a Details> {
        if let Some(details) = bag.details.get() {
            return Ok(details);
        }
        let details = Details::of(&self.reader(bag)?);
        Ok(bag.details.get_or_init(|| details))
    }
}

impl Details {
    fn of(reader: &BagReader) -> Self {
        let metadata = reader.bags().iter().filter_map(|bag| bag.metadata.as_ref());
        let host_clock = metadata.flat_map(|it| HostClockRecord::history(&it.custom_data));
        Self {
            host_clock: host_clock.collect(),
            accounts: reader.accounts().to_vec(),
        }
    }
}

impl Bag {
    fn find(source: &dyn BagSource, uri: &str, name: &str) -> timeloom_bag::Result<Self> {
        let known = source.summary(uri);
        let is_catalogued = known.is_some();
        let details = OnceLock::new();
        let info = if let Some(info) = known {
            info
        } else {
            let reader = source.open(uri)?;
            details.get_or_init(|| Details::of(&reader));
            Arc::new(BagSummary::of(&reader))
        };
        let is_damaged = info.costly_damage(name).next().is_some();
        Ok(Self {
            name: name.to_owned(),
            uri: uri.to_owned(),
            is_damaged,
            info,
            details,
            is_catalogued,
            planned: None,
        })
    }

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

    /// The name of the storage, empty for a bag without files.
    pub(crate) fn storage(&self) -> &'static str {
        self.info.storage.map_or("", timeloom_bag::StorageId::name)
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
            info: Arc::new(BagSummary {
                topics: topics.into(),
                ..BagSummary::default()
            }),
            is_damaged: false,
            details: OnceLock::new(),
            is_catalogued: false,
            planned: Some(planned),
        }
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
