use serde::Serialize;

/// Bins of each doubling: a percentile is exact to 0.2 %.
const PARTS: u64 = 256;
const PART_BITS: u32 = PARTS.trailing_zeros();

/// A histogram of durations in nanoseconds, in bounded memory.
///
/// Each doubling has 256 bins, so a percentile is exact to 0.2 %. hdrhistogram allocates 33 × 1024 counts for three digits
/// and an hour; this one has only the bins between the shortest and the longest duration, and there are up to five
/// histograms for each path and four for each hop.
///
/// ```
/// let mut histogram = timeloom_trace::Histogram::default();
/// for nanos in 1..=1000 {
///     histogram.add(nanos * 1_000);
/// }
/// let summary = histogram.summary();
/// assert_eq!((summary.count, summary.max_ns), (1000, 1_000_000));
/// assert!(summary.p50_ns.abs_diff(500_000) < 1_000);
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Histogram {
    /// The bin of the first count: durations mostly stay within a few doublings.
    first: usize,
    counts: Vec<u64>,
    total: u64,
    sum: u128,
    min: u64,
    max: u64,
}

/// The percentiles of a histogram, in nanoseconds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Summary {
    /// The number of durations.
    pub count: u64,
    /// The shortest.
    pub min_ns: u64,
    /// Median.
    pub p50_ns: u64,
    /// 90th percentile.
    pub p90_ns: u64,
    /// 99th percentile.
    pub p99_ns: u64,
    /// 99.9th percentile.
    pub p999_ns: u64,
    /// The longest.
    pub max_ns: u64,
    /// The average.
    pub mean_ns: u64,
}

impl Histogram {
    /// Adds a duration.
    pub fn add(&mut self, nanos: u64) {
        *self.count_at(place(nanos)) += 1;
        self.min = if self.total == 0 {
            nanos
        } else {
            self.min.min(nanos)
        };
        self.max = self.max.max(nanos);
        self.total += 1;
        self.sum += u128::from(nanos);
    }

    fn count_at(&mut self, place: usize) -> &mut u64 {
        if self.counts.is_empty() {
            self.first = place;
        }
        if place < self.first {
            let before = std::iter::repeat_n(0, self.first - place);
            self.counts.splice(0..0, before);
            self.first = place;
        }
        let offset = place - self.first;
        if offset >= self.counts.len() {
            self.counts.resize(offset + 1, 0);
        }
        &mut self.counts[offset]
    }

    /// The used bins with their counts.
    fn places(&self) -> impl Iterator<Item = (usize, u64)> + '_ {
        let counts = self.counts.iter().enumerate();
        counts.map(|(offset, count)| (self.first + offset, *count))
    }

    /// Number of durations.
    pub fn count(&self) -> u64 {
        self.total
    }

    /// The longest.
    pub fn max(&self) -> u64 {
        self.max
    }

    /// The duration that a share of all (0 to 1) does not exceed.
    pub fn percentile(&self, share: f64) -> u64 {
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "a share of a count; the cast saturates"
        )]
        let rank = ((self.total as f64 * share).ceil() as u64).max(1);
        let mut seen = 0;
        for (place, count) in self.places() {
            seen += count;
            if seen >= rank {
                return self.value(place);
            }
        }
        self.max
    }

    /// The duration of a bin: exact for the shortest and the longest, else the middle.
    fn value(&self, of: usize) -> u64 {
        if of == place(self.max) {
            self.max
        } else if of == place(self.min) {
            self.min
        } else {
            middle(of)
        }
    }

    /// The usual percentiles.
    pub fn summary(&self) -> Summary {
        if self.total == 0 {
            return Summary::default();
        }
        Summary {
            count: self.total,
            min_ns: self.min,
            p50_ns: self.percentile(0.5),
            p90_ns: self.percentile(0.9),
            p99_ns: self.percentile(0.99),
            p999_ns: self.percentile(0.999),
            max_ns: self.max,
            mean_ns: u64::try_from(self.sum / u128::from(self.total)).unwrap_or(u64::MAX),
        }
    }

    /// The filled bins: their start and count; at most `bins` of them, equally wide.
    pub fn bins(&self, bins: usize) -> Vec<(u64, u64)> {
        let width = (self.max - self.min) / bins.max(1) as u64 + 1;
        let mut result: Vec<(u64, u64)> = Vec::new();
        for (place, count) in self.places().filter(|(_, count)| *count > 0) {
            let value = self.value(place);
            let start = self.min + (value - self.min) / width * width;
            match result.last_mut() {
                Some((last, sum)) if *last == start => *sum += count,
                _ => result.push((start, count)),
            }
        }
        result
    }
}

/// Below `PARTS` each number has its own bin; above, each doubling has `PARTS` bins.
fn place(nanos: u64) -> usize {
    let bits = u64::BITS - nanos.leading_zeros();
    let place = match bits.checked_sub(PART_BITS + 1) {
        None => nanos,
        Some(shift) => u64::from(shift + 1) * PARTS + (nanos >> shift) - PARTS,
    };
    usize::try_from(place).unwrap_or(usize::MAX)
}

/// The middle of a bin.
fn middle(place: usize) -> u64 {
    let place = place as u64;
    match (place / PARTS).checked_sub(1) {
        None => place,
        Some(shift) => {
            let start = (place % PARTS + PARTS) << shift;
            start.saturating_add((1 << shift) >> 1)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn a_constant_duration_is_exact() {
        let mut histogram = Histogram::default();
        for nanos in [39_000_000, 39_000_000, 54_000_000] {
            histogram.add(nanos);
        }
        let summary = histogram.summary();
        assert_eq!((summary.p50_ns, summary.p99_ns), (39_000_000, 54_000_000));
    }

    #[test]
    fn percentiles_equal_those_of_the_sorted_list() {
        let mut histogram = Histogram::default();
        assert_eq!(histogram.summary(), Summary::default());
        for nanos in 1..=1000 {
            histogram.add(nanos * 1000);
        }
        let summary = histogram.summary();
        assert_eq!(
            (summary.count, summary.min_ns, summary.max_ns),
            (1000, 1000, 1_000_000)
        );
        assert_eq!(summary.mean_ns, 500_500);
        let near = |value: u64, expected: u64| value.abs_diff(expected) * 400 <= expected;
        assert!(near(summary.p50_ns, 500_000), "{summary:?}");
        assert!(near(summary.p999_ns, 999_000), "{summary:?}");
        let bins = histogram.bins(10);
        assert!(bins.len() <= 10 && bins.iter().map(|(_, count)| count).sum::<u64>() == 1000);
    }

    proptest! {
        #[test]
        fn a_place_is_right_to_two_in_a_thousand(nanos in any::<u64>()) {
            let back = middle(place(nanos));
            prop_assert!(back.abs_diff(nanos) <= nanos / 500 + 1, "{nanos} {back}");
        }

        #[test]
        fn places_are_in_order(a in any::<u64>(), b in any::<u64>()) {
            prop_assert_eq!(place(a.min(b)) <= place(a.max(b)), true);
        }
    }
}
