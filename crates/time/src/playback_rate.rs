use core::fmt;

/// The rate of a controlled clock relative to steady time: any finite number above zero, held exactly.
///
/// An `f64` is a 53-bit integer times a power of two, so `elapsed * rate` is one integer multiplication
/// and one shift: no rounding accumulates however long a clock runs (24 hours drift by less than 1 ns).
///
/// ```
/// use timeloom_time::PlaybackRate;
/// let half = PlaybackRate::new(0.5).unwrap();
/// assert_eq!(half.get(), 0.5);
/// assert!(PlaybackRate::new(0.0).is_err());
/// assert!(PlaybackRate::new(f64::NAN).is_err());
/// ```
#[derive(Clone, Copy, PartialEq)]
pub struct PlaybackRate {
    value: f64,
    slope: Slope,
}

/// `mantissa * 2^-shift`; with `mantissa <= 2^63` and a signed 64-bit factor the product fits 128 bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Slope {
    pub(crate) mantissa: u64,
    pub(crate) shift: u32,
}

/// A playback rate that is not a finite number above zero.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct InvalidRate(
    /// The requested rate.
    pub f64,
);

const FRACTION_BITS: u32 = 52;
const MAX_SHIFT: i32 = 126;

impl PlaybackRate {
    /// Real time: one second per second.
    pub const REAL_TIME: Self = Self {
        value: 1.0,
        slope: Slope::ONE,
    };

    /// Accepts any finite rate above zero.
    ///
    /// # Errors
    /// [`InvalidRate`] for zero, negative and non-finite numbers; to stop a clock, pause it.
    pub fn new(rate: f64) -> Result<Self, InvalidRate> {
        if rate.is_finite() && rate > 0.0 {
            Ok(Self {
                value: rate,
                slope: Slope::of(rate),
            })
        } else {
            Err(InvalidRate(rate))
        }
    }

    /// The original number.
    pub const fn get(self) -> f64 {
        self.value
    }

    pub(crate) const fn slope(self) -> Slope {
        self.slope
    }
}

impl Default for PlaybackRate {
    fn default() -> Self {
        Self::REAL_TIME
    }
}

impl Slope {
    /// Stopped time.
    pub(crate) const ZERO: Self = Self {
        mantissa: 0,
        shift: 0,
    };

    /// Real time.
    pub(crate) const ONE: Self = Self {
        mantissa: 1 << FRACTION_BITS,
        shift: FRACTION_BITS,
    };

    /// The exact slope of a finite, non-negative number.
    ///
    /// Beyond 2^63 any nanosecond saturates and below 2^-74 none ever moves the clock within its range,
    /// so clamping there changes no result.
    pub(crate) fn of(rate: f64) -> Self {
        let bits = rate.to_bits();
        let raw_exponent = ((bits >> FRACTION_BITS) & 0x7ff) as i32;
        let fraction = bits & ((1 << FRACTION_BITS) - 1);
        let (mantissa, exponent) = if raw_exponent == 0 {
            (fraction, -1074)
        } else {
            (fraction | (1 << FRACTION_BITS), raw_exponent - 1075)
        };
        if exponent > 10 {
            Self {
                mantissa: 1 << 63,
                shift: 0,
            }
        } else if exponent >= 0 {
            Self {
                mantissa: mantissa << exponent,
                shift: 0,
            }
        } else if -exponent <= MAX_SHIFT {
            Self {
                mantissa,
                shift: exponent.unsigned_abs(),
            }
        } else {
            Self::ZERO
        }
    }

    /// The original number, or the limit at which it was clamped.
    pub(crate) fn as_f64(self) -> f64 {
        // At most 126: a power of two that a double holds exactly.
        let scale = f64::from_bits((1023 - u64::from(self.shift)) << FRACTION_BITS);
        self.mantissa as f64 * scale
    }

    /// `floor(delta * slope)`, exactly.
    #[inline]
    pub(crate) fn scale(self, delta: i64) -> i128 {
        (i128::from(delta) * i128::from(self.mantissa)) >> self.shift
    }

    /// `base + floor(delta * slope)` in 64 bits, for common rates and times; `None` for others.
    ///
    /// It is `base + delta * whole + floor(delta * fraction)`: the part that depends on the rate alone is computed
    /// while the machine's clock is read, and little more than one multiplication remains after it.
    #[inline]
    pub(crate) fn add_scaled(self, base: i64, delta: i64) -> Option<i64> {
        if self == Self::ONE {
            return base.checked_add(delta);
        }
        if delta < 0 || self.shift == 0 || self.shift >= u64::BITS {
            return None;
        }
        let whole = (self.mantissa >> self.shift).cast_signed();
        // In units of 2^-64.
        let fraction = self.mantissa << (u64::BITS - self.shift);
        let product = u128::from(delta.unsigned_abs()) * u128::from(fraction);
        base.checked_add(delta.checked_mul(whole)?)?
            .checked_add((product >> u64::BITS) as i64)
    }

    /// The smallest `delta` with `scale(delta) >= goal`, or `None` if no 64-bit delta reaches it.
    pub(crate) fn reach(self, goal: i128) -> Option<i128> {
        if self.mantissa == 0 {
            return (goal <= 0).then_some(0);
        }
        let bits = 128 - goal.unsigned_abs().leading_zeros();
        if bits + self.shift >= 127 {
            // A shifted goal this large means more than 2^73 ns: past the end of any clock.
            return (goal < 0).then_some(i128::from(i64::MIN));
        }
        let shifted = goal << self.shift;
        let mantissa = i128::from(self.mantissa);
        Some(shifted.div_euclid(mantissa) + i128::from(shifted.rem_euclid(mantissa) != 0))
    }
}

impl fmt::Debug for PlaybackRate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "PlaybackRate({})", self.value)
    }
}

impl fmt::Display for PlaybackRate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "×{}", self.value)
    }
}

impl TryFrom<f64> for PlaybackRate {
    type Error = InvalidRate;

    fn try_from(rate: f64) -> Result<Self, InvalidRate> {
        Self::new(rate)
    }
}

impl fmt::Display for InvalidRate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "invalid playback rate {}: it must be a finite number greater than 0 (to stop time, pause it)",
            self.0
        )
    }
}

impl core::error::Error for InvalidRate {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_rate_keeps_its_number() {
        for rate in [1.0, 0.1, 1e-9, 1e9, 3.0e-300, f64::MAX, f64::MIN_POSITIVE] {
            assert_eq!(
                PlaybackRate::new(rate).unwrap().get().to_bits(),
                rate.to_bits()
            );
        }
    }

    #[test]
    fn a_rate_must_be_finite_and_above_zero() {
        for rate in [0.0, -0.0, -1.0, f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
            assert!(PlaybackRate::new(rate).is_err(), "{rate}");
        }
        assert_eq!(
            InvalidRate(-1.0).to_string(),
            "invalid playback rate -1: it must be a finite number greater than 0 (to stop time, pause it)"
        );
    }

    #[test]
    fn scales_exactly() {
        let scale = |rate: f64, delta| Slope::of(rate).scale(delta);
        assert_eq!(scale(1.0, i64::MAX), i128::from(i64::MAX));
        assert_eq!(scale(1.0, i64::MIN), i128::from(i64::MIN));
        assert_eq!(scale(0.5, 3), 1);
        assert_eq!(scale(0.5, -3), -2, "floor, not truncation");
        assert_eq!(scale(2.0, i64::MAX), 2 * i128::from(i64::MAX));
        assert_eq!(scale(1e300, 1), 1 << 63);
        assert_eq!(scale(1e-300, i64::MAX), 0);
        assert_eq!(scale(4_611_686_018_427_387_904.0, 1), 1 << 62);
    }

    #[test]
    fn reach_of_absurd_rates_is_bounded() {
        assert_eq!(Slope::of(1e-300).reach(1), None);
        assert_eq!(Slope::of(1e300).reach(1), Some(1));
        assert_eq!(Slope::ZERO.reach(1), None);
        assert_eq!(Slope::ZERO.reach(0), Some(0));
        assert_eq!(Slope::of(2f64.powi(-60)).reach(i128::from(i64::MAX)), None);
    }
}
