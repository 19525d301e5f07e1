//! Operators of durations: `+`, `-`, `*`, `/`, `%` and sums.

use core::iter::Sum;
use core::ops::{
    Add, AddAssign, Div, DivAssign, Mul, MulAssign, Neg, Rem, RemAssign, Sub, SubAssign,
};

use crate::duration::Duration;

impl Add for Duration {
    type Output = Self;
    /// # Panics
    ///
    /// On overflow, in every build.
    fn add(self, other: Self) -> Self {
        self.checked_add(other)
            .expect("overflow when adding durations")
    }
}

impl Sub for Duration {
    type Output = Self;
    /// # Panics
    ///
    /// On overflow, in every build.
    fn sub(self, other: Self) -> Self {
        self.checked_sub(other)
            .expect("overflow when subtracting durations")
    }
}

impl Neg for Duration {
    type Output = Self;
    /// # Panics
    ///
    /// For [`Duration::MIN`], in every build.
    fn neg(self) -> Self {
        self.checked_neg()
            .expect("overflow when negating a duration")
    }
}

impl Mul<i64> for Duration {
    type Output = Self;
    /// # Panics
    ///
    /// On overflow, in every build.
    fn mul(self, factor: i64) -> Self {
        self.checked_mul(factor)
            .expect("overflow when multiplying a duration")
    }
}

impl Div<i64> for Duration {
    type Output = Self;
    /// # Panics
    ///
    /// If the divisor is zero, or on overflow, in every build.
    fn div(self, divisor: i64) -> Self {
        self.checked_div(divisor)
            .expect("overflow or zero when dividing a duration")
    }
}

impl AddAssign for Duration {
    fn add_assign(&mut self, other: Self) {
        *self = *self + other;
    }
}

impl SubAssign for Duration {
    fn sub_assign(&mut self, other: Self) {
        *self = *self - other;
    }
}

impl Mul<Duration> for i64 {
    type Output = Duration;
    /// # Panics
    ///
    /// On overflow, in every build.
    fn mul(self, duration: Duration) -> Duration {
        duration * self
    }
}

impl Mul<f64> for Duration {
    type Output = Self;
    /// The product, exact to the nearest nanosecond.
    ///
    /// ```
    /// use timeloom_time::Duration;
    /// assert_eq!(Duration::from_secs(2) * 1.5, Duration::from_secs(3));
    /// assert_eq!(Duration::from_secs(2) * 3, Duration::from_secs(6));
    /// ```
    ///
    /// # Panics
    ///
    /// On overflow, or if the factor is not finite, in every build; see [`Duration::checked_mul_f64`].
    fn mul(self, factor: f64) -> Self {
        self.checked_mul_f64(factor)
            .expect("overflow when multiplying a duration")
    }
}

impl Mul<Duration> for f64 {
    type Output = Duration;
    /// # Panics
    ///
    /// On overflow, or if the factor is not finite, in every build.
    fn mul(self, duration: Duration) -> Duration {
        duration * self
    }
}

impl Div for Duration {
    type Output = f64;
    /// The quotient, as near as a double can be; infinite or not a number for a divisor of zero.
    ///
    /// ```
    /// use timeloom_time::Duration;
    /// assert_eq!(Duration::from_millis(250) / Duration::from_secs(1), 0.25);
    /// ```
    fn div(self, divisor: Self) -> f64 {
        self.nanos() as f64 / divisor.nanos() as f64
    }
}

impl Rem for Duration {
    type Output = Self;
    /// The remainder of the division, with the sign of the left side.
    ///
    /// ```
    /// use timeloom_time::Duration;
    /// assert_eq!(Duration::from_millis(1_250) % Duration::SECOND, Duration::from_millis(250));
    /// ```
    ///
    /// # Panics
    ///
    /// If the divisor is zero, in every build.
    fn rem(self, divisor: Self) -> Self {
        assert!(!divisor.is_zero(), "division of a duration by zero");
        // The only overflow, MIN % -1 ns, is zero.
        Self::from_nanos(self.nanos().wrapping_rem(divisor.nanos()))
    }
}

impl Sum for Duration {
    /// ```
    /// use timeloom_time::Duration;
    /// let total: Duration = [1, 2, 3].map(Duration::from_secs).iter().sum();
    /// assert_eq!(total, Duration::from_secs(6));
    /// ```
    ///
    /// # Panics
    ///
    /// On overflow, in every build.
    fn sum<I: Iterator<Item = Self>>(durations: I) -> Self {
        durations.fold(Self::ZERO, Add::add)
    }
}

impl<'a> Sum<&'a Self> for Duration {
    fn sum<I: Iterator<Item = &'a Self>>(durations: I) -> Self {
        durations.copied().sum()
    }
}

impl MulAssign<i64> for Duration {
    fn mul_assign(&mut self, factor: i64) {
        *self = *self * factor;
    }
}

impl MulAssign<f64> for Duration {
    fn mul_assign(&mut self, factor: f64) {
        *self = *self * factor;
    }
}

impl DivAssign<i64> for Duration {
    fn div_assign(&mut self, divisor: i64) {
        *self = *self / divisor;
    }
}

impl RemAssign for Duration {
    fn rem_assign(&mut self, divisor: Self) {
        *self = *self % divisor;
    }
}
