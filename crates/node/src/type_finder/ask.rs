//! Questions to one node: `~/get_type_description`.

use std::sync::{Arc, Mutex, PoisonError};

use timeloom_msg::{Schema, TypeHash};
use timeloom_time::{Clock, Duration, Event, Steady, TimeBase};
use timeloom_wire::{EndpointInfo, Graph, GraphEvent, Node, NodeName, Participant};

use super::interview::Interview;
use crate::{Error, Result};

/// How long a node may take to be named, then to be found, and then to answer.
pub(super) const PATIENCE: Duration = Duration::from_secs(3);
/// How often a wait for a server looks again: clients are not told when servers come.
const LOOK_AGAIN: Duration = Duration::from_millis(10);

/// Why there is no definition.
#[derive(Clone, Debug)]
pub(super) enum Missing {
    /// There is no node to ask.
    NoNode,
    /// The node does not describe the type, for this reason.
    NotTold {
        /// The full name of the node.
        node: String,
        reason: String,
    },
}

impl Missing {
    pub(super) fn into_error(self, endpoint: &EndpointInfo) -> Error {
        let type_name = endpoint.type_name.clone();
        match self {
            Self::NotTold { node, reason } => Error::NotTold {
                type_name,
                node,
                reason,
            },
            Self::NoNode => Error::NobodyToAsk { type_name },
        }
    }

    pub(super) fn of_endpoint(endpoint: &EndpointInfo, reason: &str) -> Self {
        match &endpoint.node {
            Some(node) => Self::NotTold {
                node: node.full(),
                reason: reason.to_owned(),
            },
            None => Self::NoNode,
        }
    }
}

/// Who asks, and what wakes it: the answer, or the end of the finder.
pub(super) struct Ask<'a> {
    participant: &'a dyn Participant,
    pub(super) node: &'a dyn Node,
    clock: Clock<Steady>,
    pub(super) wake: &'a Event,
    /// Whether the finder ended; the event is set then.
    stopped: &'a dyn Fn() -> bool,
}

impl<'a> Ask<'a> {
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

    /// Asks the endpoint's node, once its name is known. Ends early with the finder.
    pub(super) fn of(&self, endpoint: &EndpointInfo) -> std::result::Result<Schema, Missing> {
        // Checked first: programs that are no ROS nodes have no hash, and no name to wait for.
        let Some(hash) = endpoint.type_hash else {
            let reason = "the hash of the type is not known";
            return Err(Missing::of_endpoint(endpoint, reason));
        };
        let peer = self.node_of(endpoint).ok_or(Missing::NoNode)?;
        self.describe(&peer, &endpoint.type_name, hash)
            .map_err(|error| Missing::NotTold {
                node: peer.full(),
                reason: error.to_string(),
            })
    }

    /// The node of an endpoint. Names and endpoints arrive in any order, so a missing name is waited for.
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
                slot.lock()
                    .unwrap_or_else(PoisonError::into_inner)
                    .clone_from(&info.node);
                wake.set();
            }
        }));
        let name = || named.lock().unwrap_or_else(PoisonError::into_inner).clone();
        self.wait(|| name().is_some());
        name()
    }

    /// The description of a type, with constants, defaults and comments if the node has the texts.
    fn describe(&self, peer: &NodeName, type_name: &str, hash: TypeHash) -> Result<Schema> {
        let interview = Interview::begin(self, peer)?;
        let schema = interview.ask(type_name, hash)?;
        let with_text = self
            .interface(peer, &interview, &schema)
            .and_then(|interface| interface.related(type_name).ok())
            .filter(|found| found.type_hash().is_ok_and(|own| own == hash));
        Ok(with_text.unwrap_or(schema))
    }

    /// The service or action that a type is derived from: only that one has a text.
    fn interface(
        &self,
        peer: &NodeName,
        interview: &Interview<'_>,
        schema: &Schema,
    ) -> Option<Schema> {
        let name = schema.name().interface();
        if name == *schema.name() {
            return None;
        }
        let full = name.to_string();
        let described = match schema.related(&full) {
            Ok(described) => described,
            Err(_incomplete) => self.action(peer, interview, schema)?,
        };
        interview.ask(&full, described.type_hash().ok()?).ok()
    }

    /// The action that a type is a part of, out of the parts that the node uses: their hashes are in the graph.
    fn action(&self, peer: &NodeName, interview: &Interview<'_>, part: &Schema) -> Option<Schema> {
        let action = part.name().interface();
        let graph = self.graph();
        let mut parts = part.definitions().clone();
        for suffix in ["_SendGoal", "_GetResult", "_FeedbackMessage"] {
            let name = action.with_suffix(suffix).to_string();
            let mut used = graph
                .endpoints()
                .filter(|info| info.node.as_ref() == Some(peer) && info.type_name == name);
            let hash = used.find_map(|info| info.type_hash)?;
            parts.extend(interview.ask(&name, hash).ok()?.definitions());
        }
        Schema::derive(&parts, &action).ok()
    }

    /// The graph as it is now.
    fn graph(&self) -> Graph {
        let graph = Arc::new(Mutex::new(Graph::default()));
        let seen = Arc::clone(&graph);
        // The graph is told while the watch is made.
        drop(self.participant.watch_graph(Box::new(move |event| {
            let mut graph = seen.lock().unwrap_or_else(PoisonError::into_inner);
            graph.apply(event);
        })));
        let graph = graph.lock().unwrap_or_else(PoisonError::into_inner);
        graph.clone()
    }

    /// Waits until it is so; false if it is not within our patience.
    pub(super) fn wait(&self, mut so: impl FnMut() -> bool) -> bool {
        let until = self.clock.now().saturating_add(PATIENCE);
        loop {
            if so() {
                return true;
            }
            if (self.stopped)() || self.clock.now() >= until {
                return false;
            }
            // Taken back, or an answer to the question before would keep us spinning.
            if self.wake.wait_for(LOOK_AGAIN) {
                self.wake.clear();
            }
        }
    }
}
