use crate::duration::Duration;
use crate::jump::{ClockChange, JumpCause, JumpThreshold, TimeJump};
use crate::kind::Kind;
use crate::time::Time;

/// A jump without its clock's kind, for the core of the clock.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct RawJump {
    pub(crate) change: ClockChange,
    pub(crate) cause: JumpCause,
    pub(crate) old: i64,
    pub(crate) new: i64,
    /// The step forward of the source before this one; zero if none is known.
    pub(crate) usual_step: i64,
    pub(crate) epoch: u64,
    /// Orders the jumps of a clock, and the ticks that are a jump for a handler or wait.
    pub(crate) revision: u64,
}

/// A step of a source is a jump only if it is this many times larger than the step before.
const UNUSUAL: i64 = 8;

impl RawJump {
    /// The jump's size by rcl's rule: a change of source has none.
    pub(crate) fn delta(&self) -> i64 {
        match self.change {
            ClockChange::NoChange => self.shift(),
            _ => 0,
        }
    }

    /// Whether a wait with this threshold is notified: of every seek and every step of the system clock, and of jumps
    /// of a source that meet the threshold.
    pub(crate) fn counts(&self, threshold: JumpThreshold) -> bool {
        self.cause != JumpCause::Source || threshold.matches_raw(self)
    }

    /// Whether it is about as large as the steps before: then time has simply passed.
    pub(crate) fn is_usual_step(&self) -> bool {
        self.cause == JumpCause::Source
            && self.delta() > 0
            && self.delta() <= self.usual_step.saturating_mul(UNUSUAL)
    }

    /// The shift of a remaining duration that keeps it unchanged by the jump.
    pub(crate) fn shift(&self) -> i64 {
        self.new.saturating_sub(self.old)
    }

    pub(crate) fn typed<K: Kind>(&self) -> TimeJump<K> {
        TimeJump {
            change: self.change,
            cause: self.cause,
            old: Time::from_nanos(self.old),
            new: Time::from_nanos(self.new),
            delta: Duration::from_nanos(self.delta()),
            epoch: self.epoch,
        }
    }
}

impl JumpThreshold {
    pub(crate) fn matches_raw(&self, jump: &RawJump) -> bool {
        self.matches_parts(jump.change, jump.delta())
    }

    /// The smallest step forward that matches; `i64::MAX` for none.
    pub(crate) const fn forward_interest(&self) -> i64 {
        self.min_forward
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_change_of_source_has_no_length_but_a_shift() {
        let started = RawJump {
            change: ClockChange::RosTimeStarted,
            cause: JumpCause::Source,
            old: 0,
            new: 1_700_000_000_000_000_000,
            usual_step: 0,
            epoch: 1,
            revision: 1,
        };
        assert_eq!(started.delta(), 0);
        assert_eq!(started.shift(), started.new);
    }
}
