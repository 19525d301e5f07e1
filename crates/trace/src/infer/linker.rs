use std::collections::{HashMap, HashSet, VecDeque};

use timeloom_time::{Ros, Time};

use super::model::{LinkRule, ModelNode, NodeModel, Origin};
use super::observed::ObservedGraph;
use super::stamps::{Sharing, Stamps};
use crate::analysis::{Engine, Evidence, Input, Publication};
use crate::moment::Moment;

/// Messages that are kept for each topic.
const REMEMBERED: usize = 256;

/// A message without a tag.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PlainMessage<'a> {
    /// The full name of the topic.
    pub topic: &'a str,
    /// Its stamp, if it has one.
    pub stamp: Option<Time<Ros>>,
    /// The time of its publication.
    pub published: Moment,
}

/// Finds the inputs of plain messages.
///
/// With a model or a graph, the inputs of a message are among the subscriptions of the node that publishes its topic. If
/// several nodes publish the topic, a stamp that it shares with an input of one of them identifies the node. Without
/// either, a message is linked to the one topic that had its stamp before; if several had, it is not linked.
///
/// ```
/// use timeloom_time::Time;
/// use timeloom_trace::{Linker, Moment, PlainMessage};
///
/// // Without a model, equal stamps link messages.
/// let mut linker = Linker::by_stamp();
/// let message = |topic, published| PlainMessage {
///     topic,
///     stamp: Some(Time::from_nanos(5)),
///     published: Moment::from_nanos(published, published),
/// };
/// assert!(linker.link(&message("/points", 6)).inputs.is_empty());
/// let linked = linker.link(&message("/filtered", 7));
/// assert_eq!(linked.inputs[0].0, "/points");
/// ```
#[derive(Debug, Default)]
pub struct Linker {
    /// Declared nodes.
    declared: NodeModel,
    /// The recorded graph.
    observed: ObservedGraph,
    /// Changes of the graph that are in the model.
    changes: usize,
    /// Both together, at the current time.
    model: NodeModel,
    /// The nodes that publish a topic, by index in the model.
    publishers: HashMap<String, Vec<usize>>,
    recent: HashMap<String, VecDeque<Seen>>,
    stamps: Stamps,
    by_stamp: bool,
    /// Topics with messages that carried the stamp of an input.
    stamped: HashSet<String>,
    not_known: u64,
}

#[derive(Clone, Copy, Debug)]
struct Seen {
    stamp: Option<Time<Ros>>,
    published: Moment,
}

/// The topic and stamp of an input, and the evidence of the link.
type LinkedInput = (String, Option<Time<Ros>>, Evidence);

/// The links of one message.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Linked {
    /// The node that published it; empty if it is not known.
    pub node: String,
    /// Its inputs: topic, stamp, evidence of the link.
    pub inputs: Vec<LinkedInput>,
}

impl Linker {
    /// A linker by a model; outputs of no node are sources.
    pub fn with_model(model: NodeModel) -> Self {
        Self::with_graph(model, ObservedGraph::default())
    }

    /// A linker by declared nodes, and by the graph for all other topics.
    ///
    /// It starts with the first state of the graph; [`at`](Self::at) advances it.
    pub fn with_graph(declared: NodeModel, observed: ObservedGraph) -> Self {
        let mut linker = Self {
            declared,
            changes: observed.changes_until(i64::MIN),
            observed,
            ..Self::default()
        };
        linker.renew(i64::MIN);
        linker
    }

    /// Replaces the model, as when the graph has changed; earlier messages are kept.
    pub fn set_model(&mut self, model: NodeModel) {
        self.declared = model;
        self.observed = ObservedGraph::default();
        self.by_stamp = false;
        self.renew(i64::MIN);
    }

    /// A linker by equal stamps only.
    pub fn by_stamp() -> Self {
        Self {
            by_stamp: true,
            ..Self::default()
        }
    }

    /// Uses the graph of this log time for the messages that follow.
    pub fn at(&mut self, log_time_ns: i64) {
        let changes = self.observed.changes_until(log_time_ns);
        if changes != self.changes {
            self.changes = changes;
            self.renew(log_time_ns);
        }
    }

    /// Merges declared nodes and the graph; a declared node is the only publisher of its outputs.
    fn renew(&mut self, log_time_ns: i64) {
        let mut model = self.declared.clone();
        let mut seen = self.observed.at(log_time_ns);
        for node in &mut seen.nodes {
            let is_declared = |topic: &String| {
                let mut declared = self.declared.nodes.iter();
                declared.any(|node| node.outputs.contains(topic))
            };
            node.outputs.retain(|topic| !is_declared(topic));
        }
        model.nodes.append(&mut seen.nodes);
        self.publishers.clear();
        for (place, node) in model.nodes.iter().enumerate() {
            for output in &node.outputs {
                let makers = self.publishers.entry(output.clone()).or_default();
                // Of two declared nodes the first applies.
                if node.origin == Origin::Graph || makers.is_empty() {
                    makers.push(place);
                }
            }
        }
        self.model = model;
    }

    /// Whether there is a model or a graph.
    pub fn has_model(&self) -> bool {
        !self.declared.nodes.is_empty() || !self.observed.is_empty()
    }

    /// Whether a node that publishes a topic is known.
    pub fn publishes(&self, topic: &str) -> bool {
        self.publishers.contains_key(topic)
    }

    /// Whether a node that publishes or subscribes to a topic is known, now or at another time.
    pub fn knows(&self, topic: &str) -> bool {
        let mut inputs = self.model.nodes.iter().flat_map(|node| &node.inputs);
        self.publishes(topic) || self.observed.mentions(topic) || inputs.any(|input| input == topic)
    }

    /// Messages with several possible inputs, which were not linked.
    pub fn not_known(&self) -> u64 {
        self.not_known
    }

    /// The inputs of a message; messages must be in the order of publication.
    pub fn link(&mut self, message: &PlainMessage<'_>) -> Linked {
        let linked = if self.by_stamp {
            self.link_by_stamp(message)
        } else {
            self.link_by_model(message)
        };
        let linked = linked.unwrap_or_else(|| {
            self.not_known += 1;
            Linked::default()
        });
        if linked.inputs.iter().any(is_by_stamp) && !self.stamped.contains(message.topic) {
            self.stamped.insert(message.topic.to_owned());
        }
        let recent = self.recent.entry(message.topic.to_owned()).or_default();
        recent.push_back(Seen {
            stamp: message.stamp,
            published: message.published,
        });
        if recent.len() > REMEMBERED {
            recent.pop_front();
        }
        linked
    }

    /// Whether messages of this topic carry the stamp of their input, and this one does not: its input is missing.
    fn lacks_its_input(&self, topic: &str, node: &ModelNode, linked: &Linked) -> bool {
        node.origin == Origin::Graph
            && self.stamped.contains(topic)
            && !linked.inputs.is_empty()
            && !linked.inputs.iter().any(is_by_stamp)
    }

    /// Links a message and feeds it to an engine.
    pub fn feed(&mut self, message: &PlainMessage<'_>, engine: &mut Engine, now: i64) {
        self.publication(message, |publication| engine.publication(publication, now));
    }

    /// Links a message and passes it on as a publication, as a tag of its node would.
    pub fn publication<T>(
        &mut self,
        message: &PlainMessage<'_>,
        tell: impl FnOnce(&Publication<'_>) -> T,
    ) -> T {
        let linked = self.link(message);
        let inputs: Vec<_> = linked
            .inputs
            .iter()
            .map(|(topic, stamp, evidence)| Input {
                topic,
                stamp: *stamp,
                received: Moment::UNKNOWN,
                arrived: None,
                evidence: *evidence,
            })
            .collect();
        tell(&Publication {
            topic: message.topic,
            node: &linked.node,
            sequence: None,
            stamp: message.stamp,
            published: message.published,
            inputs: &inputs,
        })
    }

    /// `None` if several topics are possible.
    fn link_by_stamp(&mut self, message: &PlainMessage<'_>) -> Option<Linked> {
        let mut linked = Linked::default();
        // A zero means that there is no stamp.
        let Some(stamp) = message.stamp.filter(|stamp| !stamp.is_zero()) else {
            return Some(linked);
        };
        match self.stamps.see(stamp.nanos(), message.topic) {
            Sharing::First => {}
            Sharing::One(topic) => {
                let input = (topic, Some(stamp), Evidence::StampAlone);
                linked.inputs.push(input);
            }
            Sharing::Several => return None,
        }
        Some(linked)
    }

    /// `None` if several nodes are possible.
    fn link_by_model(&self, message: &PlainMessage<'_>) -> Option<Linked> {
        let places = self
            .publishers
            .get(message.topic)
            .map_or(&[][..], Vec::as_slice);
        let makers = places.iter().filter_map(|at| self.model.nodes.get(*at));
        let makers: Vec<_> = makers.collect();
        match makers.as_slice() {
            [] => Some(Linked::default()),
            [node] => {
                let linked = self.inputs(node, node.rule, message);
                (!self.lacks_its_input(message.topic, node, &linked)).then_some(linked)
            }
            several if several.iter().all(|node| node.inputs.is_empty()) => Some(Linked::default()),
            several => {
                let by_stamp = several
                    .iter()
                    .map(|node| self.inputs(node, LinkRule::Stamp, message));
                let mut found = by_stamp.filter(|linked| !linked.inputs.is_empty());
                found.next().filter(|_| found.next().is_none())
            }
        }
    }

    fn inputs(&self, node: &ModelNode, rule: LinkRule, message: &PlainMessage<'_>) -> Linked {
        let others: Vec<_> = node
            .inputs
            .iter()
            .filter(|topic| *topic != message.topic)
            .collect();
        let by_order = match (node.origin, rule, others.len()) {
            (Origin::Declared, LinkRule::Latest, _) => Evidence::Declared,
            (_, _, 1) => Evidence::OnlyInput,
            _ => Evidence::LatestBefore,
        };
        let inputs = others.into_iter();
        let inputs = inputs.filter_map(|topic| self.input(topic, rule, by_order, message));
        let mut inputs: Vec<_> = inputs.collect();
        // An output with the stamp of an input is made of that one; the others are unknown.
        if node.origin == Origin::Graph && inputs.iter().any(is_by_stamp) {
            inputs.retain(is_by_stamp);
        }
        Linked {
            node: node.name.clone(),
            inputs,
        }
    }

    fn input(
        &self,
        topic: &str,
        rule: LinkRule,
        by_order: Evidence,
        message: &PlainMessage<'_>,
    ) -> Option<LinkedInput> {
        let recent = self.recent.get(topic)?;
        let before = |seen: &&Seen| seen.published.ros <= message.published.ros;
        let stamp = message.stamp.filter(|stamp| !stamp.is_zero());
        let same = recent
            .iter()
            .rev()
            .filter(before)
            .find(|seen| stamp.is_some() && seen.stamp == stamp);
        let same = same.map(|seen| (seen, Evidence::EqualStamp));
        let latest = recent.iter().rev().find(before);
        let latest = latest.map(|seen| (seen, by_order));
        let (seen, evidence) = match rule {
            LinkRule::Stamp => same?,
            LinkRule::Latest => latest?,
            LinkRule::Auto => same.or(latest)?,
        };
        Some((topic.to_owned(), seen.stamp, evidence))
    }
}

fn is_by_stamp((_, _, evidence): &LinkedInput) -> bool {
    *evidence == Evidence::EqualStamp
}
