use timeloom_time::Duration;

/// After this time without running, other participants may have dropped this one: middlewares renew their lease of
/// 10 s only every few seconds.
const LONG: Duration = Duration::from_secs(5);
/// Time that other participants take to rediscover one that they dropped.
const REDISCOVERY: Duration = Duration::from_secs(3);

/// Detects that this process was suspended, by a period that took too long.
///
/// Sans I/O: it takes steady times, in nanoseconds.
#[derive(Debug)]
pub(super) struct SuspendDetector {
    limit: i64,
    last: i64,
    last_suspension: Option<Suspension>,
}

/// A time during which this process did not run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Suspension {
    pub(super) length: Duration,
    /// The steady time by which other participants have rediscovered this one, in nanoseconds.
    pub(super) over: i64,
}

impl SuspendDetector {
    pub(super) fn new(period: Duration, now: i64) -> Self {
        let limit = period.nanos().saturating_mul(2);
        Self {
            limit: limit.saturating_add(LONG.nanos()),
            last: now,
            last_suspension: None,
        }
    }

    /// A period is over.
    pub(super) fn tick(&mut self, now: i64) {
        self.look(now);
        self.last = now;
    }

    /// The last suspension, until other participants have rediscovered this one.
    pub(super) fn current(&mut self, now: i64) -> Option<Suspension> {
        self.look(now);
        self.last_suspension
            .filter(|suspension| now < suspension.over)
    }

    fn look(&mut self, now: i64) {
        let passed = now.saturating_sub(self.last);
        if passed > self.limit {
            self.last_suspension = Some(Suspension {
                length: Duration::from_nanos(passed),
                over: now.saturating_add(REDISCOVERY.nanos()),
            });
            self.last = now;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: i64 = 1_000_000;

    fn detector() -> SuspendDetector {
        let mut detector = SuspendDetector::new(Duration::from_millis(25), 0);
        for n in 1..100 {
            detector.tick(n * 25 * MS);
            assert_eq!(detector.current(n * 25 * MS + 1), None);
        }
        detector
    }

    #[test]
    fn a_suspension_is_detected_by_a_tick_and_by_a_query() {
        let suspended = |mut detector: SuspendDetector, ticks: bool| {
            let now = 99 * 25 * MS + 12_000 * MS;
            if ticks {
                detector.tick(now);
            }
            let suspension = detector.current(now).unwrap();
            assert_eq!(suspension.length, Duration::from_millis(12_000));
            detector.tick(now + MS);
            assert_eq!(
                detector.current(now + 2_999 * MS),
                Some(suspension),
                "the same one"
            );
            detector.tick(now + 2_999 * MS);
            assert_eq!(detector.current(now + 3_000 * MS), None);
        };
        suspended(detector(), true);
        suspended(detector(), false);
    }

    #[test]
    fn a_long_period_is_not_a_suspension() {
        let mut detector = SuspendDetector::new(Duration::from_secs(10), 0);
        for n in 1..10 {
            detector.tick(n * 10_000 * MS);
            assert_eq!(detector.current(n * 10_000 * MS), None);
        }
        assert!(detector.current(116_000 * MS).is_some());
    }
}
