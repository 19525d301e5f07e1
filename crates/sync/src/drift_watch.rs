//! Detection of a rate that changes faster than its limit.

use crate::delay_envelope::STRAIN_GAIN;

/// From here on minima lie too far below what was expected.
const TOO_MUCH: f64 = 2.0;
/// Minima in a row without a longer path, before the rate is to blame.
const CALM: u32 = 40;

/// Sees a rate that changes too fast: minima lie below what was expected again and again.
///
/// A floor that wanders does the same, but shows longer paths in between.
#[derive(Debug, Clone, Default)]
pub(crate) struct DriftWatch {
    /// The deviation of the curve without the floor's own movement, in nanoseconds.
    still_sigma: f64,
    strain: f64,
    calm: u32,
}

/// The evidence of the newest minimum about the path.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum PathNow {
    /// It is as it was.
    Same,
    /// It is longer, or may be.
    Longer,
}

impl DriftWatch {
    /// The deviation of the curve without the floor's own movement, in nanoseconds.
    pub(crate) const fn still_sigma(&self) -> f64 {
        self.still_sigma
    }

    /// Takes the deviation of a new curve.
    pub(crate) const fn fitted(&mut self, still_sigma: f64) {
        self.still_sigma = still_sigma;
    }

    /// Takes how far a minimum lay below the curve, in squared deviations.
    pub(crate) fn compared(&mut self, square: f64, path: PathNow) {
        self.strain += STRAIN_GAIN * (square - self.strain);
        self.calm = match path {
            PathNow::Same => self.calm.saturating_add(1),
            PathNow::Longer => 0,
        };
    }

    pub(crate) fn is_exceeded(&self) -> bool {
        self.strain > TOO_MUCH && self.calm >= CALM
    }
}
