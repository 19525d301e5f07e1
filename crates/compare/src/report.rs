//! The result of a comparison.

mod html;
mod text;
mod timeline;
mod verdict;

pub use html::html;
pub use text::text;
pub use timeline::{Timeline, TimelineCell};
pub use verdict::verdicts;

use serde::Serialize;

use crate::AlignBy;
use crate::align::Side;
use crate::compare::{CompareOptions, Item};
use crate::value_diff::{FieldDiff, Size, Unit};

/// Two bags compared.
#[derive(Debug, Clone, Serialize)]
pub struct Comparison {
    /// The first bag.
    pub left: BagSide,
    /// The second bag.
    pub right: BagSide,
    /// Every topic of either bag, by name.
    pub topics: Vec<TopicReport>,
    /// Messages that were counted as without a partner because the memory was full.
    pub given_up: u64,
}

impl Comparison {
    /// Whether no difference was found.
    pub fn is_same(&self) -> bool {
        self.topics.iter().all(TopicReport::is_same)
    }

    /// Whether parts of a bag could not be read.
    pub fn is_damaged(&self) -> bool {
        !self.left.damage.is_empty() || !self.right.damage.is_empty()
    }
}

/// One of the two bags.
#[derive(Debug, Clone, Serialize)]
pub struct BagSide {
    /// As the user named it.
    pub name: String,
    /// Number of topics.
    pub topics: usize,
    /// Number of messages.
    pub messages: u64,
    /// From its first to its last message.
    pub duration_ns: i64,
    /// Parts that could not be read.
    pub damage: Vec<String>,
}

/// A kind of difference.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Kind {
    /// Only the left bag has the topic.
    OnlyLeft,
    /// Only the right bag has the topic.
    OnlyRight,
    /// The types differ.
    Type,
    /// The offered QoS differs.
    Qos,
    /// Messages have no partner.
    Messages,
    /// Values differ.
    Values,
    /// Messages come in another order.
    Order,
    /// Rates differ by more than the tolerance.
    Rate,
    /// Different numbers of messages were lost or are unknown.
    Losses,
}

impl Kind {
    /// The kinds that `diff --allow` and plans of replay tests name together; `None` for another name.
    pub fn group(name: &str) -> Option<&'static [Self]> {
        let found = Self::GROUPS.iter().find(|(group, _)| *group == name);
        found.map(|(_, kinds)| *kinds)
    }

    /// The names of all groups, with their kinds.
    pub const GROUPS: [(&'static str, &'static [Self]); 7] = [
        ("topics", &[Self::OnlyLeft, Self::OnlyRight]),
        ("types", &[Self::Type]),
        ("qos", &[Self::Qos]),
        ("messages", &[Self::Messages]),
        ("values", &[Self::Values]),
        ("order", &[Self::Order]),
        ("losses", &[Self::Losses]),
    ];
}

/// A topic of either bag.
#[derive(Debug, Clone, Serialize)]
pub struct TopicReport {
    /// The name.
    pub name: String,
    /// The topic in the left bag.
    pub left: Option<TopicSide>,
    /// The topic in the right bag.
    pub right: Option<TopicSide>,
    /// The criterion that paired the messages.
    pub aligned_by: Option<&'static str>,
    /// The kinds of differences that count.
    pub kinds: Vec<Kind>,
    /// Pairs of messages without a difference.
    pub same: u64,
    /// Pairs of messages that differ.
    pub different: u64,
    /// Messages of the left bag without a partner.
    pub only_left: u64,
    /// Messages of the right bag without a partner.
    pub only_right: u64,
    /// Pairs in another order than in the left bag.
    pub reordered: u64,
    /// Messages that could not be decoded; they are compared byte by byte.
    pub undecoded: u64,
    /// The reason of the first of them.
    pub undecoded_reason: Option<String>,
    /// The fields that differ, in the order in which they were found.
    pub fields: Vec<FieldReport>,
    /// Fields that differ beyond the first thousand.
    pub fields_left_out: u64,
    /// Times at which messages are the same, differ, or have no partner.
    pub timeline: Timeline,
}

/// A topic in one of the bags.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct TopicSide {
    /// The full type.
    pub type_name: String,
    /// The RIHS01 hash of the type; empty when the bag does not have it.
    pub type_hash: String,
    /// The offered QoS.
    pub qos: String,
    /// Number of messages in the bag.
    pub messages: u64,
    /// The rate of the compared messages.
    pub rate_hz: Option<f64>,
    /// Number of lost messages; `None` when the bag has no account.
    pub lost: Option<u64>,
    /// Number of messages that may be missing; `None` when the bag has no account.
    pub unknown: Option<u64>,
    /// Whether more than that may be missing.
    pub unknown_is_open: bool,
}

/// A field that differs.
#[derive(Debug, Clone, Serialize)]
pub struct FieldReport {
    /// The path, with `[]` behind arrays.
    pub field: String,
    /// In how many pairs of messages it differs.
    pub messages: u64,
    /// Number of differing elements.
    pub elements: u64,
    /// The first difference.
    pub first: Difference,
    /// The largest difference.
    pub worst: Difference,
}

/// A difference of two values.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Difference {
    /// The number of the left message within its topic, from 1.
    pub message: u64,
    /// Its log time since the start of the left bag.
    pub time_ns: i64,
    /// The field with its indices.
    pub place: String,
    /// The left value.
    pub left: String,
    /// The right value.
    pub right: String,
    /// The difference, where values are numbers.
    pub delta: Option<f64>,
    /// The largest difference that the rules allow.
    pub allowed: Option<f64>,
    /// The unit of `delta` and `allowed`: empty, `rad` or `ns`.
    pub unit: &'static str,
}

/// More fields are counted only.
const MOST_FIELDS: usize = 1_000;

impl TopicReport {
    pub(crate) fn new(
        name: String,
        align_by: AlignBy,
        [left, right]: [TopicSide; 2],
        length_ns: i64,
    ) -> Self {
        Self {
            left: Some(left),
            right: Some(right),
            aligned_by: Some(align_by.name()),
            timeline: Timeline::new(length_ns),
            ..Self::empty(name)
        }
    }

    /// A topic that one bag does not have.
    pub(crate) fn alone(name: String, side: Side, topic: TopicSide) -> Self {
        let mut report = Self::empty(name);
        match side {
            Side::Left => {
                report.only_left = topic.messages;
                report.left = Some(topic);
            }
            Side::Right => {
                report.only_right = topic.messages;
                report.right = Some(topic);
            }
        }
        report
    }

    fn empty(name: String) -> Self {
        Self {
            name,
            left: None,
            right: None,
            aligned_by: None,
            kinds: Vec::new(),
            same: 0,
            different: 0,
            only_left: 0,
            only_right: 0,
            reordered: 0,
            undecoded: 0,
            undecoded_reason: None,
            fields: Vec::new(),
            fields_left_out: 0,
            timeline: Timeline::new(1),
        }
    }

    /// Whether no difference counts.
    pub fn is_same(&self) -> bool {
        self.kinds.is_empty()
    }

    pub(crate) fn single(&mut self, side: Side, item: &Item) {
        let cell = self.timeline.cell(item.time_ns);
        match side {
            Side::Left => {
                self.only_left += 1;
                cell.only_left += 1;
            }
            Side::Right => {
                self.only_right += 1;
                cell.only_right += 1;
            }
        }
    }

    pub(crate) fn pair(&mut self, left: &Item, differences: &[FieldDiff]) {
        let cell = self.timeline.cell(left.time_ns);
        if differences.is_empty() {
            self.same += 1;
            cell.same += 1;
            return;
        }
        self.different += 1;
        cell.different += 1;
        for difference in differences {
            self.field(left, difference);
        }
    }

    fn field(&mut self, item: &Item, found: &FieldDiff) {
        let difference = Difference::new(item, found);
        let known = self
            .fields
            .iter_mut()
            .find(|known| known.field == found.field);
        if let Some(known) = known {
            known.messages += 1;
            known.elements += found.elements;
            if difference.weight() > known.worst.weight() {
                known.worst = difference;
            }
        } else if self.fields.len() >= MOST_FIELDS {
            self.fields_left_out += 1;
        } else {
            self.fields.push(FieldReport {
                field: found.field.clone(),
                messages: 1,
                elements: found.elements,
                worst: difference.clone(),
                first: difference,
            });
        }
    }

    /// Decides which kinds of differences there are.
    pub(crate) fn close(
        &mut self,
        counts: [u64; 2],
        times: [Option<(i64, i64)>; 2],
        options: &CompareOptions,
    ) {
        let rates = [0, 1].map(|side| rate(counts[side], times[side]));
        let (Some(left), Some(right)) = (&mut self.left, &mut self.right) else {
            return;
        };
        left.rate_hz = rates[0];
        right.rate_hz = rates[1];
        let hashes = [&left.type_hash, &right.type_hash];
        let hashes_differ = hashes[0] != hashes[1] && hashes.iter().all(|hash| !hash.is_empty());
        let rates_differ = match (options.rate_tolerance, rates) {
            (Some(share), [Some(l), Some(r)]) => (l - r).abs() > share * l.max(r),
            _ => false,
        };
        let unknown = |side: &TopicSide| (side.lost, side.unknown, side.unknown_is_open);
        let both_have_accounts = left.lost.is_some() && right.lost.is_some();
        let found = [
            (
                Kind::Type,
                left.type_name != right.type_name || hashes_differ,
            ),
            (Kind::Qos, left.qos != right.qos),
            (Kind::Messages, self.only_left + self.only_right > 0),
            (Kind::Values, self.different > 0),
            (Kind::Order, self.reordered > 0),
            (Kind::Rate, rates_differ),
            (
                Kind::Losses,
                both_have_accounts && unknown(left) != unknown(right),
            ),
        ];
        let counts = found
            .into_iter()
            .filter(|(kind, found)| *found && !options.ignore.contains(kind));
        self.kinds = counts.map(|(kind, _)| kind).collect();
    }
}

fn rate(messages: u64, times: Option<(i64, i64)>) -> Option<f64> {
    let (first, last) = times?;
    let span = last.saturating_sub(first);
    (messages > 1 && span > 0).then(|| (messages - 1) as f64 * 1e9 / span as f64)
}

impl Difference {
    fn new(item: &Item, found: &FieldDiff) -> Self {
        let (delta, allowed, unit) = match found.size {
            Size::Unordered => (None, None, ""),
            Size::Measured {
                delta,
                allowed,
                unit,
            } => (
                Some(delta),
                Some(allowed),
                match unit {
                    Unit::None => "",
                    Unit::Radians => "rad",
                    Unit::Nanoseconds => "ns",
                },
            ),
        };
        Self {
            message: item.ordinal,
            time_ns: item.time_ns,
            place: found.place.clone(),
            left: found.left.clone(),
            right: found.right.clone(),
            delta,
            allowed,
            unit,
        }
    }

    /// For finding the largest difference.
    fn weight(&self) -> f64 {
        match (self.delta, self.allowed) {
            (Some(delta), Some(allowed)) if allowed > 0.0 => delta / allowed,
            (Some(delta), _) => delta,
            _ => f64::INFINITY,
        }
    }
}
