//! The grain of device stamps, as the stamps show it.

/// Distances of stamps that differ by less are the same, in nanoseconds: ticks were rounded to nanoseconds.
const ROUNDING: i64 = 2;
/// Finer grains are below what matters, in nanoseconds.
const FINEST: i64 = 10_000;
/// Distances of stamps before they show a grain.
const FEWEST: u32 = 3;
/// Number of distances between stamps before the grain is certain.
const ENOUGH: u32 = 64;
/// A grain is at most this part of the least distance, unless distances of several lengths are common.
const FINE: i64 = 4;
/// Distances other than the least are common from this share on.
const COMMON: f64 = 0.2;

/// Finds the largest number that all distances of stamps are multiples of.
///
/// A device that sends every 10 ms shows the same as one that counts in steps of 10 ms: if the divisor is the usual
/// distance itself, it is no grain.
#[derive(Debug, Clone, Default)]
pub(crate) struct GrainWatch {
    last: Option<i64>,
    /// The common divisor so far; zero before the first distance.
    step: i64,
    /// The least distance, how many were as short, and how many there were.
    least: i64,
    short: u32,
    distances: u32,
    /// Number of stamps equal to their predecessor.
    same: u32,
}

impl GrainWatch {
    /// Takes a stamp.
    pub(crate) fn take(&mut self, stamp: i64) {
        let distance = self
            .last
            .replace(stamp)
            .and_then(|last| stamp.checked_sub(last))
            .map_or(0, i64::saturating_abs);
        let is_fine = self.step != 0 && self.step < FINEST;
        self.same = self
            .same
            .saturating_add(u32::from(distance <= ROUNDING && !is_fine));
        if distance <= ROUNDING || is_fine || self.distances == u32::MAX {
            return;
        }
        self.step = common(self.step, distance);
        self.distances += 1;
        // Distances that differ by less than a quarter are of the same length.
        if self.least == 0 || distance < self.least - self.least / 4 {
            (self.least, self.short) = (distance, 0);
        }
        let is_short = distance <= self.least.saturating_add(self.least / 4);
        self.short += u32::from(is_short);
        self.least = self.least.min(distance);
    }

    /// The grain that stamps show, in nanoseconds; zero if they show none.
    pub(crate) fn grain(&self) -> i64 {
        if self.distances < FEWEST || self.step < FINEST {
            return 0;
        }
        let others = 1.0 - f64::from(self.short) / f64::from(self.distances);
        let several = others >= COMMON;
        // A counter that is slower than the packets stands still between some of them.
        let stands = f64::from(self.same) > COMMON * f64::from(self.distances);
        if self.step <= self.least / FINE || (self.is_sure() && (several || stands)) {
            self.step
        } else {
            0
        }
    }

    /// Whether there were enough samples for a certain result.
    pub(crate) const fn is_sure(&self) -> bool {
        self.distances >= ENOUGH
    }
}

/// The common divisor of two distances, up to rounding.
fn common(mut a: i64, mut b: i64) -> i64 {
    while b > ROUNDING {
        let rest = if a == 0 { 0 } else { a % b };
        let rest = if b - rest <= ROUNDING { 0 } else { rest };
        (a, b) = (b, rest);
    }
    a
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stamps_that_are_cut_off_show_their_grain() {
        // 40 Hz, 640 Hz and 5 kHz.
        for period in [25_003_571, 1_562_513, 200_003] {
            let mut watch = GrainWatch::default();
            for packet in 0..5_000_i64 {
                watch.take(packet * period / 1_000_000 * 1_000_000);
            }
            assert_eq!(watch.grain(), 1_000_000, "{period}");
        }
    }

    #[test]
    fn regular_stamps_have_no_grain_even_if_some_are_lost() {
        let mut watch = GrainWatch::default();
        for packet in (0..500_i64).filter(|packet| packet % 10 != 3) {
            watch.take(packet * 10_000_000);
        }
        assert_eq!(watch.grain(), 0);
        let mut nearly = GrainWatch::default();
        for packet in 0..500_i64 {
            nearly.take(packet * 10_000_000 + packet % 5);
        }
        assert_eq!(nearly.grain(), 0, "a few nanoseconds apart");
    }

    #[test]
    fn fine_stamps_have_no_grain_and_rounded_ticks_have_theirs() {
        let mut fine = GrainWatch::default();
        let mut ticks = GrainWatch::default();
        for packet in 0..100_i64 {
            fine.take(packet * 1_562_513);
            let milliseconds = packet * 25 + packet % 3;
            // 32.32 fixed point, cut to nanoseconds.
            let raw = (i128::from(milliseconds) << 32) / 1_000;
            let nanos = (raw * 1_000_000_000) >> 32;
            ticks.take(i64::try_from(nanos).expect("small"));
        }
        assert_eq!(fine.grain(), 0);
        assert!(
            (ticks.grain() - 1_000_000).abs() <= ROUNDING,
            "{}",
            ticks.grain()
        );
    }
}
