//! The next reads, as requests.

use std::ops::Range;

/// Ranges with at most this gap between them are fetched together: a request costs more than these bytes.
pub(crate) const GAP: u64 = 256 << 10;

/// Announced ranges in the order of reading, and the progress of their requests.
#[derive(Debug, Default)]
pub(crate) struct Plan {
    stretches: Vec<Range<u64>>,
    /// The range that is being requested, and its first byte that is not.
    index: usize,
    at: u64,
}

impl Plan {
    /// Takes announced ranges; those beyond `size` are cut.
    pub(crate) fn new(announced: &mut dyn Iterator<Item = Range<u64>>, size: u64) -> Self {
        let mut stretches: Vec<Range<u64>> = Vec::new();
        for next in announced {
            let next = next.start.min(size)..next.end.min(size);
            if next.is_empty() {
                continue;
            }
            match stretches.last_mut() {
                Some(last)
                    if next.start >= last.start && next.start <= last.end.saturating_add(GAP) =>
                {
                    last.end = last.end.max(next.end);
                }
                _ => stretches.push(next),
            }
        }
        let at = stretches.first().map_or(0, |first| first.start);
        Self {
            stretches,
            index: 0,
            at,
        }
    }

    /// Moves to a byte; `false` without a move if no range has it.
    pub(crate) fn seek(&mut self, at: u64) -> bool {
        let ahead = self.index..self.stretches.len();
        let behind = 0..self.index.min(self.stretches.len());
        let has = |index: &usize| self.stretches[*index].contains(&at);
        let Some(index) = ahead.chain(behind).find(has) else {
            return false;
        };
        (self.index, self.at) = (index, at);
        true
    }

    /// The next byte that has not been requested.
    pub(crate) fn next_byte(&self) -> Option<u64> {
        let stretch = self.stretches.get(self.index)?;
        Some(self.at.max(stretch.start))
    }

    /// The next request of at most `limit` bytes, which then counts as sent.
    pub(crate) fn take(&mut self, limit: u64) -> Option<Range<u64>> {
        let start = self.next_byte()?;
        let end = self
            .stretches
            .get(self.index)?
            .end
            .min(start.saturating_add(limit.max(1)));
        self.skip_to(end);
        Some(start..end)
    }

    /// Bytes before `at` in this range are cached already.
    pub(crate) fn skip_to(&mut self, at: u64) {
        let Some(stretch) = self.stretches.get(self.index) else {
            return;
        };
        if at < stretch.end {
            self.at = at;
            return;
        }
        self.index += 1;
        self.at = self.stretches.get(self.index).map_or(0, |next| next.start);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn plan(stretches: &[Range<u64>]) -> Plan {
        Plan::new(&mut stretches.iter().cloned(), 100 << 20)
    }

    #[test]
    fn neighbours_are_fetched_together_and_far_ones_are_not() {
        let far = 50 << 20;
        let mut plan = plan(&[0..10, 1000..2000, far..far + 10]);
        assert_eq!(plan.take(1 << 20), Some(0..2000));
        assert_eq!(plan.take(1 << 20), Some(far..far + 10));
        assert_eq!(plan.take(1 << 20), None);
    }

    #[test]
    fn a_backward_order_stays_backward() {
        let mut plan = plan(&[900..1000, 500..600, 0..100]);
        let taken: Vec<_> = std::iter::from_fn(|| plan.take(1 << 20)).collect();
        assert_eq!(taken, [900..1000, 500..600, 0..100]);
    }

    #[test]
    fn long_ranges_are_cut_and_no_byte_is_requested_twice() {
        let mut plan = plan(std::slice::from_ref(&(8..100)));
        assert_eq!(plan.take(50), Some(8..58));
        plan.skip_to(70);
        assert_eq!(plan.take(50), Some(70..100));
        assert_eq!(plan.next_byte(), None);
        assert!(plan.seek(20) && !plan.seek(4));
        assert_eq!(plan.take(10), Some(20..30));
    }

    #[test]
    fn bytes_beyond_the_file_are_not_requested() {
        let size = 100 << 20;
        let mut plan = plan(&[size - 5..size + 5, size + 7..size + 9]);
        assert_eq!(plan.take(1 << 20), Some(size - 5..size));
        assert_eq!(plan.take(1 << 20), None);
    }
}
