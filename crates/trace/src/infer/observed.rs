use std::collections::{BTreeMap, BTreeSet};

use timeloom_bag::{EndpointRole, RobotGraph};

use super::model::{LinkRule, ModelNode, NodeModel, Origin};
use crate::topics::main_topic;

/// The direction of messages at an endpoint.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Direction {
    /// Its node publishes the topic.
    Publishes,
    /// Its node subscribes to the topic.
    Subscribes,
}

/// A publisher or a subscription in the graph, and the time of its existence.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ObservedEndpoint {
    /// The full name of its node; empty if it is not known.
    pub node: String,
    /// The full name of the topic.
    pub topic: String,
    /// Its direction.
    pub direction: Direction,
    /// The time at which it was first seen.
    pub appeared_ns: i64,
    /// The time at which it left; `None` while it exists.
    pub vanished_ns: Option<i64>,
}

/// The graph of the nodes over time, as an observer discovered it.
///
/// Discovery takes a while and is late. Endpoints that are discovered within 10 s of the
/// first one count as present from the beginning, all others from [`ObservedGraph::DELAY_NS`] before their discovery
/// until the same time after they left.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ObservedGraph {
    endpoints: Vec<ObservedEndpoint>,
    /// The times of changes, ascending.
    changes: Vec<i64>,
}

/// Topics of every node, which carry no data.
const INFRASTRUCTURE: [&str; 3] = ["/rosout", "/parameter_events", "/clock"];

impl ObservedGraph {
    /// The time to discover an existing graph.
    pub(crate) const FIRST_LOOK_NS: i64 = 10_000_000_000;
    /// The delay of the discovery of a change.
    pub const DELAY_NS: i64 = 2_000_000_000;

    /// The graph of these endpoints; those of logging, parameters and tags are left out.
    pub fn new(endpoints: impl IntoIterator<Item = ObservedEndpoint>) -> Self {
        let is_data = |topic: &str| !INFRASTRUCTURE.contains(&topic) && main_topic(topic).is_none();
        let mut endpoints: Vec<_> = endpoints
            .into_iter()
            .filter(|endpoint| is_data(&endpoint.topic))
            .collect();
        let first = endpoints.iter().map(|endpoint| endpoint.appeared_ns).min();
        let first = first.unwrap_or(0);
        let mut changes = BTreeSet::new();
        for endpoint in &mut endpoints {
            let late = endpoint.appeared_ns.saturating_sub(first) > Self::FIRST_LOOK_NS;
            endpoint.appeared_ns = if late {
                endpoint.appeared_ns.saturating_sub(Self::DELAY_NS)
            } else {
                i64::MIN
            };
            endpoint.vanished_ns = endpoint
                .vanished_ns
                .map(|gone| gone.saturating_add(Self::DELAY_NS));
            changes.insert(endpoint.appeared_ns);
            changes.extend(endpoint.vanished_ns);
        }
        Self {
            endpoints,
            changes: changes.into_iter().collect(),
        }
    }

    /// Whether there are no endpoints.
    pub fn is_empty(&self) -> bool {
        self.endpoints.is_empty()
    }

    /// Whether a node that publishes a topic has subscriptions, now or at another time.
    pub(crate) fn at_any_time_makes(&self, topic: &str) -> bool {
        let of = |direction| {
            let all = self.endpoints.iter();
            all.filter(move |it| it.direction == direction && !it.node.is_empty())
        };
        let makers = of(Direction::Publishes).filter(|it| it.topic == topic);
        makers
            .into_iter()
            .any(|maker| of(Direction::Subscribes).any(|it| it.node == maker.node))
    }

    /// Whether a topic has any endpoint at any time.
    pub(super) fn mentions(&self, topic: &str) -> bool {
        self.endpoints
            .iter()
            .any(|endpoint| endpoint.topic == topic)
    }

    /// Number of changes up to a time.
    pub(super) fn changes_until(&self, time_ns: i64) -> usize {
        self.changes.partition_point(|change| *change <= time_ns)
    }

    /// The nodes at a time.
    pub fn at(&self, time_ns: i64) -> NodeModel {
        let there = self.endpoints.iter().filter(|endpoint| {
            endpoint.appeared_ns <= time_ns
                && endpoint.vanished_ns.is_none_or(|gone| time_ns < gone)
        });
        let mut nodes: BTreeMap<&str, (BTreeSet<&str>, BTreeSet<&str>)> = BTreeMap::new();
        let mut nameless = BTreeSet::new();
        for endpoint in there {
            let (node, topic) = (endpoint.node.as_str(), endpoint.topic.as_str());
            match endpoint.direction {
                Direction::Publishes if node.is_empty() => drop(nameless.insert(topic)),
                Direction::Subscribes if node.is_empty() => {}
                Direction::Publishes => drop(nodes.entry(node).or_default().1.insert(topic)),
                Direction::Subscribes => drop(nodes.entry(node).or_default().0.insert(topic)),
            }
        }
        let named = nodes
            .into_iter()
            .filter(|(_, (_, outputs))| !outputs.is_empty())
            .map(|(name, (inputs, outputs))| node(name, inputs, outputs));
        // A publisher of an unknown node: its messages may be made of anything.
        let nameless = nameless
            .into_iter()
            .map(|topic| node("", BTreeSet::new(), [topic].into()));
        NodeModel {
            nodes: named.chain(nameless).collect(),
        }
    }
}

impl From<&RobotGraph> for ObservedGraph {
    fn from(graph: &RobotGraph) -> Self {
        Self::new(graph.endpoints().filter_map(|endpoint| {
            let direction = match endpoint.role {
                EndpointRole::Publisher => Direction::Publishes,
                EndpointRole::Subscription => Direction::Subscribes,
                EndpointRole::Server | EndpointRole::Client => return None,
            };
            Some(ObservedEndpoint {
                node: endpoint.node.clone(),
                topic: endpoint.topic.clone(),
                direction,
                appeared_ns: endpoint.appeared_ns,
                vanished_ns: endpoint.vanished_ns,
            })
        }))
    }
}

fn node(name: &str, inputs: BTreeSet<&str>, outputs: BTreeSet<&str>) -> ModelNode {
    let owned = |topics: BTreeSet<&str>| topics.into_iter().map(str::to_owned).collect();
    ModelNode {
        name: name.to_owned(),
        inputs: owned(inputs),
        outputs: owned(outputs),
        rule: LinkRule::Auto,
        origin: Origin::Graph,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: i64 = 1_000_000_000;

    fn endpoint(node: &str, direction: Direction, topic: &str, from: i64) -> ObservedEndpoint {
        ObservedEndpoint {
            node: node.into(),
            topic: topic.into(),
            direction,
            appeared_ns: from * SECOND,
            vanished_ns: None,
        }
    }

    #[test]
    fn nodes_have_their_endpoints_of_that_time() {
        use Direction::{Publishes, Subscribes};
        let mut gone = endpoint("/filter", Subscribes, "/raw", 101);
        gone.vanished_ns = Some(200 * SECOND);
        let graph = ObservedGraph::new([
            endpoint("/driver", Publishes, "/raw", 100),
            endpoint("/filter", Publishes, "/filtered", 105),
            gone,
            endpoint("/filter", Subscribes, "/front/raw", 300),
            endpoint("/filter", Publishes, "/rosout", 100),
            endpoint("/filter", Publishes, "/filtered/message_tracking_tag", 100),
            endpoint("/view", Subscribes, "/filtered", 100),
            endpoint("", Publishes, "/bridge", 100),
        ]);
        let inputs = |second: i64| {
            let model = graph.at(second * SECOND);
            let filter = model.nodes.iter().find(|node| node.name == "/filter");
            let filter = filter.expect("the filter is there");
            assert_eq!(filter.outputs, ["/filtered"]);
            filter.inputs.join(" ")
        };
        // It was seen within the first seconds: it existed before.
        assert_eq!(inputs(0), "/raw");
        assert_eq!(inputs(201), "/raw");
        assert_eq!(inputs(203), "");
        assert_eq!(inputs(299), "/front/raw");
        let names: Vec<_> = graph.at(0).nodes.into_iter().map(|it| it.name).collect();
        assert_eq!(names, ["/driver", "/filter", ""]);
        assert_eq!(graph.changes_until(0), 1);
        assert_eq!(graph.changes_until(250 * SECOND), 2);
    }
}
