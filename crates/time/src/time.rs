//! Points in time whose kind is part of their type.

use core::cmp::Ordering;
use core::fmt::{self, Write as _};
use core::marker::PhantomData;
use core::ops::{Add, AddAssign, Sub, SubAssign};

use crate::duration::{Duration, NANOS_PER_SEC, Text, nanos_to_secs_f64, secs_f64_to_nanos};
use crate::error::{KindOperation, TimeError};
use crate::kind::{Kind, Ros, SimAware, SourceState, System};

/// A point in time of kind `K`: 8 bytes, signed nanoseconds since the zero of its clock.
///
/// Negative points are allowed, so that no arithmetic fails half-way; only the conversion to a
/// message can. `Time - Time` saturates (the result is a [`Duration`]), `Time ± Duration` panics
/// on overflow like [`std::time::Instant`]; `checked_*` and `saturating_*` do neither.
///
/// ```
/// use timeloom_time::{Duration, Ros, Time};
///
/// let start = Time::<Ros>::from_nanos(1_500_000_000);
/// let end = start + Duration::from_millis(250);
/// assert!(start < end);
/// assert_eq!(start - end, Duration::from_millis(-250));
/// assert_eq!(end.to_string(), "1.750000000");
/// ```
///
/// # Mixing kinds
///
/// Steady time has no relation to ROS or system time, so mixing them does not compile.
/// They cannot be compared:
/// ```compile_fail,E0308
/// use timeloom_time::{Ros, Steady, Time};
/// let _ = Time::<Steady>::from_nanos(1) < Time::<Ros>::from_nanos(1);
/// ```
/// nor tested for equality:
/// ```compile_fail,E0308
/// use timeloom_time::{Steady, System, Time};
/// let _ = Time::<Steady>::from_nanos(1) == Time::<System>::from_nanos(1);
/// ```
/// nor subtracted:
/// ```compile_fail,E0277
/// use timeloom_time::{Ros, Steady, Time};
/// let _ = Time::<Steady>::from_nanos(1) - Time::<Ros>::from_nanos(1);
/// ```
/// nor assigned:
/// ```compile_fail,E0308
/// use timeloom_time::{Ros, Steady, Time};
/// let stamp: Time<Ros> = Time::<Steady>::from_nanos(1);
/// ```
/// nor converted, not even with the run-time check that joins ROS and system time:
/// ```compile_fail,E0308
/// use timeloom_time::{Ros, SourceState, Steady, Time};
/// let steady = Time::<Steady>::from_nanos(1);
/// let _ = Time::<Ros>::from_nanos(1).try_since_base(steady, SourceState::Inactive);
/// ```
/// Steady time cannot go into a message:
/// ```compile_fail,E0277
/// use timeloom_time::{Steady, Time, WireTime};
/// let _ = WireTime::try_from(Time::<Steady>::from_nanos(1));
/// ```
/// and points of any kind cannot be added:
/// ```compile_fail,E0308
/// use timeloom_time::{Ros, Time};
/// let _ = Time::<Ros>::from_nanos(1) + Time::<Ros>::from_nanos(1);
/// ```
///
/// ROS time and system time are different types as well, but they share a base: they are the
/// same while no time source is active. [`try_as_system`](Self::try_as_system) and its relatives
/// make that check at run time.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(transparent)]
pub struct Time<K: Kind = Ros>(i64, PhantomData<fn() -> K>);

impl<K: Kind> Time<K> {
    /// The zero of the clock. For ROS time it means "not initialised": no time source has sent a sample yet.
    pub const ZERO: Self = Self::from_nanos(0);
    /// The earliest point.
    pub const MIN: Self = Self::from_nanos(i64::MIN);
    /// The latest point (the year 2262 for system time).
    pub const MAX: Self = Self::from_nanos(i64::MAX);

    /// The point `nanos` nanoseconds after the zero of the clock.
    pub const fn from_nanos(nanos: i64) -> Self {
        Self(nanos, PhantomData)
    }

    /// The point `secs` seconds after the zero of the clock; beyond ±292 years it is [`MIN`](Self::MIN) or
    /// [`MAX`](Self::MAX).
    ///
    /// ```
    /// use timeloom_time::Time;
    /// assert_eq!(<Time>::from_secs(2), Time::from_millis(2_000));
    /// assert_eq!(<Time>::from_secs(2).as_secs(), 2);
    /// ```
    pub const fn from_secs(secs: i64) -> Self {
        Self::from_nanos(Duration::from_secs(secs).nanos())
    }

    /// The point `millis` milliseconds after the zero of the clock; beyond ±292 years it is [`MIN`](Self::MIN) or
    /// [`MAX`](Self::MAX).
    pub const fn from_millis(millis: i64) -> Self {
        Self::from_nanos(Duration::from_millis(millis).nanos())
    }

    /// The point `sec` seconds and `nanosec` nanoseconds after the zero of the clock.
    /// Nanoseconds beyond a second are carried, as `rclcpp::Time(0, 2500000000)` does.
    ///
    /// # Errors
    ///
    /// [`TimeError::OutOfRange`] beyond ±292 years.
    pub const fn from_secs_nanos(sec: i64, nanosec: u32) -> Result<Self, TimeError> {
        // In 128 bits no step can overflow, even when only the sum fits.
        let nanos = sec as i128 * NANOS_PER_SEC as i128 + nanosec as i128;
        if nanos < i64::MIN as i128 || nanos > i64::MAX as i128 {
            return Err(TimeError::OutOfRange {
                seconds: sec,
                nanoseconds: nanosec,
            });
        }
        #[expect(
            clippy::cast_possible_truncation,
            reason = "the range was just checked"
        )]
        Ok(Self::from_nanos(nanos as i64))
    }

    /// The point `secs` seconds after the zero of the clock, rounded to the nearest nanosecond.
    ///
    /// `None` if `secs` is not a number, infinite, or beyond ±292 years.
    pub fn try_from_secs_f64(secs: f64) -> Option<Self> {
        secs_f64_to_nanos(secs).map(Self::from_nanos)
    }

    /// The nanoseconds since the zero of the clock.
    pub const fn nanos(self) -> i64 {
        self.0
    }

    /// The whole seconds since the zero of the clock, rounded down as in messages.
    pub const fn as_secs(self) -> i64 {
        self.0.div_euclid(NANOS_PER_SEC)
    }

    /// The time since the zero of the clock.
    pub const fn since_zero(self) -> Duration {
        Duration::from_nanos(self.0)
    }

    /// The seconds since the zero of the clock, as near as a double can be: today's dates are
    /// good to about a quarter of a microsecond.
    pub fn as_secs_f64(self) -> f64 {
        nanos_to_secs_f64(self.0)
    }

    /// Whether this is the zero of the clock: for ROS time, "not initialised".
    pub const fn is_zero(self) -> bool {
        self.0 == 0
    }

    /// `self + duration`, or `None` on overflow.
    pub fn checked_add(self, duration: Duration) -> Option<Self> {
        self.0.checked_add(duration.nanos()).map(Self::from_nanos)
    }

    /// `self - duration`, or `None` on overflow.
    pub fn checked_sub(self, duration: Duration) -> Option<Self> {
        self.0.checked_sub(duration.nanos()).map(Self::from_nanos)
    }

    /// `self + duration`, stopping at [`MIN`](Self::MIN) and [`MAX`](Self::MAX).
    #[must_use]
    pub const fn saturating_add(self, duration: Duration) -> Self {
        Self::from_nanos(self.0.saturating_add(duration.nanos()))
    }

    /// `self - duration`, stopping at [`MIN`](Self::MIN) and [`MAX`](Self::MAX).
    #[must_use]
    pub const fn saturating_sub(self, duration: Duration) -> Self {
        Self::from_nanos(self.0.saturating_sub(duration.nanos()))
    }

    /// The signed time since `earlier`, or `None` on overflow.
    pub fn checked_since(self, earlier: Self) -> Option<Duration> {
        self.0.checked_sub(earlier.0).map(Duration::from_nanos)
    }

    /// The same number on the time line of another kind. Only for code that has checked that both time lines are the
    /// same.
    pub(crate) const fn cast<L: Kind>(self) -> Time<L> {
        Time::from_nanos(self.0)
    }
}

/// Run-time checked mixing of a simulation-aware kind with the kind it follows: ROS time with
/// system time, and simulation-aware steady time with steady time.
impl<K: SimAware> Time<K> {
    /// This point as a point of its base kind.
    ///
    /// # Errors
    ///
    /// [`TimeError::SourceActive`] while a time source is active.
    pub fn try_to_base(self, source: SourceState) -> Result<Time<K::Base>, TimeError> {
        Self::check(source, KindOperation::Convert)?;
        Ok(self.cast())
    }

    /// A point of the base kind as a point of this kind.
    ///
    /// # Errors
    ///
    /// [`TimeError::SourceActive`] while a time source is active.
    pub fn try_from_base(base: Time<K::Base>, source: SourceState) -> Result<Self, TimeError> {
        match source {
            SourceState::Inactive => Ok(base.cast()),
            SourceState::Active => Err(TimeError::SourceActive {
                operation: KindOperation::Convert,
                left: <K::Base as Kind>::ID,
                right: K::ID,
            }),
        }
    }

    /// The signed time since a point of the base kind; saturates.
    ///
    /// # Errors
    ///
    /// [`TimeError::SourceActive`] while a time source is active.
    pub fn try_since_base(
        self,
        earlier: Time<K::Base>,
        source: SourceState,
    ) -> Result<Duration, TimeError> {
        Self::check(source, KindOperation::Subtract)?;
        Ok(self - earlier.cast())
    }

    /// The order of this point and a point of the base kind.
    ///
    /// # Errors
    ///
    /// [`TimeError::SourceActive`] while a time source is active.
    pub fn try_cmp_base(
        self,
        other: Time<K::Base>,
        source: SourceState,
    ) -> Result<Ordering, TimeError> {
        Self::check(source, KindOperation::Compare)?;
        Ok(self.cmp(&other.cast()))
    }

    fn check(source: SourceState, operation: KindOperation) -> Result<(), TimeError> {
        match source {
            SourceState::Inactive => Ok(()),
            SourceState::Active => Err(TimeError::SourceActive {
                operation,
                left: K::ID,
                right: <K::Base as Kind>::ID,
            }),
        }
    }
}

impl Time<Ros> {
    /// This ROS time as system time.
    ///
    /// # Errors
    ///
    /// [`TimeError::SourceActive`] while a time source is active.
    pub fn try_as_system(self, source: SourceState) -> Result<Time<System>, TimeError> {
        self.try_to_base(source)
    }
}

impl Time<System> {
    /// This system time as ROS time.
    ///
    /// # Errors
    ///
    /// [`TimeError::SourceActive`] while a time source is active.
    pub fn try_as_ros(self, source: SourceState) -> Result<Time<Ros>, TimeError> {
        Time::try_from_base(self, source)
    }
}

impl<K: Kind> Default for Time<K> {
    fn default() -> Self {
        Self::ZERO
    }
}

impl<K: Kind> Sub for Time<K> {
    type Output = Duration;
    /// The signed time between two points, saturating at ±292 years.
    fn sub(self, earlier: Self) -> Duration {
        Duration::from_nanos(self.0.saturating_sub(earlier.0))
    }
}

impl<K: Kind> Add<Duration> for Time<K> {
    type Output = Self;
    /// # Panics
    ///
    /// On overflow, in every build.
    fn add(self, duration: Duration) -> Self {
        self.checked_add(duration)
            .expect("overflow when adding a duration to a time")
    }
}

impl<K: Kind> Sub<Duration> for Time<K> {
    type Output = Self;
    /// # Panics
    ///
    /// On overflow, in every build.
    fn sub(self, duration: Duration) -> Self {
        self.checked_sub(duration)
            .expect("overflow when subtracting a duration from a time")
    }
}

impl<K: Kind> AddAssign<Duration> for Time<K> {
    fn add_assign(&mut self, duration: Duration) {
        *self = *self + duration;
    }
}

impl<K: Kind> SubAssign<Duration> for Time<K> {
    fn sub_assign(&mut self, duration: Duration) {
        *self = *self - duration;
    }
}

impl<K: Kind> fmt::Display for Time<K> {
    /// Writes seconds with nine decimals, such as `1.500000000`; a precision below nine cuts
    /// decimals off (it does not round, so that the text is never in the future).
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let nanos = self.0.unsigned_abs();
        let per_sec = NANOS_PER_SEC.unsigned_abs();
        let mut text = Text::default();
        if self.0 < 0 {
            text.write_char('-')?;
        }
        write!(text, "{}.", nanos / per_sec)?;
        let point = text.len();
        write!(text, "{:09}", nanos % per_sec)?;
        match f.precision() {
            Some(0) => text.truncate(point - 1),
            Some(decimals) => text.truncate(point.saturating_add(decimals)),
            None => {}
        }
        text.pad(f)
    }
}

impl<K: Kind> fmt::Debug for Time<K> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}({self})", K::NAME)
    }
}
