//! Which topic is made of which, and the ways through that graph.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};

use super::evidence::Evidence;
use super::histogram::Histogram;
use super::names::index;

/// A path has so many topics at most.
const DEPTH: usize = 64;
/// A search for paths looks at so many topics at most: graphs of wild input are dense.
const EFFORT: usize = 40_000;

/// So many pairs of topics have statistics of their own: names of wild input are many.
const MOST_EDGES: usize = 1 << 15;

/// All links from one topic to another.
#[derive(Debug, Default)]
pub(super) struct Edge {
    pub(super) evidence: BTreeMap<Evidence, u64>,
    /// From publication to publication.
    pub(super) total: Histogram,
    /// From publication to arrival; to the callback where the arrival is not known.
    pub(super) transport: Histogram,
    /// From arrival to callback, where both are known.
    pub(super) queue: Histogram,
    /// From callback to publication of what was made of it.
    pub(super) node: Histogram,
    pub(super) negative: u64,
    pub(super) unresolved: u64,
    pub(super) nodes: BTreeSet<u32>,
}

#[derive(Debug, Default)]
pub(super) struct TopicGraph {
    /// The inputs of each topic.
    inputs: Vec<Vec<u32>>,
    /// How many topics are made of each.
    outputs: Vec<usize>,
    pub(super) edges: HashMap<(u32, u32), Edge>,
    /// Changes when a link between two topics is seen for the first time.
    pub(super) version: u64,
    /// What is beyond the limit.
    rest: Edge,
    /// How many links went there.
    pub(super) dropped: u64,
}

/// The way from sources to one target.
#[derive(Debug, Default, Clone)]
pub(super) struct Upstream {
    /// Links that close a loop: they are not followed.
    pub(super) cut: HashSet<(u32, u32)>,
    /// The loops they close.
    pub(super) loops: Vec<Vec<u32>>,
    /// Topics from source to target.
    pub(super) paths: Vec<Vec<u32>>,
    /// There are more paths than were asked for.
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

    pub(super) fn inputs(&self, topic: u32) -> &[u32] {
        self.inputs.get(index(topic)).map_or(&[], Vec::as_slice)
    }

    /// Whether anything is made of a topic.
    pub(super) fn is_used(&self, topic: u32) -> bool {
        self.outputs
            .get(index(topic))
            .is_some_and(|count| *count > 0)
    }

    /// Everything upstream of a target. `ends` are topics that are not looked behind.
    pub(super) fn upstream(&self, target: u32, ends: &HashSet<u32>, most: usize) -> Upstream {
        let mut upstream = Upstream::default();
        self.cut_loops(target, ends, &mut upstream);
        let mut search = Search {
            graph: self,
            ends,
            most,
            effort: EFFORT,
            way: vec![target],
            found: &mut upstream,
        };
        search.go(target);
        upstream
    }

    /// Goes upstream depth first; a link to a topic that is on the way already closes a loop.
    fn cut_loops(&self, target: u32, ends: &HashSet<u32>, upstream: &mut Upstream) {
        let mut done = HashSet::new();
        // A topic, and how many of its inputs were looked at.
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

/// A search for all simple paths.
struct Search<'a> {
    graph: &'a TopicGraph,
    ends: &'a HashSet<u32>,
    most: usize,
    effort: usize,
    way: Vec<u32>,
    found: &'a mut Upstream,
}

impl Search<'_> {
    fn go(&mut self, topic: u32) {
        if self.found.paths.len() >= self.most || self.effort == 0 {
            self.found.more = true;
            return;
        }
        self.effort -= 1;
        let inputs = self.graph.inputs(topic);
        let is_end = self.ends.contains(&topic) && self.way.len() > 1;
        if is_end || inputs.is_empty() {
            if self.way.len() > 1 {
                let path = self.way.iter().rev().copied().collect();
                self.found.paths.push(path);
            }
            return;
        }
        if self.way.len() >= DEPTH {
            self.found.more = true;
            return;
        }
        for input in inputs {
            if !self.way.contains(input) {
                self.way.push(*input);
                self.go(*input);
                self.way.pop();
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
        // From within the loop too.
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
    fn a_search_in_a_dense_graph_ends() {
        let edges: Vec<_> = (0..40)
            .flat_map(|a| (0..40).map(move |b| (a, b)))
            .filter(|(a, b)| a != b)
            .collect();
        let upstream = graph(&edges).upstream(0, &HashSet::new(), 100);
        assert!(upstream.paths.is_empty() && upstream.more);
    }
}
