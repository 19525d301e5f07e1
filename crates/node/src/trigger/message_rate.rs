/// Messages per second over a sliding time, counted in slots: a message costs one addition, and the rate falls without
/// messages, too.
#[derive(Debug, Clone)]
pub(super) struct MessageRate {
    nanos: i64,
    slot_ns: i64,
    /// The start of the slot that is being filled; `None` before the first message.
    slot: Option<i64>,
    /// When the first full time is over.
    known_from: i64,
    current: u64,
    /// The last full slots, as a ring.
    counts: [u64; SLOTS],
    next: usize,
    sum: u64,
}

const SLOTS: usize = 20;
/// The same, for times.
const SLOT_COUNT: i64 = 20;

impl MessageRate {
    pub(super) fn new(nanos: i64) -> Self {
        Self {
            nanos,
            slot_ns: (nanos / SLOT_COUNT).max(1),
            slot: None,
            known_from: 0,
            current: 0,
            counts: [0; SLOTS],
            next: 0,
            sum: 0,
        }
    }

    /// Counts a message; true if a slot was completed.
    pub(super) fn message(&mut self, time_ns: i64) -> bool {
        let is_first = self.slot.is_none();
        if is_first {
            self.slot = Some(time_ns);
            self.known_from = time_ns.saturating_add(self.slot_ns.saturating_mul(SLOT_COUNT));
        }
        let rolled = self.roll(time_ns);
        self.current += 1;
        rolled || is_first
    }

    /// Completes the slots that are over; true if there was one.
    fn roll(&mut self, time_ns: i64) -> bool {
        let Some(start) = self.slot else {
            return false;
        };
        let over = time_ns.saturating_sub(start) / self.slot_ns;
        // After so many slots without a message only zeros are left.
        for _ in 0..over.clamp(0, SLOT_COUNT + 1) {
            if let Some(count) = self.counts.get_mut(self.next) {
                self.sum = self.sum + self.current - *count;
                *count = self.current;
            }
            self.current = 0;
            self.next = (self.next + 1) % SLOTS;
        }
        self.slot = Some(start.saturating_add(over.max(0).saturating_mul(self.slot_ns)));
        over > 0
    }

    /// The rate in Hz, and the time at which it changes next without a message.
    pub(super) fn hertz(&mut self, time_ns: i64) -> (Option<f64>, i64) {
        self.roll(time_ns);
        let Some(start) = self.slot else {
            return (None, i64::MAX);
        };
        let changes = self.sum > 0 || self.current > 0 || time_ns < self.known_from;
        let next = if changes {
            start.saturating_add(self.slot_ns)
        } else {
            i64::MAX
        };
        let known = time_ns >= self.known_from;
        let rate = self.sum as f64 * 1e9 / self.nanos as f64;
        (known.then_some(rate), next)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_rate_is_known_after_its_time_and_falls_to_zero_without_messages() {
        let mut rate = MessageRate::new(1_000);
        for time in (0..1_000).step_by(10) {
            rate.message(time);
        }
        assert_eq!(rate.hertz(999).0, None);
        assert_eq!(rate.hertz(1_000).0, Some(100.0 * 1e6));
        let (half, next) = rate.hertz(1_500);
        assert_eq!((half, next), (Some(50.0 * 1e6), 1_550));
        assert_eq!(rate.hertz(2_000), (Some(0.0), i64::MAX));
        assert_eq!(rate.hertz(i64::MAX), (Some(0.0), i64::MAX));
    }
}
