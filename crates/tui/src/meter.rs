use std::collections::{HashMap, VecDeque};

use timeloom_text::Scale;
use timeloom_time::{Duration, Steady, Time};

/// Time window of a rate.
const WINDOW: Duration = Duration::from_secs(2);
/// Interval of the rates in the sparkline.
const STEP: Duration = Duration::from_millis(500);
/// Number of rates in the sparkline.
const HISTORY: usize = 60;

/// Rates of many topics, from counts that only grow.
#[derive(Clone, Debug, Default)]
pub(crate) struct Meter {
    topics: HashMap<String, Track>,
}

#[derive(Clone, Debug, Default)]
struct Track {
    counts: VecDeque<(Time<Steady>, u64, u64)>,
    history: VecDeque<f64>,
    kept: Option<Time<Steady>>,
}

/// The rates of a topic.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Reading {
    /// Messages per second.
    pub(crate) hertz: f64,
    /// Bytes per second.
    pub(crate) bytes: f64,
}

impl Meter {
    /// Adds the counts of a topic at a time; times do not go back.
    pub(crate) fn count(&mut self, topic: &str, now: Time<Steady>, messages: u64, bytes: u64) {
        let track = match self.topics.get_mut(topic) {
            Some(track) => track,
            None => self.topics.entry(topic.to_owned()).or_default(),
        };
        track.count(now, messages, bytes);
    }

    /// The rates over the last two seconds.
    pub(crate) fn reading(&self, topic: &str) -> Reading {
        self.topics
            .get(topic)
            .map(Track::reading)
            .unwrap_or_default()
    }

    /// The rates of the last seconds as bars, at most `width` of them.
    pub(crate) fn sparkline(&self, topic: &str, width: usize) -> String {
        let history = self.history(topic);
        let skipped = history.len().saturating_sub(width);
        let shown = history.iter().copied().skip(skipped);
        timeloom_text::sparkline(shown, Scale::FromZero)
    }

    /// The message rates of the last half minute, oldest first.
    pub(crate) fn history(&self, topic: &str) -> Vec<f64> {
        let track = self.topics.get(topic);
        track
            .map(|track| track.history.iter().copied().collect())
            .unwrap_or_default()
    }
}

impl Track {
    fn count(&mut self, now: Time<Steady>, messages: u64, bytes: u64) {
        // Counts that decrease belong to a new recording.
        if self.counts.back().is_some_and(|last| messages < last.1) {
            self.counts.clear();
        }
        self.counts.push_back((now, messages, bytes));
        // Keep one that is older than the window, as its start.
        while self
            .counts
            .get(1)
            .is_some_and(|second| between(second.0, now) >= WINDOW)
        {
            self.counts.pop_front();
        }
        if self.kept.is_none_or(|kept| between(kept, now) >= STEP) {
            self.kept = Some(now);
            let hertz = self.reading().hertz;
            self.history.push_back(hertz);
            if self.history.len() > HISTORY {
                self.history.pop_front();
            }
        }
    }

    fn reading(&self) -> Reading {
        let (Some(first), Some(last)) = (self.counts.front(), self.counts.back()) else {
            return Reading::default();
        };
        let seconds = between(first.0, last.0).as_secs_f64();
        if seconds <= 0.0 {
            return Reading::default();
        }
        Reading {
            hertz: (last.1 - first.1) as f64 / seconds,
            bytes: last.2.saturating_sub(first.2) as f64 / seconds,
        }
    }
}

fn between(from: Time<Steady>, to: Time<Steady>) -> Duration {
    to.checked_since(from).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ms(milliseconds: i64) -> Time<Steady> {
        Time::from_nanos(milliseconds * 1_000_000)
    }

    #[test]
    fn a_steady_topic_has_its_rate() {
        let mut meter = Meter::default();
        for tick in 0..50_u64 {
            let now = ms(i64::try_from(tick).unwrap() * 100);
            meter.count("/imu", now, tick * 10, tick * 1000);
        }
        let reading = meter.reading("/imu");
        assert!((reading.hertz - 100.0).abs() < 1e-9, "{reading:?}");
        assert!((reading.bytes - 10_000.0).abs() < 1e-6, "{reading:?}");
        assert_eq!(meter.history("/imu").len(), 10);
        assert_eq!(meter.reading("/other"), Reading::default());
    }

    #[test]
    fn a_silent_topic_has_rate_zero() {
        let mut meter = Meter::default();
        for tick in 0..20 {
            meter.count("/a", ms(tick * 100), 7, 70);
        }
        assert_eq!(meter.reading("/a"), Reading::default());
    }

    #[test]
    fn restarted_counts_give_no_negative_rate() {
        let mut meter = Meter::default();
        meter.count("/a", ms(0), 1000, 1000);
        meter.count("/a", ms(100), 5, 5);
        meter.count("/a", ms(200), 10, 10);
        assert!((meter.reading("/a").hertz - 50.0).abs() < 1e-9);
    }
}
