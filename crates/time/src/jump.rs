use core::fmt;

use crate::duration::Duration;
use crate::error::TimeError;
use crate::kind::{Kind, Ros};
use crate::time::Time;

/// The change of a clock's source at a jump.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ClockChange {
    /// Time moved, the source is the same.
    NoChange,
    /// A time source took over from the machine's clock.
    RosTimeActivated,
    /// The machine's clock took over from a time source.
    RosTimeDeactivated,
    /// An active source sent its first sample: time went from "uninitialised" to a value.
    RosTimeStarted,
}

/// The cause of a jump.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum JumpCause {
    /// The clock's time source.
    Source,
    /// A call such as [`PlayerClock::jump`](crate::PlayerClock::jump).
    Control,
    /// The machine's system clock was set.
    SystemStep,
}

/// A discontinuity in a clock's time, as handlers and waits see it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TimeJump<K: Kind = Ros> {
    /// The change of the source.
    pub change: ClockChange,
    /// The cause.
    pub cause: JumpCause,
    /// The time of the clock before.
    pub old: Time<K>,
    /// The time of the clock from now on.
    pub new: Time<K>,
    /// `new - old`, or zero when the source changed: times of two sources have no difference.
    pub delta: Duration,
    /// The clock's epoch after the jump.
    pub epoch: u64,
}

/// The jumps that a handler or a wait is notified of; exactly the rule of rcl.
///
/// A jump matches when the source changed and `on_clock_change` is set, or when it went at least
/// `min_forward` forward, or at least `min_backward` back. A jump of zero length never matches.
///
/// ```
/// use timeloom_time::{Duration, JumpThreshold};
/// // Notice a step of half a second forward, and every step back.
/// let threshold = JumpThreshold::new()
///     .forward(Duration::from_millis(500)).unwrap()
///     .backward(Duration::from_nanos(-1)).unwrap();
/// assert!(JumpThreshold::new().backward(Duration::from_secs(1)).is_err(), "backward is negative");
/// # let _ = threshold;
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct JumpThreshold {
    on_clock_change: bool,
    /// `i64::MAX` when forward jumps do not matter.
    pub(crate) min_forward: i64,
    /// `i64::MIN` when backward jumps do not matter.
    min_backward: i64,
}

impl JumpThreshold {
    /// Every discontinuity: source changes and any step of a nanosecond or more.
    ///
    /// On a clock that a source sets, each tick forward is such a step.
    pub const ANY: Self = Self {
        on_clock_change: true,
        min_forward: 1,
        min_backward: -1,
    };

    /// Jumps that break the assumption that time moves forward: source changes and any step back.
    pub const DISRUPTIVE: Self = Self {
        on_clock_change: true,
        min_forward: i64::MAX,
        min_backward: -1,
    };

    /// A threshold that matches nothing yet.
    #[expect(
        clippy::new_without_default,
        reason = "a threshold that matches nothing is no default"
    )]
    pub const fn new() -> Self {
        Self {
            on_clock_change: false,
            min_forward: i64::MAX,
            min_backward: i64::MIN,
        }
    }

    /// Also matches when the clock's source changes or starts.
    #[must_use]
    pub const fn clock_change(mut self) -> Self {
        self.on_clock_change = true;
        self
    }

    /// Also matches steps forward of `min` or more.
    ///
    /// # Errors
    /// [`TimeError::JumpThresholdSign`] unless `min` is above zero.
    pub fn forward(mut self, min: Duration) -> Result<Self, TimeError> {
        if min.nanos() <= 0 {
            return Err(TimeError::JumpThresholdSign {
                direction: "forward",
                nanoseconds: min.nanos(),
            });
        }
        self.min_forward = min.nanos();
        Ok(self)
    }

    /// Also matches steps back of `min` (a negative duration) or more.
    ///
    /// # Errors
    /// [`TimeError::JumpThresholdSign`] unless `min` is below zero.
    pub fn backward(mut self, min: Duration) -> Result<Self, TimeError> {
        if min.nanos() >= 0 {
            return Err(TimeError::JumpThresholdSign {
                direction: "backward",
                nanoseconds: min.nanos(),
            });
        }
        self.min_backward = min.nanos();
        Ok(self)
    }

    /// Whether no jump can ever match.
    pub const fn is_empty(&self) -> bool {
        !self.on_clock_change && self.min_forward == i64::MAX && self.min_backward == i64::MIN
    }

    /// Whether a jump matches.
    pub fn matches<K: Kind>(&self, jump: &TimeJump<K>) -> bool {
        self.matches_parts(jump.change, jump.delta.nanos())
    }

    pub(crate) fn matches_parts(&self, change: ClockChange, delta: i64) -> bool {
        if change != ClockChange::NoChange {
            return self.on_clock_change;
        }
        (self.min_forward != i64::MAX && delta >= self.min_forward)
            || (self.min_backward != i64::MIN && delta <= self.min_backward)
    }
}

impl<K: Kind> fmt::Display for TimeJump<K> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.change {
            ClockChange::NoChange => write!(f, "time jumped by {} to {}", self.delta, self.new),
            ClockChange::RosTimeActivated => write!(f, "a time source took over at {}", self.new),
            ClockChange::RosTimeDeactivated => {
                write!(f, "the machine's clock took over at {}", self.new)
            }
            ClockChange::RosTimeStarted => write!(f, "time started at {}", self.new),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fires(threshold: JumpThreshold, delta: i64) -> bool {
        threshold.matches(&TimeJump::<Ros> {
            change: ClockChange::NoChange,
            cause: JumpCause::Source,
            old: Time::from_nanos(1_000),
            new: Time::from_nanos(1_000 + delta),
            delta: Duration::from_nanos(delta),
            epoch: 1,
        })
    }

    fn forward(nanos: i64) -> JumpThreshold {
        JumpThreshold::new()
            .forward(Duration::from_nanos(nanos))
            .unwrap()
    }

    #[test]
    fn a_jump_of_exactly_the_threshold_matches_and_one_nanosecond_less_does_not() {
        let threshold = forward(10).backward(Duration::from_nanos(-5)).unwrap();
        for (delta, expected) in [
            (10, true),
            (9, false),
            (0, false),
            (-4, false),
            (-5, true),
            (-6, true),
        ] {
            assert_eq!(fires(threshold, delta), expected, "{delta}");
        }
    }

    #[test]
    fn a_direction_that_is_off_never_matches() {
        assert!(!fires(forward(1), -900));
        let backward = JumpThreshold::new()
            .backward(Duration::from_nanos(-1))
            .unwrap();
        assert!(!fires(backward, 900));
        assert!(!fires(JumpThreshold::new(), 900));
        assert!(JumpThreshold::new().is_empty());
        assert!(!backward.is_empty());
    }

    #[test]
    fn a_source_change_matches_by_its_flag_alone() {
        assert!(
            JumpThreshold::new()
                .clock_change()
                .matches_parts(ClockChange::RosTimeStarted, 0)
        );
        assert!(!forward(1).matches_parts(ClockChange::RosTimeStarted, 0));
    }

    #[test]
    fn wrong_signs_are_refused() {
        for bad in [0, -1] {
            assert!(
                JumpThreshold::new()
                    .forward(Duration::from_nanos(bad))
                    .is_err()
            );
            assert!(
                JumpThreshold::new()
                    .backward(Duration::from_nanos(-bad))
                    .is_err()
            );
        }
        assert_eq!(
            JumpThreshold::new()
                .forward(Duration::ZERO)
                .unwrap_err()
                .to_string(),
            "minimum forward jump must be above 0, got 0 ns"
        );
    }
}
