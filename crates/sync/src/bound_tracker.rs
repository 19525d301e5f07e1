//! Hard bounds of the host time of an event, for any delays.

use timeloom_time::{Steady, Time};

use crate::anchor::whole_nanos;
use crate::corridor::Corridor;
use crate::device_time::DeviceTime;
use crate::limits::Limits;
use crate::line::seconds_between;
use crate::mapped::Bounds;
use crate::sample::Sample;

/// An offset that bounds all others: at a distance it loosens by the largest skew.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Cone {
    at: i64,
    offset: i64,
}

impl Cone {
    /// The bound at another device time, in nanoseconds of offset; `sign` is +1 for upper, -1 for lower bounds.
    fn reach(&self, at: i64, loosening: f64, sign: f64) -> i64 {
        let distance = seconds_between(self.at, at).abs();
        self.offset
            .saturating_add(whole_nanos(sign * (loosening * distance).ceil()))
    }
}

/// The earlier samples that bounds may use.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Trust {
    /// All samples of the epoch.
    All,
    /// The newest packet and the newest request: it is not known yet whether the clocks keep to the limits.
    Recent,
    /// The newest sample only: those before may be of a clock that has jumped.
    Newest,
}

/// The largest skew before anything is known, in ns/s.
const UNKNOWN_SKEW: f64 = 5e6;

/// A rate that changed without being noticed yet differs by no more than so many times the limit of skew.
const CHANGED_RATE: f64 = 2.0;

/// The tightest bounds so far; takes and gives in constant time.
#[derive(Debug, Clone)]
pub(crate) struct BoundTracker {
    loosening: f64,
    grain: i64,
    least_delay: i64,
    upper: Option<Cone>,
    lower: Option<Cone>,
    newest: (Option<Cone>, Option<Cone>),
    /// The newest accepted lower bound.
    newest_lower: Option<Cone>,
    /// The tightest upper and lower bounds whatever the rate of the clocks became since.
    any_rate: (Option<Cone>, Option<Cone>),
    /// The bounds from requests together with the limit of drift; none if samples come in reverse order.
    corridor: Option<Corridor>,
}

impl BoundTracker {
    pub(crate) fn new(limits: &Limits) -> Self {
        Self {
            loosening: limits.skew_ppm * 1e3,
            grain: limits.stamp_grain.nanos(),
            least_delay: limits.least_delay.nanos(),
            upper: None,
            lower: None,
            newest: (None, None),
            newest_lower: None,
            any_rate: (None, None),
            corridor: Some(Corridor::new(limits)),
        }
    }

    /// A tracker for samples from the last to the first.
    pub(crate) fn backwards(limits: &Limits) -> Self {
        Self {
            corridor: None,
            ..Self::new(limits)
        }
    }

    /// Takes limits that were raised: what was seen stays true.
    pub(crate) fn set_limits(&mut self, limits: &Limits) {
        self.loosening = limits.skew_ppm * 1e3;
        self.grain = limits.stamp_grain.nanos();
        if let Some(corridor) = &mut self.corridor {
            corridor.set_limits(limits);
        }
    }

    pub(crate) fn restart(&mut self) {
        (self.upper, self.lower, self.newest_lower) = (None, None, None);
        self.any_rate = (None, None);
        if let Some(corridor) = &mut self.corridor {
            corridor.restart();
        }
    }

    pub(crate) fn memory(&self) -> usize {
        self.corridor.as_ref().map_or(0, Corridor::memory)
    }

    /// Records a sample as the newest without accepting it.
    pub(crate) fn see(&mut self, sample: &Sample) {
        self.newest = self.cones(sample);
    }

    /// Accepts a sample.
    pub(crate) fn take(&mut self, sample: &Sample) {
        self.see(sample);
        let (upper, lower) = self.newest;
        let any_rate = CHANGED_RATE * self.loosening;
        self.upper = tighter(self.upper, upper, self.loosening, 1.0);
        self.lower = tighter(self.lower, lower, self.loosening, -1.0);
        self.any_rate.0 = tighter(self.any_rate.0, upper, any_rate, 1.0);
        self.any_rate.1 = tighter(self.any_rate.1, lower, any_rate, -1.0);
        self.newest_lower = lower.or(self.newest_lower);
        let offset = |cone: Option<Cone>| cone.map(|cone| cone.offset);
        let at = upper.or(lower).map(|cone| cone.at);
        if let Some((corridor, at)) = self.corridor.as_mut().zip(at) {
            corridor.take(at, offset(lower), offset(upper));
        }
    }

    /// Whether a sample contradicts the earlier ones.
    pub(crate) fn contradicts(&self, sample: &Sample) -> bool {
        let (upper, lower) = self.cones(sample);
        let slack = self.grain.saturating_mul(2);
        let too_early = upper.zip(self.lower).is_some_and(|(new, old)| {
            new.offset.saturating_add(slack) < old.reach(new.at, self.loosening, -1.0)
        });
        let too_late = lower.zip(self.upper).is_some_and(|(new, old)| {
            new.offset.saturating_sub(slack) > old.reach(new.at, self.loosening, 1.0)
        });
        too_early || too_late
    }

    /// The bounds of a device time.
    pub(crate) fn bounds(&self, device: DeviceTime, trust: Trust) -> Bounds {
        let at = device.nanos();
        let (upper, lower, loosening) = match trust {
            Trust::All => (self.upper, self.lower, self.loosening),
            Trust::Recent => (None, self.newest_lower, self.loosening.max(UNKNOWN_SKEW)),
            Trust::Newest => (None, None, self.loosening.max(UNKNOWN_SKEW)),
        };
        let tightest = |cone: Option<Cone>, newest: Option<Cone>, sign: f64| {
            let reach = |cone: Cone| cone.reach(at, loosening, sign);
            match (cone.map(reach), newest.map(reach)) {
                (Some(a), Some(b)) => Some(if sign > 0.0 { a.min(b) } else { a.max(b) }),
                (a, b) => a.or(b),
            }
        };
        let mut upper = tightest(upper, self.newest.0, 1.0);
        // The newest sample bounds from below only if it is a request.
        let mut lower = tightest(lower, self.newest.1, -1.0);
        let corridor = self.corridor.as_ref().and_then(|corridor| corridor.at(at));
        if let (Trust::All, Some((from, until))) = (trust, corridor) {
            upper = upper.map(|upper| upper.min(until));
            lower = lower.map(|lower| lower.max(from));
        }
        Bounds {
            lower: lower.map(|offset| host(at, offset, -self.grain)),
            upper: upper.map(|offset| host(at, offset, self.grain)),
        }
    }

    /// The bounds of a device time if no clock was set, but its rate may have changed a moment ago.
    pub(crate) fn at_any_rate(&self, device: DeviceTime) -> Bounds {
        let at = device.nanos();
        let bound = |cone: Option<Cone>, sign: f64, grain: i64| {
            let reach = cone?.reach(at, CHANGED_RATE * self.loosening, sign);
            Some(host(at, reach, grain))
        };
        Bounds {
            lower: bound(self.any_rate.1, -1.0, -self.grain),
            upper: bound(self.any_rate.0, 1.0, self.grain),
        }
    }

    fn cones(&self, sample: &Sample) -> (Option<Cone>, Option<Cone>) {
        let cone = |at: i64, host: i64| {
            Some(Cone {
                at,
                offset: host - at,
            })
        };
        match sample {
            Sample::Passive(sample) => {
                let host = sample.host_rx.nanos().saturating_sub(self.least_delay);
                (cone(sample.device_stamp().nanos(), host), None)
            }
            Sample::Active(sample) => {
                let at = sample.device.nanos();
                let rx = cone(at, sample.host_rx.nanos());
                (rx, cone(at, sample.host_tx.nanos()))
            }
        }
    }
}

/// The tighter of two bounds at the time of the new one.
fn tighter(old: Option<Cone>, new: Option<Cone>, loosening: f64, sign: f64) -> Option<Cone> {
    let (Some(before), Some(after)) = (old, new) else {
        return new.or(old);
    };
    let reach = before.reach(after.at, loosening, sign);
    let is_tighter = if sign > 0.0 {
        reach < after.offset
    } else {
        reach > after.offset
    };
    if is_tighter { old } else { new }
}

/// The host time of a device time with this offset, `grain` later.
fn host(at: i64, offset: i64, grain: i64) -> Time<Steady> {
    let host = i128::from(at) + i128::from(offset) + i128::from(grain);
    let nearest = if host < 0 { i64::MIN } else { i64::MAX };
    Time::from_nanos(i64::try_from(host).unwrap_or(nearest))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sample::{ActiveSample, PassiveSample};

    fn packet(device: i64, host: i64) -> Sample {
        let host = Time::from_nanos(host);
        Sample::Passive(PassiveSample::new(DeviceTime::from_nanos(device), host))
    }

    fn request(host_tx: i64, device: i64, host_rx: i64) -> Sample {
        Sample::Active(ActiveSample {
            host_tx: Time::from_nanos(host_tx),
            device: DeviceTime::from_nanos(device),
            host_rx: Time::from_nanos(host_rx),
        })
    }

    #[test]
    fn a_quick_packet_bounds_those_after_it() {
        let mut tracker = BoundTracker::new(&Limits::default());
        tracker.take(&packet(0, 1_000));
        tracker.take(&packet(1_000_000_000, 1_200_000_000));
        let bounds = tracker.bounds(DeviceTime::from_nanos(1_000_000_000), Trust::All);
        // 500 ppm of a second, the delay of 1 µs and a grain of 5 µs.
        assert_eq!(
            bounds.upper.unwrap().nanos(),
            1_000_000_000 + 500_000 + 1_000 + 5_000
        );
        assert_eq!(bounds.lower, None);
        let newest = tracker.bounds(DeviceTime::from_nanos(1_000_000_000), Trust::Newest);
        assert_eq!(newest.upper.unwrap().nanos(), 1_200_005_000);
    }

    #[test]
    fn requests_bound_from_both_sides_and_find_contradictions() {
        let mut tracker = BoundTracker::new(&Limits::default());
        tracker.take(&request(100_000, 50_000, 300_000));
        let bounds = tracker.bounds(DeviceTime::from_nanos(50_000), Trust::All);
        assert_eq!(bounds.lower.unwrap().nanos(), 95_000);
        assert_eq!(bounds.upper.unwrap().nanos(), 305_000);
        assert!(!tracker.contradicts(&request(200_000, 150_000, 500_000)));
        assert!(tracker.contradicts(&request(900_000, 150_000, 990_000)));
        assert!(tracker.contradicts(&packet(150_000, 150_000)));
    }
}
