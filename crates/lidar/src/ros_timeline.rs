use std::collections::VecDeque;

use timeloom_time::{Duration, Ros, Steady, Time};

/// For how long it is remembered what a simulated clock showed.
const MEMORY: Duration = Duration::from_secs(5);
/// Limit for remembered readings.
const MOST: usize = 8_192;

/// Recent times of a simulated clock (`use_sim_time`).
///
/// Simulated time stands still, runs at any rate and jumps, so the time that it showed at an earlier moment cannot be
/// computed from its current reading.
#[derive(Debug, Default)]
pub(crate) struct RosTimeline {
    /// Moments and what the clock showed then, oldest first; of one epoch of the clock.
    seen: VecDeque<(Time<Steady>, Time<Ros>)>,
    epoch: u64,
    /// The latest time that was given out in this epoch.
    given: Option<Time<Ros>>,
}

impl RosTimeline {
    /// Notes what the clock shows at a moment. A new epoch of the clock clears the memory.
    pub(crate) fn see(&mut self, steady: Time<Steady>, ros: Time<Ros>, epoch: u64) {
        let went_back = self.seen.back().is_some_and(|(_, newest)| ros < *newest);
        if epoch != self.epoch || went_back {
            self.epoch = epoch;
            self.seen.clear();
            self.given = None;
        }
        let too_old = |seen: &(Time<Steady>, Time<Ros>)| steady - seen.0 > MEMORY;
        while self.seen.len() >= MOST || self.seen.front().is_some_and(too_old) {
            self.seen.pop_front();
        }
        self.seen.push_back((steady, ros));
    }

    /// The reading of the clock at a moment, where it is known: never negative, and within an epoch never earlier than
    /// the time given out before.
    pub(crate) fn stamp(&mut self, steady: Time<Steady>) -> Time<Ros> {
        let time = self.at(steady).max(Time::from_nanos(0));
        let time = self.given.map_or(time, |given| time.max(given));
        self.given = Some(time);
        time
    }

    fn at(&self, steady: Time<Steady>) -> Time<Ros> {
        let later = self.seen.partition_point(|(moment, _)| *moment <= steady);
        let next = self.seen.get(later);
        let Some((moment, shown)) = later.checked_sub(1).and_then(|place| self.seen.get(place))
        else {
            return next.map_or_else(Time::default, |(_, shown)| *shown);
        };
        // Between two readings it went on at most as far as the second one shows.
        let most = next.map_or(Duration::ZERO, |(_, next)| *next - *shown);
        shown.saturating_add((steady - *moment).min(most))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn steady(millis: i64) -> Time<Steady> {
        Time::from_nanos(millis * 1_000_000)
    }

    fn ros(millis: i64) -> Time<Ros> {
        Time::from_nanos(millis * 1_000_000)
    }

    #[test]
    fn a_clock_that_shows_nothing_gives_zero() {
        let mut timeline = RosTimeline::default();
        assert_eq!(timeline.stamp(steady(900)), ros(0));
        timeline.see(steady(1_000), ros(0), 1);
        assert_eq!(timeline.stamp(steady(990)), ros(0));
    }

    #[test]
    fn a_stopped_clock_returns_the_same_time() {
        let mut timeline = RosTimeline::default();
        let mut stamps = Vec::new();
        for step in 0..50 {
            timeline.see(steady(1_000 + step * 20), ros(7_000), 1);
            // The way of a packet takes now more and now less.
            let age = if step % 2 == 0 { 35 } else { 5 };
            stamps.push(timeline.stamp(steady(1_000 + step * 20 - age)));
        }
        assert!(stamps.iter().all(|stamp| *stamp == ros(7_000)));
    }

    #[test]
    fn past_times_respect_the_rate_of_the_clock() {
        let mut timeline = RosTimeline::default();
        for step in 0..=100 {
            timeline.see(steady(step * 10), ros(5_000 + step * 20), 1);
        }
        let stamp = timeline.stamp(steady(500));
        assert_eq!(stamp, ros(6_000));
        // Before the first reading there is only that one.
        let mut fresh = RosTimeline::default();
        fresh.see(steady(100), ros(5_000), 1);
        assert_eq!(fresh.stamp(steady(50)), ros(5_000));
    }

    #[test]
    fn times_go_back_only_with_the_clock() {
        let mut timeline = RosTimeline::default();
        timeline.see(steady(0), ros(9_000), 1);
        timeline.see(steady(100), ros(9_100), 1);
        assert_eq!(timeline.stamp(steady(100)), ros(9_100));
        assert_eq!(timeline.stamp(steady(40)), ros(9_100), "not back");
        timeline.see(steady(200), ros(50), 2);
        assert_eq!(timeline.stamp(steady(190)), ros(50));
    }

    #[test]
    fn the_memory_is_bounded() {
        let mut timeline = RosTimeline::default();
        for step in 0..20_000 {
            timeline.see(steady(step), ros(step), 1);
        }
        assert!(timeline.seen.len() <= 5_002, "{}", timeline.seen.len());
    }
}
