//! A fleet: recorders of one name that are started, stopped and looked at together.
//!
//! Each recorder of a fleet has one more service, whose name holds the fleet and an identity of its own, so that two
//! recorders with the same node name are two: `/timeloom/fleet/NAME/HOST_PROCESS_NUMBER/control`. The graph is the list of
//! the members; there is no coordinator.

mod command;
mod member;
mod status;

pub use command::FleetCommand;
pub use member::{FleetIdentity, FleetMember};
pub use status::FleetStatus;

use std::sync::Arc;

use timeloom_msg::QosProfile;
use timeloom_time::{Duration, TimeBase};
use timeloom_wire::{EndpointKind, Graph, Node};

use crate::{Client, Error, Result, ServiceTypes};

/// The type of the service.
const CONTROL: &str = "timeloom_interfaces/srv/ControlRecorder";
/// The namespace of all fleets.
const PREFIX: &str = "/timeloom/fleet/";

/// A recorder of a fleet, as the graph shows it.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct FleetRecorder {
    /// The name of its fleet.
    pub fleet: String,
    /// Its identity, unique in the fleet.
    pub identity: String,
    /// The full name of its node; empty when it is not known.
    pub node: String,
    service: String,
}

impl FleetRecorder {
    /// The recorders of all fleets in a graph, by fleet and identity.
    pub fn all(graph: &Graph) -> Vec<Self> {
        let servers = graph
            .endpoints()
            .filter(|info| info.kind == EndpointKind::Server && info.type_name == CONTROL);
        let mut found: Vec<Self> = servers
            .filter_map(|info| {
                let (fleet, rest) = info.topic.strip_prefix(PREFIX)?.split_once('/')?;
                Some(Self {
                    fleet: fleet.to_owned(),
                    identity: rest.strip_suffix("/control")?.to_owned(),
                    node: info
                        .node
                        .as_ref()
                        .map(ToString::to_string)
                        .unwrap_or_default(),
                    service: info.topic.clone(),
                })
            })
            .collect();
        found.sort_unstable();
        found.dedup();
        found
    }

    /// Sends a command and blocks for the answer: the status after the command, and why it was refused if it was.
    ///
    /// The recorder may take `timeout` to be reached, and again to answer.
    ///
    /// # Errors
    /// When the recorder does not answer in time, or with something else.
    pub fn call(
        &self,
        node: &dyn Node,
        base: &TimeBase,
        command: FleetCommand,
        timeout: Duration,
    ) -> Result<FleetAnswer> {
        let types = ServiceTypes::builtin(CONTROL)?;
        let client = Client::new(node, &self.service, types, QosProfile::SERVICES, base)?;
        let mut request = client.request()?;
        request.set("command", command.name())?;
        if !client.wait_for_server(timeout) {
            let reason = format!("not reached within {timeout}");
            return Err(Error::Failed { reason });
        }
        FleetAnswer::read(&client.call(&request, timeout)?)
    }
}

/// The answer of one recorder.
#[derive(Clone, Debug, PartialEq)]
pub struct FleetAnswer {
    /// Why the command was refused; `None` when it was executed.
    pub refused: Option<String>,
    /// The status after the command.
    pub status: FleetStatus,
}

/// Calls all recorders at the same time, each on a thread of its own; the answers are in their order.
pub fn call_all(
    node: &Arc<dyn Node>,
    base: &TimeBase,
    recorders: &[FleetRecorder],
    command: FleetCommand,
    timeout: Duration,
) -> Vec<Result<FleetAnswer>> {
    let calls: Vec<_> = recorders
        .iter()
        .map(|recorder| {
            let (recorder, node, its_base) = (recorder.clone(), Arc::clone(node), base.clone());
            base.spawn("fleet", move || {
                recorder.call(&*node, &its_base, command, timeout)
            })
        })
        .collect();
    let answers = calls.into_iter().map(|call| {
        let failed = |reason: &str| Error::Failed {
            reason: reason.to_owned(),
        };
        call.map_err(Error::Thread)?
            .join()
            .unwrap_or_else(|_panicked| Err(failed("the call panicked")))
    });
    answers.collect()
}
