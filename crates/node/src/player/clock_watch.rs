use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

use timeloom_wire::backend::lock;
use timeloom_wire::{EndpointInfo, EndpointKind, Gid, GraphEvent, GraphWatch};

use super::clock_publisher::CLOCK_TOPIC;
use super::notice::{Notice, Reporter};
use crate::{Result, RosNode};

/// The end of the name of a node's parameter service.
const GET_PARAMETERS: &str = "/get_parameters";

/// Warns when more than one node publishes `/clock`, with the names of all.
pub struct ClockWatch {
    owners: Arc<Mutex<Owners>>,
    reporter: Reporter,
    _watch: GraphWatch,
}

impl ClockWatch {
    /// Watches until dropped; reports [`Notice::ManyClocks`] for each additional publisher.
    ///
    /// # Errors
    /// When the name of the topic is remapped to an invalid name.
    pub fn start(node: &RosNode, reporter: Reporter) -> Result<Self> {
        let topic = node.resolve_topic(CLOCK_TOPIC)?;
        let owners = Arc::new(Mutex::new(Owners::default()));
        let (noted, report) = (Arc::clone(&owners), reporter.clone());
        let watch = node.participant().watch_graph(Box::new(move |event| {
            let mut owners = lock(&noted);
            let news = owners.note(event, &topic);
            drop(owners);
            if let Some(nodes) = news {
                report.report(Notice::ManyClocks { nodes });
            }
        }));
        Ok(Self {
            owners,
            reporter,
            _watch: watch,
        })
    }

    /// Reports publishers whose node is not known, by their GUID.
    ///
    /// The name of a node may arrive later than its publisher, or never: publishers outside of ROS have none.
    pub fn report_unnamed(&self) {
        let mut owners = lock(&self.owners);
        let names = owners.names(Names::OrGuid);
        let news = names.and_then(|names| owners.report(names));
        drop(owners);
        if let Some(nodes) = news {
            self.reporter.report(Notice::ManyClocks { nodes });
        }
    }

    /// Whether another publisher would be reported if its name were known.
    pub(super) fn lacks_name(&self) -> bool {
        let owners = lock(&self.owners);
        let many = owners.nodes.len() > 1 && owners.nodes.len() > owners.reported;
        many && owners.names(Names::Only).is_none()
    }

    /// Whether a node has parameter services.
    pub(super) fn has_parameters(&self, node: &str) -> bool {
        let owners = lock(&self.owners);
        let mut servers = owners.parameter_servers.values();
        servers.any(|service| service.strip_suffix(GET_PARAMETERS) == Some(node))
    }

    /// Whether there was a publisher of `/clock`, and there is none now.
    pub(super) fn is_gone(&self) -> bool {
        let owners = lock(&self.owners);
        owners.seen && owners.nodes.is_empty()
    }

    /// The nodes that publish `/clock`, if their names are known.
    pub fn owners(&self) -> Vec<String> {
        let owners = lock(&self.owners);
        owners.nodes.values().flatten().cloned().collect()
    }
}

/// The publishers of `/clock`; a name may come later than its publisher.
#[derive(Default)]
struct Owners {
    nodes: BTreeMap<Gid, Option<String>>,
    /// The parameter services of nodes.
    parameter_servers: BTreeMap<Gid, String>,
    reported: usize,
    /// Whether there ever was a publisher.
    seen: bool,
}

impl Owners {
    /// Applies an event; returns the names of all publishers if there are more than were reported.
    fn note(&mut self, event: &GraphEvent, topic: &str) -> Option<Vec<String>> {
        let is_owner =
            |info: &EndpointInfo| info.topic == topic && info.kind == EndpointKind::Publisher;
        match event {
            GraphEvent::EndpointChanged(info) if is_owner(info) => {
                let name = info.node.as_ref().map(timeloom_wire::NodeName::full);
                self.nodes.insert(info.gid, name);
                self.seen = true;
            }
            GraphEvent::EndpointChanged(info)
                if info.kind == EndpointKind::Server && info.topic.ends_with(GET_PARAMETERS) =>
            {
                self.parameter_servers.insert(info.gid, info.topic.clone());
                return None;
            }
            GraphEvent::EndpointRemoved(gid) => {
                self.parameter_servers.remove(gid);
                self.nodes.remove(gid)?;
                self.reported = self.reported.min(self.nodes.len());
            }
            _ => return None,
        }
        let names = self.names(Names::Only)?;
        self.report(names)
    }

    /// The names of all publishers; `None` if a name is missing and required.
    fn names(&self, names: Names) -> Option<Vec<String>> {
        let name = |(gid, name): (&Gid, &Option<String>)| match names {
            Names::Only => name.clone(),
            Names::OrGuid => name.clone().or_else(|| Some(gid.to_string())),
        };
        self.nodes.iter().map(name).collect()
    }

    /// The names, sorted, if there are more than were reported.
    fn report(&mut self, mut names: Vec<String>) -> Option<Vec<String>> {
        if names.len() < 2 || names.len() <= self.reported {
            return None;
        }
        names.sort();
        self.reported = names.len();
        Some(names)
    }
}

/// The name of a node without a name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Names {
    Only,
    OrGuid,
}

#[cfg(test)]
mod tests {
    use timeloom_msg::QosProfile;
    use timeloom_wire::NodeName;

    use super::*;

    fn owner(n: u8, node: Option<&str>) -> GraphEvent {
        GraphEvent::EndpointChanged(Box::new(EndpointInfo {
            gid: Gid([n; 16]),
            kind: EndpointKind::Publisher,
            node: node.map(|name| NodeName::new("/", name).unwrap()),
            topic: "/clock".into(),
            type_name: "rosgraph_msgs/msg/Clock".into(),
            type_hash: None,
            qos: QosProfile::CLOCK,
        }))
    }

    #[test]
    fn two_publishers_are_reported_once_and_by_name() {
        let mut owners = Owners::default();
        let mut note = |event: &GraphEvent| owners.note(event, "/clock");
        assert_eq!(note(&owner(1, Some("gazebo"))), None);
        assert_eq!(note(&owner(2, None)), None, "its name is not known yet");
        let both = vec!["/gazebo".to_owned(), "/player".to_owned()];
        assert_eq!(note(&owner(2, Some("player"))), Some(both.clone()));
        assert_eq!(note(&owner(2, Some("player"))), None);
        assert_eq!(note(&GraphEvent::EndpointRemoved(Gid([2; 16]))), None);
        assert_eq!(note(&GraphEvent::EndpointRemoved(Gid([9; 16]))), None);
        assert_eq!(note(&owner(2, Some("player"))), Some(both));
    }

    #[test]
    fn a_publisher_without_a_name_is_reported_by_its_guid() {
        let mut owners = Owners::default();
        owners.note(&owner(1, Some("player")), "/clock");
        owners.note(&owner(2, None), "/clock");
        assert_eq!(owners.names(Names::Only), None);
        let names = owners.names(Names::OrGuid).unwrap();
        let reported = owners.report(names.clone()).unwrap();
        assert!(
            reported.contains(&"/player".to_owned())
                && reported.contains(&Gid([2; 16]).to_string())
        );
        assert_eq!(owners.report(names), None, "once");
    }
}
