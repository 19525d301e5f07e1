//! From device times to host times, with all that is known about them.

use timeloom_time::{Duration, Steady, Time};

use super::SensorClock;
use crate::anchor::whole_nanos;
use crate::bound_tracker::Trust;
use crate::device_time::{DeviceTime, check_stamp};
use crate::estimator::{Maturity, Vetting};
use crate::line::{nanos_between, seconds_between};
use crate::mapped::{Bounds, Health, Mapped};

/// Seconds of device time beyond the newest sample from which on it is holdover, unless samples are rare.
const HOLDOVER: f64 = 2.0;
/// Seconds of device time after a contradiction until the estimate follows what the samples show.
const CONTRADICTED: f64 = 2.0;

impl SensorClock {
    /// The host time of a device time; none before the first sample of an epoch.
    ///
    /// Within an epoch, a later device time never gives an earlier host time than a conversion before.
    pub fn convert(&mut self, device: DeviceTime) -> Option<Mapped> {
        let mut mapped = self.peek(device)?;
        mapped.host = self.order.keep(device, mapped.host);
        if self.estimator.vetting() == Vetting::Full {
            // Not going back comes first; the bounds still hold, and hold the result.
            mapped.bounds = mapped.bounds.widened_to(mapped.host);
        }
        Some(mapped)
    }

    /// The same as [`convert`](Self::convert), but it neither regards nor remembers the conversion before.
    pub fn peek(&self, device: DeviceTime) -> Option<Mapped> {
        check_stamp("device", device.nanos()).ok()?;
        let estimate = self.estimator.estimate(device)?;
        if let Some(mapped) = self.beside_withheld(device) {
            return Some(mapped);
        }
        let trust = self.trust();
        let bounds = self.bounds.bounds(device, trust);
        let vetting = self.estimator.vetting();
        let mut host = estimate.host;
        if vetting == Vetting::Full && trust == Trust::All {
            host = bounds.upper.map_or(host, |upper| host.min(upper));
            host = bounds.lower.map_or(host, |lower| host.max(lower));
        }
        host = self.not_negative(host);
        let ambiguous = if self.is_ambiguous || self.has_shifted {
            self.estimator.extra_delay().nanos()
        } else {
            0
        };
        let outside = match vetting {
            Vetting::Full => 0,
            Vetting::None => outside(&bounds, host),
        };
        let sigma = estimate.sigma.nanos().max(whole_nanos(self.mismatch));
        let sigma = sigma.max(outside);
        Some(Mapped {
            host,
            sigma: Duration::from_nanos(sigma.max(ambiguous)),
            bounds: match vetting {
                Vetting::Full => self.loosened(bounds, device, trust).widened_to(host),
                Vetting::None => bounds,
            },
            health: self.health_at(device),
            epoch: self.epoch,
        })
    }

    /// A device time that belongs to a withheld sample: what was known before may be of another clock, so that only
    /// its arrival counts.
    fn beside_withheld(&self, device: DeviceTime) -> Option<Mapped> {
        let (stamp, arrival) = self.suspicion.withheld()?;
        let newest = self.newest_device()?;
        let distance = |from: i64| nanos_between(from, device.nanos()).abs();
        if self.estimator.vetting() == Vetting::None || distance(stamp) > distance(newest.nanos()) {
            return None;
        }
        let host = arrival.saturating_add(device.nanos().saturating_sub(stamp));
        let host = self.not_negative(Time::from_nanos(host));
        let sigma = Duration::from_nanos(whole_nanos(self.mismatch));
        Some(Mapped {
            host,
            sigma,
            bounds: self.bounds.bounds(device, Trust::Newest).widened_to(host),
            health: Health::Degraded,
            epoch: self.epoch,
        })
    }

    /// No host time is below zero if none of the samples is.
    fn not_negative(&self, host: Time<Steady>) -> Time<Steady> {
        let zero = Time::from_nanos(0);
        match self.newest_host {
            Some(newest) if newest >= zero => host.max(zero),
            _ => host,
        }
    }

    /// The samples that bounds may rely on.
    pub(super) fn trust(&self) -> Trust {
        if self.suspicion.is_open() || self.is_contradicted() {
            return Trust::Newest;
        }
        match (self.estimator.vetting(), self.estimator.maturity()) {
            (Vetting::Full, Maturity::Doubtful) => Trust::Newest,
            (Vetting::Full, Maturity::Settled) if self.watch.skew_is_safe() => Trust::All,
            _ => Trust::Recent,
        }
    }

    /// Bounds by earlier samples, loosened by what may have happened to the clocks since.
    fn loosened(&self, bounds: Bounds, device: DeviceTime, trust: Trust) -> Bounds {
        if trust != Trust::All {
            return bounds;
        }
        let newest = self.bounds.bounds(device, Trust::Newest);
        let loosened = bounds.loosened(self.hidden_move(), &newest);
        if self.may_step() {
            return loosened;
        }
        // No step can hide behind a late packet, only another rate.
        loosened.intersection(&self.bounds.at_any_rate(device))
    }

    /// The largest move of a clock that the samples do not exclude.
    pub(crate) fn hidden_move(&self) -> Duration {
        let most = if self.may_step() {
            self.hidden.most_with_steps()
        } else {
            self.hidden.most()
        };
        Duration::from_nanos(whole_nanos(most))
    }

    /// Whether a sample contradicted earlier bounds so recently that the estimate has not followed yet.
    fn is_contradicted(&self) -> bool {
        let newest = self.newest_device().unwrap_or_default();
        self.contradicted
            .is_some_and(|at| seconds_between(at, newest.nanos()) < CONTRADICTED)
    }

    pub(super) fn health_at(&self, device: DeviceTime) -> Health {
        let newest = self.newest_device().unwrap_or_default();
        match self.estimator.maturity() {
            Maturity::Empty => Health::Unsynced,
            _ if self.suspicion.is_open() || self.is_contradicted() => Health::Degraded,
            Maturity::Settling => Health::Converging,
            Maturity::Doubtful => Health::Degraded,
            Maturity::Settled if self.is_ambiguous || self.is_impossible() => Health::Degraded,
            Maturity::Settled if !self.is_safe() => Health::Converging,
            Maturity::Settled => {
                let ahead = device.since(newest).as_secs_f64();
                if ahead > HOLDOVER.max(self.rare()) {
                    Health::Holdover
                } else {
                    Health::Locked
                }
            }
        }
    }

    /// Whether an average shows an impossible rate: delays caused it, and its error is unbounded.
    fn is_impossible(&self) -> bool {
        let limit = self.watch.limits().skew_ppm;
        let skew = self.estimator.skew_ppm().unwrap_or(0.0);
        self.estimator.vetting() == Vetting::None && skew.abs() > limit
    }

    /// Whether the skew is known to keep to its limit; averages do not know it that well.
    fn is_safe(&self) -> bool {
        self.estimator.vetting() == Vetting::None || self.watch.skew_is_safe()
    }
}

/// Distance of an average from the bounds, in nanoseconds: its least error.
fn outside(bounds: &Bounds, host: Time<Steady>) -> i64 {
    let early = bounds.lower.map_or(0, |lower| (lower - host).nanos());
    let late = bounds.upper.map_or(0, |upper| (host - upper).nanos());
    early.max(late).max(0)
}
