use std::collections::{HashMap, VecDeque};

use timeloom_time::{Ros, Time};

use super::model::{LinkRule, ModelNode, NodeModel, Origin};
use crate::analysis::{Engine, Evidence, Input, Publication};
use crate::moment::Moment;

/// So many messages of each topic are remembered.
const REMEMBERED: usize = 256;
/// So many stamps are remembered.
const STAMPS: usize = 4096;

/// A message that says nothing about its inputs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PlainMessage<'a> {
    /// The full name of the topic.
    pub topic: &'a str,
    /// Its stamp, if it has one.
    pub stamp: Option<Time<Ros>>,
    /// When it was published.
    pub published: Moment,
}

/// Finds the inputs of plain messages.
///
/// With a model, a message's inputs are those of the node that publishes its topic. Without, messages of equal stamp
/// belong together, and the first of them is what the others are made of.
#[derive(Debug, Default)]
pub struct Linker {
    model: NodeModel,
    /// The nodes that publish a topic, by place in the model.
    publishers: HashMap<String, usize>,
    recent: HashMap<String, VecDeque<Seen>>,
    /// The first topic of each stamp.
    first: HashMap<i64, String>,
    stamps: VecDeque<i64>,
    by_stamp: bool,
}

#[derive(Clone, Copy, Debug)]
struct Seen {
    stamp: Option<Time<Ros>>,
    published: Moment,
}

/// What was found for one message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Linked {
    /// The node that published it; empty when it is not known.
    pub node: String,
    /// Its inputs: topic, stamp, how the link is known.
    pub inputs: Vec<(String, Option<Time<Ros>>, Evidence)>,
}

impl Linker {
    /// A linker by a model; outputs of no node are sources.
    pub fn with_model(model: NodeModel) -> Self {
        let mut linker = Self::default();
        linker.set_model(model);
        linker
    }

    /// Takes another model, as when the graph has changed; messages that came are remembered.
    pub fn set_model(&mut self, model: NodeModel) {
        self.publishers.clear();
        for (place, node) in model.nodes.iter().enumerate() {
            for output in &node.outputs {
                self.publishers.entry(output.clone()).or_insert(place);
            }
        }
        self.model = model;
        self.by_stamp = false;
    }

    /// A linker by equal stamps alone.
    pub fn by_stamp() -> Self {
        Self {
            by_stamp: true,
            ..Self::default()
        }
    }

    /// Whether there is a model.
    pub fn has_model(&self) -> bool {
        !self.model.nodes.is_empty()
    }

    /// Whether the model has a node that publishes a topic.
    pub fn publishes(&self, topic: &str) -> bool {
        self.publishers.contains_key(topic)
    }

    /// Whether the model has a node that publishes or takes a topic.
    pub fn knows(&self, topic: &str) -> bool {
        let inputs = self.model.nodes.iter().flat_map(|node| &node.inputs);
        self.publishes(topic) || inputs.into_iter().any(|input| input == topic)
    }

    /// The inputs of a message; messages come in the order in which they were published.
    pub fn link(&mut self, message: &PlainMessage<'_>) -> Linked {
        let linked = if self.by_stamp {
            self.link_by_stamp(message)
        } else {
            self.link_by_model(message)
        };
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

    /// Links a message and tells an engine.
    pub fn feed(&mut self, message: &PlainMessage<'_>, engine: &mut Engine, now: i64) {
        self.publication(message, |publication| engine.publication(publication, now));
    }

    /// Links a message and tells it as the publication that a tag of its node would have told.
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

    fn link_by_stamp(&mut self, message: &PlainMessage<'_>) -> Linked {
        let mut linked = Linked {
            node: String::new(),
            inputs: Vec::new(),
        };
        // A zero is no stamp but the lack of one.
        let Some(stamp) = message.stamp.filter(|stamp| !stamp.is_zero()) else {
            return linked;
        };
        match self.first.get(&stamp.nanos()) {
            Some(first) if first == message.topic => {}
            Some(first) => {
                let input = (first.clone(), Some(stamp), Evidence::EqualStamp);
                linked.inputs.push(input);
            }
            None => {
                self.first.insert(stamp.nanos(), message.topic.to_owned());
                self.stamps.push_back(stamp.nanos());
                if self.stamps.len() > STAMPS
                    && let Some(oldest) = self.stamps.pop_front()
                {
                    self.first.remove(&oldest);
                }
            }
        }
        linked
    }

    fn link_by_model(&self, message: &PlainMessage<'_>) -> Linked {
        let node = self
            .publishers
            .get(message.topic)
            .and_then(|place| self.model.nodes.get(*place));
        let Some(node) = node else {
            return Linked {
                node: String::new(),
                inputs: Vec::new(),
            };
        };
        let others = node.inputs.iter().filter(|topic| *topic != message.topic);
        let inputs = others.filter_map(|topic| self.input(node, topic, message));
        Linked {
            node: node.name.clone(),
            inputs: inputs.collect(),
        }
    }

    fn input(
        &self,
        node: &ModelNode,
        topic: &str,
        message: &PlainMessage<'_>,
    ) -> Option<(String, Option<Time<Ros>>, Evidence)> {
        let recent = self.recent.get(topic)?;
        let before = |seen: &&Seen| seen.published.ros <= message.published.ros;
        let same = recent
            .iter()
            .rev()
            .filter(before)
            .find(|seen| seen.stamp.is_some() && seen.stamp == message.stamp);
        let latest = recent.iter().rev().find(before);
        let (seen, evidence) = match node.rule {
            LinkRule::Stamp => (same?, Evidence::EqualStamp),
            LinkRule::Latest => (latest?, Evidence::LatestBefore),
            LinkRule::Auto => match same {
                Some(same) => (same, Evidence::EqualStamp),
                None => (latest?, Evidence::LatestBefore),
            },
        };
        let evidence = match node.origin {
            Origin::Declared => Evidence::Declared,
            Origin::Graph => evidence,
        };
        Some((topic.to_owned(), seen.stamp, evidence))
    }
}
