//! Points in time of `std`: the wall clock and the monotonic clock of this machine.

use std::time::{Duration as StdDuration, Instant, SystemTime};

use crate::error::TimeError;
use crate::kind::{Steady, System};
use crate::machine;
use crate::time::Time;

impl TryFrom<SystemTime> for Time<System> {
    type Error = TimeError;

    /// ```
    /// use std::time::{Duration, SystemTime};
    /// use timeloom_time::{SourceState, System, Time};
    /// let wall = SystemTime::UNIX_EPOCH + Duration::from_millis(1_500);
    /// let time = Time::<System>::try_from(wall)?;
    /// assert_eq!(time, Time::from_millis(1_500));
    /// assert_eq!(SystemTime::from(time), wall);
    /// // ROS time is system time only while no time source is active.
    /// assert_eq!(time.try_as_ros(SourceState::Inactive)?, Time::from_millis(1_500));
    /// # Ok::<_, timeloom_time::TimeError>(())
    /// ```
    ///
    /// # Errors
    ///
    /// [`TimeError::OutOfRange`] before 1677 and after 2262.
    fn try_from(time: SystemTime) -> Result<Self, TimeError> {
        let (length, before) = match time.duration_since(SystemTime::UNIX_EPOCH) {
            Ok(after) => (after, false),
            Err(error) => (error.duration(), true),
        };
        let nanos = i128::try_from(length.as_nanos()).unwrap_or(i128::MAX);
        let nanos = i64::try_from(if before { -nanos } else { nanos });
        nanos
            .map(Self::from_nanos)
            .map_err(|_too_far| TimeError::OutOfRange {
                seconds: i64::try_from(length.as_secs())
                    .map_or(i64::MAX, |secs| if before { -secs } else { secs }),
                nanoseconds: length.subsec_nanos(),
            })
    }
}

impl From<Time<System>> for SystemTime {
    fn from(time: Time<System>) -> Self {
        let length = StdDuration::from_nanos(time.nanos().unsigned_abs());
        if time.nanos() < 0 {
            Self::UNIX_EPOCH - length
        } else {
            Self::UNIX_EPOCH + length
        }
    }
}

impl From<Instant> for Time<Steady> {
    /// The steady time of an instant of this machine; exact to the time that a read of the clock takes, about 0.1 µs.
    /// Virtual time has no instants.
    ///
    /// ```
    /// use std::time::{Duration, Instant};
    /// use timeloom_time::{Clock, Steady, Time};
    /// let instant = Instant::now();
    /// let later = Time::<Steady>::from(instant + Duration::from_secs(60));
    /// assert_eq!(later - Time::from(instant), timeloom_time::Duration::from_secs(60));
    /// assert!(later > Clock::<Steady>::new().now());
    /// assert_eq!(Instant::try_from(later)?, instant + Duration::from_secs(60));
    /// # Ok::<_, timeloom_time::TimeError>(())
    /// ```
    fn from(instant: Instant) -> Self {
        let (anchor, steady) = machine::instant();
        let nanos = |length: StdDuration| i64::try_from(length.as_nanos()).unwrap_or(i64::MAX);
        let nanos = match instant.checked_duration_since(*anchor) {
            Some(after) => steady.saturating_add(nanos(after)),
            None => steady.saturating_sub(nanos(anchor.duration_since(instant))),
        };
        Self::from_nanos(nanos)
    }
}

impl TryFrom<Time<Steady>> for Instant {
    type Error = TimeError;

    /// # Errors
    ///
    /// [`TimeError::OutOfRange`] for a point outside the range of this machine's `Instant`.
    fn try_from(time: Time<Steady>) -> Result<Self, TimeError> {
        let (anchor, steady) = machine::instant();
        let length = StdDuration::from_nanos(time.nanos().abs_diff(*steady));
        let instant = if time.nanos() < *steady {
            anchor.checked_sub(length)
        } else {
            anchor.checked_add(length)
        };
        instant.ok_or(TimeError::OutOfRange {
            seconds: time.as_secs(),
            nanoseconds: 0,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn instants_are_steady_time() {
        let before = machine::steady();
        #[expect(clippy::disallowed_methods, reason = "it is what is converted")]
        let instant = Instant::now();
        let after = machine::steady();
        let shown = Time::<Steady>::from(instant).nanos();
        // The pair that the conversion is based on was read within this time.
        let slack = 50_000_000;
        assert!(shown >= before - slack && shown <= after + slack);
    }

    proptest! {
        #[test]
        fn conversions_come_back(nanos in any::<i64>(), near in -(1i64 << 40)..1 << 40) {
            let time = Time::<System>::from_nanos(nanos);
            prop_assert_eq!(Time::try_from(SystemTime::from(time)), Ok(time));
            let steady = Time::<Steady>::from_nanos(machine::instant().1.saturating_add(near));
            if let Ok(instant) = Instant::try_from(steady) {
                prop_assert_eq!(Time::from(instant), steady);
            }
        }
    }
}
