//! Builds the graph from its two halves: endpoints from DDS, node names from `ros_discovery_info`, in any order.

use std::collections::BTreeMap;

use timeloom_msg::TypeName;
use timeloom_msg::name::{DdsTopicKind, ros_topic};
use timeloom_wire::{EndpointInfo, EndpointKind, Gid, GraphEvent, NodeName};

use crate::node_info::{NodeInfo, ParticipantInfo};
use crate::sys::{Discovered, Presence};
use crate::user_data;

/// A node with the readers and writers that it announces.
#[derive(Clone, Debug)]
struct OwnedNode {
    name: NodeName,
    ends: [Vec<Gid>; 2],
}

/// Turns discovery data into graph events.
#[derive(Default)]
pub(crate) struct GraphJoin {
    /// The present participants, with their nodes.
    participants: BTreeMap<Gid, Vec<OwnedNode>>,
    /// Nodes of participants that are not present (yet); bounded.
    early: BTreeMap<Gid, Vec<OwnedNode>>,
    /// The node of each endpoint.
    owners: BTreeMap<Gid, NodeName>,
    endpoints: BTreeMap<Gid, EndpointInfo>,
}

/// Limit of the node lists that arrive before their participants: a peer that invents participants cannot fill the
/// memory.
const MAX_EARLY: usize = 256;

impl GraphJoin {
    /// Applies a change that DDS discovered.
    pub(crate) fn presence(&mut self, presence: Presence) -> Vec<GraphEvent> {
        match presence {
            Presence::Participant(guid) => self.participant_came(Gid(guid)),
            Presence::ParticipantGone(guid) => self.participant_went(Gid(guid)),
            Presence::Writer(guid, found) => self.endpoint_came(Gid(guid), found, Side::Writer),
            Presence::Reader(guid, found) => self.endpoint_came(Gid(guid), found, Side::Reader),
            Presence::EndpointGone(guid) => {
                let gone = self.endpoints.remove(&Gid(guid)).is_some();
                gone.then_some(GraphEvent::EndpointRemoved(Gid(guid)))
                    .into_iter()
                    .collect()
            }
        }
    }

    /// Replaces the nodes of a participant. `invalid` is called with names that ROS forbids.
    pub(crate) fn nodes(
        &mut self,
        info: &ParticipantInfo,
        mut invalid: impl FnMut(&NodeInfo),
    ) -> Vec<GraphEvent> {
        let mut nodes: Vec<OwnedNode> = Vec::with_capacity(info.nodes.len());
        for node in &info.nodes {
            match NodeName::new(&node.namespace, &node.name) {
                Ok(name) => nodes.push(OwnedNode {
                    name,
                    ends: [node.readers.clone(), node.writers.clone()],
                }),
                Err(_) => invalid(node),
            }
        }
        if self.participants.contains_key(&info.participant) {
            return self.replace_nodes(info.participant, nodes);
        }
        if self.early.len() >= MAX_EARLY && !self.early.contains_key(&info.participant) {
            self.early.pop_first();
        }
        self.early.insert(info.participant, nodes);
        Vec::new()
    }

    fn participant_came(&mut self, participant: Gid) -> Vec<GraphEvent> {
        self.participants.entry(participant).or_default();
        match self.early.remove(&participant) {
            Some(nodes) => self.replace_nodes(participant, nodes),
            None => Vec::new(),
        }
    }

    fn participant_went(&mut self, participant: Gid) -> Vec<GraphEvent> {
        self.early.remove(&participant);
        let mut events = self.replace_nodes(participant, Vec::new());
        self.participants.remove(&participant);
        // Cyclone reports each endpoint as well, but not in this order.
        let (mut first, mut last) = (participant, participant);
        first.0[12..].fill(0);
        last.0[12..].fill(0xff);
        let gone: Vec<Gid> = self
            .endpoints
            .range(first..=last)
            .map(|(gid, _)| *gid)
            .collect();
        for gid in gone {
            self.endpoints.remove(&gid);
            events.push(GraphEvent::EndpointRemoved(gid));
        }
        events
    }

    /// Compares only the changes: a node with thousands of endpoints sends all of them each time.
    fn replace_nodes(&mut self, participant: Gid, nodes: Vec<OwnedNode>) -> Vec<GraphEvent> {
        let old = self.participants.remove(&participant).unwrap_or_default();
        let mut events = name_changes(&old, &nodes);
        let Changes { gone, came } = Changes::between(&old, &nodes);
        let mut before: BTreeMap<Gid, NodeName> = BTreeMap::new();
        for gid in gone {
            before.extend(self.owners.remove(&gid).map(|name| (gid, name)));
        }
        for (gid, name) in came {
            self.owners.insert(gid, name.clone());
            if before.remove(&gid).as_ref() != Some(name) {
                events.extend(self.set_node(gid, Some(name)));
            }
        }
        for gid in before.into_keys() {
            events.extend(self.set_node(gid, None));
        }
        self.participants.insert(participant, nodes);
        events
    }

    fn set_node(&mut self, gid: Gid, node: Option<&NodeName>) -> Option<GraphEvent> {
        let info = self.endpoints.get_mut(&gid)?;
        info.node = node.cloned();
        Some(GraphEvent::EndpointChanged(Box::new(info.clone())))
    }

    fn endpoint_came(&mut self, gid: Gid, found: Discovered, side: Side) -> Vec<GraphEvent> {
        let node = self.owners.get(&gid).cloned();
        let Some(info) = describe(gid, found, side, node) else {
            return Vec::new();
        };
        let changed = self.endpoints.insert(gid, info.clone()).as_ref() != Some(&info);
        changed
            .then(|| GraphEvent::EndpointChanged(Box::new(info)))
            .into_iter()
            .collect()
    }
}

/// The endpoints with another owner than before, or another position in the list.
#[derive(Default)]
struct Changes<'a> {
    gone: Vec<Gid>,
    came: Vec<(Gid, &'a NodeName)>,
}

impl<'a> Changes<'a> {
    fn between(old: &[OwnedNode], new: &'a [OwnedNode]) -> Self {
        static NONE: [Vec<Gid>; 2] = [Vec::new(), Vec::new()];
        let mut changes = Self::default();
        for index in 0..old.len().max(new.len()) {
            let (old, new) = (old.get(index), new.get(index));
            let same_node = old.map(|node| &node.name) == new.map(|node| &node.name);
            let (had, has) = (
                old.map_or(&NONE, |node| &node.ends),
                new.map_or(&NONE, |node| &node.ends),
            );
            for (had, has) in had.iter().zip(has) {
                // Lists grow at their ends.
                let kept = had
                    .iter()
                    .zip(has)
                    .take_while(|(had, has)| same_node && had == has)
                    .count();
                changes.gone.extend(had.iter().skip(kept));
                if let Some(node) = new {
                    changes
                        .came
                        .extend(has.iter().skip(kept).map(|gid| (*gid, &node.name)));
                }
            }
        }
        changes
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Side {
    Writer,
    Reader,
}

/// Nodes that were added and removed; two nodes with one name count as two.
fn name_changes(old: &[OwnedNode], new: &[OwnedNode]) -> Vec<GraphEvent> {
    let mut counts: BTreeMap<&NodeName, isize> = BTreeMap::new();
    for OwnedNode { name, .. } in new {
        *counts.entry(name).or_default() += 1;
    }
    for OwnedNode { name, .. } in old {
        *counts.entry(name).or_default() -= 1;
    }
    let mut events = Vec::new();
    for (name, change) in counts {
        let event = if change > 0 {
            GraphEvent::NodeAdded(name.clone())
        } else {
            GraphEvent::NodeRemoved(name.clone())
        };
        events.extend(std::iter::repeat_n(event, change.unsigned_abs()));
    }
    events
}

/// The ROS description of an endpoint; `None` if it does not belong to a node.
///
/// A server is its reader of requests, a client its writer of requests: their other halves are not reported.
fn describe(
    gid: Gid,
    found: Discovered,
    side: Side,
    node: Option<NodeName>,
) -> Option<EndpointInfo> {
    let plain = match side {
        Side::Writer => EndpointKind::Publisher,
        Side::Reader => EndpointKind::Subscription,
    };
    let mut qos = found.qos;
    let (kind, topic) = match ros_topic(&found.topic) {
        Some((DdsTopicKind::Topic, name)) => (plain, name.to_owned()),
        Some((DdsTopicKind::ServiceRequest, name)) if side == Side::Reader => {
            (EndpointKind::Server, name.to_owned())
        }
        Some((DdsTopicKind::ServiceRequest, name)) => (EndpointKind::Client, name.to_owned()),
        Some((DdsTopicKind::ServiceReply, _)) => return None,
        None if crate::node_info::TOPIC.to_bytes() == found.topic.as_bytes() => return None,
        None => {
            qos.avoid_ros_namespace_conventions = true;
            (plain, found.topic)
        }
    };
    let service = matches!(kind, EndpointKind::Server | EndpointKind::Client);
    Some(EndpointInfo {
        gid,
        kind,
        node,
        topic,
        type_name: ros_type(found.type_name, service),
        // Service endpoints announce the hash of the request, not of the service.
        type_hash: user_data::type_hash(&found.user_data).filter(|_| !service),
        qos,
    })
}

fn ros_type(dds: String, service: bool) -> String {
    let Ok(name) = TypeName::from_dds(&dds) else {
        return dds;
    };
    let whole = service.then(|| name.without_suffix("_Request")).flatten();
    whole.unwrap_or(name).to_string()
}

#[cfg(test)]
mod tests {
    use super::*;
    use timeloom_msg::QosProfile;
    use timeloom_wire::Graph;

    const PARTICIPANT: [u8; 16] = [1, 0x10, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 0, 0, 1, 0xc1];

    fn guid(entity: u8) -> [u8; 16] {
        let mut guid = PARTICIPANT;
        guid[14..].copy_from_slice(&[entity, 3]);
        guid
    }

    fn found(topic: &str, type_name: &str) -> Discovered {
        Discovered {
            topic: topic.into(),
            type_name: type_name.into(),
            qos: QosProfile::DEFAULT,
            user_data: Vec::new(),
        }
    }

    fn chatter(entity: u8) -> Presence {
        Presence::Writer(
            guid(entity),
            found("rt/chatter", "std_msgs::msg::dds_::String_"),
        )
    }

    fn talker(names: &[(&str, &[u8])]) -> ParticipantInfo {
        let node = |(name, writers): &(&str, &[u8])| NodeInfo {
            namespace: "/".into(),
            name: (*name).into(),
            readers: Vec::new(),
            writers: writers.iter().map(|entity| Gid(guid(*entity))).collect(),
        };
        ParticipantInfo {
            participant: Gid(PARTICIPANT),
            nodes: names.iter().map(node).collect(),
        }
    }

    /// Applies discovery data, and keeps the graph that results from the events.
    #[derive(Default)]
    struct Watched {
        join: GraphJoin,
        graph: Graph,
        invalid: usize,
    }

    impl Watched {
        fn see(&mut self, presence: Presence) {
            for event in self.join.presence(presence) {
                assert!(self.graph.apply(&event), "{event:?} is no news");
            }
        }

        fn handle_event(&mut self, info: &ParticipantInfo) {
            let invalid = &mut self.invalid;
            for event in self.join.nodes(info, |_| *invalid += 1) {
                assert!(self.graph.apply(&event), "{event:?} is no news");
            }
        }

        fn names(&self) -> Vec<(String, usize)> {
            self.graph
                .nodes()
                .map(|(name, count)| (name.full(), count))
                .collect()
        }

        fn node_of(&self, entity: u8) -> Option<String> {
            let info = self.graph.endpoint(&Gid(guid(entity)))?;
            info.node.as_ref().map(NodeName::full)
        }
    }

    #[test]
    fn the_two_halves_join_in_any_order() {
        let endpoint = |w: &mut Watched| w.see(chatter(1));
        let info = |w: &mut Watched| w.handle_event(&talker(&[("talker", &[1])]));
        let participant = |w: &mut Watched| w.see(Presence::Participant(PARTICIPANT));
        let steps: [&dyn Fn(&mut Watched); 3] = [&endpoint, &info, &participant];
        for order in [
            [0, 1, 2],
            [0, 2, 1],
            [1, 0, 2],
            [1, 2, 0],
            [2, 0, 1],
            [2, 1, 0],
        ] {
            let mut watched = Watched::default();
            for step in order {
                steps[step](&mut watched);
            }
            assert_eq!(watched.names(), [("/talker".to_owned(), 1)], "{order:?}");
            assert_eq!(watched.node_of(1).as_deref(), Some("/talker"), "{order:?}");
        }
    }

    #[test]
    fn a_participant_that_dies_takes_its_nodes_and_endpoints_along() {
        let mut watched = Watched::default();
        watched.see(Presence::Participant(PARTICIPANT));
        watched.see(chatter(1));
        watched.handle_event(&talker(&[("talker", &[1]), ("talker", &[])]));
        assert_eq!(watched.names(), [("/talker".to_owned(), 2)]);
        watched.see(Presence::ParticipantGone(PARTICIPANT));
        assert_eq!(watched.names(), []);
        assert_eq!(watched.graph.endpoints().count(), 0);
        // Late data of a dead participant changes nothing.
        watched.handle_event(&talker(&[("talker", &[1])]));
        watched.see(Presence::EndpointGone(guid(1)));
        assert_eq!(watched.names(), []);
    }

    #[test]
    fn an_endpoint_moves_with_its_node() {
        let mut watched = Watched::default();
        watched.see(Presence::Participant(PARTICIPANT));
        watched.see(chatter(1));
        watched.see(chatter(2));
        watched.handle_event(&talker(&[("one", &[1]), ("two", &[2])]));
        assert_eq!(watched.node_of(2).as_deref(), Some("/two"));
        watched.handle_event(&talker(&[("one", &[1, 2])]));
        assert_eq!(watched.node_of(2).as_deref(), Some("/one"));
        assert_eq!(watched.names(), [("/one".to_owned(), 1)]);
        watched.handle_event(&talker(&[]));
        assert_eq!(watched.node_of(1), None);
        assert_eq!(watched.graph.endpoints().count(), 2);
    }

    #[test]
    fn an_endpoint_that_only_moves_in_the_list_causes_no_event() {
        let mut watched = Watched::default();
        watched.see(Presence::Participant(PARTICIPANT));
        for entity in 1..=4 {
            watched.see(chatter(entity));
        }
        watched.handle_event(&talker(&[("one", &[1, 2, 3]), ("two", &[4])]));
        let events = watched
            .join
            .nodes(&talker(&[("one", &[2, 3]), ("two", &[4])]), |_| {});
        assert_eq!(events.len(), 1, "{events:?}");
        let swapped = talker(&[("two", &[4]), ("one", &[3, 2])]);
        assert_eq!(watched.join.nodes(&swapped, |_| {}), []);
    }

    #[test]
    fn invented_participants_and_names_are_bounded_and_counted() {
        let mut watched = Watched::default();
        for number in 0..10_000_u32 {
            let mut info = talker(&[("ghost", &[])]);
            info.participant.0[2..6].copy_from_slice(&number.to_be_bytes());
            watched.handle_event(&info);
        }
        assert!(watched.join.early.len() <= MAX_EARLY);
        watched.see(Presence::Participant(PARTICIPANT));
        watched.handle_event(&talker(&[("no blanks", &[]), ("fine", &[])]));
        assert_eq!(watched.names(), [("/fine".to_owned(), 1)]);
        assert_eq!(watched.invalid, 1);
    }

    #[test]
    fn names_and_types_are_converted_to_ros() {
        let describe = |topic: &str, type_name: &str, side| {
            describe(Gid(guid(1)), found(topic, type_name), side, None)
        };
        let request = "example_interfaces::srv::dds_::AddTwoInts_Request_";
        let server = describe("rq/addRequest", request, Side::Reader).unwrap();
        assert_eq!(
            (server.kind, server.topic.as_str()),
            (EndpointKind::Server, "/add")
        );
        assert_eq!(server.type_name, "example_interfaces/srv/AddTwoInts");
        let client = describe("rq/addRequest", request, Side::Writer).unwrap();
        assert_eq!(client.kind, EndpointKind::Client);
        assert_eq!(describe("rr/addReply", "whatever", Side::Reader), None);
        assert_eq!(
            describe("ros_discovery_info", "whatever", Side::Writer),
            None
        );
        let foreign = describe("HelloWorld", "Hello::World", Side::Writer).unwrap();
        assert_eq!(
            (foreign.topic.as_str(), foreign.type_name.as_str()),
            ("HelloWorld", "Hello::World")
        );
        assert!(foreign.qos.avoid_ros_namespace_conventions);
    }
}
