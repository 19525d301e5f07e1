//! Lateness of a thousand ticks per second.

use timeloom_time::{Clock, Duration, Precision, Steady, WaitOptions};

use super::Done;

const PERIOD: Duration = Duration::from_millis(1);

/// Waits on a clock as the player does; returns the median lateness.
pub(super) fn run(count: u64) -> Done {
    let clock = Clock::<Steady>::new();
    let options = WaitOptions::new().precision(Precision::Precise);
    let mut due = clock.now();
    let mut late = Vec::new();
    for _ in 0..count {
        due = due.saturating_add(PERIOD);
        if clock.now() < due {
            let _woke = clock.sleep_until_with(due, &options);
        }
        late.push((clock.now() - due).nanos().max(0));
    }
    late.sort_unstable();
    let middle = late.get(late.len() / 2).copied().unwrap_or(0);
    Done {
        value: middle as f64 * 1e-9,
        answer: count,
    }
}
