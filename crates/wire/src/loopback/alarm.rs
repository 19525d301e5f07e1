use timeloom_time::{Clock, Duration, Event, Steady, Time, TimeBase};

/// Wakes a participant's thread at a time.
///
/// On virtual time a thread acts only at its own instants: one nanosecond within each microsecond, another one after
/// every wake-up, different from those of other participants and never a whole microsecond. No wake-up coincides with
/// another or with a sleep of the code under test, so the result does not depend on which of two threads began to wait
/// first. An instant is always later than now: all threads that are awake finish first.
pub(super) struct Alarm {
    clock: Clock<Steady>,
    event: Event,
    is_virtual: bool,
    /// Index of the participant.
    place: i64,
    /// Number of rings so far.
    rings: i64,
    /// The next instant to act, on virtual time.
    moment: Option<i64>,
}

/// Distance between two instants of one participant, in nanoseconds.
const WINDOW: i64 = 1_000;
/// Number of participants with distinct instants; each has 37 of them before one repeats: 27 × 37 + 1 = 1,000.
const PLACES: i64 = 27;
const MOMENTS: i64 = 37;

/// The event that the thread waits on.
pub(super) struct AlarmWait {
    event: Event,
    clock: Clock<Steady>,
    until: Option<i64>,
}

impl Alarm {
    pub(super) fn new(base: &TimeBase, clock: &Clock<Steady>) -> Self {
        Self {
            clock: clock.clone(),
            event: Event::new(base),
            is_virtual: base.is_virtual(),
            place: 0,
            rings: 0,
            moment: None,
        }
    }

    pub(super) fn placed(mut self, member: u32) -> Self {
        self.place = i64::from(member) % PLACES;
        self
    }

    /// Requests a wake-up at `at`.
    pub(super) fn set(&mut self, at: i64, now: i64) {
        if !self.is_virtual {
            return self.event.set();
        }
        // The earliest of all requests counts, in any order.
        let moment = self.moment_from(at.max(now.saturating_add(1)));
        if self.moment.is_none_or(|earlier| moment < earlier) {
            self.moment = Some(moment);
            self.event.set();
        }
    }

    /// The first instant of this participant at `at` or later.
    fn moment_from(&self, at: i64) -> i64 {
        let own = 1 + self.place + PLACES * (self.rings % MOMENTS);
        let begin = at.saturating_sub(at.rem_euclid(WINDOW));
        let moment = begin.saturating_add(own);
        if moment < at {
            moment.saturating_add(WINDOW)
        } else {
            moment
        }
    }

    /// Whether the thread may act now; if so, the alarm must be set again for the remaining work.
    pub(super) fn is_due(&mut self, now: i64) -> bool {
        if !self.is_virtual {
            return true;
        }
        let due = self.moment.is_some_and(|moment| moment <= now);
        if due {
            self.moment = None;
            self.rings += 1;
        }
        due
    }

    /// Prepares the thread's wait for its next work. Setting the alarm from here on ends the wait.
    pub(super) fn prepare(&mut self, next: Option<i64>, now: i64) -> AlarmWait {
        if let Some(next) = next.filter(|_| self.is_virtual) {
            self.set(next, now);
        }
        self.event.clear();
        AlarmWait {
            event: self.event.clone(),
            clock: self.clock.clone(),
            until: if self.is_virtual { self.moment } else { next },
        }
    }
}

impl AlarmWait {
    pub(super) fn wait(&self) {
        let Some(until) = self.until else {
            return self.event.wait();
        };
        let left = Time::from_nanos(until).checked_since(self.clock.now());
        self.event.wait_for(left.unwrap_or(Duration::from_nanos(0)));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;
    use timeloom_time::VirtualTime;

    #[test]
    fn instants_within_a_microsecond_are_distinct() {
        let base = VirtualTime::manual().base();
        let mut seen = BTreeSet::new();
        for member in 0..27 {
            let mut alarm = Alarm::new(&base, &Clock::on(&base)).placed(member);
            for _ in 0..37 {
                let moment = alarm.moment_from(5_000);
                assert!((5_001..6_000).contains(&moment), "{moment}");
                assert!(seen.insert(moment), "{moment} comes twice");
                alarm.rings += 1;
            }
        }
        assert_eq!(seen.len(), 999);
    }

    #[test]
    fn an_instant_is_never_early_and_the_earliest_request_counts() {
        let base = VirtualTime::manual().base();
        let mut alarm = Alarm::new(&base, &Clock::on(&base)).placed(3);
        for at in [0, 1, 4, 5, 999, 1_000, 123_456_789] {
            let moment = alarm.moment_from(at);
            assert!(moment >= at && moment < at + WINDOW, "{at}: {moment}");
        }
        alarm.set(50_000, 10_000);
        alarm.set(20_000, 10_000);
        alarm.set(90_000, 10_000);
        assert_eq!(alarm.moment, Some(20_004));
        assert!(!alarm.is_due(20_003));
        assert!(alarm.is_due(20_004));
        assert!(!alarm.is_due(20_005), "it rings once");
        alarm.set(0, 20_004);
        assert_eq!(
            alarm.moment,
            Some(20_031),
            "later than now, at another moment"
        );
    }
}
