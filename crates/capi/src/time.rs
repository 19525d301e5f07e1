use timeloom_sync::{ClockPair, Health, Mapped};
use timeloom_time::{Clock, Reading, Steady, System, Time};

/// The quality of a time.
#[repr(C)]
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TimeloomHealth {
    /// No sample has been seen in this epoch.
    Unsynced = 0,
    /// The first seconds of an epoch.
    Converging = 1,
    /// As good as it gets.
    Locked = 2,
    /// Far beyond the newest sample: the error grows with the distance.
    Holdover = 3,
    /// Samples contradict the estimate: look at `sigma_ns`.
    Degraded = 4,
}

/// A device time on the host's steady clock.
#[repr(C)]
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TimeloomTime {
    /// The time, in nanoseconds of the steady clock.
    pub steady_ns: i64,
    /// The standard deviation, apart from the smallest delay.
    pub sigma_ns: i64,
    /// The truth is not earlier; `INT64_MIN` if nothing is known (only requests show it).
    pub lower_ns: i64,
    /// The truth is not later; `INT64_MAX` if nothing is known.
    pub upper_ns: i64,
    /// The quality of the time.
    pub health: TimeloomHealth,
    /// Times of one epoch never go back; a clock that jumped begins the next.
    pub epoch: u32,
}

impl From<Health> for TimeloomHealth {
    fn from(health: Health) -> Self {
        match health {
            Health::Unsynced => Self::Unsynced,
            Health::Converging => Self::Converging,
            Health::Locked => Self::Locked,
            Health::Holdover => Self::Holdover,
            Health::Degraded => Self::Degraded,
        }
    }
}

impl From<Mapped> for TimeloomTime {
    fn from(mapped: Mapped) -> Self {
        let nanos = |time: Option<Time<Steady>>| time.map(Time::nanos);
        Self {
            steady_ns: mapped.host.nanos(),
            sigma_ns: mapped.sigma.nanos(),
            lower_ns: nanos(mapped.bounds.lower).unwrap_or(i64::MIN),
            upper_ns: nanos(mapped.bounds.upper).unwrap_or(i64::MAX),
            health: mapped.health.into(),
            epoch: mapped.epoch,
        }
    }
}

/// Now, in nanoseconds of the steady clock (`CLOCK_MONOTONIC`): what samples are stamped with.
#[unsafe(no_mangle)]
pub extern "C" fn timeloom_steady_now() -> i64 {
    Clock::<Steady>::new().now().nanos()
}

/// A steady time on the system clock (`CLOCK_REALTIME`) as it is set now, in nanoseconds since 1970: the stamp of a ROS
/// message.
#[unsafe(no_mangle)]
pub extern "C" fn timeloom_system_from_steady(steady_ns: i64) -> i64 {
    let reading = Reading::take(&Clock::<Steady>::new(), &Clock::<System>::new());
    let pair = ClockPair::new(reading.after(), reading.other());
    pair.from_steady(Time::from_nanos(steady_ns)).nanos()
}
