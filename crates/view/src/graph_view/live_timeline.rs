use std::collections::VecDeque;
use std::sync::Mutex;

use crate::peer::lock;
use crate::snapshot::{Timeline, seconds_since};

/// Length of the timeline in seconds.
const SECONDS: usize = 240;
const SECOND_NS: i64 = 1_000_000_000;

/// Messages and losses per second over the last minutes, summed over all topics.
#[derive(Default)]
pub(super) struct LiveTimeline {
    seconds: Mutex<VecDeque<Second>>,
}

#[derive(Clone, Copy, Default)]
struct Second {
    /// Seconds since 1970.
    number: i64,
    messages: u64,
    lost: u64,
}

impl LiveTimeline {
    /// Counts a message, and the messages lost before it.
    pub(super) fn message(&self, time_ns: i64, lost: u64) {
        self.change(time_ns, |second| {
            second.messages += 1;
            second.lost += lost;
        });
    }

    /// Counts messages that a recorder lost.
    pub(super) fn lost(&self, time_ns: i64, lost: u64) {
        self.change(time_ns, |second| second.lost += lost);
    }

    /// Counts a message that arrived late and had been counted as lost.
    pub(super) fn late_message(&self, time_ns: i64) {
        self.message(time_ns, 0);
        let mut seconds = lock(&self.seconds);
        let mut newest_first = seconds.iter_mut().rev();
        if let Some(second) = newest_first.find(|second| second.lost > 0) {
            second.lost -= 1;
        }
    }

    fn change(&self, time_ns: i64, change: impl FnOnce(&mut Second)) {
        let mut seconds = lock(&self.seconds);
        advance(&mut seconds, time_ns);
        if let Some(last) = seconds.back_mut() {
            change(last);
        }
    }

    /// The last minutes up to now; `None` before the first message.
    pub(super) fn timeline(&self, now_ns: i64) -> Option<Timeline> {
        let mut seconds = lock(&self.seconds);
        if seconds.is_empty() {
            return None;
        }
        advance(&mut seconds, now_ns);
        let (first, last) = (seconds.front()?.number, seconds.back()?.number);
        let start_ns = first.saturating_mul(SECOND_NS);
        let since = |second: i64| seconds_since(start_ns, second.saturating_mul(SECOND_NS));
        let lossy = seconds.iter().filter(|second| second.lost > 0);
        let losses = lossy.map(|it| (since(it.number), since(it.number + 1), it.lost));
        Some(Timeline {
            start_ns,
            duration: since(last + 1),
            now: seconds_since(start_ns, now_ns).clamp(since(last), since(last + 1)),
            rate: 1.0,
            losses: losses.collect(),
            density: seconds.iter().map(|second| second.messages).collect(),
            ..Timeline::default()
        })
    }
}

/// Adds empty seconds up to `second`. A clock that was set back counts into the last second; one that was set far back
/// or ahead starts over.
fn advance(seconds: &mut VecDeque<Second>, time_ns: i64) {
    let number = time_ns.div_euclid(SECOND_NS);
    let last = seconds.back().map(|second| second.number);
    let missing = last.map_or(1, |last| number.saturating_sub(last));
    if usize::try_from(missing.unsigned_abs()).is_ok_and(|missing| missing >= SECONDS) {
        seconds.clear();
    }
    let next = seconds.back().map_or(number, |second| second.number + 1);
    for number in next..=number {
        seconds.push_back(Second {
            number,
            ..Second::default()
        });
    }
    let extra = seconds.len().saturating_sub(SECONDS);
    seconds.drain(..extra);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn losses_count_in_their_second() {
        let live = LiveTimeline::default();
        assert_eq!(live.timeline(0), None);
        let at = |second: i64| 1_000 * SECOND_NS + second * SECOND_NS + 1;
        live.message(at(0), 0);
        live.message(at(2), 3);
        live.message(at(2), 0);
        live.lost(at(3), 5);
        live.late_message(at(4));
        let timeline = live.timeline(at(5)).unwrap();
        assert_eq!(timeline.density, [1, 0, 2, 0, 1, 0]);
        assert_eq!(timeline.losses, [(2.0, 3.0, 3), (3.0, 4.0, 4)]);
        assert_eq!(timeline.start_ns, 1_000 * SECOND_NS);
        assert_eq!(timeline.duration.to_bits(), 6.0_f64.to_bits());
    }

    #[test]
    fn clock_steps_do_not_grow_the_timeline() {
        let live = LiveTimeline::default();
        for second in [0, 10_000, 5, i64::MAX / SECOND_NS, -3, 7] {
            live.message(second * SECOND_NS, 1);
            let timeline = live.timeline(second * SECOND_NS).unwrap();
            assert!(timeline.density.len() <= SECONDS);
        }
        for second in 0..1_000 {
            live.message(i64::MAX / SECOND_NS * SECOND_NS + second, 0);
        }
        assert!(live.timeline(0).unwrap().density.len() <= SECONDS);
    }
}
