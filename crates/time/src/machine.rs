//! The machine's clocks and waits: the only file of Timeloom that asks the operating system for the time.

use std::num::{NonZeroU32, NonZeroU64};
use std::sync::OnceLock;
use std::sync::atomic::AtomicU32;
use std::time::Instant;

use rustix::event::{EventfdFlags, eventfd};
use rustix::fd::{AsFd, OwnedFd};
use rustix::io::Errno;
use rustix::thread::futex;
use rustix::time::{ClockId, DynamicClockId, Timespec, clock_gettime, clock_gettime_dynamic};

const NANOS_PER_SECOND: i64 = 1_000_000_000;

/// Steady time: nanoseconds of `CLOCK_MONOTONIC`.
#[inline]
pub(crate) fn steady() -> i64 {
    nanos(clock_gettime(ClockId::Monotonic))
}

/// System time: nanoseconds since 1970 of `CLOCK_REALTIME`.
#[inline]
pub(crate) fn system() -> i64 {
    nanos(clock_gettime(ClockId::Realtime))
}

/// An instant of `std` and the steady time of the same moment, from the narrowest of a few pairs.
#[expect(
    clippy::disallowed_methods,
    reason = "this file is where the machine's clocks are read"
)]
pub(crate) fn instant() -> &'static (Instant, i64) {
    static PAIR: OnceLock<(Instant, i64)> = OnceLock::new();
    PAIR.get_or_init(|| {
        let pairs = (0..5).map(|_| {
            let (before, instant, after) = (steady(), Instant::now(), steady());
            (after - before, instant, before + (after - before) / 2)
        });
        let narrowest = pairs.min_by_key(|(width, ..)| *width);
        narrowest.map_or_else(
            || (Instant::now(), steady()),
            |(_, at, steady)| (at, steady),
        )
    })
}

/// The offset of TAI from UTC in the kernel, in nanoseconds: chrony or phc2sys sets it in whole seconds.
pub(crate) fn tai_offset() -> i64 {
    // A kernel without that clock has no offset either.
    let Ok(tai) = clock_gettime_dynamic(DynamicClockId::Tai) else {
        return 0;
    };
    let (tai, utc) = (nanos(tai), system());
    // The clocks are read one after the other.
    (tai - utc + NANOS_PER_SECOND / 2).div_euclid(NANOS_PER_SECOND) * NANOS_PER_SECOND
}

#[inline]
fn nanos(time: Timespec) -> i64 {
    time.tv_sec * NANOS_PER_SECOND + time.tv_nsec
}

/// Nanoseconds as a `Timespec`; the past becomes the first instant of the clock.
pub(crate) fn timespec(nanos: i64) -> Timespec {
    let nanos = nanos.max(1);
    Timespec {
        tv_sec: nanos / NANOS_PER_SECOND,
        tv_nsec: nanos % NANOS_PER_SECOND,
    }
}

/// Blocks while `word` holds `expected`, at most until steady time `until`. May return early.
///
/// The kernel may delay a timed wait by the thread's timer slack (50 µs by default), which would double the lateness of
/// every sleep; the slack is lowered for the wait and restored after it.
pub(crate) fn park(word: &AtomicU32, expected: u32, until: Option<i64>) {
    let deadline = until.map(timespec);
    let slack = deadline.and_then(|_| FineTimer::start());
    // On any error the caller checks again: the word changed, time is up, a signal arrived.
    let _looked = futex::wait_bitset(
        word,
        futex::Flags::PRIVATE,
        expected,
        deadline.as_ref(),
        NonZeroU32::MAX,
    );
    drop(slack);
}

/// Wakes the thread that waits on `word`.
pub(crate) fn wake(word: &AtomicU32) {
    // Waking a futex without a waiter is not an error, and no other error is possible.
    let _woken = futex::wake(word, futex::Flags::PRIVATE, 1);
}

/// The thread's timer slack, lowered to the minimum until dropped.
struct FineTimer(u64);

impl FineTimer {
    fn start() -> Option<Self> {
        let before = rustix::thread::current_timer_slack().ok()?;
        if before <= 1 {
            return None;
        }
        rustix::thread::set_current_timer_slack(NonZeroU64::new(1)).ok()?;
        Some(Self(before))
    }
}

impl Drop for FineTimer {
    fn drop(&mut self) {
        // It could be lowered, so it can be restored.
        let _restored = rustix::thread::set_current_timer_slack(NonZeroU64::new(self.0));
    }
}

/// A new event descriptor, not readable yet.
pub(crate) fn new_event() -> std::io::Result<OwnedFd> {
    Ok(eventfd(0, EventfdFlags::CLOEXEC | EventfdFlags::NONBLOCK)?)
}

/// Makes an event descriptor readable.
pub(crate) fn raise_event(event: &OwnedFd) {
    // The only possible error is a full counter, and then it is readable already.
    let _written = rustix::io::write(event, &1u64.to_ne_bytes());
}

/// Makes an event or timer descriptor not readable. `Err` for a cancelled timer.
pub(crate) fn drain(descriptor: impl AsFd) -> Result<(), Errno> {
    match rustix::io::read(descriptor, &mut [0u8; 8]) {
        Ok(_) | Err(Errno::AGAIN) => Ok(()),
        Err(error) => Err(error),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::Ordering;

    #[test]
    fn clocks_run() {
        assert!(system() > 0);
        let first = steady();
        assert!(steady() >= first);
    }

    #[test]
    fn a_wait_for_the_past_returns() {
        park(&AtomicU32::new(0), 0, Some(i64::MIN));
    }

    #[test]
    fn a_wait_on_a_changed_word_returns() {
        park(&AtomicU32::new(1), 0, None);
    }

    #[test]
    fn a_wait_is_never_short_by_the_clock_it_waits_on() {
        let word = AtomicU32::new(0);
        for _ in 0..20 {
            let until = steady() + 200_000;
            while steady() < until {
                park(&word, 0, Some(until));
            }
            assert_eq!(word.load(Ordering::Relaxed), 0);
        }
    }

    #[test]
    fn the_timer_slack_is_restored() {
        let before = rustix::thread::current_timer_slack().unwrap();
        park(&AtomicU32::new(0), 0, Some(steady() + 1_000));
        assert_eq!(rustix::thread::current_timer_slack().unwrap(), before);
    }
}
