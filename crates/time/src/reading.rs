use crate::clock::Clock;
use crate::duration::Duration;
use crate::kind::{Kind, Steady};
use crate::time::Time;

/// A pair of readings that took longer was interrupted, and is made again.
const TIGHT: Duration = Duration::from_micros(5);
/// The most attempts at a pair of readings.
const MOST_READINGS: usize = 5;

/// Another clock, read between two readings of the steady one: the same moment on both, within its [width](Self::width).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Reading<K: Kind> {
    before: Time<Steady>,
    other: Time<K>,
    after: Time<Steady>,
}

impl<K: Kind> Reading<K> {
    /// Reads both clocks, and again if the thread was interrupted between the readings. Blocks as [`Clock::now`] does.
    pub fn take(steady: &Clock<Steady>, other: &Clock<K>) -> Self {
        Self::tightest(|| Self {
            before: steady.now(),
            other: other.now(),
            after: steady.now(),
        })
    }

    /// The tightest of a few readings; the first one that was not interrupted is enough.
    fn tightest(mut read: impl FnMut() -> Self) -> Self {
        let mut best = read();
        for _ in 1..MOST_READINGS {
            if best.width() <= TIGHT {
                break;
            }
            let next = read();
            if next.width() < best.width() {
                best = next;
            }
        }
        best
    }

    /// The steady time right before the other clock was read.
    pub const fn before(&self) -> Time<Steady> {
        self.before
    }

    /// The reading of the other clock.
    pub const fn other(&self) -> Time<K> {
        self.other
    }

    /// The steady time right after the other clock was read.
    pub const fn after(&self) -> Time<Steady> {
        self.after
    }

    /// The duration of the reading: an upper limit of the distance between either steady reading and the other clock's.
    pub fn width(&self) -> Duration {
        self.after - self.before
    }
}

/// The offset of TAI from UTC in the kernel, in whole seconds; zero if it was not set.
pub fn tai_offset() -> Duration {
    Duration::from_nanos(crate::machine::tai_offset())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kind::System;

    fn interrupted(first: i64, second: i64) -> Reading<System> {
        let micros = |micros: i64| Time::from_nanos(micros * 1_000);
        Reading {
            before: micros(10),
            other: Time::from_nanos((10 + first) * 1_000),
            after: micros(10 + first + second),
        }
    }

    #[test]
    fn an_interrupted_reading_is_made_again() {
        let mut readings = [(0, 400), (300, 1), (1, 1), (0, 0)].into_iter();
        let best = Reading::tightest(|| {
            let (first, second) = readings.next().unwrap();
            interrupted(first, second)
        });
        assert_eq!(best.width(), Duration::from_micros(2));
        assert_eq!(readings.len(), 1, "a tight one is enough");
        let always = Reading::tightest(|| interrupted(50, 50));
        assert_eq!(always.width(), Duration::from_micros(100));
    }

    #[test]
    fn the_machines_clocks_are_read_in_order() {
        let reading = Reading::take(&Clock::<Steady>::new(), &Clock::<System>::new());
        assert!(reading.before() <= reading.after());
        assert!(reading.other().nanos() > 0);
    }
}
