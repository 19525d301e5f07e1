use timeloom_time::Duration;

/// A process that did not run for so long may have been given up by others: middlewares renew the lease of a
/// participant, 10 s, only every few seconds.
const LONG: Duration = Duration::from_secs(5);
/// How long others take to find a participant again that they gave up.
const REDISCOVERY: Duration = Duration::from_secs(3);

/// Notices that this process was stopped: something that happens each period did not happen for long.
///
/// Sans I/O: it takes steady times, in nanoseconds.
#[derive(Debug)]
pub(super) struct StopSense {
    limit: i64,
    last: i64,
    stop: Option<Stop>,
}

/// A time during which this process did not run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Stop {
    /// How long it was.
    pub(super) length: Duration,
    /// Others have found this process again by this steady time, in nanoseconds.
    pub(super) over: i64,
}

impl StopSense {
    pub(super) fn new(period: Duration, now: i64) -> Self {
        let limit = period.nanos().saturating_mul(2);
        Self {
            limit: limit.saturating_add(LONG.nanos()),
            last: now,
            stop: None,
        }
    }

    /// A period is over.
    pub(super) fn beat(&mut self, now: i64) {
        self.look(now);
        self.last = now;
    }

    /// The stop that others have not got over yet.
    pub(super) fn current(&mut self, now: i64) -> Option<Stop> {
        self.look(now);
        self.stop.filter(|stop| now < stop.over)
    }

    fn look(&mut self, now: i64) {
        let passed = now.saturating_sub(self.last);
        if passed > self.limit {
            self.stop = Some(Stop {
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

    fn sense() -> StopSense {
        let mut sense = StopSense::new(Duration::from_millis(25), 0);
        for n in 1..100 {
            sense.beat(n * 25 * MS);
            assert_eq!(sense.current(n * 25 * MS + 1), None);
        }
        sense
    }

    #[test]
    fn a_stop_is_noticed_by_whoever_looks_first() {
        let stopped = |mut sense: StopSense, beats: bool| {
            let now = 99 * 25 * MS + 12_000 * MS;
            if beats {
                sense.beat(now);
            }
            let stop = sense.current(now).unwrap();
            assert_eq!(stop.length, Duration::from_millis(12_000));
            sense.beat(now + MS);
            assert_eq!(sense.current(now + 2_999 * MS), Some(stop), "the same one");
            sense.beat(now + 2_999 * MS);
            assert_eq!(sense.current(now + 3_000 * MS), None);
        };
        stopped(sense(), true);
        stopped(sense(), false);
    }

    #[test]
    fn a_slow_beat_is_no_stop() {
        let mut sense = StopSense::new(Duration::from_secs(10), 0);
        for n in 1..10 {
            sense.beat(n * 10_000 * MS);
            assert_eq!(sense.current(n * 10_000 * MS), None);
        }
        assert!(sense.current(116_000 * MS).is_some());
    }
}
