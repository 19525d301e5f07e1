//! From the clock of one host to that of another, by the best evidence.

use std::sync::Arc;

use timeloom_bag::bag::TimeMap;
use timeloom_sync::PeerClock;
use timeloom_time::Time;

/// A time of one host by the clock of another.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct HostTime {
    /// The best estimate, in nanoseconds.
    pub ns: i64,
    /// It is not earlier, as far as that is known.
    pub lower_ns: Option<i64>,
    /// It is not later, as far as that is known.
    pub upper_ns: Option<i64>,
}

impl HostTime {
    /// The distance of the bounds, if there are two.
    pub fn width_ns(&self) -> Option<i64> {
        Some(self.upper_ns?.saturating_sub(self.lower_ns?))
    }
}

/// Converts times of one host to times of another.
#[derive(Debug, Clone)]
pub enum HostMap {
    /// One clock.
    Same,
    /// Both clocks follow one reference and differ by this much at most.
    Synchronised {
        /// The largest difference, in nanoseconds.
        error_ns: i64,
    },
    /// Messages between the hosts.
    Messages(Arc<PeerClock>),
    /// The same, for the other host.
    MessagesBack(Arc<PeerClock>),
    /// Receive times of messages that both hosts recorded: time and what to add. There are no bounds, because the paths
    /// are not known.
    Copies(Arc<Vec<(i64, i64)>>),
    /// One after the other.
    Chain(Arc<[Self; 2]>),
    /// Two pieces of evidence for one relation: the times that both allow.
    Both(Arc<[Self; 2]>),
}

impl HostMap {
    /// Converts a time.
    pub fn convert(&self, time_ns: i64) -> HostTime {
        match self {
            Self::Same => exactly(time_ns),
            Self::Synchronised { error_ns } => HostTime {
                ns: time_ns,
                lower_ns: Some(time_ns.saturating_sub(*error_ns)),
                upper_ns: Some(time_ns.saturating_add(*error_ns)),
            },
            Self::Messages(clock) => mapped(clock.convert(time_ns), time_ns),
            Self::MessagesBack(clock) => mapped(clock.convert_back(time_ns), time_ns),
            Self::Copies(knots) => HostTime {
                ns: time_ns.saturating_add(interpolated(knots, time_ns)),
                lower_ns: None,
                upper_ns: None,
            },
            Self::Chain(maps) => {
                let [first, second] = maps.as_ref();
                let middle = first.convert(time_ns);
                HostTime {
                    ns: second.convert(middle.ns).ns,
                    lower_ns: middle.lower_ns.and_then(|ns| second.convert(ns).lower_ns),
                    upper_ns: middle.upper_ns.and_then(|ns| second.convert(ns).upper_ns),
                }
            }
            Self::Both(maps) => {
                let [first, second] = maps.as_ref().each_ref().map(|map| map.convert(time_ns));
                let lower_ns = first.lower_ns.max(second.lower_ns);
                let upper_ns = first.upper_ns.into_iter().chain(second.upper_ns).min();
                let ns = upper_ns.map_or(first.ns, |upper| first.ns.min(upper));
                let ns = lower_ns.map_or(ns, |lower| ns.max(lower));
                HostTime {
                    ns,
                    lower_ns,
                    upper_ns: upper_ns.map(|upper| upper.max(ns)),
                }
            }
        }
    }

    /// The times that this map and another one allow.
    pub(crate) fn and(self, other: Self) -> Self {
        Self::Both(Arc::new([self, other]))
    }

    /// The map of `self` and then `next`.
    pub(crate) fn then(self, next: Self) -> Self {
        match (self, next) {
            (Self::Same, map) | (map, Self::Same) => map,
            (first, second) => Self::Chain(Arc::new([first, second])),
        }
    }
}

impl TimeMap for HostMap {
    fn map(&self, time_ns: i64) -> i64 {
        self.convert(time_ns).ns
    }
}

const fn exactly(ns: i64) -> HostTime {
    HostTime {
        ns,
        lower_ns: Some(ns),
        upper_ns: Some(ns),
    }
}

fn mapped(result: timeloom_sync::Result<timeloom_sync::Mapped>, time_ns: i64) -> HostTime {
    // A time that no clock shows stays, and nothing is known of it.
    result.map_or(
        HostTime {
            ns: time_ns,
            lower_ns: None,
            upper_ns: None,
        },
        |mapped| HostTime {
            ns: mapped.host.nanos(),
            lower_ns: mapped.bounds.lower.map(Time::nanos),
            upper_ns: mapped.bounds.upper.map(Time::nanos),
        },
    )
}

/// The offset at a time: interpolated between its neighbours, and constant beyond the ends.
#[expect(
    clippy::cast_possible_truncation,
    reason = "a share of a difference of two numbers of this type"
)]
fn interpolated(knots: &[(i64, i64)], time_ns: i64) -> i64 {
    let after = knots.partition_point(|(at, _)| *at <= time_ns);
    let left = after.checked_sub(1).and_then(|place| knots.get(place));
    match (left, knots.get(after)) {
        (Some((from, low)), Some((until, high))) => {
            let span = until.saturating_sub(*from).max(1) as f64;
            let share = time_ns.saturating_sub(*from) as f64 / span;
            low.saturating_add((share * high.saturating_sub(*low) as f64) as i64)
        }
        (Some((_, add)), None) | (None, Some((_, add))) => *add,
        (None, None) => 0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bounds_of_a_chain_add_up() {
        let near = HostMap::Synchronised { error_ns: 30 };
        let far = HostMap::Synchronised { error_ns: 500 };
        let time = near.then(far).convert(10_000);
        assert_eq!(
            (time.lower_ns, time.ns, time.upper_ns),
            (Some(9_470), 10_000, Some(10_530))
        );
        assert_eq!(time.width_ns(), Some(1_060));
    }

    #[test]
    fn copies_give_an_offset_without_bounds() {
        let map = HostMap::Copies(Arc::new(vec![(1_000, -10), (2_000, -30)]));
        let at = |time| map.convert(time).ns - time;
        assert_eq!(
            [0, 1_000, 1_500, 2_000, 9_000].map(at),
            [-10, -10, -20, -30, -30]
        );
        assert_eq!(map.convert(1_500).width_ns(), None);
    }
}
