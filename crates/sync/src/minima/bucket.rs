//! The smallest delay of a short time.

use crate::line::seconds_between;

/// The sample with the smallest delay of a bucket.
#[derive(Debug, Clone, Copy)]
pub(super) struct Least {
    pub(super) at: i64,
    pub(super) offset: i64,
    /// Height above the line of that time, in nanoseconds.
    pub(super) above: f64,
}

/// Samples of a short interval; only the lowest counts.
#[derive(Debug, Clone, Default)]
pub(super) struct Bucket {
    from: Option<i64>,
    least: Option<Least>,
    count: u32,
    all: u32,
}

impl Bucket {
    pub(super) fn take(&mut self, at: i64, offset: i64, above: f64) {
        self.from.get_or_insert(at);
        self.count = self.count.saturating_add(1);
        self.all = self.all.saturating_add(1);
        if self.least.is_none_or(|least| above < least.above) {
            self.least = Some(Least { at, offset, above });
        }
    }

    /// Short buckets at the start, so that the line settles quickly; half a second later on.
    pub(super) fn is_full(&self, now: i64, age: f64) -> bool {
        let length = seconds_between(self.from.unwrap_or(now), now);
        let long_enough = (0.05 * age).clamp(0.005, 0.5);
        let many_enough = (0.05 * f64::from(self.all)).clamp(1.0, 24.0);
        let is_full = length >= long_enough && f64::from(self.count) >= many_enough;
        is_full || length >= 1.0 || self.all == 1
    }

    /// The least of the bucket; the next one begins `now`.
    pub(super) fn close(&mut self, now: i64) -> Option<Least> {
        self.count = 0;
        self.from = Some(now);
        self.least.take()
    }
}
