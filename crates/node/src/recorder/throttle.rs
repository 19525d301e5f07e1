use timeloom_time::Duration;

/// Lets messages of a topic pass at most so often, by their log times.
///
/// The first one always passes. After a log time that goes back, counting restarts instead of waiting for the old time.
#[derive(Clone, Copy, Debug)]
pub(super) struct Throttle {
    period_ns: i64,
    /// When the next one may pass.
    next: Option<i64>,
    last: i64,
}

impl Throttle {
    pub(super) fn new(period: Duration) -> Self {
        Self {
            period_ns: period.nanos().max(1),
            next: None,
            last: i64::MIN,
        }
    }

    /// Whether a message of that log time passes.
    pub(super) fn passes(&mut self, log_time_ns: i64) -> bool {
        let jumped_back = log_time_ns < self.last;
        self.last = log_time_ns;
        match self.next {
            Some(next) if log_time_ns < next && !jumped_back => false,
            // Stays on its grid while messages come often enough: 30 Hz throttled to 10 Hz are 10 Hz.
            Some(next) if !jumped_back && log_time_ns - next < self.period_ns => {
                self.next = Some(next.saturating_add(self.period_ns));
                true
            }
            _ => {
                self.next = Some(log_time_ns.saturating_add(self.period_ns));
                true
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn count(period: i64, times: impl Iterator<Item = i64>) -> usize {
        let mut throttle = Throttle::new(Duration::from_nanos(period));
        times.filter(|time| throttle.passes(*time)).count()
    }

    #[test]
    fn the_rate_is_kept_exactly() {
        assert_eq!(count(100, (0..1000).map(|n| n * 33)), 330);
        assert_eq!(count(100, (0..10).map(|n| n * 200)), 10, "slower ones pass");
        assert_eq!(count(100, [0, 99, 100, 101].into_iter()), 2);
    }

    #[test]
    fn a_time_that_goes_back_does_not_stall() {
        assert_eq!(
            count(100, [1_000_000, 1_000_050, 5, 50, 105].into_iter()),
            3
        );
    }
}
