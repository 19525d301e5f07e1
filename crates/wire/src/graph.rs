use std::collections::{BTreeMap, BTreeSet};

use crate::endpoint::{EndpointInfo, EndpointKind};
use crate::gid::Gid;
use crate::node_name::NodeName;

/// A change of the graph.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum GraphEvent {
    /// A node appeared. Several nodes may have one name; there is an event for each.
    NodeAdded(NodeName),
    /// A node left.
    NodeRemoved(NodeName),
    /// An endpoint appeared, or its node's name or `QoS` became known.
    EndpointChanged(Box<EndpointInfo>),
    /// An endpoint left.
    EndpointRemoved(Gid),
}

/// Called with graph events.
pub type GraphObserver = Box<dyn Fn(&GraphEvent) + Send + Sync>;

/// Keeps an observer; dropping it ends the calls. No call begins after the drop.
#[must_use = "dropping the watch ends it"]
pub struct GraphWatch(Option<Box<dyn FnOnce() + Send + Sync>>);

impl GraphWatch {
    /// A watch that is ended by `end`.
    pub fn new(end: impl FnOnce() + Send + Sync + 'static) -> Self {
        Self(Some(Box::new(end)))
    }
}

impl Drop for GraphWatch {
    fn drop(&mut self) {
        if let Some(end) = self.0.take() {
            end();
        }
    }
}

impl std::fmt::Debug for GraphWatch {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("GraphWatch")
    }
}

/// The graph, built from its events.
#[derive(Clone, Debug, Default)]
pub struct Graph {
    /// Number of nodes with each name.
    nodes: BTreeMap<NodeName, usize>,
    endpoints: BTreeMap<Gid, EndpointInfo>,
}

impl Graph {
    /// Applies an event; false if it changed nothing.
    pub fn apply(&mut self, event: &GraphEvent) -> bool {
        match event {
            GraphEvent::NodeAdded(name) => {
                *self.nodes.entry(name.clone()).or_default() += 1;
                true
            }
            GraphEvent::NodeRemoved(name) => self.remove_node(name),
            GraphEvent::EndpointChanged(info) => {
                self.endpoints.insert(info.gid, (**info).clone()).as_ref() != Some(info)
            }
            GraphEvent::EndpointRemoved(gid) => self.endpoints.remove(gid).is_some(),
        }
    }

    fn remove_node(&mut self, name: &NodeName) -> bool {
        let Some(count) = self.nodes.get_mut(name) else {
            return false;
        };
        *count -= 1;
        if *count == 0 {
            self.nodes.remove(name);
        }
        true
    }

    /// The events that build this graph, for a new observer.
    pub fn replay(&self) -> Vec<GraphEvent> {
        let nodes = self.nodes.iter().flat_map(|(name, count)| {
            std::iter::repeat_n(GraphEvent::NodeAdded(name.clone()), *count)
        });
        let endpoints = self
            .endpoints
            .values()
            .map(|info| GraphEvent::EndpointChanged(Box::new(info.clone())));
        nodes.chain(endpoints).collect()
    }

    /// The names of nodes, with the number of nodes of each name.
    pub fn nodes(&self) -> impl Iterator<Item = (&NodeName, usize)> {
        self.nodes.iter().map(|(name, count)| (name, *count))
    }

    /// All endpoints, by gid.
    pub fn endpoints(&self) -> impl Iterator<Item = &EndpointInfo> {
        self.endpoints.values()
    }

    /// One endpoint.
    pub fn endpoint(&self, gid: &Gid) -> Option<&EndpointInfo> {
        self.endpoints.get(gid)
    }

    /// The endpoints of one kind on one topic or service.
    pub fn on(&self, topic: &str, kind: EndpointKind) -> impl Iterator<Item = &EndpointInfo> {
        self.endpoints
            .values()
            .filter(move |info| info.topic == topic && info.kind == kind)
    }

    /// The topics with their types; a topic with two types appears twice.
    pub fn topics(&self) -> BTreeSet<(&str, &str)> {
        self.names(&[EndpointKind::Publisher, EndpointKind::Subscription])
    }

    /// The services with their types.
    pub fn services(&self) -> BTreeSet<(&str, &str)> {
        self.names(&[EndpointKind::Server])
    }

    fn names(&self, kinds: &[EndpointKind]) -> BTreeSet<(&str, &str)> {
        self.endpoints
            .values()
            .filter(|info| kinds.contains(&info.kind))
            .map(|info| (info.topic.as_str(), info.type_name.as_str()))
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use timeloom_msg::QosProfile;

    fn endpoint(n: u8, kind: EndpointKind) -> EndpointInfo {
        EndpointInfo {
            gid: Gid([n; 16]),
            kind,
            node: None,
            topic: "/chatter".into(),
            type_name: "std_msgs/msg/String".into(),
            type_hash: None,
            qos: QosProfile::DEFAULT,
        }
    }

    fn changed(info: &EndpointInfo) -> GraphEvent {
        GraphEvent::EndpointChanged(Box::new(info.clone()))
    }

    #[test]
    fn two_nodes_with_one_name_are_counted_as_two() {
        let name = NodeName::new("/", "talker").unwrap();
        let mut graph = Graph::default();
        for _ in 0..2 {
            assert!(graph.apply(&GraphEvent::NodeAdded(name.clone())));
        }
        assert!(graph.apply(&GraphEvent::NodeRemoved(name.clone())));
        assert_eq!(graph.nodes().collect::<Vec<_>>(), [(&name, 1)]);
        assert!(graph.apply(&GraphEvent::NodeRemoved(name.clone())));
        assert!(!graph.apply(&GraphEvent::NodeRemoved(name)));
    }

    #[test]
    fn an_unchanged_endpoint_causes_no_event() {
        let mut info = endpoint(1, EndpointKind::Publisher);
        let mut graph = Graph::default();
        assert!(graph.apply(&changed(&info)));
        assert!(!graph.apply(&changed(&info)));
        info.node = Some(NodeName::new("/", "talker").unwrap());
        assert!(graph.apply(&changed(&info)));
        assert!(graph.apply(&GraphEvent::EndpointRemoved(info.gid)));
        assert!(!graph.apply(&GraphEvent::EndpointRemoved(info.gid)));
    }

    #[test]
    fn a_replay_builds_the_same_graph() {
        let mut graph = Graph::default();
        graph.apply(&GraphEvent::NodeAdded(NodeName::new("/a", "b").unwrap()));
        graph.apply(&GraphEvent::NodeAdded(NodeName::new("/a", "b").unwrap()));
        graph.apply(&changed(&endpoint(1, EndpointKind::Publisher)));
        graph.apply(&changed(&endpoint(2, EndpointKind::Subscription)));
        let mut copy = Graph::default();
        for event in graph.replay() {
            copy.apply(&event);
        }
        assert_eq!(copy.replay(), graph.replay());
        assert_eq!(copy.topics().len(), 1);
        assert_eq!(copy.on("/chatter", EndpointKind::Publisher).count(), 1);
    }
}
