//! The graph of a robot while it was recorded: nodes, their publishers, subscriptions, servers and clients.

mod text;

use std::collections::BTreeMap;

use timeloom_msg::QosProfile;

use crate::Result;
use crate::bag::TimeMap;
use crate::robot::{RobotState, StatePart};

/// Name of the MCAP metadata records that hold the graph; each has the text under the key `graph`.
pub const GRAPH_NAME: &str = StatePart::Graph.record_name();
/// The version of the text that is written. A reader refuses a later one.
pub const GRAPH_VERSION: u32 = 1;

/// The role of an endpoint.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, serde::Serialize)]
#[serde(rename_all = "snake_case")]
pub enum EndpointRole {
    /// Sends on a topic.
    Publisher,
    /// Receives from a topic.
    Subscription,
    /// Answers a service.
    Server,
    /// Calls a service.
    Client,
}

impl EndpointRole {
    /// All roles.
    pub const ALL: [Self; 4] = [
        Self::Publisher,
        Self::Subscription,
        Self::Server,
        Self::Client,
    ];

    /// The word in the text of a graph.
    pub fn name(self) -> &'static str {
        match self {
            Self::Publisher => "publisher",
            Self::Subscription => "subscription",
            Self::Server => "server",
            Self::Client => "client",
        }
    }
}

/// A publisher, subscription, server or client of a node, and the time of its existence.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GraphEndpoint {
    /// Its unique id: the gid in hexadecimal digits.
    pub id: String,
    /// The full name of its node; empty if it was never known.
    pub node: String,
    /// Its role.
    pub role: EndpointRole,
    /// The full name of the topic or service.
    pub topic: String,
    /// The type of the topic or service.
    pub type_name: String,
    /// The hash of the type; empty when the peer did not announce it.
    pub type_hash: String,
    /// The `QoS` that it offers or requests.
    pub qos: QosProfile,
    /// Log time at which the recorder first saw it.
    pub appeared_ns: i64,
    /// Log time at which it left; `None` if it existed until the end.
    pub vanished_ns: Option<i64>,
}

/// The endpoints that a recorder saw, with the times at which they appeared and vanished.
///
/// A bag holds it as a series of texts: the first one of each file has all endpoints of that moment, the others have the
/// changes. Each file is therefore complete from its own beginning on.
///
/// ```
/// use timeloom_bag::{EndpointRole, GraphEndpoint, RobotGraph};
/// use timeloom_msg::QosProfile;
///
/// let mut graph = RobotGraph::default();
/// graph.insert(GraphEndpoint {
///     id: "0103".into(),
///     node: "/camera".into(),
///     role: EndpointRole::Publisher,
///     topic: "/image".into(),
///     type_name: "sensor_msgs/msg/Image".into(),
///     type_hash: String::new(),
///     qos: QosProfile::default(),
///     appeared_ns: 10,
///     vanished_ns: None,
/// });
/// assert_eq!(graph.endpoint("0103").expect("it was inserted").node, "/camera");
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct RobotGraph {
    endpoints: BTreeMap<String, GraphEndpoint>,
}

impl RobotGraph {
    /// Adds an endpoint, or replaces its description; the earliest time at which it was seen stays.
    pub fn insert(&mut self, mut endpoint: GraphEndpoint) {
        if let Some(known) = self.endpoints.get(&endpoint.id) {
            endpoint.appeared_ns = endpoint.appeared_ns.min(known.appeared_ns);
            if endpoint.node.is_empty() {
                endpoint.node.clone_from(&known.node);
            }
        }
        self.endpoints.insert(endpoint.id.clone(), endpoint);
    }

    /// All endpoints, by id.
    pub fn endpoints(&self) -> impl Iterator<Item = &GraphEndpoint> {
        self.endpoints.values()
    }

    /// One endpoint.
    pub fn endpoint(&self, id: &str) -> Option<&GraphEndpoint> {
        self.endpoints.get(id)
    }

    /// Whether it has no endpoints.
    pub fn is_empty(&self) -> bool {
        self.endpoints.is_empty()
    }

    /// Number of endpoints.
    pub fn len(&self) -> usize {
        self.endpoints.len()
    }

    /// The same graph with other names for topics: from, to.
    pub(crate) fn renamed(mut self, names: &[(String, String)]) -> Self {
        for endpoint in self.endpoints.values_mut() {
            if let Some((_, to)) = names.iter().find(|(from, _)| *from == endpoint.topic) {
                endpoint.topic.clone_from(to);
            }
        }
        self
    }
}

impl RobotState for RobotGraph {
    const PART: StatePart = StatePart::Graph;

    fn is_empty(&self) -> bool {
        self.endpoints.is_empty()
    }

    fn to_yaml(&self) -> String {
        text::emit(self)
    }

    fn parse(text: &str) -> Result<Self> {
        text::parse(text)
    }

    fn retime(&mut self, times: &dyn TimeMap) {
        for endpoint in self.endpoints.values_mut() {
            endpoint.appeared_ns = times.map(endpoint.appeared_ns);
            endpoint.vanished_ns = endpoint.vanished_ns.map(|time| times.map(time));
        }
    }

    fn update(&mut self, later: &Self) {
        for endpoint in later.endpoints() {
            self.insert(endpoint.clone());
        }
    }

    /// An endpoint that is in both was there while either saw it.
    fn unite(&mut self, other: &Self) {
        for endpoint in other.endpoints() {
            let known = self.endpoints.get(&endpoint.id);
            let gone = known.map_or(endpoint.vanished_ns, |known| {
                Some(known.vanished_ns?.max(endpoint.vanished_ns?))
            });
            self.insert(GraphEndpoint {
                vanished_ns: gone,
                ..endpoint.clone()
            });
        }
    }

    /// Endpoints that are still there.
    fn forget_past(&mut self) {
        self.endpoints
            .retain(|_, endpoint| endpoint.vanished_ns.is_none());
    }
}

impl FromIterator<GraphEndpoint> for RobotGraph {
    fn from_iter<I: IntoIterator<Item = GraphEndpoint>>(endpoints: I) -> Self {
        let mut graph = Self::default();
        for endpoint in endpoints {
            graph.insert(endpoint);
        }
        graph
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn endpoint(id: &str, node: &str, appeared_ns: i64, vanished_ns: Option<i64>) -> GraphEndpoint {
        GraphEndpoint {
            id: id.into(),
            node: node.into(),
            role: EndpointRole::Publisher,
            topic: "/scan".into(),
            type_name: "sensor_msgs/msg/LaserScan".into(),
            type_hash: String::new(),
            qos: QosProfile::SENSOR_DATA,
            appeared_ns,
            vanished_ns,
        }
    }

    #[test]
    fn a_later_text_completes_the_graph() {
        let mut graph: RobotGraph = [endpoint("1", "", 5, None)].into_iter().collect();
        graph.update(&[endpoint("1", "/lidar", 7, None)].into_iter().collect());
        graph.update(&[endpoint("1", "", 5, Some(9))].into_iter().collect());
        let known = graph.endpoint("1").unwrap();
        assert_eq!(*known, endpoint("1", "/lidar", 5, Some(9)));
        graph.forget_past();
        assert!(graph.is_empty());
    }

    #[test]
    fn an_endpoint_in_two_recordings_is_one() {
        for (a, b, both) in [
            (Some(5), Some(9), Some(9)),
            (None, Some(9), None),
            (Some(5), None, None),
        ] {
            let mut graph: RobotGraph = [endpoint("1", "/a", 3, a)].into_iter().collect();
            let other = [endpoint("1", "/a", 2, b), endpoint("2", "/b", 4, Some(6))];
            graph.unite(&other.into_iter().collect());
            assert_eq!(graph.endpoint("1").unwrap().vanished_ns, both);
            assert_eq!(graph.endpoint("1").unwrap().appeared_ns, 2);
            assert_eq!(graph.endpoint("2").unwrap().vanished_ns, Some(6));
        }
    }

    #[test]
    fn topics_are_renamed() {
        let graph: RobotGraph = [endpoint("1", "/a", 3, None)].into_iter().collect();
        let graph = graph.renamed(&[("/scan".into(), "/front/scan".into())]);
        assert_eq!(graph.endpoint("1").unwrap().topic, "/front/scan");
    }
}
