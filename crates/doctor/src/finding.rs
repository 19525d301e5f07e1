use timeloom_bag::TopicStatistics;
use timeloom_node::Severity;

use crate::Mismatch;

/// The result of a check: a problem, or advice.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum Finding {
    /// The date is before the first release of this program.
    ClockNeverSet,
    /// The kernel reads the time from a slow clock.
    SlowClockSource {
        /// Its name.
        source: String,
    },
    /// The synchronisation of the host's clock needs attention.
    HostClock(String),
    /// Less memory is available than the recorder's default queues need.
    LittleMemory,
    /// The disk of the working directory is nearly full.
    LittleDisk,
    /// Fewer than [`MIN_OPEN_FILES`](crate::MIN_OPEN_FILES) files may be open.
    FewOpenFiles,
    /// The kernel grants less than [`WANTED_RECEIVE_BUFFER`](crate::WANTED_RECEIVE_BUFFER).
    SmallReceiveBuffers,
    /// An environment variable that is set and not honoured.
    Environment(timeloom_wire::environment::VariableWarning),
    /// No interface to other machines supports multicast.
    NoMulticast {
        /// The interfaces.
        interfaces: Vec<String>,
    },
    /// No interface leads to other machines.
    OnlyThisMachine,
    /// Several interfaces lead to other machines, and Cyclone DDS uses one of them.
    SeveralInterfaces {
        /// The interfaces.
        interfaces: Vec<String>,
    },
    /// The domain could not be joined.
    NotJoined(String),
    /// A warning of the transport.
    Transport(String),
    /// More than one node publishes `/clock`.
    SeveralClocks {
        /// The nodes.
        nodes: Vec<String>,
    },
    /// Nodes wait for `/clock`, and no node publishes it.
    ClockWithoutPublisher {
        /// The nodes that wait.
        waiting: Vec<String>,
    },
    /// Several nodes have the same name.
    DuplicateNodeName {
        /// The name.
        name: String,
        /// Number of nodes with that name.
        count: usize,
    },
    /// More than one node answers a service.
    SeveralServers {
        /// The service.
        service: String,
        /// The nodes.
        nodes: Vec<String>,
        /// Whether their middlewares cannot read each other's requests.
        mixed_vendors: bool,
    },
    /// Endpoints of a topic have different definitions of one type.
    DefinitionsDiffer {
        /// The topic.
        topic: String,
        /// The type.
        type_name: String,
        /// The nodes of each definition.
        nodes: Vec<Vec<String>>,
    },
    /// A publisher and a subscription do not match.
    Mismatch {
        /// The topic.
        topic: String,
        /// The two nodes and the reason.
        mismatch: Mismatch,
    },
    /// A part of the bag cannot be read.
    Damage(String),
    /// A property of the bag that other readers refuse.
    Incompatible(String),
    /// The bag claims another number of messages than it holds.
    CountDiffers {
        /// The topic.
        topic: String,
        /// The claim.
        claimed: u64,
        /// The messages that were read.
        read: u64,
    },
    /// Messages were lost while recording.
    Lost {
        /// The topic or service.
        name: String,
        /// Its account.
        statistics: TopicStatistics,
    },
    /// Messages cannot be decoded.
    Undecodable {
        /// The topic.
        topic: String,
        /// The number.
        undecoded: u64,
        /// The total.
        messages: u64,
        /// The error of the first one.
        reason: String,
    },
    /// A regular topic was silent for long.
    Silence {
        /// The topic.
        topic: String,
        /// Its length in nanoseconds.
        length_ns: i64,
        /// Its start in nanoseconds after that of the bag.
        offset_ns: i64,
        /// The usual distance of two messages in nanoseconds.
        period_ns: i64,
    },
    /// Messages were received before they were published.
    ReceivedBeforePublished {
        /// The topic.
        topic: String,
        /// The number.
        early: u64,
        /// The total.
        messages: u64,
        /// The largest difference in nanoseconds.
        most_ns: i64,
    },
    /// Messages have a zero header stamp.
    StampUnset {
        /// The topic.
        topic: String,
        /// The number.
        unset: u64,
        /// The total.
        stamped: u64,
    },
    /// Every header stamp is far from the reception of its message.
    StampFarOff {
        /// The topic.
        topic: String,
        /// The smallest difference in nanoseconds.
        nearest_ns: i64,
    },
    /// Header stamps are later than the reception of their messages.
    StampAhead {
        /// The topic.
        topic: String,
        /// The number.
        ahead: u64,
        /// The total.
        stamped: u64,
        /// The tolerance in nanoseconds.
        tolerance_ns: i64,
    },
    /// Header stamps go back.
    StampGoesBack {
        /// The topic.
        topic: String,
        /// The number of times.
        times: u64,
    },
    /// The bag does not say the `QoS` of a topic.
    NoQos {
        /// The topic.
        topic: String,
    },
    /// `/tf` is recorded and `/tf_static` is not.
    StaticTransformsMissing,
    /// The bag has no messages.
    Empty,
}

impl Finding {
    /// [`Severity::Error`] for a problem, [`Severity::Warn`] for advice.
    pub fn severity(&self) -> Severity {
        match self {
            Self::ClockNeverSet
            | Self::NoMulticast { .. }
            | Self::NotJoined(_)
            | Self::Transport(_)
            | Self::SeveralClocks { .. }
            | Self::DuplicateNodeName { .. }
            | Self::SeveralServers { .. }
            | Self::DefinitionsDiffer { .. }
            | Self::Mismatch { .. }
            | Self::Damage(_)
            | Self::Incompatible(_)
            | Self::CountDiffers { .. }
            | Self::Lost { .. }
            | Self::Undecodable { .. }
            | Self::Empty => Severity::Error,
            _ => Severity::Warn,
        }
    }
}
