//! The last messages of one input, for any number of writers and readers, without waiting.

use timeloom_time::sync::{AtomicI64, AtomicU64, Ordering, fence};
use timeloom_time::{Ros, Time};

use crate::moment::Moment;

/// The reception of a message: time and stamp.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct Received {
    /// The start of its callback.
    pub at: Moment,
    /// `header.stamp` or `stamp`, if it has one.
    pub stamp: Option<Time<Ros>>,
}

/// A fixed ring. Writers claim a slot by counting up; each slot carries the number of its message, odd while it is
/// being written. A reader that sees another number before or after reading tries another slot: no thread waits.
#[derive(Debug)]
pub(crate) struct Ring {
    next: AtomicU64,
    places: Box<[Place]>,
    mask: u64,
    shift: u32,
    dropped: AtomicU64,
}

#[derive(Debug, Default)]
struct Place {
    /// Twice the lap plus two when it is complete; odd during a write; zero when never used.
    version: AtomicU64,
    ros: AtomicI64,
    steady: AtomicI64,
    stamp: AtomicI64,
    has_stamp: AtomicU64,
}

impl Ring {
    /// A ring of `places` slots, rounded up to a power of two.
    pub(crate) fn new(places: usize) -> Self {
        let places = places.clamp(1, 1 << 20).next_power_of_two();
        Self {
            next: AtomicU64::new(0),
            mask: places as u64 - 1,
            shift: places.trailing_zeros(),
            places: (0..places).map(|_| Place::default()).collect(),
            dropped: AtomicU64::new(0),
        }
    }

    fn place(&self, number: u64) -> Option<&Place> {
        let index = usize::try_from(number & self.mask).ok()?;
        self.places.get(index)
    }

    /// The version of a slot that holds this message completely.
    fn whole(&self, number: u64) -> u64 {
        ((number >> self.shift) << 1) + 2
    }

    /// Adds a message. Writers that are a whole ring apart do not wait for each other: the later message is counted as
    /// dropped instead.
    #[inline]
    pub(crate) fn push(&self, received: &Received) {
        let number = self.next.fetch_add(1, Ordering::Relaxed);
        let Some(place) = self.place(number) else {
            return;
        };
        let whole = self.whole(number);
        let before = place.version.load(Ordering::Relaxed);
        let free = before & 1 == 0 && before < whole;
        let claimed = free
            && place
                .version
                .compare_exchange(before, whole - 1, Ordering::Acquire, Ordering::Relaxed)
                .is_ok();
        if !claimed {
            self.dropped.fetch_add(1, Ordering::Relaxed);
            return;
        }
        // The odd version must be visible before any of the new values.
        fence(Ordering::Release);
        place.ros.store(received.at.ros.nanos(), Ordering::Relaxed);
        place
            .steady
            .store(received.at.steady.nanos(), Ordering::Relaxed);
        let stamp = received.stamp.map_or(0, Time::nanos);
        place.stamp.store(stamp, Ordering::Relaxed);
        let has_stamp = u64::from(received.stamp.is_some());
        place.has_stamp.store(has_stamp, Ordering::Relaxed);
        place.version.store(whole, Ordering::Release);
    }

    #[inline]
    fn read(&self, number: u64) -> Option<Received> {
        let place = self.place(number)?;
        let whole = self.whole(number);
        if place.version.load(Ordering::Acquire) != whole {
            return None;
        }
        let at = Moment::from_nanos(
            place.ros.load(Ordering::Relaxed),
            place.steady.load(Ordering::Relaxed),
        );
        let stamp = place.stamp.load(Ordering::Relaxed);
        let has_stamp = place.has_stamp.load(Ordering::Relaxed) == 1;
        // All values must have been read before the version is checked again.
        fence(Ordering::Acquire);
        let same = place.version.load(Ordering::Relaxed) == whole;
        same.then(|| Received {
            at,
            stamp: has_stamp.then(|| Time::from_nanos(stamp)),
        })
    }

    /// The newest complete message.
    #[inline]
    pub(crate) fn latest(&self) -> Option<Received> {
        self.newest_first().next()
    }

    /// The newest message with this stamp.
    #[inline]
    pub(crate) fn find(&self, stamp: Time<Ros>) -> Option<Received> {
        self.newest_first()
            .find(|received| received.stamp == Some(stamp))
    }

    /// The messages in the ring; those that are overwritten meanwhile are left out.
    pub(crate) fn newest_first(&self) -> impl Iterator<Item = Received> + '_ {
        let next = self.next.load(Ordering::Acquire);
        let oldest = next.saturating_sub(self.mask + 1);
        (oldest..next).rev().filter_map(|number| self.read(number))
    }

    /// Number of messages that were added or dropped.
    pub(crate) fn count(&self) -> u64 {
        self.next.load(Ordering::Relaxed)
    }

    /// Number of messages that were dropped, because writers were a whole ring apart.
    pub(crate) fn dropped(&self) -> u64 {
        self.dropped.load(Ordering::Relaxed)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn received(number: i64) -> Received {
        Received {
            at: Moment::from_nanos(number * 3, number * 5),
            stamp: (number % 2 == 0).then(|| Time::from_nanos(number * 7)),
        }
    }

    #[test]
    fn the_newest_message_and_each_stamp_are_found_until_overwritten() {
        let ring = Ring::new(4);
        assert_eq!(ring.latest(), None);
        for number in 1..=6 {
            ring.push(&received(number));
            assert_eq!(ring.latest(), Some(received(number)));
        }
        assert_eq!(ring.find(Time::from_nanos(28)), Some(received(4)));
        assert_eq!(ring.find(Time::from_nanos(14)), None);
        let numbers: Vec<_> = ring
            .newest_first()
            .map(|received| received.at.ros.nanos() / 3)
            .collect();
        assert_eq!(numbers, [6, 5, 4, 3]);
        assert_eq!((ring.count(), ring.dropped()), (6, 0));
    }

    #[test]
    fn readers_never_see_half_a_message() {
        let ring = Ring::new(8);
        let writers = 3;
        let each = 20_000;
        std::thread::scope(|scope| {
            for _ in 0..writers {
                scope.spawn(|| {
                    for number in 0..each {
                        ring.push(&received(number));
                    }
                });
            }
            scope.spawn(|| {
                for _ in 0..each {
                    for seen in ring.newest_first() {
                        let number = seen.at.ros.nanos() / 3;
                        assert_eq!(seen, received(number));
                    }
                }
            });
        });
        assert_eq!(ring.count(), 60_000);
        let whole = ring.newest_first().count() as u64;
        assert!(whole <= 8 && ring.dropped() < 60_000);
    }
}
