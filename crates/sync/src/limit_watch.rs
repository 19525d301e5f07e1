//! The limits as they are used: as given, until the clocks show that they do not keep to them.

use timeloom_time::Duration;

use crate::grain_watch::GrainWatch;
use crate::limit::{Limit, LimitReached, whole};
use crate::limits::{GrainSource, Limits};
use crate::line::seconds_between;

/// A skew is certain beyond this number of deviations.
const CERTAIN: f64 = 3.0;
/// A skew limit that was passed is raised to so many times what was seen, in steps of so many ppm.
const SKEW_ROOM: f64 = 1.5;
const SKEW_STEP: f64 = 100.0;
/// No two clocks that run differ by more, in ppm: such stamps are of another unit, or of no clock.
const MOST_SKEW: f64 = 50_000.0;
/// An exceeded drift limit is raised by this factor.
const DRIFT_ROOM: f64 = 4.0;
/// The drift limit is not raised beyond this, in ppm per minute.
const MOST_DRIFT: f64 = 400.0;
/// Requests in a row that are left out before it is reported.
const SLOW_REQUESTS: u32 = 8;

/// The limits in use.
#[derive(Debug, Clone)]
pub(crate) struct LimitWatch {
    given: Limits,
    used: Limits,
    grain: GrainWatch,
    grain_told: u64,
    skew_is_safe: bool,
    /// The first and the newest device stamp since the skew has to be seen.
    seen: Option<(i64, i64)>,
    slow_requests: u32,
    slow_told: bool,
}

impl LimitWatch {
    pub(crate) fn new(limits: &Limits) -> Self {
        Self {
            given: *limits,
            used: *limits,
            grain: GrainWatch::default(),
            grain_told: 0,
            skew_is_safe: false,
            seen: None,
            slow_requests: 0,
            slow_told: false,
        }
    }

    /// The limits in use.
    pub(crate) const fn limits(&self) -> &Limits {
        &self.used
    }

    /// Whether the skew is known to keep to its limit.
    pub(crate) const fn skew_is_safe(&self) -> bool {
        self.skew_is_safe
    }

    /// An epoch begins: the skew has to be seen again.
    pub(crate) const fn restart(&mut self) {
        self.skew_is_safe = false;
        self.seen = None;
    }

    /// Takes a device stamp; the grain may change with it.
    pub(crate) fn stamp(&mut self, stamp: i64) -> Option<LimitReached> {
        let (first, _) = self.seen.unwrap_or((stamp, stamp));
        self.seen = Some((first, stamp));
        if self.given.grain_source == GrainSource::Given {
            return None;
        }
        self.grain.take(stamp);
        let shown = Duration::from_nanos(self.grain.grain());
        self.used.stamp_grain = self.given.stamp_grain.max(shown);
        let now = Limit::Grain.of(&self.used);
        let is_new = self.used.stamp_grain > self.given.stamp_grain && now != self.grain_told;
        if !(is_new && self.grain.is_sure()) {
            return None;
        }
        self.grain_told = now;
        Some(self.reached(Limit::Grain, Limit::Grain.of(&self.given)))
    }

    /// Takes the skew that an estimator found; the limit may be raised by it.
    pub(crate) fn skew(&mut self, skew_ppm: f64, sigma_ppm: f64) -> Option<LimitReached> {
        let room = CERTAIN * sigma_ppm + self.skew_of_grain();
        let before = self.used.skew_ppm;
        self.skew_is_safe = skew_ppm.abs() + room <= before;
        if skew_ppm.abs() - room <= before || skew_ppm.abs() > MOST_SKEW {
            return None;
        }
        let raised = SKEW_ROOM * (skew_ppm.abs() + room);
        self.used.skew_ppm = (raised / SKEW_STEP).ceil() * SKEW_STEP;
        self.skew_is_safe = true;
        Some(self.reached(Limit::Skew, whole(before)))
    }

    /// The skew that stamps show at most because of their grain alone, in ppm: each end of a line may be off by one.
    fn skew_of_grain(&self) -> f64 {
        let seconds = self
            .seen
            .map_or(0.0, |(first, newest)| seconds_between(first, newest).abs());
        2.0 * self.used.stamp_grain.nanos() as f64 * 1e-3 / seconds.max(1e-3)
    }

    /// An estimator found that the rate changes too fast; none if the limit is as high as it gets.
    pub(crate) fn drift(&mut self) -> Option<LimitReached> {
        let before = self.used.drift_ppm_per_minute;
        if before * DRIFT_ROOM > MOST_DRIFT {
            return None;
        }
        self.used.drift_ppm_per_minute = before * DRIFT_ROOM;
        Some(self.reached(Limit::Drift, whole(before)))
    }

    /// A request was left out because it took so long.
    pub(crate) fn slow_request(&mut self, took: Duration) -> Option<LimitReached> {
        self.slow_requests = self.slow_requests.saturating_add(1);
        if self.slow_told || self.slow_requests < SLOW_REQUESTS {
            return None;
        }
        self.slow_told = true;
        let before = Limit::RequestTime.of(&self.used);
        Some(LimitReached {
            limit: Limit::RequestTime,
            before,
            now: whole(took.nanos() as f64 * 2e-6),
        })
    }

    /// A request counts.
    pub(crate) const fn quick_request(&mut self) {
        self.slow_requests = 0;
    }

    fn reached(&self, limit: Limit, before: u64) -> LimitReached {
        LimitReached {
            limit,
            before,
            now: limit.of(&self.used),
        }
    }
}
