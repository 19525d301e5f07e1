//! The report of an engine, as plain data.

use std::collections::BTreeMap;

use serde::Serialize;

use super::evidence::{Confidence, Evidence};
use super::flow::Flow;
use super::histogram::Summary;
use super::outcome::Outcomes;

/// The report of an engine. Times are nanoseconds.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Report {
    /// Number of tags.
    pub tags: u64,
    /// Number of messages of main topics.
    pub messages: u64,
    /// From the first to the last of them, on the engine's time line.
    pub span_ns: u64,
    /// The topics at which paths end.
    pub targets: Vec<TargetReport>,
    /// All links between two topics.
    pub hops: Vec<HopReport>,
    /// Loops of topics; paths are cut there.
    pub loops: Vec<Vec<String>>,
    /// All known topics.
    pub topics: Vec<String>,
    /// The deadlines with the numbers of misses.
    pub deadlines: Vec<DeadlineReport>,
    /// The clocks of the hosts.
    pub clocks: ClockReport,
    /// Further notes as text.
    pub notes: Vec<String>,
}

/// A topic at which paths end.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct TargetReport {
    /// Its name.
    pub topic: String,
    /// Number of its messages.
    pub messages: u64,
    /// Number of messages whose whole upstream is known.
    pub complete: u64,
    /// Number of messages that were complete only after a late tag.
    pub completed_late: u64,
    /// Its sources, and the outcomes of their messages.
    pub sources: Vec<SourceReport>,
    /// The paths from sources to it, slowest first.
    pub paths: Vec<PathReport>,
    /// The requested paths to it from topics that have inputs, slowest first.
    pub segments: Vec<PathReport>,
    /// The outcomes of the messages of these topics.
    pub segment_sources: Vec<SourceReport>,
    /// Whether there are more paths than are listed.
    pub more_paths: bool,
}

/// A source of a target.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct SourceReport {
    /// Its topic.
    pub topic: String,
    /// Number of published messages, including lost ones.
    pub published: u64,
    /// Their outcomes.
    pub outcomes: Outcomes,
}

/// The statistics of one path.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct PathReport {
    /// The topics from source to target.
    pub topics: Vec<String>,
    /// End to end, each of the source's messages that had an effect to the first target made of it: CARET's best case.
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
    /// The distribution of latencies: start and count of each bin.
    pub histogram: Vec<(u64, u64)>,
    /// The largest error bound of a latency between hosts whose clocks were compared.
    pub bound_ns: u64,
    /// Latencies between hosts without a clock comparison.
    pub unbounded: u64,
    /// Number of latencies that were negative or across a jump of a clock; they are in no number above.
    pub suspicious: u64,
    /// The average durations of each hop.
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
    /// From publication to arrival; to the callback if the arrival is not known.
    pub transport_ns: Option<u64>,
    /// From arrival to callback, if both are known.
    pub queue_ns: Option<u64>,
    /// From callback to publication, if the callback is known.
    pub node_ns: Option<u64>,
}

/// All links between two topics.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct HopReport {
    /// From this topic.
    pub from: String,
    /// To this one.
    pub to: String,
    /// The nodes in between; empty if they are not named.
    pub nodes: Vec<String>,
    /// The number of links by kind of evidence.
    pub known_by: BTreeMap<Evidence, u64>,
    /// The confidence in most of the links.
    pub confidence: Confidence,
    /// From publication to publication.
    pub total: Summary,
    /// From publication to arrival; to the callback if the arrival is not known.
    pub transport: Summary,
    /// From arrival to callback, if both are known.
    pub queue: Summary,
    /// From callback to publication.
    pub node: Summary,
    /// Number of effects before their cause.
    pub negative: u64,
    /// Number of inputs that were not found.
    pub unresolved: u64,
}

/// A deadline with the numbers of misses.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct DeadlineReport {
    /// Its name.
    pub name: String,
    /// The source; `None` means all.
    pub source: Option<String>,
    /// Topics in between; empty means every path.
    pub via: Vec<String>,
    /// The target.
    pub target: String,
    /// The limit.
    pub limit_ns: u64,
    /// Number of checks.
    pub checked: u64,
    /// Missed when the target arrived.
    pub missed: u64,
    /// Missed when a late tag arrived.
    pub missed_by_late_link: u64,
    /// Missed because no target arrived.
    pub missed_by_timer: u64,
    /// For those, also if a target arrived later: the topic on which nothing followed in time, with the count.
    pub ended_before: BTreeMap<String, u64>,
    /// The most misses in a row.
    pub longest_streak: u64,
}

/// The clocks of the hosts.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct ClockReport {
    /// Hosts with publications.
    pub hosts: Vec<String>,
    /// Number of times that ROS time went back.
    pub jumps: u64,
    /// Clocks that were set by less, or forward, while their steady clocks continued.
    pub steps: Vec<ClockStep>,
    /// Hosts whose clocks were compared by messages in both directions.
    pub compared: Vec<ClockDifference>,
    /// Pairs of hosts with effects before their cause, with the count.
    pub negative: Vec<(String, String, u64)>,
}

/// A clock that was set. Latencies between its host and others differ by this before and after.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ClockStep {
    /// The host.
    pub host: String,
    /// The step of the clock; negative means back.
    pub by_ns: i64,
}

/// The difference of two hosts' clocks, estimated from messages in both directions.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ClockDifference {
    /// One host.
    pub host: String,
    /// The other.
    pub other: String,
    /// The lead of the other's clock.
    pub ahead_ns: i64,
    /// The error bound: half of the shortest round trip of a message.
    pub bound_ns: u64,
}
