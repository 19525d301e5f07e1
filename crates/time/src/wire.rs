//! Time in messages: `builtin_interfaces/Time` and `builtin_interfaces/Duration`.

use crate::duration::{Duration, NANOS_PER_SEC};
use crate::error::TimeError;
use crate::kind::Wire;
use crate::time::Time;

/// A point in time as `builtin_interfaces/Time` carries it.
///
/// Reading is lenient: `nanosec` of a second or more is carried, as `rclcpp` does. Writing is
/// exact, rounds seconds down (−1.5 s is `sec` −2, `nanosec` 500000000), never produces an illegal
/// `nanosec`, and reports the year 2038 instead of wrapping.
///
/// ```
/// use timeloom_time::{Ros, Time, WireTime};
///
/// let wire = WireTime::try_from(Time::<Ros>::from_nanos(-1_500_000_000))?;
/// assert_eq!((wire.sec, wire.nanosec), (-2, 500_000_000));
/// assert_eq!(Time::<Ros>::from(wire).nanos(), -1_500_000_000);
///
/// assert!(WireTime::try_from(Time::<Ros>::MAX).is_err());
/// assert_eq!(WireTime::saturating_from(Time::<Ros>::MAX), WireTime::MAX);
/// # Ok::<(), timeloom_time::TimeError>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct WireTime {
    /// Whole seconds, rounded down.
    pub sec: i32,
    /// Nanoseconds to add to the seconds; a legal sender keeps them below 1000000000.
    pub nanosec: u32,
}

/// A duration as `builtin_interfaces/Duration` carries it.
///
/// The rules are those of [`WireTime`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct WireDuration {
    /// Whole seconds, rounded down.
    pub sec: i32,
    /// Nanoseconds to add to the seconds; a legal sender keeps them below 1000000000.
    pub nanosec: u32,
}

/// Splits nanoseconds into the fields of a message.
fn split(nanos: i64) -> Result<(i32, u32), TimeError> {
    let seconds = nanos.div_euclid(NANOS_PER_SEC);
    let Ok(sec) = i32::try_from(seconds) else {
        return Err(TimeError::WireRange { seconds });
    };
    Ok((sec, subsec(nanos)))
}

#[expect(
    clippy::cast_possible_truncation,
    reason = "the Euclidean remainder is in 0..1e9"
)]
fn subsec(nanos: i64) -> u32 {
    nanos.rem_euclid(NANOS_PER_SEC) as u32
}

/// Joins the fields of a message; 32 bits of seconds and of nanoseconds cannot overflow.
const fn join(sec: i32, nanosec: u32) -> i64 {
    sec as i64 * NANOS_PER_SEC + nanosec as i64
}

macro_rules! fields {
    ($wire:ident) => {
        impl $wire {
            /// The smallest value that a message can carry.
            pub const MIN: Self = Self {
                sec: i32::MIN,
                nanosec: 0,
            };
            /// The largest value that a message can carry, in January 2038 for a point in time.
            pub const MAX: Self = Self {
                sec: i32::MAX,
                nanosec: 999_999_999,
            };

            /// Whether `nanosec` is below one second, as the message definition requires.
            pub const fn is_normalized(self) -> bool {
                self.nanosec < 1_000_000_000
            }

            /// The value in nanoseconds, with `nanosec` carried.
            pub const fn nanos(self) -> i64 {
                join(self.sec, self.nanosec)
            }

            fn saturating(nanos: i64) -> Self {
                match split(nanos) {
                    Ok((sec, nanosec)) => Self { sec, nanosec },
                    Err(_) if nanos < 0 => Self::MIN,
                    Err(_) => Self::MAX,
                }
            }
        }
    };
}

fields!(WireTime);
fields!(WireDuration);

impl WireTime {
    /// The point for a message, saturating at [`MIN`](Self::MIN) and [`MAX`](Self::MAX).
    pub fn saturating_from<K: Wire>(time: Time<K>) -> Self {
        Self::saturating(time.nanos())
    }
}

impl WireDuration {
    /// The duration for a message, saturating at [`MIN`](Self::MIN) and [`MAX`](Self::MAX).
    pub fn saturating_from(duration: Duration) -> Self {
        Self::saturating(duration.nanos())
    }
}

impl<K: Wire> TryFrom<Time<K>> for WireTime {
    type Error = TimeError;

    /// # Errors
    ///
    /// [`TimeError::WireRange`] if the seconds need more than 32 bits (the year 2038).
    fn try_from(time: Time<K>) -> Result<Self, TimeError> {
        let (sec, nanosec) = split(time.nanos())?;
        Ok(Self { sec, nanosec })
    }
}

impl<K: Wire> From<WireTime> for Time<K> {
    fn from(wire: WireTime) -> Self {
        Self::from_nanos(wire.nanos())
    }
}

impl TryFrom<Duration> for WireDuration {
    type Error = TimeError;

    /// # Errors
    ///
    /// [`TimeError::WireRange`] if the seconds need more than 32 bits (68 years).
    fn try_from(duration: Duration) -> Result<Self, TimeError> {
        let (sec, nanosec) = split(duration.nanos())?;
        Ok(Self { sec, nanosec })
    }
}

impl From<WireDuration> for Duration {
    fn from(wire: WireDuration) -> Self {
        Self::from_nanos(wire.nanos())
    }
}
