//! Messages from one host to another, thinned out to the quickest of each stretch of time.

use std::collections::BTreeMap;

/// The width of a stretch at first, in nanoseconds.
const FIRST_WIDTH: i64 = 100_000_000;
/// With more stretches than this, their width doubles.
const MOST_STRETCHES: usize = 8192;

/// A message with the time at which it was sent, by the clock of the sender, and the time at which it was received, by
/// the clock of the receiver.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Crossing {
    /// By the clock of the sender, in nanoseconds.
    pub sent_ns: i64,
    /// By the clock of the receiver, in nanoseconds.
    pub received_ns: i64,
}

impl Crossing {
    /// The duration by two clocks: the delay plus the offset of the receiver's clock.
    pub const fn apparent_delay_ns(&self) -> i64 {
        self.received_ns.saturating_sub(self.sent_ns)
    }
}

/// The messages from one host to another: the quickest of each stretch of the sender's time.
///
/// Only the quickest messages are informative, so memory is bounded for any number of messages.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Crossings {
    width_ns: i64,
    quickest: BTreeMap<i64, Crossing>,
    count: u64,
}

impl Default for Crossings {
    fn default() -> Self {
        Self {
            width_ns: FIRST_WIDTH,
            quickest: BTreeMap::new(),
            count: 0,
        }
    }
}

impl Crossings {
    /// Adds a message.
    pub fn add(&mut self, crossing: Crossing) {
        self.count += 1;
        self.keep(crossing);
        self.thin_out();
    }

    /// Adds all messages of another path between the same hosts.
    pub fn merge(&mut self, other: &Self) {
        self.count += other.count;
        for crossing in other.iter() {
            self.keep(*crossing);
        }
        self.thin_out();
    }

    /// Number of messages added.
    pub const fn count(&self) -> u64 {
        self.count
    }

    /// Whether there is no message.
    pub fn is_empty(&self) -> bool {
        self.quickest.is_empty()
    }

    /// The quickest messages, in the order in which they were sent.
    pub fn iter(&self) -> impl DoubleEndedIterator<Item = &Crossing> {
        self.quickest.values()
    }

    /// The apparent delay of the quickest message of all.
    pub fn least_delay_ns(&self) -> Option<i64> {
        self.iter().map(Crossing::apparent_delay_ns).min()
    }

    fn keep(&mut self, crossing: Crossing) {
        let stretch = crossing.sent_ns.div_euclid(self.width_ns);
        let kept = self.quickest.entry(stretch).or_insert(crossing);
        if crossing.apparent_delay_ns() < kept.apparent_delay_ns() {
            *kept = crossing;
        }
    }

    fn thin_out(&mut self) {
        while self.quickest.len() > MOST_STRETCHES {
            self.width_ns = self.width_ns.saturating_mul(2);
            for crossing in std::mem::take(&mut self.quickest).into_values() {
                self.keep(crossing);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: i64 = 1_000_000_000;

    #[test]
    fn a_day_of_messages_keeps_the_quickest_in_bounded_memory() {
        let mut crossings = Crossings::default();
        for step in 0..200_000 {
            let sent_ns = step * SECOND / 2;
            let delay = if step == 77_777 { 40 } else { 100 + step % 7 };
            crossings.add(Crossing {
                sent_ns,
                received_ns: sent_ns + delay,
            });
        }
        assert_eq!(crossings.count(), 200_000);
        assert!(crossings.iter().count() <= MOST_STRETCHES);
        assert_eq!(crossings.least_delay_ns(), Some(40));
        let mut both = crossings.clone();
        both.merge(&crossings);
        assert_eq!(both.count(), 400_000);
        assert!(both.iter().eq(crossings.iter()));
    }
}
