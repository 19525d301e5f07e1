use std::sync::Arc;

use timeloom_time::TimeBase;
use timeloom_wire::backend::Note;
use timeloom_wire::{Capabilities, GraphObserver, GraphWatch, Node, NodeName, Participant, Result};

use crate::node::DdsNode;
use crate::options::Options;
use crate::shared::{Shared, TRANSPORT};

/// A presence in a ROS domain over DDS.
///
/// Each participant is its own instance of Cyclone DDS, with its threads, sockets and configuration; several
/// participants of one domain in a process see each other like those of other processes. It lives until the last of its
/// nodes and endpoints is dropped.
pub struct DdsParticipant {
    shared: Arc<Shared>,
}

/// The version of `cyclonedds-src` 1.0.2, see Cargo.toml.
const VERSION: &str = "11.0.0";

impl DdsParticipant {
    /// Joins a domain. Blocks while Cyclone DDS examines the network interfaces.
    ///
    /// # Errors
    /// When Cyclone DDS refuses: an invalid configuration, no interface, no free port.
    pub fn new(options: &Options) -> Result<Self> {
        let shared = Shared::new(options)?;
        tracing::info!(domain = shared.domain_id(), "joined the domain over DDS");
        Ok(Self { shared })
    }

    /// The notes so far: warnings and malformed data, counted by kind.
    pub fn notes(&self) -> Vec<Note> {
        self.shared.notes.all()
    }

    /// The ROS domain.
    pub fn domain(&self) -> u32 {
        self.shared.domain_id()
    }
}

impl Participant for DdsParticipant {
    fn describe(&self) -> String {
        format!("{TRANSPORT} {VERSION}, domain {}", self.domain())
    }

    fn capabilities(&self) -> Capabilities {
        Capabilities {
            sequence_numbers: true,
            source_times: true,
            type_hashes: true,
            deadlines: true,
            liveliness: true,
            acknowledgements: true,
        }
    }

    fn time_base(&self) -> TimeBase {
        TimeBase::machine()
    }

    fn node(&self, name: NodeName) -> Result<Arc<dyn Node>> {
        Ok(Arc::new(DdsNode::new(&self.shared, name)))
    }

    fn watch_graph(&self, observer: GraphObserver) -> GraphWatch {
        self.shared.observers.watch(observer)
    }
}

impl std::fmt::Debug for DdsParticipant {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "DdsParticipant({})", self.describe())
    }
}
