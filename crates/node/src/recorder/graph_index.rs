use std::collections::{BTreeMap, BTreeSet};

use timeloom_wire::{EndpointInfo, EndpointKind, Gid, GraphEvent, NodeName};

use super::selection::Candidate;
use crate::Names;

/// The publishers and subscriptions of the graph by topic, and which topics have changed.
///
/// A change costs as much as its topic has endpoints, however large the graph is.
#[derive(Debug, Default)]
pub(super) struct GraphIndex {
    /// Topics are filed under the name by which the recorder's node reaches them; without, under their own.
    names: Option<Names>,
    topics: BTreeMap<String, BTreeMap<Gid, EndpointInfo>>,
    homes: BTreeMap<Gid, String>,
    changed: BTreeSet<String>,
    /// Publishers that left since their topic was looked at.
    departed: BTreeMap<String, Vec<EndpointInfo>>,
}

/// Publishers of one topic that may leave between two looks at it.
const MOST_DEPARTED: usize = 4096;

impl GraphIndex {
    pub(super) fn new(names: Option<Names>) -> Self {
        Self {
            names: names.filter(Names::remaps_topics),
            ..Self::default()
        }
    }

    /// The name under which a topic is filed; none if the node cannot reach it.
    fn own_name(&self, topic: &str) -> Option<String> {
        match &self.names {
            Some(names) => names.topic_behind(topic),
            None => Some(topic.to_owned()),
        }
    }

    /// Takes in an event; true if a topic has changed.
    pub(super) fn apply(&mut self, event: &GraphEvent) -> bool {
        match event {
            GraphEvent::EndpointChanged(info) if is_topic(info) => {
                let Some(topic) = self.own_name(&info.topic) else {
                    return false;
                };
                let endpoints = self.topics.entry(topic.clone()).or_default();
                let news = endpoints.insert(info.gid, (**info).clone()).as_ref() != Some(info);
                self.homes.insert(info.gid, topic.clone());
                news && self.changed.insert(topic)
            }
            GraphEvent::EndpointRemoved(gid) => {
                let Some(topic) = self.homes.remove(gid) else {
                    return false;
                };
                if let Some(endpoints) = self.topics.get_mut(&topic) {
                    let left = endpoints.remove(gid);
                    let left = left.filter(|info| info.kind == EndpointKind::Publisher);
                    let departed = self.departed.entry(topic.clone()).or_default();
                    departed.extend(left.filter(|_| departed.len() < MOST_DEPARTED));
                    if endpoints.is_empty() {
                        self.topics.remove(&topic);
                    }
                }
                self.changed.insert(topic)
            }
            _ => false,
        }
    }

    /// The topics that have changed since the last call.
    pub(super) fn take_changed(&mut self) -> BTreeSet<String> {
        std::mem::take(&mut self.changed)
    }

    /// The publishers of a topic that left since the last call.
    pub(super) fn take_departed(&mut self, topic: &str) -> Vec<EndpointInfo> {
        self.departed.remove(topic).unwrap_or_default()
    }

    /// Has a topic looked at again.
    pub(super) fn look_again(&mut self, topic: &str) {
        self.changed.insert(topic.to_owned());
    }

    /// Has all topics looked at again.
    pub(super) fn look_at_all(&mut self) {
        self.changed.extend(self.topics.keys().cloned());
    }

    /// Whether there is any topic.
    pub(super) fn has_topics(&self) -> bool {
        !self.topics.is_empty()
    }

    /// Data for the selection of a topic; subscriptions of `own` do not count, publishers that just left do.
    pub(super) fn candidate(
        &self,
        topic: &str,
        own: &NodeName,
        departed: &[EndpointInfo],
    ) -> Candidate {
        let mut candidate = Candidate {
            name: topic.to_owned(),
            ..Candidate::default()
        };
        for info in self.endpoints(topic).chain(departed) {
            let ours = info.node.as_ref() == Some(own);
            match info.kind {
                EndpointKind::Publisher => candidate.publishers += 1,
                _ if ours => continue,
                _ => candidate.subscriptions += 1,
            }
            candidate.types.insert(info.type_name.clone());
        }
        // On a topic with publishers, their types are those of the messages.
        if candidate.publishers > 0 {
            let publishers = self.publishers(topic).chain(departed);
            candidate.types = publishers.map(|info| info.type_name.clone()).collect();
        }
        candidate
    }

    /// The publishers of a topic.
    pub(super) fn publishers(&self, topic: &str) -> impl Iterator<Item = &EndpointInfo> {
        self.endpoints(topic)
            .filter(|info| info.kind == EndpointKind::Publisher)
    }

    fn endpoints(&self, topic: &str) -> impl Iterator<Item = &EndpointInfo> {
        self.topics
            .get(topic)
            .into_iter()
            .flat_map(BTreeMap::values)
    }
}

/// Topics of ROS only: DDS has others, without the slash.
fn is_topic(info: &EndpointInfo) -> bool {
    matches!(
        info.kind,
        EndpointKind::Publisher | EndpointKind::Subscription
    ) && info.topic.starts_with('/')
}

#[cfg(test)]
mod tests {
    use super::*;
    use timeloom_msg::QosProfile;

    fn endpoint(number: u8, kind: EndpointKind, node: &str) -> GraphEvent {
        GraphEvent::EndpointChanged(Box::new(EndpointInfo {
            gid: Gid([number; 16]),
            kind,
            node: Some(NodeName::new("/", node).unwrap()),
            topic: "/a".into(),
            type_name: "std_msgs/msg/String".into(),
            type_hash: None,
            qos: QosProfile::DEFAULT,
        }))
    }

    #[test]
    fn topics_change_with_their_endpoints() {
        let own = NodeName::new("/", "recorder").unwrap();
        let mut index = GraphIndex::default();
        assert!(index.apply(&endpoint(1, EndpointKind::Publisher, "talker")));
        assert_eq!(index.take_changed().len(), 1);
        assert!(!index.apply(&endpoint(1, EndpointKind::Publisher, "talker")));
        index.apply(&endpoint(2, EndpointKind::Subscription, "recorder"));
        index.apply(&endpoint(3, EndpointKind::Subscription, "listener"));
        let candidate = index.candidate("/a", &own, &[]);
        assert_eq!((candidate.publishers, candidate.subscriptions), (1, 1));
        assert_eq!(candidate.types.len(), 1);
        index.take_changed();
        assert!(index.apply(&GraphEvent::EndpointRemoved(Gid([1; 16]))));
        assert_eq!(index.candidate("/a", &own, &[]).publishers, 0);
        let departed = index.take_departed("/a");
        assert_eq!(departed.len(), 1, "it is not forgotten before it was seen");
        assert_eq!(index.candidate("/a", &own, &departed).publishers, 1);
        assert_eq!(index.take_departed("/a").len(), 0);
        assert!(!index.apply(&GraphEvent::EndpointRemoved(Gid([1; 16]))));
    }

    #[test]
    fn topics_are_filed_under_the_name_that_the_node_has_for_them() {
        let mut options = crate::NodeOptions::new("recorder");
        options.remaps = vec!["/robot/scan:=/a".parse().unwrap()];
        let mut index = GraphIndex::new(Some(Names::new(&options).unwrap()));
        assert!(index.apply(&endpoint(1, EndpointKind::Publisher, "talker")));
        assert_eq!(index.publishers("/robot/scan").count(), 1);
        assert_eq!(index.publishers("/a").count(), 0);
        options.remaps = vec!["/a:=/elsewhere".parse().unwrap()];
        let mut index = GraphIndex::new(Some(Names::new(&options).unwrap()));
        assert!(!index.apply(&endpoint(1, EndpointKind::Publisher, "talker")));
        assert!(!index.has_topics());
    }
}
