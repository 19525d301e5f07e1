//! Reads two bags side by side and compares them.

mod topic;

use std::collections::BTreeMap;

use timeloom_bag::{BagReader, Query, StorageReader as _, TopicId, TopicInfo};
use timeloom_msg::TypeResolver;

use crate::align::{Side, Waiting};
use crate::report::{BagSide, Comparison, Kind, TopicReport, TopicSide};
use crate::{Alignment, Error, Result, Rules};
use topic::TopicCompare;

/// Options of a comparison.
#[derive(Debug, Clone)]
pub struct CompareOptions {
    /// The alignment of messages.
    pub alignment: Alignment,
    /// The tolerances of values.
    pub rules: Rules,
    /// Kinds of differences that do not count.
    pub ignore: Vec<Kind>,
    /// Largest difference of the rates, as a share; `None` does not judge rates.
    pub rate_tolerance: Option<f64>,
    /// The topics to compare; `None` is all of them.
    pub topics: Option<Vec<String>>,
    /// First log time to compare in each bag, inclusive.
    pub start_ns: [Option<i64>; 2],
    /// Last log time to compare in each bag, inclusive.
    pub end_ns: [Option<i64>; 2],
    /// Memory for messages that wait for their partner, in bytes.
    pub memory: usize,
}

impl Default for CompareOptions {
    fn default() -> Self {
        Self {
            alignment: Alignment::default(),
            rules: Rules::default(),
            ignore: Vec::new(),
            rate_tolerance: None,
            topics: None,
            start_ns: [None; 2],
            end_ns: [None; 2],
            memory: 256 << 20,
        }
    }
}

/// Compares two bags. Both are read once; the memory is bounded by [`CompareOptions::memory`].
///
/// `names` are the names of the bags in the report. Readable parts are compared; damaged parts are in the report.
///
/// # Errors
/// When a bag cannot be read, or messages cannot be aligned as the options ask.
pub fn compare(
    left: &mut BagReader,
    right: &mut BagReader,
    names: [&str; 2],
    options: &CompareOptions,
    resolver: &TypeResolver,
) -> Result<Comparison> {
    let mut session = Session::new([left, right], names, options, resolver)?;
    session.read()?;
    Ok(session.finish())
}

/// A message that waits for its partner.
pub(crate) struct Item {
    /// The number of the message within its topic, from 1.
    pub(crate) ordinal: u64,
    /// Log time since the start of the bag.
    pub(crate) time_ns: i64,
    pub(crate) payload: Vec<u8>,
}

impl Waiting for Item {
    fn bytes(&self) -> usize {
        self.payload.len() + 64
    }
}

struct Session<'a> {
    readers: [&'a mut BagReader; 2],
    names: [&'a str; 2],
    options: &'a CompareOptions,
    starts: [i64; 2],
    /// For each bag, which of `topics` a topic id is.
    slots: [Vec<Option<usize>>; 2],
    topics: Vec<TopicCompare<'a>>,
    /// Topics that only one bag has.
    alone: Vec<TopicReport>,
    /// Memory of the messages that wait, by bag.
    waiting: [usize; 2],
    given_up: u64,
}

impl<'a> Session<'a> {
    fn new(
        readers: [&'a mut BagReader; 2],
        names: [&'a str; 2],
        options: &'a CompareOptions,
        resolver: &TypeResolver,
    ) -> Result<Self> {
        let starts = [&readers[0], &readers[1]]
            .map(|reader| reader.info().start_time_ns.unwrap_or_default());
        let sides = [&readers[0], &readers[1]].map(|reader| wanted_topics(reader, options));
        let length = [&readers[0], &readers[1]].map(|reader| duration(reader));
        let length = length[0].max(length[1]).max(1);
        let (pairs, lefts, rights) = pair_topics(&sides);
        let mut session = Self {
            slots: [&readers[0], &readers[1]].map(|reader| vec![None; reader.info().topics.len()]),
            readers,
            names,
            options,
            starts,
            topics: Vec::new(),
            alone: Vec::new(),
            waiting: [0; 2],
            given_up: 0,
        };
        for (left, right) in pairs {
            let infos = [
                &session.readers[0].info().topics[left],
                &session.readers[1].info().topics[right],
            ];
            let distros = [0, 1].map(|side| session.readers[side].info().ros_distro.clone());
            let sides = [
                side_of(session.readers[0], left),
                side_of(session.readers[1], right),
            ];
            let topic = TopicCompare::new(infos, sides, &distros, length, options, resolver)?;
            session.slots[0][left] = Some(session.topics.len());
            session.slots[1][right] = Some(session.topics.len());
            session.topics.push(topic);
        }
        for (side, alone) in [(Side::Left, lefts), (Side::Right, rights)] {
            for id in alone {
                let reader = &session.readers[side.index()];
                let name = reader.info().topics[id].name.clone();
                let kind = [Kind::OnlyLeft, Kind::OnlyRight][side.index()];
                let mut report = TopicReport::alone(name, side, side_of(reader, id));
                if !options.ignore.contains(&kind) && !is_ignored(&report.name, options) {
                    report.kinds.push(kind);
                }
                session.alone.push(report);
            }
        }
        Ok(session)
    }

    fn read(&mut self) -> Result<()> {
        for side in [Side::Left, Side::Right] {
            let query = self.query(side);
            let started = self.readers[side.index()].start(&query);
            started.map_err(|error| self.error(side, error))?;
        }
        let mut more = [true; 2];
        while more[0] || more[1] {
            // The bag with less to wait for is behind.
            let side = match more {
                [true, true] if self.waiting[0] > self.waiting[1] => Side::Right,
                [true, _] => Side::Left,
                _ => Side::Right,
            };
            let advanced = self.readers[side.index()].advance();
            match advanced {
                Ok(true) => self.take(side)?,
                Ok(false) => more[side.index()] = false,
                Err(error) => return Err(self.error(side, error)),
            }
        }
        for topic in &mut self.topics {
            topic.finish();
        }
        Ok(())
    }

    /// The messages of a bag that are compared.
    fn query(&self, side: Side) -> Query {
        let slots = self.slots[side.index()].iter().enumerate();
        let ids = slots.filter(|(_, slot)| slot.is_some());
        Query {
            topics: Some(ids.filter_map(|(id, _)| TopicId::from_index(id)).collect()),
            start_ns: self.options.start_ns[side.index()],
            end_ns: self.options.end_ns[side.index()],
            ..Query::default()
        }
    }

    /// Takes the current message of a bag.
    fn take(&mut self, side: Side) -> Result<()> {
        let Some(message) = self.readers[side.index()].message() else {
            return Ok(());
        };
        let slot = self.slots[side.index()].get(message.topic.index());
        let Some(topic) = slot
            .copied()
            .flatten()
            .and_then(|slot| self.topics.get_mut(slot))
        else {
            return Ok(());
        };
        let time_ns = message
            .log_time_ns
            .saturating_sub(self.starts[side.index()]);
        let change = topic.add(side, time_ns, &message)?;
        for (waiting, change) in self.waiting.iter_mut().zip(change) {
            *waiting = waiting.saturating_add_signed(change);
        }
        while self.waiting[0] + self.waiting[1] > self.options.memory {
            self.give_up_oldest();
        }
        Ok(())
    }

    /// Counts a message as without a partner, to stay within the memory.
    fn give_up_oldest(&mut self) {
        let side = if self.waiting[0] >= self.waiting[1] {
            Side::Left
        } else {
            Side::Right
        };
        let largest = self
            .topics
            .iter_mut()
            .max_by_key(|topic| topic.waiting_bytes(side));
        let Some(topic) = largest else { return };
        let change = topic.give_up_oldest(side);
        for (waiting, change) in self.waiting.iter_mut().zip(change) {
            *waiting = waiting.saturating_add_signed(change);
        }
        self.given_up += 1;
    }

    fn finish(self) -> Comparison {
        let mut topics = self.alone;
        topics.extend(self.topics.into_iter().map(TopicCompare::report));
        topics.sort_by(|a, b| a.name.cmp(&b.name));
        let [left, right] = [Side::Left, Side::Right].map(|side| {
            let info = self.readers[side.index()].info();
            BagSide {
                name: self.names[side.index()].to_owned(),
                topics: info.topics.len(),
                messages: info.message_count(),
                duration_ns: duration(self.readers[side.index()]),
                damage: info.damage.clone(),
            }
        });
        Comparison {
            left,
            right,
            topics,
            given_up: self.given_up,
        }
    }

    fn error(&self, side: Side, source: timeloom_bag::Error) -> Error {
        Error::Bag {
            bag: self.names[side.index()].to_owned(),
            source,
        }
    }
}

fn duration(reader: &BagReader) -> i64 {
    let info = reader.info();
    match (info.start_time_ns, info.end_time_ns) {
        (Some(start), Some(end)) => end.saturating_sub(start),
        _ => 0,
    }
}

/// Whether a topic is ignored as a whole.
fn is_ignored(topic: &str, options: &CompareOptions) -> bool {
    options.rules.of_topic(topic).ignores_all()
}

/// The ids of the topics that are to be compared.
fn wanted_topics(reader: &BagReader, options: &CompareOptions) -> Vec<(usize, TopicInfo)> {
    let wanted = |topic: &TopicInfo| {
        let named = options.topics.as_ref();
        named.is_none_or(|names| names.contains(&topic.name)) && !is_ignored(&topic.name, options)
    };
    let topics = reader.info().topics.iter().enumerate();
    topics
        .filter(|(_, topic)| wanted(topic))
        .map(|(id, topic)| (id, topic.clone()))
        .collect()
}

type Paired = (Vec<(usize, usize)>, Vec<usize>, Vec<usize>);

/// Pairs topics of one name and type; then those of one name, whose types differ.
fn pair_topics(sides: &[Vec<(usize, TopicInfo)>; 2]) -> Paired {
    let mut rights: BTreeMap<usize, &TopicInfo> =
        sides[1].iter().map(|(id, topic)| (*id, topic)).collect();
    let mut pairs = Vec::new();
    let mut lefts = Vec::new();
    for (id, topic) in &sides[0] {
        let same =
            |other: &TopicInfo| other.name == topic.name && other.type_name == topic.type_name;
        match find(&rights, same) {
            Some(right) => {
                rights.remove(&right);
                pairs.push((*id, right));
            }
            None => lefts.push((*id, topic)),
        }
    }
    let mut alone = Vec::new();
    for (id, topic) in lefts {
        match find(&rights, |other| other.name == topic.name) {
            Some(right) => {
                rights.remove(&right);
                pairs.push((id, right));
            }
            None => alone.push(id),
        }
    }
    (pairs, alone, rights.into_keys().collect())
}

fn find(
    topics: &BTreeMap<usize, &TopicInfo>,
    is_wanted: impl Fn(&TopicInfo) -> bool,
) -> Option<usize> {
    let mut found = topics.iter().filter(|(_, topic)| is_wanted(topic));
    found.next().map(|(id, _)| *id)
}

/// A topic of a bag.
fn side_of(reader: &BagReader, id: usize) -> TopicSide {
    let info = reader.info();
    let topic = &info.topics[id];
    let account = reader.accounts().get(id).and_then(Option::as_ref);
    let statistics = account.map(|account| &account.statistics);
    TopicSide {
        type_name: topic.type_name.clone(),
        type_hash: topic.type_description_hash.clone(),
        qos: qos_text(&topic.offered_qos_profiles),
        messages: info.message_counts.get(id).copied().unwrap_or_default(),
        rate_hz: None,
        lost: statistics.and_then(|statistics| statistics.known(statistics.messages_lost())),
        unknown: statistics.and_then(|statistics| statistics.known(statistics.unknown.at_most())),
        unknown_is_open: statistics.is_some_and(|statistics| statistics.unknown.is_open()),
    }
}

/// The offered profiles in one spelling, each once; the text itself where it cannot be read.
fn qos_text(yaml: &str) -> String {
    let Ok(profiles) = timeloom_msg::qos::parse_profiles(yaml) else {
        return yaml.to_owned();
    };
    let mut texts: Vec<String> = profiles
        .iter()
        .map(|profile| {
            format!(
                "{} {} {} depth {}",
                profile.reliability.name(),
                profile.durability.name(),
                profile.history.name(),
                profile.depth
            )
        })
        .collect();
    texts.sort();
    texts.dedup();
    texts.join(", ")
}
