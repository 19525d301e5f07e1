//! Closed loops of topics, which have no output outside: paths must end somewhere in them.

use std::collections::{BTreeMap, HashMap, HashSet, VecDeque};

use super::graph::TopicGraph;

/// Up to this many links between topics, loops are searched at each new one; beyond, after every eighth part more.
const FEW_LINKS: u64 = 1024;

/// The ends of closed loops, and the topics of each.
#[derive(Debug, Default)]
pub(super) struct LoopEnds {
    ends: BTreeMap<u32, Vec<u32>>,
    version: u64,
}

/// The thoroughness of the search at every new link.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Effort {
    /// Not at each of very many.
    Bounded,
    /// Always.
    Full,
}

impl LoopEnds {
    /// Searches again if the graph has changed.
    pub(super) fn refresh(&mut self, graph: &TopicGraph, effort: Effort) {
        let (version, last) = (graph.version(), self.version);
        let is_due = version < FEW_LINKS || version >= last + last / 8;
        if version == last || (effort == Effort::Bounded && !is_due) {
            return;
        }
        self.version = version;
        let loops = closed_loops(graph).into_iter();
        self.ends = loops.map(|one| (one.end, one.topics)).collect();
    }

    pub(super) fn contains(&self, topic: u32) -> bool {
        self.ends.contains_key(&topic)
    }

    /// The end and the topics of each loop.
    pub(super) fn iter(&self) -> impl Iterator<Item = (u32, &[u32])> {
        self.ends
            .iter()
            .map(|(end, topics)| (*end, topics.as_slice()))
    }
}

/// Topics that are made of each other, and that no other topic is made of.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct ClosedLoop {
    /// The end of paths: the topic that is farthest from the entry of the loop.
    pub(super) end: u32,
    /// All of its topics, including the end.
    pub(super) topics: Vec<u32>,
}

/// The closed loops of a graph.
pub(super) fn closed_loops(graph: &TopicGraph) -> Vec<ClosedLoop> {
    let mut outputs: HashMap<u32, Vec<u32>> = HashMap::new();
    for (topic, inputs) in graph.topics() {
        for input in inputs {
            outputs.entry(*input).or_default().push(topic);
        }
    }
    let mut groups: BTreeMap<u32, Vec<u32>> = BTreeMap::new();
    for (topic, group) in components(graph, &outputs) {
        groups.entry(group).or_default().push(topic);
    }
    let loops = groups.into_values().filter(|topics| topics.len() > 1);
    let closed = loops.filter(|topics| {
        let inside: HashSet<u32> = topics.iter().copied().collect();
        let mut left = topics
            .iter()
            .filter_map(|topic| outputs.get(topic))
            .flatten();
        left.all(|output| inside.contains(output))
    });
    closed
        .map(|mut topics| {
            topics.sort_unstable();
            ClosedLoop {
                end: end_of(graph, &outputs, &topics),
                topics,
            }
        })
        .collect()
}

/// The topic that is farthest from the entries of the loop; of several, the one that was seen last.
fn end_of(graph: &TopicGraph, outputs: &HashMap<u32, Vec<u32>>, topics: &[u32]) -> u32 {
    let inside: HashSet<u32> = topics.iter().copied().collect();
    let is_entry = |topic: &&u32| {
        let mut inputs = graph.inputs(**topic).iter();
        inputs.any(|input| !inside.contains(input))
    };
    let entries = topics.iter().filter(is_entry);
    let mut distance: HashMap<u32, usize> = entries.map(|topic| (*topic, 0)).collect();
    let mut queue: VecDeque<u32> = distance.keys().copied().collect();
    while let Some(topic) = queue.pop_front() {
        let next = distance.get(&topic).map_or(0, |steps| steps + 1);
        for output in outputs.get(&topic).into_iter().flatten() {
            if inside.contains(output) && !distance.contains_key(output) {
                distance.insert(*output, next);
                queue.push_back(*output);
            }
        }
    }
    let farthest = topics
        .iter()
        .max_by_key(|topic| (distance.get(topic).copied().unwrap_or(0), **topic));
    farthest.copied().unwrap_or(0)
}

/// The strongly connected component of each topic, by Kosaraju's algorithm: topics in the order in which a search
/// through the outputs leaves them, then a search through the inputs from the last of them on.
fn components(graph: &TopicGraph, outputs: &HashMap<u32, Vec<u32>>) -> Vec<(u32, u32)> {
    let none: &[u32] = &[];
    let mut seen = HashSet::new();
    let mut left = Vec::new();
    for (start, _) in graph.topics() {
        let mut way = Vec::new();
        if seen.insert(start) {
            way.push((start, 0));
        }
        while let Some((topic, next)) = way.last_mut() {
            let all = outputs.get(topic).map_or(none, Vec::as_slice);
            let output = all.get(*next).copied();
            *next += 1;
            match output {
                Some(output) if seen.insert(output) => way.push((output, 0)),
                Some(_) => {}
                None => {
                    left.push(*topic);
                    way.pop();
                }
            }
        }
    }
    let mut group = HashMap::new();
    for start in left.into_iter().rev() {
        let mut stack = vec![start];
        while let Some(topic) = stack.pop() {
            if group.contains_key(&topic) {
                continue;
            }
            group.insert(topic, start);
            stack.extend(graph.inputs(topic));
        }
    }
    group.into_iter().collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn loops(edges: &[(u32, u32)]) -> Vec<(u32, Vec<u32>)> {
        let mut graph = TopicGraph::default();
        for (from, to) in edges {
            graph.edge(*from, *to);
        }
        let found = closed_loops(&graph).into_iter();
        found.map(|one| (one.end, one.topics)).collect()
    }

    #[test]
    fn a_closed_loop_ends_far_from_its_entry() {
        // The lidar (1) leads to ndt (2), which ekf (3) is made of, and vice versa.
        assert_eq!(loops(&[(1, 2), (3, 2), (2, 3)]), [(3, vec![2, 3])]);
        // Entered at both: the one that was seen last.
        assert_eq!(loops(&[(1, 2), (3, 2), (2, 3), (4, 3)]), [(3, vec![2, 3])]);
        assert_eq!(
            loops(&[(1, 2), (2, 3), (3, 4), (4, 2)]),
            [(4, vec![2, 3, 4])]
        );
    }

    #[test]
    fn a_loop_with_an_exit_needs_no_end() {
        assert_eq!(loops(&[(1, 2), (3, 2), (2, 3), (3, 4)]), []);
        assert_eq!(loops(&[(1, 2), (2, 3)]), []);
    }
}
