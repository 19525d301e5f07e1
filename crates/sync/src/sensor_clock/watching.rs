//! Comparison of samples with the state: gaps, steps, longer paths, limits.

use timeloom_time::Duration;

use super::{STEP, SensorClock, stamp};
use crate::anchor::whole_nanos;
use crate::bound_tracker::Trust;
use crate::estimator::{Estimate, Maturity, Vetting};
use crate::event::EventKind;
use crate::limit::LimitReached;
use crate::line::{nanos_between, seconds_between};
use crate::sample::Sample;
use crate::suspicion::Look;

/// The same for an estimate that has settled, if samples come too early, which no delay explains.
const EARLY_STEP: f64 = 0.7e6;
/// The same if they are too late, all by the same.
const LATE_STEP: f64 = 20e6;
/// An estimate that is not sure is given so many of its deviations.
const UNSURE: f64 = 30.0;
/// Packets that are this many times later than usual may show a step.
const LATE: f64 = 4.0;
/// The same before the estimate has settled: the first packet may have been in a stall.
const FIRST_STEP: f64 = 500e6;
/// A stamp may be older than the newest of its kind by so many seconds before the clock went back.
const LATE_PACKET: f64 = 0.2;
/// Seconds without a sample that are worth an event, unless samples are rare.
const GAP: f64 = 1.0;
/// A gap is at least this multiple of the usual time between two samples.
const USUAL_GAP: f64 = 3.5;
/// The weight of a sample in the usual time.
const CADENCE_GAIN: f64 = 0.1;
/// Older requests are ignored, in seconds of device time.
const RECENT_REQUEST: f64 = 10.0;
/// A path that is longer by so many times the width of the corridor is no step: requests would contradict that.
const SEEN_BY_REQUESTS: f64 = 1.5;

impl SensorClock {
    /// Takes note of a path that got longer, or of a clock that was set.
    pub(super) fn shift_path(&mut self, extra: Duration, sample: &Sample) {
        let bounds = self.bounds.bounds(stamp(sample), Trust::All);
        let newest = self.newest_device().unwrap_or_default();
        let is_recent = self
            .newest_request
            .is_some_and(|request| seconds_between(request, newest.nanos()) < RECENT_REQUEST);
        let seen = bounds.width().is_some_and(|width| {
            is_recent && SEEN_BY_REQUESTS * width.nanos() as f64 <= extra.nanos() as f64
        });
        if self.may_step() && !seen {
            self.is_ambiguous = true;
            self.give_up_bounds(sample);
        }
        self.has_shifted = true;
        self.tell(EventKind::PathShift { extra }, sample);
    }

    /// Bounds of before may be of a clock that was set since.
    pub(super) fn give_up_bounds(&mut self, sample: &Sample) {
        self.bounds.restart();
        self.bounds.take(sample);
        self.breaks.given_up = self.breaks.given_up.wrapping_add(1);
    }

    /// Discards bounds that a sample contradicts: it arrived before, or was requested after, the times that they allow.
    pub(super) fn check_bounds(&mut self, sample: &Sample) {
        if self.trust() != Trust::All {
            return;
        }
        let device = stamp(sample);
        let bounds = self.bounds.bounds(device, Trust::All);
        let too_early = bounds.lower.is_some_and(|lower| sample.host_rx() < lower);
        let too_late = match sample {
            Sample::Passive(_) => false,
            Sample::Active(sample) => bounds.upper.is_some_and(|upper| sample.host_tx > upper),
        };
        if too_early || too_late {
            self.contradicted = Some(device.nanos());
            self.give_up_bounds(sample);
        }
    }

    /// Looks for a grain of the stamps, and whether the newest sample is later than usual; returns the estimate for its
    /// stamp.
    pub(super) fn watch_stamp(&mut self, sample: &Sample) -> Option<Estimate> {
        let device = stamp(sample);
        let known = self.estimator.estimate(device);
        // Beside packets, slow answers are as suspect as late packets; alone, most answers are slow.
        let counts = matches!(sample, Sample::Passive(_)) || self.newest_packet.is_some();
        let estimate = known.filter(|_| counts);
        let above =
            estimate.map(|estimate| nanos_between(estimate.host.nanos(), sample.host_rx().nanos()));
        let usual = self.estimator.usual_lateness().nanos() as f64;
        self.newest_is_late = above.is_some_and(|above| above > usual);
        match (sample, above) {
            (Sample::Passive(_), Some(above)) => self.hidden.packet(above),
            (Sample::Active(_), Some(above)) => self.hidden.answer(above),
            (_, None) => {}
        }
        let before = self.watch.limits().stamp_grain;
        let reached = self.watch.stamp(device.nanos());
        let has_grain = before != self.watch.limits().stamp_grain;
        if has_grain {
            self.spread_limits();
        }
        self.use_limits(reached, sample);
        if has_grain || reached.is_some() {
            // The estimator has other limits now.
            return self.estimator.estimate(device);
        }
        known
    }

    /// Looks whether the clocks keep to the limit of skew.
    pub(super) fn watch_skew(&mut self, sample: &Sample) {
        let is_settled = self.estimator.maturity() == Maturity::Settled;
        if self.estimator.vetting() == Vetting::None || !is_settled {
            return;
        }
        let Some(skew) = self.estimator.skew_ppm() else {
            return;
        };
        let reached = self.watch.skew(skew, self.estimator.skew_sigma_ppm());
        self.use_limits(reached, sample);
    }

    pub(super) fn use_limits(&mut self, reached: Option<LimitReached>, sample: &Sample) {
        if let Some(reached) = reached {
            self.spread_limits();
            self.tell(EventKind::LimitReached(reached), sample);
        }
    }

    pub(super) fn spread_limits(&mut self) {
        let limits = *self.watch.limits();
        self.bounds.set_limits(&limits);
        self.estimator.set_limits(&limits);
    }

    /// Compares a sample with the state; `estimate` is the one for its stamp.
    pub(super) fn look(&mut self, sample: &Sample, estimate: Option<Estimate>) -> Look {
        let device = stamp(sample);
        let newest = *self.newest_of_kind(sample);
        let ahead = newest.map_or(f64::INFINITY, |newest| {
            seconds_between(newest, device.nanos())
        });
        let Some(estimate) = estimate else {
            return Look::Usual;
        };
        let unsure = UNSURE * estimate.sigma.nanos() as f64;
        let is_vetted = self.estimator.vetting() == Vetting::Full;
        let usual = self.estimator.usual_lateness().nanos() as f64;
        let late_step = LATE_STEP.max(LATE * usual).min(STEP);
        let (early_step, late_step) = match self.estimator.maturity() {
            Maturity::Settled if is_vetted => (EARLY_STEP.max(unsure).min(STEP), late_step),
            Maturity::Doubtful if is_vetted => (STEP, late_step),
            Maturity::Settled | Maturity::Doubtful => (STEP, STEP),
            _ => (FIRST_STEP, FIRST_STEP),
        };
        // After a silence the clocks may have drifted apart.
        let newest = self.newest_device().unwrap_or(device);
        let unknown =
            device.since(newest).as_secs_f64().max(0.0) * self.watch.limits().skew_ppm * 1e3;
        let (tx, rx) = match sample {
            Sample::Passive(sample) => (sample.host_rx, sample.host_rx),
            Sample::Active(sample) => (sample.host_tx, sample.host_rx),
        };
        let early = nanos_between(rx.nanos(), estimate.host.nanos()) - unknown;
        let late = nanos_between(estimate.host.nanos(), tx.nanos()) - unknown;
        if ahead < -LATE_PACKET && late > late_step.max(STEP) {
            self.mismatch = late;
            return Look::Backwards;
        }
        self.counters.duplicates += u64::from(ahead == 0.0);
        self.counters.late += u64::from(ahead < 0.0);
        if early > early_step || self.bounds.contradicts(sample) {
            self.mismatch = early.abs().max(late.abs());
            Look::Impossible
        } else if late > late_step {
            Look::Late(whole_nanos(late))
        } else {
            Look::Usual
        }
    }

    pub(super) fn note_gap(&mut self, sample: &Sample) {
        let host = sample.host_rx();
        if let Some(newest) = self.newest_host {
            let silence = host - newest;
            let seconds = silence.as_secs_f64().max(0.0);
            if self.cadence.is_some() && seconds > GAP.max(self.rare()) {
                self.tell(EventKind::Gap { silence }, sample);
            }
            let usual = self.cadence.unwrap_or(seconds);
            // A gap is no new cadence, but many of them are.
            let change = seconds.min(4.0 * usual + 1e-3) - usual;
            self.cadence = Some(usual + CADENCE_GAIN * change);
        }
        self.newest_host = Some(self.newest_host.map_or(host, |newest| newest.max(host)));
    }

    /// Seconds that are much longer than the usual time between two samples.
    pub(super) fn rare(&self) -> f64 {
        USUAL_GAP * self.cadence.unwrap_or(0.0)
    }
}
