//! Points in time whose kind is known only at run time.

use core::cmp::Ordering;
use core::fmt;

use crate::duration::Duration;
use crate::error::{KindOperation, TimeError};
use crate::kind::{Kind, KindId, SourceState};
use crate::time::Time;

/// A point in time with its kind as a value, for dynamic code such as bindings.
///
/// Two points of different kinds are not equal; comparing or subtracting them is an error, never a panic. For ordering
/// there is [`try_cmp`](Self::try_cmp), because kinds have no common order.
///
/// ```
/// use timeloom_time::{AnyTime, Ros, Steady, Time};
///
/// let ros = AnyTime::from(Time::<Ros>::from_nanos(1));
/// let steady = AnyTime::from(Time::<Steady>::from_nanos(1));
/// let error = ros.try_cmp(steady).unwrap_err();
/// assert_eq!(error.to_string(), "can't compare ros time with steady time");
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct AnyTime {
    /// The kind of clock that the point was read from.
    pub kind: KindId,
    /// Nanoseconds since the zero of that clock.
    pub nanos: i64,
}

impl AnyTime {
    /// The point `nanos` nanoseconds after the zero of a clock of kind `kind`.
    pub const fn new(kind: KindId, nanos: i64) -> Self {
        Self { kind, nanos }
    }

    /// The signed time since `earlier`; saturates at ±292 years.
    ///
    /// # Errors
    ///
    /// [`TimeError::KindMismatch`] if the kinds differ.
    pub fn try_since(self, earlier: Self) -> Result<Duration, TimeError> {
        self.check(earlier.kind, KindOperation::Subtract)?;
        Ok(Duration::from_nanos(
            self.nanos.saturating_sub(earlier.nanos),
        ))
    }

    /// The order of two points.
    ///
    /// # Errors
    ///
    /// [`TimeError::KindMismatch`] if the kinds differ.
    pub fn try_cmp(self, other: Self) -> Result<Ordering, TimeError> {
        self.check(other.kind, KindOperation::Compare)?;
        Ok(self.nanos.cmp(&other.nanos))
    }

    /// The same point as another kind: ROS and system time (and simulation-aware steady and
    /// steady time) are the same while no time source is active.
    ///
    /// # Errors
    ///
    /// [`TimeError::SourceActive`] if a time source keeps the two kinds apart, and
    /// [`TimeError::KindMismatch`] if they never have a common time line.
    pub fn try_as(self, kind: KindId, source: SourceState) -> Result<Self, TimeError> {
        let related = self.kind.base() == Some(kind) || kind.base() == Some(self.kind);
        match source {
            _ if self.kind == kind => Ok(self),
            SourceState::Inactive if related => Ok(Self::new(kind, self.nanos)),
            SourceState::Active if related => Err(TimeError::SourceActive {
                operation: KindOperation::Convert,
                left: self.kind,
                right: kind,
            }),
            _ => Err(self.mismatch(kind, KindOperation::Convert)),
        }
    }

    fn check(self, kind: KindId, operation: KindOperation) -> Result<(), TimeError> {
        if self.kind == kind {
            Ok(())
        } else {
            Err(self.mismatch(kind, operation))
        }
    }

    fn mismatch(self, right: KindId, operation: KindOperation) -> TimeError {
        TimeError::KindMismatch {
            operation,
            left: self.kind,
            right,
        }
    }
}

impl<K: Kind> From<Time<K>> for AnyTime {
    fn from(time: Time<K>) -> Self {
        Self::new(K::ID, time.nanos())
    }
}

impl<K: Kind> TryFrom<AnyTime> for Time<K> {
    type Error = TimeError;

    /// # Errors
    ///
    /// [`TimeError::KindMismatch`] if the point is of another kind.
    fn try_from(time: AnyTime) -> Result<Self, TimeError> {
        time.check(K::ID, KindOperation::Convert)?;
        Ok(Self::from_nanos(time.nanos))
    }
}

impl fmt::Debug for AnyTime {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // The text of a point does not depend on its kind.
        let text = Time::<crate::kind::Ros>::from_nanos(self.nanos);
        write!(f, "{}({text})", self.kind)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kind::{Ros, Steady, System};
    use std::format;

    #[test]
    fn every_pair_of_kinds_is_checked() {
        for &left in KindId::ALL {
            for &right in KindId::ALL {
                let (a, b) = (AnyTime::new(left, 7), AnyTime::new(right, 5));
                assert_eq!(a.try_since(b).is_ok(), left == right);
                assert_eq!(a.try_cmp(b).is_ok(), left == right);
                let related = left.base() == Some(right) || right.base() == Some(left);
                assert_eq!(
                    a.try_as(right, SourceState::Inactive).is_ok(),
                    left == right || related
                );
                assert_eq!(a.try_as(right, SourceState::Active).is_ok(), left == right);
            }
        }
    }

    #[test]
    fn typed_and_untyped_convert_only_within_a_kind() {
        let any = AnyTime::from(Time::<System>::from_nanos(-3));
        assert_eq!(Time::<System>::try_from(any), Ok(Time::from_nanos(-3)));
        assert_eq!(
            Time::<Ros>::try_from(any),
            Err(TimeError::KindMismatch {
                operation: KindOperation::Convert,
                left: KindId::System,
                right: KindId::Ros
            })
        );
        assert!(Time::<Steady>::try_from(any).is_err());
        assert_eq!(format!("{any:?}"), "system(-0.000000003)");
    }
}
