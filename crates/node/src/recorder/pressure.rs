use std::sync::Mutex;
use std::sync::atomic::{AtomicI64, Ordering};

use timeloom_time::{Duration, Steady, Time};
use timeloom_wire::backend::lock;

/// Whether our own queue blocks the receive threads: messages that the middleware loses meanwhile are lost by the
/// recorder, not in transport.
///
/// It stays on for a second after the threads were blocked for a tenth of the time or more: an overflow shows as a gap
/// only when the middleware's buffers are read up to it.
#[derive(Debug)]
pub(super) struct Pressure {
    window: Mutex<BlockedTime>,
    /// Steady nanoseconds.
    until: AtomicI64,
}

/// The time blocked since a moment.
#[derive(Debug, Default)]
struct BlockedTime {
    begin: Option<Time<Steady>>,
    waited: Duration,
}

const WINDOW: Duration = Duration::from_millis(100);
const TOO_LONG: Duration = Duration::from_millis(10);
const AFTERMATH: Duration = Duration::from_secs(1);

impl Default for Pressure {
    fn default() -> Self {
        Self {
            window: Mutex::default(),
            until: AtomicI64::new(i64::MIN),
        }
    }
}

impl Pressure {
    /// A receive thread was blocked by the queue.
    pub(super) fn waited(&self, from: Time<Steady>, to: Time<Steady>) {
        let mut window = lock(&self.window);
        let begin = *window.begin.get_or_insert(from);
        if from - begin >= WINDOW {
            *window = BlockedTime {
                begin: Some(from),
                waited: Duration::ZERO,
            };
        }
        window.waited = window.waited.saturating_add(to - from);
        if window.waited >= TOO_LONG {
            let until = to.saturating_add(AFTERMATH).nanos();
            self.until.fetch_max(until, Ordering::Release);
        }
    }

    /// Whether a gap that is seen now is caused by the recorder.
    pub(super) fn is_on(&self, now: impl FnOnce() -> Time<Steady>) -> bool {
        let until = self.until.load(Ordering::Acquire);
        until > i64::MIN && now().nanos() <= until
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(micros: i64) -> Time<Steady> {
        Time::from_nanos(micros * 1_000)
    }

    #[test]
    fn long_waits_and_many_short_ones_count_and_a_few_do_not() {
        let pressure = Pressure::default();
        assert!(!pressure.is_on(|| at(0)));
        for millisecond in 0..1_000 {
            pressure.waited(at(millisecond * 1_000), at(millisecond * 1_000 + 50));
        }
        assert!(!pressure.is_on(|| at(1_000_000)), "a twentieth");
        for millisecond in 2_000..2_100 {
            pressure.waited(at(millisecond * 1_000), at(millisecond * 1_000 + 200));
        }
        assert!(pressure.is_on(|| at(2_100_000)), "a fifth");
        assert!(!pressure.is_on(|| at(3_100_000)), "over");
        pressure.waited(at(5_000_000), at(5_020_000));
        assert!(pressure.is_on(|| at(6_020_000)), "one long wait");
        assert!(!pressure.is_on(|| at(6_020_001)));
    }
}
