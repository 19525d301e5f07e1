//! The graph of topics and its paths.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};

use super::clocks::Suspicion;
use super::evidence::{Confidence, Evidence};
use super::histogram::Histogram;
use super::hop::{Part, Parts};
use super::names::index;
use super::report::HopReport;

/// The longest path, in topics.
const DEPTH: usize = 1024;
/// Limit of the topics that a search for paths visits: graphs of corrupt input are dense.
const EFFORT: usize = 40_000;

/// Pairs of topics with statistics, against corrupt input.
const MOST_EDGES: usize = 1 << 15;

/// All links from one topic to another.
#[derive(Debug, Default)]
pub(super) struct Edge {
    evidence: BTreeMap<Evidence, u64>,
    /// From publication to publication.
    total: Histogram,
    /// From publication to arrival; to the callback if the arrival is not known.
    transport: Histogram,
    /// From arrival to callback, if both are known.
    queue: Histogram,
    /// From callback to publication of the output.
    node: Histogram,
    negative: u64,
    unresolved: u64,
    nodes: BTreeSet<u32>,
}

impl Edge {
    /// Counts a link of a node's message.
    pub(super) fn add_link(&mut self, evidence: Evidence, node: u32) {
        *self.evidence.entry(evidence).or_default() += 1;
        self.nodes.insert(node);
    }

    /// Adds the time in the node; false if it is negative.
    pub(super) fn add_node_time(&mut self, time: Part) -> bool {
        add(&mut self.node, time)
    }

    /// Adds the times of a hop whose input was found; returns the number of negative ones.
    pub(super) fn add_hop(&mut self, parts: &Parts) -> u64 {
        let mut negative = 0;
        for (part, histogram) in [
            (parts.total, &mut self.total),
            (parts.transport, &mut self.transport),
            (parts.queue, &mut self.queue),
        ] {
            negative += u64::from(!add(histogram, part));
        }
        self.negative += negative;
        negative
    }

    /// Counts a link whose input was not found yet.
    pub(super) fn add_unresolved(&mut self) {
        self.unresolved += 1;
    }

    /// The input of a link that was counted as not found arrived.
    pub(super) fn resolve_late(&mut self) {
        self.unresolved = self.unresolved.saturating_sub(1);
    }

    /// The report of the edge; `name` returns the name of a node.
    pub(super) fn report(
        &self,
        from: String,
        to: String,
        name: impl Fn(u32) -> String,
    ) -> HopReport {
        let names = self.nodes.iter().map(|node| name(*node));
        let mut nodes: Vec<String> = names.filter(|node| !node.is_empty()).collect();
        nodes.sort();
        HopReport {
            from,
            to,
            nodes,
            known_by: self.evidence.clone(),
            confidence: Confidence::of(&self.evidence),
            total: self.total.summary(),
            transport: self.transport.summary(),
            queue: self.queue.summary(),
            node: self.node.summary(),
            negative: self.negative,
            unresolved: self.unresolved,
        }
    }
}

/// False if the time is negative.
fn add(histogram: &mut Histogram, part: Part) -> bool {
    match part {
        Some(Ok(elapsed)) => histogram.add(elapsed.nanos),
        Some(Err(Suspicion::Negative)) => return false,
        Some(Err(_)) | None => {}
    }
    true
}

#[derive(Debug, Default)]
pub(super) struct TopicGraph {
    /// The inputs of each topic.
    inputs: Vec<Vec<u32>>,
    /// Number of topics that are made of each.
    outputs: Vec<usize>,
    edges: HashMap<(u32, u32), Edge>,
    /// Changes when a link between two topics is seen for the first time.
    version: u64,
    /// Links beyond the limit.
    rest: Edge,
    /// Number of links beyond the limit.
    dropped: u64,
}

/// The paths from sources to one target.
#[derive(Debug, Default, Clone)]
pub(super) struct Upstream {
    /// Links that close a loop: they are not followed.
    pub(super) cut: HashSet<(u32, u32)>,
    /// The loops they close.
    pub(super) loops: Vec<Vec<u32>>,
    /// Topics from source to target.
    pub(super) paths: Vec<Vec<u32>>,
    /// There are more paths than requested.
    pub(super) more: bool,
}

impl TopicGraph {
    pub(super) fn edge(&mut self, from: u32, to: u32) -> &mut Edge {
        if self.edges.len() >= MOST_EDGES && !self.edges.contains_key(&(from, to)) {
            self.dropped += 1;
            self.rest = Edge::default();
            return &mut self.rest;
        }
        let most = index(from.max(to));
        if self.inputs.len() <= most {
            self.inputs.resize_with(most + 1, Vec::new);
            self.outputs.resize(most + 1, 0);
        }
        let (inputs, outputs) = (&mut self.inputs, &mut self.outputs);
        let version = &mut self.version;
        self.edges.entry((from, to)).or_insert_with(|| {
            *version += 1;
            if let Some(inputs) = inputs.get_mut(index(to)) {
                inputs.push(from);
                inputs.sort_unstable();
            }
            if let Some(outputs) = outputs.get_mut(index(from)) {
                *outputs += 1;
            }
            Edge::default()
        })
    }

    pub(super) fn edges(&self) -> impl Iterator<Item = (u32, u32, &Edge)> {
        let edges = self.edges.iter();
        edges.map(|((from, to), edge)| (*from, *to, edge))
    }

    /// Changes when a link between two topics is seen for the first time.
    pub(super) fn version(&self) -> u64 {
        self.version
    }

    /// Links beyond the limit of pairs of topics.
    pub(super) fn dropped(&self) -> u64 {
        self.dropped
    }

    pub(super) fn inputs(&self, topic: u32) -> &[u32] {
        self.inputs.get(index(topic)).map_or(&[], Vec::as_slice)
    }

    /// Whether any topic is made of a topic.
    pub(super) fn is_used(&self, topic: u32) -> bool {
        self.outputs
            .get(index(topic))
            .is_some_and(|count| *count > 0)
    }

    /// Everything upstream of a target. The search ends at the topics in `ends`.
    pub(super) fn upstream(&self, target: u32, ends: &HashSet<u32>, most: usize) -> Upstream {
        let mut upstream = Upstream::default();
        self.cut_loops(target, ends, &mut upstream);
        (upstream.paths, upstream.more) = self.paths(target, |topic| ends.contains(&topic), most);
        upstream
    }

    /// The paths to a target from a topic that has inputs.
    pub(super) fn segments(
        &self,
        from: u32,
        target: u32,
        ends: &HashSet<u32>,
        most: usize,
    ) -> Vec<Vec<u32>> {
        let is_end = |topic: u32| topic == from || ends.contains(&topic);
        let (mut paths, _more) = self.paths(target, is_end, most);
        paths.retain(|path| path.first() == Some(&from));
        paths
    }

    /// All simple paths to a target, from topics without inputs and from ends; and whether there are more.
    fn paths(
        &self,
        target: u32,
        is_end: impl Fn(u32) -> bool,
        most: usize,
    ) -> (Vec<Vec<u32>>, bool) {
        let (mut found, mut more, mut effort) = (Vec::new(), false, EFFORT);
        // A topic, and the number of its visited inputs.
        let mut way = vec![(target, 0_usize)];
        let mut on_way = HashSet::from([target]);
        while let Some((topic, next)) = way.last_mut() {
            let (topic, place) = (*topic, *next);
            *next += 1;
            let inputs = self.inputs(topic);
            let mut is_done = false;
            if place == 0 {
                if found.len() >= most || effort == 0 {
                    return (found, true);
                }
                effort -= 1;
                let is_source = inputs.is_empty() || (is_end(topic) && topic != target);
                if is_source && way.len() > 1 {
                    found.push(way.iter().rev().map(|(topic, _)| *topic).collect());
                }
                let too_deep = way.len() >= DEPTH && !is_source;
                more |= too_deep;
                is_done = is_source || too_deep;
            }
            if let Some(input) = inputs.get(place).filter(|_| !is_done) {
                if on_way.insert(*input) {
                    way.push((*input, 0));
                }
            } else {
                on_way.remove(&topic);
                way.pop();
            }
        }
        (found, more)
    }

    /// All linked topics, with the inputs of each.
    pub(super) fn topics(&self) -> impl Iterator<Item = (u32, &[u32])> {
        let all = self.inputs.iter().enumerate();
        all.filter_map(|(topic, inputs)| Some((u32::try_from(topic).ok()?, inputs.as_slice())))
    }

    /// Searches upstream depth first; a link to a topic that is on the path already closes a loop.
    fn cut_loops(&self, target: u32, ends: &HashSet<u32>, upstream: &mut Upstream) {
        let mut done = HashSet::new();
        // A topic, and the number of its visited inputs.
        let mut way = vec![(target, 0_usize)];
        while let Some((topic, next)) = way.last_mut() {
            let topic = *topic;
            let stop = ends.contains(&topic) && topic != target;
            let input = if stop {
                None
            } else {
                self.inputs(topic).get(*next).copied()
            };
            *next += 1;
            let Some(input) = input else {
                done.insert(topic);
                way.pop();
                continue;
            };
            if let Some(place) = way.iter().position(|(on_way, _)| *on_way == input) {
                upstream.cut.insert((input, topic));
                let circle = way.iter().skip(place).map(|(topic, _)| *topic);
                upstream.loops.push(circle.rev().collect());
            } else if !done.contains(&input) {
                way.push((input, 0));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn graph(edges: &[(u32, u32)]) -> TopicGraph {
        let mut graph = TopicGraph::default();
        for (from, to) in edges {
            graph.edge(*from, *to);
        }
        graph
    }

    #[test]
    fn loops_are_cut_and_every_topic_stays_reachable() {
        // 1 -> 2 -> 3 -> 4, and 3 -> 2.
        let graph = graph(&[(3, 2), (1, 2), (2, 3), (3, 4)]);
        let upstream = graph.upstream(4, &HashSet::new(), 10);
        assert_eq!(upstream.paths, [vec![1, 2, 3, 4]]);
        assert_eq!(upstream.cut, HashSet::from([(3, 2)]));
        assert_eq!(upstream.loops, [vec![2, 3]]);
        assert!(!upstream.more);
        // Also from within the loop.
        let upstream = graph.upstream(2, &HashSet::new(), 10);
        assert_eq!(
            (upstream.paths, upstream.cut),
            (vec![vec![1, 2]], HashSet::from([(2, 3)]))
        );
    }

    #[test]
    fn paths_are_limited_where_there_are_too_many() {
        let mut edges = Vec::new();
        for level in 0..16 {
            let top = level * 3;
            edges.extend([
                (top, top + 1),
                (top, top + 2),
                (top + 1, top + 3),
                (top + 2, top + 3),
            ]);
        }
        let upstream = graph(&edges).upstream(48, &HashSet::new(), 100);
        assert_eq!((upstream.paths.len(), upstream.more), (100, true));
    }

    #[test]
    fn a_long_chain_is_one_path() {
        let edges: Vec<_> = (0..200).map(|topic| (topic, topic + 1)).collect();
        let upstream = graph(&edges).upstream(200, &HashSet::new(), 10);
        assert_eq!((upstream.paths.len(), upstream.more), (1, false));
        assert_eq!(upstream.paths[0].len(), 201);
    }

    #[test]
    fn segments_begin_at_a_topic_with_inputs() {
        let graph = graph(&[(1, 2), (2, 3), (3, 4), (2, 4), (5, 4)]);
        let mut found = graph.segments(2, 4, &HashSet::new(), 10);
        found.sort();
        assert_eq!(found, [vec![2, 3, 4], vec![2, 4]]);
    }

    #[test]
    fn a_search_in_a_dense_graph_ends() {
        let edges: Vec<_> = (0..40)
            .flat_map(|a| (0..40).map(move |b| (a, b)))
            .filter(|(a, b)| a != b)
            .collect();
        let upstream = graph(&edges).upstream(0, &HashSet::new(), 100);
        assert!(upstream.paths.is_empty() && upstream.more);
    }
}
