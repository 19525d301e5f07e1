use std::collections::{HashMap, HashSet};

use super::names::Names;
use super::options::EngineOptions;

/// The topics in the options. It does not change.
#[derive(Debug)]
pub(super) struct Scope {
    ends: HashSet<u32>,
    /// The input of a topic without tags, by equal stamps.
    skips: HashMap<u32, u32>,
    ignored: HashSet<u32>,
    targets: HashSet<u32>,
    /// From, to.
    segments: Vec<(u32, u32)>,
    segment_starts: HashSet<u32>,
    most_paths: usize,
}

impl Scope {
    pub(super) fn new(options: &EngineOptions, names: &mut Names) -> Self {
        let mut numbers = |topics: &[String]| -> HashSet<u32> {
            topics.iter().map(|topic| names.number(topic)).collect()
        };
        let mut ends = numbers(&options.sources);
        ends.extend(numbers(&options.stops));
        let (ignored, targets) = (numbers(&options.ignored), numbers(&options.targets));
        let mut pair = |(a, b): &(String, String)| (names.number(a), names.number(b));
        let segments: Vec<_> = options.segments.iter().map(&mut pair).collect();
        Self {
            ends,
            skips: options.skips.iter().map(pair).collect(),
            ignored,
            targets,
            segment_starts: segments.iter().map(|(from, _)| *from).collect(),
            segments,
            most_paths: options.paths,
        }
    }

    /// Topics that paths do not go through.
    pub(super) fn ends(&self) -> &HashSet<u32> {
        &self.ends
    }

    pub(super) fn is_ignored(&self, topic: u32) -> bool {
        self.ignored.contains(&topic)
    }

    /// The topic that replaces one whose node keeps stamps and does not tag.
    pub(super) fn skipped(&self, topic: u32) -> Option<u32> {
        self.skips.get(&topic).copied()
    }

    /// Whether a topic is a target, if the options have any.
    pub(super) fn is_target(&self, topic: u32) -> Option<bool> {
        self.names_targets().then(|| self.targets.contains(&topic))
    }

    pub(super) fn names_targets(&self) -> bool {
        !self.targets.is_empty()
    }

    pub(super) fn starts_segment(&self, topic: u32) -> bool {
        self.segment_starts.contains(&topic)
    }

    /// The topics from which segments to a target start.
    pub(super) fn segments_to(&self, target: u32) -> impl Iterator<Item = u32> + '_ {
        let segments = self.segments.iter();
        segments.filter_map(move |(from, to)| (*to == target).then_some(*from))
    }

    /// Paths of one target with their own statistics.
    pub(super) fn most_paths(&self) -> usize {
        self.most_paths
    }
}
