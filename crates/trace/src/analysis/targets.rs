//! The topics at which paths end.

use std::collections::{BTreeSet, HashMap};

use super::graph::{TopicGraph, Upstream};
use super::path::{Known, Path};
use super::records::Records;
use super::scope::Scope;

/// Limit of targets, against corrupt input.
const MOST_TARGETS: usize = 4096;

/// All targets, each with its own index.
#[derive(Debug, Default)]
pub(super) struct Targets {
    all: Vec<Target>,
    places: HashMap<u32, usize>,
    dropped: u64,
    /// The indices at which paths end, for this version of the graph and number of targets. Others were ends only until
    /// an output was made of them.
    ends: Vec<usize>,
    ends_version: (u64, usize),
}

/// A topic at which paths end.
#[derive(Debug)]
pub(super) struct Target {
    topic: u32,
    upstream: Upstream,
    version: u64,
    sources: BTreeSet<u32>,
    /// Topics with inputs at which segments begin.
    inner: BTreeSet<u32>,
    paths: Vec<Path>,
    known: HashMap<Vec<u32>, usize>,
    /// The topic that follows each topic on a path to the target.
    next_hop: HashMap<u32, u32>,
    messages: u64,
    complete: u64,
    late: u64,
}

impl Targets {
    /// The index of a topic, created when first needed; `None` if there are too many.
    pub(super) fn place(&mut self, topic: u32) -> Option<usize> {
        if let Some(place) = self.places.get(&topic) {
            return Some(*place);
        }
        let place = self.all.len();
        if place >= MOST_TARGETS {
            self.dropped += 1;
            return None;
        }
        self.all.push(Target::new(topic));
        self.places.insert(topic, place);
        Some(place)
    }

    /// The index of a topic that is a target already.
    pub(super) fn find(&self, topic: u32) -> Option<usize> {
        self.places.get(&topic).copied()
    }

    pub(super) fn get(&self, place: usize) -> Option<&Target> {
        self.all.get(place)
    }

    pub(super) fn get_mut(&mut self, place: usize) -> Option<&mut Target> {
        self.all.get_mut(place)
    }

    pub(super) fn len(&self) -> usize {
        self.all.len()
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = &Target> {
        self.all.iter()
    }

    /// Finds the indices at which paths end again, if the graph or the targets have changed.
    pub(super) fn refresh_ends(&mut self, graph_version: u64, is_target: impl Fn(u32) -> bool) {
        let version = (graph_version, self.all.len());
        if self.ends_version != version {
            self.ends_version = version;
            let all = self.all.iter().enumerate();
            let ends = all.filter(|(_, target)| is_target(target.topic));
            self.ends = ends.map(|(place, _)| place).collect();
        }
    }

    /// The indices at which paths end.
    pub(super) fn ends(&self) -> &[usize] {
        &self.ends
    }

    /// Number of messages of targets beyond the limit, which were not evaluated.
    pub(super) fn dropped(&self) -> u64 {
        self.dropped
    }
}

impl Target {
    fn new(topic: u32) -> Self {
        Self {
            topic,
            upstream: Upstream::default(),
            version: 0,
            sources: BTreeSet::new(),
            inner: BTreeSet::new(),
            paths: Vec::new(),
            known: HashMap::new(),
            next_hop: HashMap::new(),
            messages: 0,
            complete: 0,
            late: 0,
        }
    }

    pub(super) fn topic(&self) -> u32 {
        self.topic
    }

    /// Finds loops and paths again, if the graph has changed. Paths that were found before keep their statistics.
    pub(super) fn refresh(&mut self, graph: &TopicGraph, scope: &Scope) {
        if self.version == graph.version() && self.version != 0 {
            return;
        }
        self.version = graph.version();
        let (ends, most) = (scope.ends(), scope.most_paths());
        self.upstream = graph.upstream(self.topic, ends, most);
        self.sources.clear();
        self.inner.clear();
        for topics in &self.upstream.paths {
            self.sources.extend(topics.first());
            for (topic, next) in topics.iter().zip(topics.iter().skip(1)) {
                self.next_hop.entry(*topic).or_insert(*next);
            }
        }
        let mut paths = self.upstream.paths.clone();
        for from in scope.segments_to(self.topic) {
            if self.sources.contains(&from) || self.inner.contains(&from) {
                continue;
            }
            let found = graph.segments(from, self.topic, ends, most);
            if !found.is_empty() {
                self.inner.insert(from);
            }
            for (topic, next) in found
                .iter()
                .flat_map(|way| way.iter().zip(way.iter().skip(1)))
            {
                self.next_hop.entry(*topic).or_insert(*next);
            }
            paths.extend(found);
        }
        for topics in paths {
            if !self.known.contains_key(&topics) {
                self.known.insert(topics.clone(), self.paths.len());
                self.paths.push(Path::new(topics));
            }
        }
    }

    pub(super) fn sources(&self) -> impl Iterator<Item = u32> + '_ {
        self.sources.iter().copied()
    }

    /// The topics with inputs at which segments begin.
    pub(super) fn inner(&self) -> impl Iterator<Item = u32> + '_ {
        self.inner.iter().copied()
    }

    /// Whether the outcomes of a topic's messages are required.
    pub(super) fn judges(&self, topic: u32) -> bool {
        self.sources.contains(&topic) || self.inner.contains(&topic)
    }

    pub(super) fn has_source(&self, topic: u32) -> bool {
        self.sources.contains(&topic)
    }

    /// Whether segments begin at a topic that has inputs.
    pub(super) fn has_inner(&self, topic: u32) -> bool {
        self.inner.contains(&topic)
    }

    /// Whether a link closes a loop and is not followed.
    pub(super) fn is_cut(&self, from: u32, to: u32) -> bool {
        self.upstream.cut.contains(&(from, to))
    }

    pub(super) fn loops(&self) -> &[Vec<u32>] {
        &self.upstream.loops
    }

    /// Whether there are more paths than the limit.
    pub(super) fn has_more(&self) -> bool {
        self.upstream.more
    }

    /// The topic that follows another on a path to the target.
    pub(super) fn next_hop(&self, topic: u32) -> Option<u32> {
        self.next_hop.get(&topic).copied()
    }

    pub(super) fn paths(&self) -> &[Path] {
        &self.paths
    }

    pub(super) fn path_mut(&mut self, path: usize) -> Option<&mut Path> {
        self.paths.get_mut(path)
    }

    /// Counts the flows that wait for late tags.
    pub(super) fn finish(&mut self, known: Known<'_>, records: &mut Records) {
        let (sources, inner) = (&self.sources, &self.inner);
        for path in &mut self.paths {
            let source = path.source();
            if source.is_some_and(|topic| sources.contains(&topic) || inner.contains(&topic)) {
                path.finish(known, records);
            }
        }
    }

    /// Counts a message of the target.
    pub(super) fn count(&mut self, complete: bool) {
        self.messages += 1;
        self.complete += u64::from(complete);
    }

    /// Counts a message whose upstream a late tag completed.
    pub(super) fn count_late(&mut self) {
        self.complete += 1;
        self.late += 1;
    }

    /// Number of messages, of complete ones, and of those completed by a late tag.
    pub(super) fn counts(&self) -> (u64, u64, u64) {
        (self.messages, self.complete, self.late)
    }
}
