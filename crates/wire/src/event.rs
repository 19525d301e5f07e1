use std::fmt;
use std::sync::Arc;

/// A `QoS` policy by name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[non_exhaustive]
pub enum QosPolicy {
    /// Whether lost samples are sent again.
    Reliability,
    /// Whether late joiners get old samples.
    Durability,
    /// The longest expected time between samples.
    Deadline,
    /// Who says that a writer is alive, and how often.
    Liveliness,
    /// One that the middleware does not name.
    Other,
}

impl fmt::Display for QosPolicy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Reliability => "reliability",
            Self::Durability => "durability",
            Self::Deadline => "deadline",
            Self::Liveliness => "liveliness",
            Self::Other => "another policy",
        })
    }
}

/// Something that happened to an endpoint of ours.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum EndpointEvent {
    /// Peers came or went.
    Matched {
        /// How many there are now.
        current: usize,
        /// By how many that is more or fewer than before.
        change: isize,
    },
    /// A peer is there but its `QoS` does not fit.
    IncompatibleQos {
        /// The policy that does not fit.
        policy: QosPolicy,
        /// How often that was so.
        total: u64,
    },
    /// No sample came (or was sent) within the deadline.
    DeadlineMissed {
        /// How often that was so.
        total: u64,
    },
    /// Writers came to life or died (subscription), or our own liveliness was lost (publisher).
    LivelinessChanged {
        /// How many writers are alive.
        alive: usize,
        /// How many are not.
        dead: usize,
    },
}

/// Takes the events of a publisher, one at a time, on the transport's own thread.
pub type EventObserver = Arc<dyn Fn(EndpointEvent) + Send + Sync>;
