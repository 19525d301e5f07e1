//! What an engine found, as plain data.

use std::collections::BTreeMap;

use serde::Serialize;

use super::evidence::{Confidence, Evidence};
use super::flow::Flow;
use super::histogram::Summary;
use super::outcome::Outcomes;

/// Everything that an engine found. Times are nanoseconds.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Report {
    /// How many tags came.
    pub tags: u64,
    /// How many messages of main topics came.
    pub messages: u64,
    /// From the first to the last of them, on the time line they came on.
    pub span_ns: u64,
    /// The topics at which paths end.
    pub targets: Vec<TargetReport>,
    /// All links between two topics.
    pub hops: Vec<HopReport>,
    /// Circles of topics; paths are cut there.
    pub loops: Vec<Vec<String>>,
    /// All known topics.
    pub topics: Vec<String>,
    /// The deadlines and how often they were missed.
    pub deadlines: Vec<DeadlineReport>,
    /// The clocks of the hosts.
    pub clocks: ClockReport,
    /// What else there is to know, in words.
    pub notes: Vec<String>,
}

/// A topic at which paths end.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct TargetReport {
    /// Its name.
    pub topic: String,
    /// How many messages of it there were.
    pub messages: u64,
    /// How many have everything upstream of them known.
    pub complete: u64,
    /// How many of these were complete only when a late tag came.
    pub completed_late: u64,
    /// Its sources, and what became of their messages.
    pub sources: Vec<SourceReport>,
    /// The ways from sources to it, slowest first.
    pub paths: Vec<PathReport>,
    /// The wanted ways to it from topics that have inputs of their own, slowest first.
    pub segments: Vec<PathReport>,
    /// What became of the messages of these topics.
    pub segment_sources: Vec<SourceReport>,
    /// Whether there are more paths than are listed.
    pub more_paths: bool,
}

/// A source of a target.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct SourceReport {
    /// Its topic.
    pub topic: String,
    /// How many messages were published, lost ones included.
    pub published: u64,
    /// What became of them.
    pub outcomes: Outcomes,
}

/// The statistics of one path.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct PathReport {
    /// The topics from source to target.
    pub topics: Vec<String>,
    /// End to end, each of the source's messages that took effect to the first target made of it: CARET's best case.
    pub best: Summary,
    /// From the oldest of the source's messages since the one before: CARET's worst case.
    pub worst: Summary,
    /// From the source's message before, so that an event just after it is covered: the reaction time, CARET's worst
    /// case with external latency.
    pub reaction: Summary,
    /// All flows, where a target is made of several messages of the source.
    pub all: Summary,
    /// The age of the source's data in each of the target's messages.
    pub data_age: Summary,
    /// The same when the next message of the target replaces it: the oldest that data gets.
    pub data_age_at_end: Summary,
    /// How latencies are spread: from which on, and how many.
    pub histogram: Vec<(u64, u64)>,
    /// The largest doubt of a latency between hosts whose clocks were compared.
    pub bound_ns: u64,
    /// Latencies between hosts without a clock comparison.
    pub unbounded: u64,
    /// How many latencies were negative or across a jump of a clock; they are in no number above.
    pub suspicious: u64,
    /// What each hop takes on average.
    pub steps: Vec<PathStep>,
    /// The slowest flow.
    pub slowest: Option<Flow>,
}

/// One hop of a path, on average over the flows of `best`.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct PathStep {
    /// From this topic.
    pub from: String,
    /// To this one.
    pub to: String,
    /// From publication to publication.
    pub total_ns: u64,
    /// From publication to arrival; to the callback where the arrival is not known.
    pub transport_ns: Option<u64>,
    /// From arrival to callback, where both are known.
    pub queue_ns: Option<u64>,
    /// From callback to publication, where the callback is known.
    pub node_ns: Option<u64>,
}

/// All links between two topics.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct HopReport {
    /// From this topic.
    pub from: String,
    /// To this one.
    pub to: String,
    /// The nodes in between; empty when they do not say who they are.
    pub nodes: Vec<String>,
    /// How the links are known, and how many each way.
    pub known_by: BTreeMap<Evidence, u64>,
    /// How sure most of the links are.
    pub confidence: Confidence,
    /// From publication to publication.
    pub total: Summary,
    /// From publication to arrival; to the callback where the arrival is not known.
    pub transport: Summary,
    /// From arrival to callback, where both are known.
    pub queue: Summary,
    /// From callback to publication.
    pub node: Summary,
    /// How often the effect was before its cause.
    pub negative: u64,
    /// How often a named message was not found.
    pub unresolved: u64,
}

/// A deadline and how often it was missed.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct DeadlineReport {
    /// Its name.
    pub name: String,
    /// The source; none means all.
    pub source: Option<String>,
    /// Topics in between; empty means every path.
    pub via: Vec<String>,
    /// The target.
    pub target: String,
    /// What was too long.
    pub limit_ns: u64,
    /// How often it was checked.
    pub checked: u64,
    /// Missed when the target came.
    pub missed: u64,
    /// Missed when a late tag came.
    pub missed_by_late_link: u64,
    /// Missed because nothing came.
    pub missed_by_timer: u64,
    /// For those, also if something came later: the topic on which nothing followed in time, and how often.
    pub ended_before: BTreeMap<String, u64>,
    /// The most misses in a row.
    pub longest_streak: u64,
}

/// The clocks of the hosts.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct ClockReport {
    /// Hosts with publications.
    pub hosts: Vec<String>,
    /// How often ROS time went back.
    pub jumps: u64,
    /// Clocks that were set by less, or forward, while their steady clocks went on.
    pub steps: Vec<ClockStep>,
    /// Hosts whose clocks were compared by messages both ways.
    pub compared: Vec<ClockDifference>,
    /// Between which hosts an effect was before its cause, and how often.
    pub negative: Vec<(String, String, u64)>,
}

/// A clock that was set. Latencies between its host and others differ before and after by this.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ClockStep {
    /// The host.
    pub host: String,
    /// How far the clock was set forward; negative means back.
    pub by_ns: i64,
}

/// The difference of two hosts' clocks, estimated from messages in both directions.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ClockDifference {
    /// One host.
    pub host: String,
    /// The other.
    pub other: String,
    /// How far the other's clock is ahead.
    pub ahead_ns: i64,
    /// How far that may be off: half of what a message there and back takes at least.
    pub bound_ns: u64,
}
