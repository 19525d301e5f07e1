//! Quantiles of many numbers in constant memory, good to three percent.

/// Steps from one power of two to the next.
const STEPS: usize = 32;

/// Counts numbers of nanoseconds by their size.
#[derive(Debug, Clone)]
pub(crate) struct Quantiles {
    counts: Vec<u64>,
    count: u64,
    most: i64,
}

impl Default for Quantiles {
    fn default() -> Self {
        Self {
            counts: vec![0; 64 * STEPS],
            count: 0,
            most: i64::MIN,
        }
    }
}

impl Quantiles {
    /// Adds a number; what is below zero counts as zero.
    pub(crate) fn add(&mut self, nanos: i64) {
        self.most = self.most.max(nanos);
        self.count += 1;
        let place = place_of(u64::try_from(nanos).unwrap_or(0));
        if let Some(count) = self.counts.get_mut(place) {
            *count += 1;
        }
    }

    pub(crate) fn count(&self) -> u64 {
        self.count
    }

    /// The median, the 99th percentile and the largest.
    pub(crate) fn shares(&self) -> [i64; 3] {
        [self.share(0.5), self.share(0.99), self.most]
    }

    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "a share of a count is a count"
    )]
    fn share(&self, share: f64) -> i64 {
        let wanted = (self.count as f64 * share) as u64;
        let mut seen = 0;
        for (place, count) in self.counts.iter().enumerate() {
            seen += count;
            if seen > wanted {
                return middle_of(place).min(self.most.max(0));
            }
        }
        self.most
    }
}

fn place_of(nanos: u64) -> usize {
    let power = (u64::BITS - nanos.leading_zeros()) as usize;
    // Below 32 every number has a place of its own.
    let within = if power <= 5 {
        nanos
    } else {
        (nanos >> (power - 6)) & 31
    };
    power.min(63) * STEPS + usize::try_from(within).unwrap_or(0)
}

fn middle_of(place: usize) -> i64 {
    let (power, within) = (place / STEPS, i64::try_from(place % STEPS).unwrap_or(0));
    if power <= 5 {
        return within;
    }
    let step = 1_i64 << (power - 6);
    (32 + within).saturating_mul(step).saturating_add(step / 2)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_are_good_to_three_percent() {
        let mut quantiles = Quantiles::default();
        for number in 1..=100_000 {
            quantiles.add(number * 1_000);
        }
        let [p50, p99, most] = quantiles.shares();
        assert!((p50 - 50_000_000).abs() < 1_500_000, "{p50}");
        assert!((p99 - 99_000_000).abs() < 3_000_000, "{p99}");
        assert_eq!(most, 100_000_000);
    }

    #[test]
    fn the_ends_of_the_range_have_a_place() {
        let mut quantiles = Quantiles::default();
        for nanos in [i64::MIN, -1, 0, 1, 31, 32, 33, i64::MAX] {
            quantiles.add(nanos);
        }
        assert_eq!(quantiles.count(), 8);
        assert_eq!(quantiles.shares()[2], i64::MAX);
        for small in 0..64_u32 {
            let middle = middle_of(place_of(u64::from(small)));
            assert!(middle.abs_diff(i64::from(small)) <= 1, "{small} {middle}");
        }
    }
}
