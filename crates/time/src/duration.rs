//! Signed lengths of time.

use core::fmt::{self, Write as _};

use crate::error::TimeError;

pub(crate) const NANOS_PER_SEC: i64 = 1_000_000_000;

/// A signed length of time: 64 bits of nanoseconds, about ±292 years.
///
/// Arithmetic never wraps: `checked_*` returns `None`, `saturating_*` stops at
/// [`MIN`](Self::MIN) and [`MAX`](Self::MAX), and the operators panic on overflow in every build,
/// as those of [`core::time::Duration`] do.
///
/// ```
/// use timeloom_time::Duration;
///
/// let step = Duration::from_millis(-1500);
/// assert_eq!(step.to_string(), "-1.5s");
/// assert_eq!(step.checked_add(Duration::MIN), None);
/// assert_eq!(step.saturating_add(Duration::MIN), Duration::MIN);
/// ```
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
#[repr(transparent)]
pub struct Duration(i64);

impl Duration {
    /// No time at all.
    pub const ZERO: Self = Self(0);
    /// The most negative duration.
    pub const MIN: Self = Self(i64::MIN);
    /// The longest duration.
    pub const MAX: Self = Self(i64::MAX);
    /// One nanosecond.
    pub const NANOSECOND: Self = Self(1);
    /// One microsecond.
    pub const MICROSECOND: Self = Self(1_000);
    /// One millisecond.
    pub const MILLISECOND: Self = Self(1_000_000);
    /// One second.
    pub const SECOND: Self = Self(NANOS_PER_SEC);

    /// A duration of `nanos` nanoseconds.
    pub const fn from_nanos(nanos: i64) -> Self {
        Self(nanos)
    }

    /// A duration of `micros` microseconds; beyond ±292 years it is [`MIN`](Self::MIN) or
    /// [`MAX`](Self::MAX).
    pub const fn from_micros(micros: i64) -> Self {
        Self(micros.saturating_mul(1_000))
    }

    /// A duration of `millis` milliseconds; beyond ±292 years it is [`MIN`](Self::MIN) or
    /// [`MAX`](Self::MAX).
    pub const fn from_millis(millis: i64) -> Self {
        Self(millis.saturating_mul(1_000_000))
    }

    /// A duration of `secs` seconds; beyond ±292 years it is [`MIN`](Self::MIN) or [`MAX`](Self::MAX).
    /// [`checked_from_secs`](Self::checked_from_secs) detects that.
    pub const fn from_secs(secs: i64) -> Self {
        Self(secs.saturating_mul(NANOS_PER_SEC))
    }

    /// A duration of `secs` seconds, or `None` beyond ±292 years.
    pub const fn checked_from_secs(secs: i64) -> Option<Self> {
        match secs.checked_mul(NANOS_PER_SEC) {
            Some(nanos) => Some(Self(nanos)),
            None => None,
        }
    }

    /// A duration of `secs` seconds, rounded to the nearest nanosecond (halves away from zero).
    ///
    /// `None` if `secs` is not a number, infinite, or beyond ±292 years.
    pub fn try_from_secs_f64(secs: f64) -> Option<Self> {
        secs_f64_to_nanos(secs).map(Self)
    }

    /// The period of a frequency, rounded to the nearest nanosecond.
    ///
    /// # Errors
    ///
    /// [`TimeError::RateNotPositive`] if `hertz` is zero, negative or not a number, and
    /// [`TimeError::RateOutOfRange`] if the period is below one nanosecond or above 292 years.
    pub fn try_from_hertz(hertz: f64) -> Result<Self, TimeError> {
        if hertz.is_nan() || hertz <= 0.0 {
            return Err(TimeError::RateNotPositive { hertz });
        }
        match Self::try_from_secs_f64(1.0 / hertz) {
            Some(period) if period > Self::ZERO => Ok(period),
            _ => Err(TimeError::RateOutOfRange { hertz }),
        }
    }

    /// The duration in nanoseconds.
    pub const fn nanos(self) -> i64 {
        self.0
    }

    /// The duration in nanoseconds, under its name in `std`.
    pub const fn as_nanos(self) -> i64 {
        self.0
    }

    /// The whole microseconds, rounded towards zero.
    pub const fn as_micros(self) -> i64 {
        self.0 / 1_000
    }

    /// The whole milliseconds, rounded towards zero.
    ///
    /// ```
    /// use timeloom_time::Duration;
    /// let length = Duration::from_nanos(-1_999_999_999);
    /// assert_eq!((length.as_secs(), length.as_millis(), length.as_micros()), (-1, -1_999, -1_999_999));
    /// assert_eq!(length.subsec_nanos(), -999_999_999);
    /// ```
    pub const fn as_millis(self) -> i64 {
        self.0 / 1_000_000
    }

    /// The whole seconds, rounded towards zero.
    pub const fn as_secs(self) -> i64 {
        self.0 / NANOS_PER_SEC
    }

    /// The part below the [whole seconds](Self::as_secs), with the sign of the duration.
    pub const fn subsec_nanos(self) -> i32 {
        (self.0 % NANOS_PER_SEC) as i32
    }

    /// A duration of `secs` seconds, rounded to the nearest nanosecond, as in `std`.
    ///
    /// # Panics
    ///
    /// If `secs` is not a number, infinite, or beyond ±292 years; see
    /// [`try_from_secs_f64`](Self::try_from_secs_f64).
    pub fn from_secs_f64(secs: f64) -> Self {
        Self::try_from_secs_f64(secs).expect("seconds that are no duration")
    }

    /// The duration in seconds, as near as a double can be.
    pub fn as_secs_f64(self) -> f64 {
        nanos_to_secs_f64(self.0)
    }

    /// Whether this is exactly zero.
    pub const fn is_zero(self) -> bool {
        self.0 == 0
    }

    /// Whether this is below zero.
    pub const fn is_negative(self) -> bool {
        self.0 < 0
    }

    /// `self + other`, or `None` on overflow.
    pub fn checked_add(self, other: Self) -> Option<Self> {
        self.0.checked_add(other.0).map(Self)
    }

    /// `self - other`, or `None` on overflow.
    pub fn checked_sub(self, other: Self) -> Option<Self> {
        self.0.checked_sub(other.0).map(Self)
    }

    /// `self * factor`, or `None` on overflow.
    pub fn checked_mul(self, factor: i64) -> Option<Self> {
        self.0.checked_mul(factor).map(Self)
    }

    /// `self / divisor` rounded towards zero, or `None` if the divisor is zero or on overflow.
    pub fn checked_div(self, divisor: i64) -> Option<Self> {
        self.0.checked_div(divisor).map(Self)
    }

    /// `-self`, or `None` for [`MIN`](Self::MIN).
    pub fn checked_neg(self) -> Option<Self> {
        self.0.checked_neg().map(Self)
    }

    /// The duration without its sign, or `None` for [`MIN`](Self::MIN).
    pub fn checked_abs(self) -> Option<Self> {
        self.0.checked_abs().map(Self)
    }

    /// `self * factor`, exact to the nearest nanosecond (halves away from zero).
    ///
    /// `None` on overflow, or if `factor` is not finite.
    pub fn checked_mul_f64(self, factor: f64) -> Option<Self> {
        mul_f64(self.0, factor).map(Self)
    }

    /// `self + other`, stopping at [`MIN`](Self::MIN) and [`MAX`](Self::MAX).
    #[must_use]
    pub const fn saturating_add(self, other: Self) -> Self {
        Self(self.0.saturating_add(other.0))
    }

    /// `self - other`, stopping at [`MIN`](Self::MIN) and [`MAX`](Self::MAX).
    #[must_use]
    pub const fn saturating_sub(self, other: Self) -> Self {
        Self(self.0.saturating_sub(other.0))
    }

    /// `self * factor`, stopping at [`MIN`](Self::MIN) and [`MAX`](Self::MAX).
    #[must_use]
    pub const fn saturating_mul(self, factor: i64) -> Self {
        Self(self.0.saturating_mul(factor))
    }

    /// `-self`, where the negative of [`MIN`](Self::MIN) is [`MAX`](Self::MAX).
    #[must_use]
    pub const fn saturating_neg(self) -> Self {
        Self(self.0.saturating_neg())
    }

    /// The duration without its sign, where that of [`MIN`](Self::MIN) is [`MAX`](Self::MAX).
    #[must_use]
    pub const fn saturating_abs(self) -> Self {
        Self(self.0.saturating_abs())
    }
}

/// Whole seconds convert exactly and only the fraction is scaled, so that a large value loses no more than the double
/// itself already lost.
#[expect(
    clippy::cast_possible_truncation,
    reason = "the range is checked first, and the fraction is below 1e9"
)]
pub(crate) fn secs_f64_to_nanos(secs: f64) -> Option<i64> {
    // 2^63 ns is 9223372036.85 s: beyond this, the exact check below is not needed.
    if secs.is_nan() || secs.abs() > 9_223_372_037.0 {
        return None;
    }
    let whole = secs as i64;
    let scaled = (secs - whole as f64) * 1e9;
    let truncated = scaled as i64;
    let rest = scaled - truncated as f64;
    let carry = i64::from(rest >= 0.5) - i64::from(rest <= -0.5);
    let nanos = i128::from(whole) * i128::from(NANOS_PER_SEC) + i128::from(truncated + carry);
    i64::try_from(nanos).ok()
}

pub(crate) fn nanos_to_secs_f64(nanos: i64) -> f64 {
    (nanos / NANOS_PER_SEC) as f64 + (nanos % NANOS_PER_SEC) as f64 / 1e9
}

/// Multiplies with the exact value of the double: its 53-bit mantissa as an integer, then one
/// rounding shift.
fn mul_f64(nanos: i64, factor: f64) -> Option<i64> {
    if !factor.is_finite() {
        return None;
    }
    let bits = factor.to_bits();
    let fraction = i128::from(bits & ((1 << 52) - 1));
    let biased = i32::try_from((bits >> 52) & 0x7ff).ok()?;
    let (mantissa, exponent) = if biased == 0 {
        (fraction, -1074)
    } else {
        (fraction | (1 << 52), biased - 1075)
    };
    let magnitude = i128::from(nanos.unsigned_abs()) * mantissa;
    let scaled = if magnitude == 0 {
        0
    } else if exponent >= 0 {
        // The mantissa has 53 bits unless it is zero: more than 11 bits to the left is overflow.
        if exponent > 11 {
            return None;
        }
        magnitude << exponent
    } else if exponent < -118 {
        // The product has at most 117 bits.
        0
    } else {
        (magnitude + (1 << (-exponent - 1))) >> -exponent
    };
    let negative = (nanos < 0) != factor.is_sign_negative();
    i64::try_from(if negative { -scaled } else { scaled }).ok()
}

impl TryFrom<core::time::Duration> for Duration {
    type Error = TimeError;

    /// # Errors
    ///
    /// [`TimeError::OutOfRange`] above 292 years.
    fn try_from(duration: core::time::Duration) -> Result<Self, TimeError> {
        i64::try_from(duration.as_nanos())
            .map(Self)
            .map_err(|_too_large| TimeError::OutOfRange {
                seconds: i64::try_from(duration.as_secs()).unwrap_or(i64::MAX),
                nanoseconds: duration.subsec_nanos(),
            })
    }
}

impl TryFrom<Duration> for core::time::Duration {
    type Error = TimeError;

    /// # Errors
    ///
    /// [`TimeError::NegativeDuration`] below zero.
    fn try_from(duration: Duration) -> Result<Self, TimeError> {
        u64::try_from(duration.0)
            .map(Self::from_nanos)
            .map_err(|_negative| TimeError::NegativeDuration {
                nanoseconds: duration.0,
            })
    }
}

impl fmt::Display for Duration {
    /// Writes the duration in its largest fitting unit, such as `1.5s`, `-250ms`, `10us` or `0s`,
    /// exactly and without trailing zeros. The width and fill of the format string apply.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let nanos = self.0.unsigned_abs();
        let (unit, digits, suffix) = match nanos {
            0 | 1_000_000_000.. => (1_000_000_000, 9, "s"),
            1_000_000.. => (1_000_000, 6, "ms"),
            1_000.. => (1_000, 3, "us"),
            _ => (1, 0, "ns"),
        };
        let mut text = Text::default();
        if self.is_negative() {
            text.write_char('-')?;
        }
        write!(text, "{}", nanos / unit)?;
        let fraction = nanos % unit;
        if fraction != 0 {
            write!(text, ".{fraction:0digits$}")?;
            text.trim_end_zeros();
        }
        text.write_str(suffix)?;
        text.pad(f)
    }
}

impl fmt::Debug for Duration {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

/// A short text on the stack, so that width and fill work without an allocator.
#[derive(Default)]
pub(crate) struct Text {
    bytes: [u8; 32],
    len: usize,
}

impl Text {
    pub(crate) fn truncate(&mut self, len: usize) {
        self.len = self.len.min(len);
    }

    pub(crate) fn len(&self) -> usize {
        self.len
    }

    fn as_str(&self) -> &str {
        self.bytes
            .get(..self.len)
            .and_then(|bytes| core::str::from_utf8(bytes).ok())
            .unwrap_or_default()
    }

    fn trim_end_zeros(&mut self) {
        self.len = self.as_str().trim_end_matches('0').len();
    }

    /// Writes the text with the width and fill of `f`; its precision was already applied.
    pub(crate) fn pad(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if f.precision().is_none() {
            return f.pad(self.as_str());
        }
        match f.width() {
            Some(width) => write!(f, "{:>width$}", self.as_str()),
            None => f.write_str(self.as_str()),
        }
    }
}

impl fmt::Write for Text {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        let end = self.len + text.len();
        self.bytes
            .get_mut(self.len..end)
            .ok_or(fmt::Error)?
            .copy_from_slice(text.as_bytes());
        self.len = end;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::format;

    #[test]
    fn text_is_short_exact_and_padded() {
        let text = |nanos| format!("{}", Duration::from_nanos(nanos));
        assert_eq!(text(0), "0s");
        assert_eq!(text(1), "1ns");
        assert_eq!(text(-10_000), "-10us");
        assert_eq!(text(1_234_567), "1.234567ms");
        assert_eq!(text(-1_500_000_000), "-1.5s");
        assert_eq!(text(60_000_000_000), "60s");
        assert_eq!(text(i64::MIN), "-9223372036.854775808s");
        assert_eq!(format!("[{:>8}]", Duration::from_millis(5)), "[     5ms]");
        assert_eq!(format!("[{:<8}]", Duration::from_millis(5)), "[5ms     ]");
        assert_eq!(format!("{:?}", Duration::MICROSECOND), "1us");
    }

    #[test]
    fn multiplication_uses_the_exact_value_of_the_double() {
        let mul = |nanos, factor| mul_f64(nanos, factor);
        // 2^62 + 1 is not a double: the naive product would lose the last bit.
        assert_eq!(mul((1 << 62) + 1, 1.0), Some((1 << 62) + 1));
        assert_eq!(mul(i64::MIN, 1.0), Some(i64::MIN));
        assert_eq!(mul(i64::MIN, -1.0), None);
        assert_eq!(mul(i64::MAX, 2.0), None);
        assert_eq!(mul(3, 0.5), Some(2));
        assert_eq!(mul(-3, 0.5), Some(-2));
        assert_eq!(mul(1, 0.499), Some(0));
        assert_eq!(mul(7, -0.0), Some(0));
        assert_eq!(mul(0, f64::MAX), Some(0));
        assert_eq!(mul(1, f64::MAX), None);
        assert_eq!(mul(i64::MAX, f64::MIN_POSITIVE), Some(0));
        assert_eq!(mul(1, f64::NAN), None);
        assert_eq!(mul(1, f64::INFINITY), None);
        // Not by `powi`, which need not be exact.
        let (half, whole) = (4_611_686_018_427_387_904.0, 9_223_372_036_854_775_808.0);
        assert_eq!(mul(1, half), Some(1 << 62));
        assert_eq!(mul(1, whole), None);
        assert_eq!(mul(-1, whole), Some(i64::MIN));
    }
}
