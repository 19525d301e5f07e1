//! Queries of one node: `~/get_type_description`.

use std::sync::{Arc, Mutex};

use timeloom_msg::{InterfaceKind, Schema, TypeHash};
use timeloom_time::{Clock, Duration, Event, Steady, TimeBase};
use timeloom_wire::{
    EndpointInfo, EndpointKind, Graph, GraphEvent, Node, NodeName, Participant, WatchedGraph,
};

use super::description_client::DescriptionClient;
use crate::{Error, Result};
use timeloom_wire::backend::lock;

/// The longest wait for the name of a node, for its service, and for its answer.
pub(super) const PATIENCE: Duration = Duration::from_secs(3);
/// Interval of the checks for a server: clients are not notified of new servers.
const LOOK_AGAIN: Duration = Duration::from_millis(10);

/// Number of users of a service that are queried: one that does not answer takes its time.
const MOST_ASKED: usize = 3;

/// The parts of an action, and the types that use them.
const ACTION_PARTS: [(&str, &[&str]); 3] = [
    ("_Goal", &["_SendGoal", "_SendGoal_Event"]),
    ("_Result", &["_GetResult", "_GetResult_Event"]),
    ("_Feedback", &["_FeedbackMessage"]),
];

/// The reason why there is no definition.
#[derive(Clone, Debug)]
pub(super) enum Missing {
    /// There is no node to ask.
    NoNode,
    /// The node does not describe the type, for this reason.
    NotDescribed {
        /// The full name of the node.
        node: String,
        reason: String,
    },
}

impl Missing {
    pub(super) fn into_error(self, endpoint: &EndpointInfo) -> Error {
        let type_name = endpoint.type_name.clone();
        match self {
            Self::NotDescribed { node, reason } => Error::NotDescribed {
                type_name,
                node,
                reason,
            },
            Self::NoNode => Error::NodeUnknown { type_name },
        }
    }

    pub(super) fn of_endpoint(endpoint: &EndpointInfo, reason: &str) -> Self {
        match &endpoint.node {
            Some(node) => Self::NotDescribed {
                node: node.full(),
                reason: reason.to_owned(),
            },
            None => Self::NoNode,
        }
    }
}

/// The node that queries, and the event that wakes it: the answer, or the end of the finder.
pub(super) struct NodeQuery<'a> {
    participant: &'a dyn Participant,
    pub(super) node: &'a dyn Node,
    clock: Clock<Steady>,
    pub(super) wake: &'a Event,
    /// Whether the finder ended; the event is set then.
    stopped: &'a dyn Fn() -> bool,
}

impl<'a> NodeQuery<'a> {
    pub(super) fn new(
        (participant, node): (&'a dyn Participant, &'a dyn Node),
        base: &TimeBase,
        wake: &'a Event,
        stopped: &'a dyn Fn() -> bool,
    ) -> Self {
        Self {
            participant,
            node,
            clock: Clock::on(base),
            wake,
            stopped,
        }
    }

    /// Queries the endpoint's node, once its name is known. Ends early with the finder.
    pub(super) fn of(&self, endpoint: &EndpointInfo) -> std::result::Result<Schema, Missing> {
        // Checked first: programs that are not ROS nodes have no hash, and no name to wait for.
        let Some(hash) = endpoint.type_hash else {
            let missing = || Missing::of_endpoint(endpoint, no_hash(endpoint.kind));
            return self.of_events(endpoint).ok_or_else(missing);
        };
        let peer = self.node_of(endpoint).ok_or(Missing::NoNode);
        let described = peer.and_then(|peer| {
            let described = self.describe(&peer, &endpoint.type_name, hash);
            described.map_err(|error| Missing::NotDescribed {
                node: peer.full(),
                reason: error.to_string(),
            })
        });
        described.or_else(|missing| self.of_service(endpoint, hash).ok_or(missing))
    }

    /// The events of a service, derived from the descriptions by its servers and clients.
    fn of_service(&self, endpoint: &EndpointInfo, hash: TypeHash) -> Option<Schema> {
        let service = endpoint.type_name.strip_suffix("_Event")?;
        let event = self.used(&self.graph(), service)?;
        let event = event.related(&endpoint.type_name).ok()?;
        event
            .type_hash()
            .is_ok_and(|own| own == hash)
            .then_some(event)
    }

    /// A service whose hash is not announced, derived from its events.
    fn of_events(&self, endpoint: &EndpointInfo) -> Option<Schema> {
        matches!(endpoint.kind, EndpointKind::Server | EndpointKind::Client).then_some(())?;
        let events = format!("{}_Event", endpoint.type_name);
        let events = self.used(&self.graph(), &events)?;
        events.related(&endpoint.type_name).ok()
    }

    /// A type as described by one of the nodes that use it.
    fn used(&self, graph: &Graph, type_name: &str) -> Option<Schema> {
        let users = graph
            .endpoints()
            .filter(|info| info.type_name == type_name && info.type_hash.is_some());
        users
            .filter(|info| info.node.is_some())
            .take(MOST_ASKED)
            .find_map(|info| {
                self.describe(info.node.as_ref()?, type_name, info.type_hash?)
                    .ok()
            })
    }

    /// The node of an endpoint. Names and endpoints arrive in any order, so a missing name is awaited.
    fn node_of(&self, endpoint: &EndpointInfo) -> Option<NodeName> {
        if endpoint.node.is_some() {
            return endpoint.node.clone();
        }
        let named = Arc::new(Mutex::new(None));
        let (gid, wake, slot) = (endpoint.gid, self.wake.clone(), Arc::clone(&named));
        let _watch = self.participant.watch_graph(Box::new(move |event| {
            if let GraphEvent::EndpointChanged(info) = event
                && info.gid == gid
                && info.node.is_some()
            {
                lock(&slot).clone_from(&info.node);
                wake.set();
            }
        }));
        let name = || lock(&named).clone();
        self.wait(|| name().is_some());
        name()
    }

    /// The description of a type, with constants, defaults and comments if a node has the texts.
    fn describe(&self, peer: &NodeName, type_name: &str, hash: TypeHash) -> Result<Schema> {
        let client = DescriptionClient::begin(self, peer)?;
        let schema = client.describe(type_name, hash)?;
        // Only the service or action that a type is derived from has a text.
        let interface = schema.name().interface();
        let with_text = match interface.kind() {
            InterfaceKind::Msg => None,
            _ if interface == *schema.name() => None,
            InterfaceKind::Srv => {
                let full = interface.to_string();
                let described = schema.related(&full).and_then(|whole| whole.type_hash());
                described
                    .ok()
                    .and_then(|hash| client.describe(&full, hash).ok())
            }
            InterfaceKind::Action => self.action(&client, &schema),
        };
        let with_text = with_text
            .and_then(|interface| interface.related(type_name).ok())
            .filter(|found| found.type_hash().is_ok_and(|own| own == hash));
        Ok(with_text.unwrap_or(schema))
    }

    /// The action that a type is a part of: its hash follows from its parts, whose hashes are in the graph.
    fn action(&self, client: &DescriptionClient<'_>, part: &Schema) -> Option<Schema> {
        let action = part.name().interface();
        let graph = self.graph();
        let mut parts = part.definitions().clone();
        for (wanted, users) in ACTION_PARTS {
            if parts.get(&action.with_suffix(wanted)).is_some() {
                continue;
            }
            let found = users.iter().find_map(|suffix| {
                let name = action.with_suffix(suffix).to_string();
                let (node, hash) = user(&graph, &name)?;
                DescriptionClient::begin(self, node)
                    .ok()?
                    .describe(&name, hash)
                    .ok()
            });
            parts.extend(found?.definitions());
        }
        let hash = Schema::derive(&parts, &action).ok()?.type_hash().ok()?;
        let full = action.to_string();
        // Servers and clients of the action know it; those have its feedback.
        client.describe(&full, hash).ok().or_else(|| {
            let feedback = action.with_suffix("_FeedbackMessage").to_string();
            let (node, _) = user(&graph, &feedback)?;
            DescriptionClient::begin(self, node)
                .ok()?
                .describe(&full, hash)
                .ok()
        })
    }

    /// The current graph.
    fn graph(&self) -> Graph {
        // Creating the watch reports the current graph.
        WatchedGraph::new(self.participant).snapshot()
    }

    /// Waits for a condition; false if it does not hold within the patience.
    pub(super) fn wait(&self, mut so: impl FnMut() -> bool) -> bool {
        let until = self.clock.now().saturating_add(PATIENCE);
        loop {
            if so() {
                return true;
            }
            if (self.stopped)() || self.clock.now() >= until {
                return false;
            }
            // Taken, or the answer to the query before would keep us spinning.
            if self.wake.wait_for(LOOK_AGAIN) {
                self.wake.clear();
            }
        }
    }
}

/// A node that uses a type, with its hash.
fn user<'a>(graph: &'a Graph, type_name: &str) -> Option<(&'a NodeName, TypeHash)> {
    let mut users = graph.endpoints().filter(|info| info.type_name == type_name);
    users.find_map(|info| Some((info.node.as_ref()?, info.type_hash?)))
}

/// The reason why an endpoint's type cannot be queried.
fn no_hash(kind: EndpointKind) -> &'static str {
    match kind {
        EndpointKind::Publisher | EndpointKind::Subscription => "the hash of the type is not known",
        EndpointKind::Server | EndpointKind::Client => {
            "over DDS, the hash of a service is known only with service introspection; installed \
             types are found through AMENT_PREFIX_PATH"
        }
    }
}
