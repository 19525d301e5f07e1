//! The first pass over the bags: everything that says something about the clocks of their hosts.

use std::collections::{BTreeMap, BTreeSet};

use timeloom_bag::convert::{OnDamage, Progress};
use timeloom_bag::{
    BagReader, HostClockRecord, MergedHost, Message, Query, StorageReader as _, TopicId, TopicInfo,
};
use timeloom_sync::Crossing;
use timeloom_trace::{AnyTag, TAG_TYPE, TagView};

use crate::error::{Error, Result};
use crate::message_pairs::MessagePairs;
use crate::options::MergeOptions;
use crate::publishers::Publishers;
use crate::tag_links::TagLinks;

/// A node is on the host of a recorder if both steady clocks started within this time of each other, in nanoseconds.
const SAME_BOOT: u64 = 100_000_000;
/// Tags that differ more from their log time are in simulated time, in nanoseconds.
const SIMULATED: u64 = 60_000_000_000;

/// A recorder's host as its bag describes it.
#[derive(Debug, Clone, Default)]
pub(crate) struct RecordedHost {
    pub(crate) name: String,
    pub(crate) clock: Vec<HostClockRecord>,
    pub(crate) start_ns: Option<i64>,
    pub(crate) end_ns: Option<i64>,
}

impl RecordedHost {
    fn has_boot(&self, boot_ns: i64) -> bool {
        let boots = self.clock.iter().filter_map(HostClockRecord::boot_ns);
        boots
            .into_iter()
            .any(|boot| boot.abs_diff(boot_ns) <= SAME_BOOT)
    }
}

/// The evidence in the bags about the clocks of their hosts.
#[derive(Debug, Default)]
pub struct Survey {
    pub(crate) hosts: Vec<RecordedHost>,
    pub(crate) publishers: Publishers,
    pub(crate) pairs: MessagePairs,
    pub(crate) tags: TagLinks,
    /// Nodes by the topic whose tags name them.
    pub(crate) nodes: BTreeMap<String, BTreeSet<String>>,
    /// Topics that more than one bag has.
    pub(crate) shared: BTreeSet<String>,
}

/// Reads all messages of the bags once; `names` are the names of their hosts.
///
/// # Errors
///
/// When a bag cannot be read, or is a merged bag whose times are by several clocks.
pub fn survey(
    reader: &mut BagReader,
    names: &[String],
    options: &MergeOptions,
    progress: &mut dyn FnMut(Progress),
) -> Result<Survey> {
    let count = reader.bags().len();
    if count < 2 {
        return Err(Error::TooFew { count });
    }
    let mut survey = Survey {
        hosts: hosts(reader, names)?,
        ..Survey::default()
    };
    for (topic, bag) in &options.published_on {
        survey.publishers.declare(topic, *bag);
    }
    let topics: Vec<TopicInfo> = reader.info().topics.clone();
    survey.shared = shared(reader, &topics);
    let wanted = topics
        .iter()
        .enumerate()
        .filter(|(_, topic)| !is_latched(topic));
    let query = Query {
        topics: Some(
            wanted
                .filter_map(|(place, _)| TopicId::from_index(place))
                .collect(),
        ),
        ..Query::default()
    };
    let total = reader.info().message_count();
    reader.start(&query)?;
    let mut messages = 0;
    loop {
        match reader.advance() {
            Ok(true) => {}
            Ok(false) => return Ok(survey),
            // The second pass meets and reports it.
            Err(error) if options.on_damage == OnDamage::Skip && error.is_damage() => continue,
            Err(error) => return Err(error.into()),
        }
        let (Some(message), Some((bag, _))) = (reader.message(), reader.location()) else {
            continue;
        };
        if messages % 1000 == 0 {
            progress(Progress {
                messages,
                total,
                log_time_ns: message.log_time_ns,
            });
        }
        messages += 1;
        if let Some(topic) = topics.get(message.topic.index()) {
            survey.take(bag, topic, &message);
        }
    }
}

impl Survey {
    fn take(&mut self, bag: usize, topic: &TopicInfo, message: &Message<'_>) {
        let name = topic.name.as_str();
        let crossing = Crossing {
            sent_ns: message.publish_time_ns,
            received_ns: message.log_time_ns,
        };
        self.publishers.message(name, bag, crossing);
        if self.shared.contains(name) {
            self.pairs.take(bag, name, message);
        }
        if topic.type_name == TAG_TYPE
            && let Ok(AnyTag::Full(tag)) = AnyTag::parse(message.data)
        {
            self.tag(name, &tag, message.log_time_ns);
        }
    }

    fn tag(&mut self, tag_topic: &str, tag: &TagView<'_>, log_time_ns: i64) {
        let published = tag.published;
        if published.ros.nanos().abs_diff(log_time_ns) > SIMULATED {
            return;
        }
        if !published.steady.is_zero() && !published.ros.is_zero() {
            let boot_ns = published
                .ros
                .nanos()
                .saturating_sub(published.steady.nanos());
            let mut at_home = self
                .hosts
                .iter()
                .enumerate()
                .filter(|(_, host)| host.has_boot(boot_ns));
            if let (Some((bag, _)), None) = (at_home.next(), at_home.next()) {
                self.publishers.boot(tag.topic, bag);
                self.publishers.boot(tag_topic, bag);
            }
        }
        // Tags of TILDE have no node name: the topic identifies the node.
        let node = if tag.node.is_empty() {
            tag.topic
        } else {
            tag.node
        };
        let nodes = self.nodes.entry(tag.topic.to_owned()).or_default();
        if !nodes.contains(node) {
            nodes.insert(node.to_owned());
        }
        self.tags.take(tag);
    }
}

fn hosts(reader: &BagReader, names: &[String]) -> Result<Vec<RecordedHost>> {
    let bags = reader.bags().iter().enumerate();
    let hosts = bags.map(|(place, bag)| {
        let name = names
            .get(place)
            .cloned()
            .unwrap_or_else(|| format!("bag {place}"));
        let files = || {
            reader
                .file_infos()
                .filter(move |(number, _)| *number == place)
        };
        let embedded = files().find_map(|(_, info)| info.metadata.as_ref());
        let metadata = bag.metadata.as_ref().or(embedded);
        let custom_data = metadata.map_or(&[][..], |metadata| &metadata.custom_data);
        let merged = MergedHost::read(custom_data);
        if merged.len() > 1 && merged.iter().any(|host| !host.corrected) {
            return Err(Error::Merged { name });
        }
        Ok(RecordedHost {
            name,
            clock: HostClockRecord::history(custom_data),
            start_ns: files().filter_map(|(_, info)| info.start_time_ns).min(),
            end_ns: files().filter_map(|(_, info)| info.end_time_ns).max(),
        })
    });
    hosts.collect()
}

/// The topics that more than one bag has, by the files of the bags.
fn shared(reader: &BagReader, topics: &[TopicInfo]) -> BTreeSet<String> {
    let mut bags: BTreeMap<&str, BTreeSet<usize>> = BTreeMap::new();
    for (bag, info) in reader.file_infos() {
        for (topic, count) in info.topics.iter().zip(&info.message_counts) {
            if *count > 0 {
                bags.entry(topic.name.as_str()).or_default().insert(bag);
            }
        }
    }
    let several = topics.iter().filter(|topic| {
        let bags = bags.get(topic.name.as_str());
        bags.is_some_and(|bags| bags.len() > 1)
    });
    several.map(|topic| topic.name.clone()).collect()
}

/// Late joiners get old messages of such a topic: their delay is not that of a path.
fn is_latched(topic: &TopicInfo) -> bool {
    let profiles = &topic.offered_qos_profiles;
    profiles.contains("durability: 1") || profiles.contains("transient_local")
}
