//! Events of a mapping: restarts, shifts, gaps.

use std::fmt;

use timeloom_time::{Duration, Steady, Time};

use crate::device_time::DeviceTime;
use crate::limit::LimitReached;

/// The reason for a new epoch.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Reason {
    /// The device's clock went back: it was restarted or set.
    DeviceReset,
    /// One of the two clocks jumped; samples alone do not show which.
    ClockStep,
    /// The host's clock was set: its other clock, which is never set, shows it.
    HostStep,
    /// The device reported that its data or rotation changed (used by the anchor estimators only).
    DeviceStatus,
    /// The estimator's own limit was passed, as the anchor's 1 s and 15 s.
    EstimatorLimit,
    /// A user's request.
    Requested,
}

impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::DeviceReset => "device reset",
            Self::ClockStep => "clock step",
            Self::HostStep => "host clock set",
            Self::DeviceStatus => "device status",
            Self::EstimatorLimit => "estimator limit",
            Self::Requested => "requested",
        })
    }
}

/// The kind of an event.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum EventKind {
    /// A new epoch began: host times may have jumped.
    NewEpoch {
        /// Its number.
        epoch: u32,
        /// Why.
        reason: Reason,
    },
    /// The smallest delay grew and stays there; the estimate holds the old one.
    ///
    /// Packets alone cannot distinguish this from a clock that was set by as much: health is "degraded" then, and the bounds
    /// contain both.
    PathShift {
        /// Extra delay of the path compared with its best.
        extra: Duration,
    },
    /// No samples arrived for a while.
    Gap {
        /// For how long, by the host's clock.
        silence: Duration,
    },
    /// Samples that contradicted all others were left out.
    Outliers {
        /// Their number.
        count: u32,
    },
    /// The rate of the clocks changed at once, as when a host's clock is slewed: earlier samples no longer count.
    RateChange,
    /// A limit was exceeded; reported once for each limit.
    LimitReached(LimitReached),
}

/// Something that happened to a mapping, with the stamps of the sample that showed it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SyncEvent {
    /// The kind of event.
    pub kind: EventKind,
    /// The device time of the sample.
    pub device: DeviceTime,
    /// The arrival of that sample at the host.
    pub host_rx: Time<Steady>,
}
