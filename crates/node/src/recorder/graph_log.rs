use std::collections::{BTreeMap, BTreeSet};

use timeloom_bag::{EndpointRole, GraphEndpoint, RobotGraph};
use timeloom_wire::{EndpointInfo, EndpointKind, Gid, GraphEvent, NodeName};

use crate::Names;

/// The graph of the robot on its way into the bag: what is there, and what changed since the writer asked.
#[derive(Debug)]
pub(super) struct GraphLog {
    /// The recorder's own node: what it subscribes to says nothing about the robot.
    own: NodeName,
    /// Topics have the names that they have in the bag.
    names: Option<Names>,
    there: BTreeMap<Gid, GraphEndpoint>,
    changed: BTreeMap<Gid, GraphEndpoint>,
    /// Those that the writer has heard of.
    reported: BTreeSet<Gid>,
}

/// Time after which an endpoint is reported even without the name of its node.
const NAME_PATIENCE_NS: i64 = 2_000_000_000;

/// Every node of ROS has these services; they would be most of the graph and say nothing.
const COMMON_SERVICES: [&str; 7] = [
    "rcl_interfaces/srv/DescribeParameters",
    "rcl_interfaces/srv/GetParameterTypes",
    "rcl_interfaces/srv/GetParameters",
    "rcl_interfaces/srv/ListParameters",
    "rcl_interfaces/srv/SetParameters",
    "rcl_interfaces/srv/SetParametersAtomically",
    "type_description_interfaces/srv/GetTypeDescription",
];

impl GraphLog {
    pub(super) fn new(own: NodeName, names: Option<Names>) -> Self {
        Self {
            own,
            names: names.filter(Names::remaps_topics),
            there: BTreeMap::new(),
            changed: BTreeMap::new(),
            reported: BTreeSet::new(),
        }
    }

    /// Takes in an event of that log time.
    pub(super) fn apply(&mut self, event: &GraphEvent, log_time_ns: i64) {
        match event {
            GraphEvent::EndpointChanged(info) if self.is_wanted(info) => {
                let appeared_ns = self
                    .there
                    .get(&info.gid)
                    .map_or(log_time_ns, |known| known.appeared_ns);
                let endpoint = self.endpoint(info, appeared_ns);
                if self.there.get(&info.gid) != Some(&endpoint) {
                    self.there.insert(info.gid, endpoint.clone());
                    self.changed.insert(info.gid, endpoint);
                }
            }
            // The name of its node may come later, and be our own.
            GraphEvent::EndpointChanged(info) => {
                self.vanish(info.gid, log_time_ns);
                if !self.reported.contains(&info.gid) {
                    self.changed.remove(&info.gid);
                }
            }
            GraphEvent::EndpointRemoved(gid) => self.vanish(*gid, log_time_ns),
            _ => {}
        }
    }

    fn vanish(&mut self, gid: Gid, log_time_ns: i64) {
        if let Some(mut endpoint) = self.there.remove(&gid) {
            endpoint.vanished_ns = Some(log_time_ns);
            self.changed.insert(gid, endpoint);
        }
    }

    /// Changes since the last call, except for endpoints whose node name may still arrive.
    pub(super) fn take_changed(&mut self, log_time_ns: i64) -> RobotGraph {
        let waits = |endpoint: &GraphEndpoint| {
            let age = log_time_ns.saturating_sub(endpoint.appeared_ns);
            endpoint.node.is_empty() && endpoint.vanished_ns.is_none() && age < NAME_PATIENCE_NS
        };
        let changed = std::mem::take(&mut self.changed);
        let (waiting, changed): (BTreeMap<_, _>, BTreeMap<_, _>) =
            changed.into_iter().partition(|(_, it)| waits(it));
        self.changed = waiting;
        self.reported.extend(changed.keys());
        for (gid, _) in changed.iter().filter(|(_, it)| it.vanished_ns.is_some()) {
            self.reported.remove(gid);
        }
        changed.into_values().collect()
    }

    fn is_wanted(&self, info: &EndpointInfo) -> bool {
        let is_service = matches!(info.kind, EndpointKind::Server | EndpointKind::Client);
        let common = is_service && COMMON_SERVICES.contains(&info.type_name.as_str());
        // DDS has topics of others, without the slash.
        info.topic.starts_with('/') && info.node.as_ref() != Some(&self.own) && !common
    }

    fn endpoint(&self, info: &EndpointInfo, appeared_ns: i64) -> GraphEndpoint {
        let role = match info.kind {
            EndpointKind::Publisher => EndpointRole::Publisher,
            EndpointKind::Subscription => EndpointRole::Subscription,
            EndpointKind::Server => EndpointRole::Server,
            EndpointKind::Client => EndpointRole::Client,
        };
        let names = self.names.as_ref();
        let own_name = names.and_then(|names| names.topic_behind(&info.topic));
        GraphEndpoint {
            id: id(info.gid),
            node: info.node.as_ref().map(NodeName::full).unwrap_or_default(),
            role,
            topic: own_name.unwrap_or_else(|| info.topic.clone()),
            type_name: info.type_name.clone(),
            type_hash: info
                .type_hash
                .map(|hash| hash.to_string())
                .unwrap_or_default(),
            qos: info.qos,
            appeared_ns,
            vanished_ns: None,
        }
    }
}

/// The id of an endpoint in a bag.
pub(super) fn id(gid: Gid) -> String {
    gid.to_string().replace('.', "")
}

#[cfg(test)]
mod tests {
    use timeloom_msg::QosProfile;

    use super::*;

    fn node(name: &str) -> NodeName {
        NodeName::new("/", name).unwrap()
    }

    fn log() -> GraphLog {
        GraphLog::new(node("recorder"), None)
    }

    fn info(number: u8, name: Option<&str>, topic: &str, kind: EndpointKind) -> EndpointInfo {
        EndpointInfo {
            gid: Gid([number; 16]),
            kind,
            node: name.map(node),
            topic: topic.into(),
            type_name: "std_msgs/msg/String".into(),
            type_hash: None,
            qos: QosProfile::DEFAULT,
        }
    }

    fn changed(info: EndpointInfo) -> GraphEvent {
        GraphEvent::EndpointChanged(Box::new(info))
    }

    #[test]
    fn an_endpoint_is_reported_when_it_appears_is_named_and_leaves() {
        let mut log = log();
        log.apply(&changed(info(1, None, "/a", EndpointKind::Publisher)), 10);
        let id = "01".repeat(16);
        assert!(log.take_changed(11).is_empty(), "its node may get a name");
        let first = log.take_changed(10 + NAME_PATIENCE_NS);
        assert_eq!(first.endpoint(&id).unwrap().node, "");
        let named = changed(info(1, Some("talker"), "/a", EndpointKind::Publisher));
        log.apply(&named, 20);
        log.apply(&named, 30);
        let named_graph = log.take_changed(30);
        let endpoint = named_graph.endpoint(&id).unwrap();
        assert_eq!((&*endpoint.node, endpoint.appeared_ns), ("/talker", 10));
        log.apply(&named, 40);
        assert!(log.take_changed(40).is_empty(), "nothing is new");
        log.apply(&GraphEvent::EndpointRemoved(Gid([1; 16])), 50);
        let gone = log.take_changed(50);
        assert_eq!(gone.endpoint(&id).unwrap().vanished_ns, Some(50));
    }

    #[test]
    fn the_recorder_and_common_services_are_left_out() {
        let mut log = log();
        let own = info(1, Some("recorder"), "/a", EndpointKind::Subscription);
        log.apply(&changed(own), 10);
        let mut parameters = info(2, Some("talker"), "/talker/x", EndpointKind::Server);
        parameters.type_name = COMMON_SERVICES[2].into();
        log.apply(&changed(parameters), 10);
        log.apply(
            &changed(info(3, None, "no_ros", EndpointKind::Publisher)),
            10,
        );
        assert!(log.take_changed(i64::MAX).is_empty());
        // Its node is known later to be the recorder's.
        log.apply(
            &changed(info(4, None, "/a", EndpointKind::Subscription)),
            20,
        );
        let own = info(4, Some("recorder"), "/a", EndpointKind::Subscription);
        log.apply(&changed(own), 30);
        assert!(log.take_changed(i64::MAX).is_empty());
        // Its name comes so late that it was reported before.
        log.apply(
            &changed(info(5, None, "/a", EndpointKind::Subscription)),
            20,
        );
        assert_eq!(log.take_changed(i64::MAX).len(), 1);
        let own = info(5, Some("recorder"), "/a", EndpointKind::Subscription);
        log.apply(&changed(own), 40);
        let reported = log.take_changed(40);
        let gone: Vec<_> = reported.endpoints().map(|it| it.vanished_ns).collect();
        assert_eq!(gone, [Some(40)]);
    }
}
