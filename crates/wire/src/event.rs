use std::fmt;
use std::sync::Arc;

/// A `QoS` policy by name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[non_exhaustive]
pub enum QosPolicy {
    /// Lost samples are resent, or not.
    Reliability,
    /// Late joiners get old samples, or not.
    Durability,
    /// The longest expected time between samples.
    Deadline,
    /// The way in which a writer asserts that it is alive.
    Liveliness,
    /// A policy that the middleware does not name.
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

/// An event of a local endpoint.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum EndpointEvent {
    /// The matched peers changed.
    Matched {
        /// The current number.
        current: usize,
        /// The change since the last event.
        change: isize,
    },
    /// A peer does not match because of its `QoS`.
    IncompatibleQos {
        /// The incompatible policy.
        policy: QosPolicy,
        /// Number of such peers so far.
        total: u64,
    },
    /// No sample was received (or sent) within the deadline.
    DeadlineMissed {
        /// Number of missed deadlines so far.
        total: u64,
    },
    /// The liveliness of writers changed (subscription), or our own was lost (publisher).
    LivelinessChanged {
        /// Number of writers that are alive.
        alive: usize,
        /// Number of writers that are not alive.
        dead: usize,
    },
}

/// Called with the events of a publisher, one at a time, on the transport's own thread.
pub type EventObserver = Arc<dyn Fn(EndpointEvent) + Send + Sync>;
