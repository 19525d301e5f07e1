//! The smallest delay of the path, taken as constant until many minima show a change.

use super::Change;
use crate::anchor::whole_nanos;

/// The classification of a minimum.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Verdict {
    /// It belongs to the envelope.
    Fits,
    /// It belongs to it, but lies below what was expected.
    TooLow,
    /// It lies too high, and may show a longer path.
    TooHigh,
}

/// Minima in a row that lie too high before the path counts as longer.
pub(super) const ROW: usize = 12;
/// The first of them lie across the change.
const ACROSS: usize = 3;
/// Minima in a row that lie ever lower before the rate counts as changed.
const LOW_ROW: usize = 4;
/// Heights that follow a line up to this share of their range show another rate.
const STRAIGHT: f64 = 0.1;
/// After so many, a path that wavers counts as longer too, by the least of the last.
const PATIENCE: usize = 120;

/// The extra delay of the path compared with its best, and the scatter of the minima.
#[derive(Debug, Clone)]
pub(super) struct DelayFloor {
    /// Nanoseconds above the best, never negative.
    extra: f64,
    noise: f64,
    /// Mean height of fitting minima above the line.
    typical: f64,
    /// Number of consecutive minima that lie too high, and a ring of the latest heights.
    row: usize,
    heights: [f64; ROW - ACROSS],
    /// Number of consecutive minima that lie too low.
    low_row: usize,
    /// The noise when the path became longer: what comes after it may lie higher, and scatter more.
    calm_noise: f64,
}

impl Default for DelayFloor {
    fn default() -> Self {
        Self {
            extra: 0.0,
            noise: 200e3,
            typical: 0.0,
            row: 0,
            heights: [0.0; ROW - ACROSS],
            low_row: 0,
            calm_noise: 200e3,
        }
    }
}

impl DelayFloor {
    pub(super) const fn noise(&self) -> f64 {
        self.noise
    }

    /// Uncertainty of the extra delay, in nanoseconds.
    pub(super) const fn extra_sigma(&self) -> f64 {
        if self.extra > 0.0 { self.noise } else { 0.0 }
    }

    pub(super) const fn extra(&self) -> f64 {
        self.extra
    }

    /// Largest height of a fitting minimum above the floor.
    pub(super) const fn too_high(&self) -> f64 {
        4.0 * self.noise + 50e3
    }

    /// Forgets what was thought of the path: another rate of the clocks explains it.
    pub(super) fn begin_again(&mut self) {
        *self = Self {
            noise: self.calm_noise.min(self.noise),
            calm_noise: self.calm_noise,
            ..Self::default()
        };
    }

    pub(super) fn extra_nanos(&self) -> i64 {
        whole_nanos(self.extra)
    }

    pub(super) const fn is_in_doubt(&self) -> bool {
        self.row > ACROSS
    }

    /// Judges a minimum that lies `above` the line, `age` seconds after the start.
    ///
    /// `unknown` is how far the clock may have drifted off the line since the minimum before, in nanoseconds.
    pub(super) fn judge(&mut self, above: f64, age: f64, unknown: f64) -> (Verdict, Change) {
        let above = self.shorten(above - self.extra, unknown);
        if above > self.too_high() + unknown && age > 3.0 {
            self.low_row = 0;
            return (Verdict::TooHigh, self.count_high(above));
        }
        self.row = 0;
        if above < -self.too_high() - unknown && age > 5.0 {
            self.low_row += 1;
            let is_rate = self.low_row >= LOW_ROW;
            return (
                Verdict::TooLow,
                if is_rate { Change::Rate } else { Change::None },
            );
        }
        self.low_row = 0;
        if self.extra <= 0.0 {
            self.calm_noise = self.noise;
        }
        self.typical = 0.95 * self.typical + 0.05 * above.clamp(-self.noise, 4.0 * self.noise);
        let size = above.abs().min(4.0 * self.noise);
        self.noise = (0.95 * self.noise * self.noise + 0.05 * size * size)
            .sqrt()
            .max(1.5e3);
        (Verdict::Fits, Change::None)
    }

    /// Reduces the extra delay by the part that a low minimum disproves; returns the rest of `above`.
    ///
    /// It must happen before the minimum is kept: less an extra delay that is no longer there, it would pull
    /// the line down for minutes.
    fn shorten(&mut self, above: f64, unknown: f64) -> f64 {
        if self.extra <= 0.0 || above >= -3.0 * self.noise.min(self.calm_noise) - 10e3 - unknown {
            return above;
        }
        let before = self.extra;
        self.extra -= self.extra.min(self.typical - above);
        if self.extra < 2.0 * self.noise + 50e3 {
            // The remainder is too small to have been detected.
            self.extra = 0.0;
        }
        above + before - self.extra
    }

    fn count_high(&mut self, above: f64) -> Change {
        self.row += 1;
        let place = self.row % self.heights.len();
        self.heights[place] = above;
        if self.row < ROW {
            return Change::None;
        }
        if self.rises_straight() {
            return Change::Rate;
        }
        let mut sorted = self.heights;
        sorted.sort_unstable_by(f64::total_cmp);
        let [least, .., most] = sorted;
        let middle = sorted[sorted.len() / 2];
        let longer = if most - least < 0.25 * middle + 2.0 * self.noise {
            // Middle against middle: one early packet must not decide how much longer the path is.
            middle - self.typical
        } else if self.row >= PATIENCE {
            least
        } else {
            return Change::None;
        };
        self.extra += longer.max(0.0);
        self.row = 0;
        Change::Longer(self.extra)
    }

    /// Whether the last heights lie on a line that rises: minima come at a regular pace, and no queue fills so evenly.
    fn rises_straight(&self) -> bool {
        let count = self.heights.len();
        // In the order of time: the oldest stands behind the newest.
        let oldest = (self.row + 1) % count;
        let ordered = (0..count).map(|place| self.heights[(oldest + place) % count]);
        let middle = (count - 1) as f64 / 2.0;
        let mean = self.heights.iter().sum::<f64>() / count as f64;
        let (mut along, mut square) = (0.0, 0.0);
        for (place, height) in ordered.clone().enumerate() {
            let t = place as f64 - middle;
            along += t * (height - mean);
            square += t * t;
        }
        let slope = along / square;
        let range = slope * (count - 1) as f64;
        let off =
            |(place, height): (usize, f64)| (height - mean - slope * (place as f64 - middle)).abs();
        let worst = ordered.enumerate().map(off).fold(0.0, f64::max);
        range > self.too_high() && worst < STRAIGHT * range + 2.0 * self.noise
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn settled() -> DelayFloor {
        let mut floor = DelayFloor::default();
        for step in 0..200 {
            floor.judge(f64::from(step % 10) * 1e3, 10.0, 0.0);
        }
        floor
    }

    #[test]
    fn a_longer_path_is_taken_after_a_row_and_given_back_at_once() {
        let mut floor = settled();
        for step in 1..ROW {
            let (verdict, change) = floor.judge(2e6 + 1e3 * step as f64, 10.0, 0.0);
            assert_eq!((verdict, change), (Verdict::TooHigh, Change::None));
        }
        let (_, change) = floor.judge(2e6, 10.0, 0.0);
        let Change::Longer(extra) = change else {
            panic!("twelve in a row are a longer path");
        };
        assert!((extra - 2e6).abs() < 20e3, "{extra}");
        assert_eq!(floor.judge(2e6, 10.0, 0.0).0, Verdict::Fits);
        assert_eq!(floor.judge(5e3, 10.0, 0.0).0, Verdict::Fits);
        assert!(floor.extra_nanos() < 20_000, "{}", floor.extra_nanos());
    }

    #[test]
    fn a_wavering_path_is_not_a_longer_one() {
        let mut floor = settled();
        for step in 0..ROW * 2 {
            let wavering = 1e6 + 1e6 * (step % 4) as f64;
            assert_eq!(
                floor.judge(wavering, 10.0, 0.0),
                (Verdict::TooHigh, Change::None)
            );
        }
        assert!(floor.is_in_doubt());
        assert_eq!(floor.extra_nanos(), 0);
    }

    #[test]
    fn a_stall_is_forgotten() {
        let mut floor = settled();
        floor.judge(100e6, 10.0, 0.0);
        assert_eq!(floor.judge(5e3, 10.0, 0.0), (Verdict::Fits, Change::None));
        assert!(floor.noise() < 20e3);
    }
}
