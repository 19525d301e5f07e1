//! Errors of points in time, durations and schedules.

use core::fmt;

use crate::kind::KindId;

/// An error of the time types and state machines.
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub enum TimeError {
    /// Two points of kinds that have no common time line were put together.
    KindMismatch {
        /// The operation.
        operation: KindOperation,
        /// The kind of the left operand.
        left: KindId,
        /// The kind of the right operand, or the kind that was asked for.
        right: KindId,
    },
    /// A simulation-aware kind was mixed with its base while a time source drives it.
    SourceActive {
        /// The operation.
        operation: KindOperation,
        /// The kind of the left operand.
        left: KindId,
        /// The kind of the right operand, or the kind that was asked for.
        right: KindId,
    },
    /// A value needs more than 64 bits of nanoseconds (about 292 years).
    OutOfRange {
        /// The whole seconds of the value.
        seconds: i64,
        /// The nanoseconds on top of the seconds.
        nanoseconds: u32,
    },
    /// A value does not fit the 32-bit seconds of `builtin_interfaces` (the year 2038).
    WireRange {
        /// The whole seconds of the value, rounded down.
        seconds: i64,
    },
    /// A negative duration was converted to an unsigned one.
    NegativeDuration {
        /// The duration in nanoseconds.
        nanoseconds: i64,
    },
    /// A timer was given a negative period.
    NegativePeriod {
        /// The period in nanoseconds.
        nanoseconds: i64,
    },
    /// A rate was given a period that is zero or negative.
    PeriodNotPositive {
        /// The period in nanoseconds.
        nanoseconds: i64,
    },
    /// A frequency is zero, negative or not a number.
    RateNotPositive {
        /// The frequency in hertz.
        hertz: f64,
    },
    /// A frequency whose period is below one nanosecond or above 292 years.
    RateOutOfRange {
        /// The frequency in hertz.
        hertz: f64,
    },
    /// A text is not a duration.
    NotADuration,
    /// A text is not a point in time.
    NotATime,
    /// A jump threshold of the wrong sign, or zero.
    JumpThresholdSign {
        /// `forward` or `backward`.
        direction: &'static str,
        /// The given value.
        nanoseconds: i64,
    },
}

/// An operation that needs two points in time of the same kind.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum KindOperation {
    /// A comparison.
    Compare,
    /// A subtraction.
    Subtract,
    /// A conversion of the left kind to the right kind.
    Convert,
}

impl KindOperation {
    /// The operation as verb and preposition.
    const fn words(self) -> (&'static str, &'static str) {
        match self {
            Self::Compare => ("compare", "with"),
            Self::Subtract => ("subtract", "and"),
            Self::Convert => ("convert", "to"),
        }
    }
}

impl fmt::Display for TimeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Self::KindMismatch {
                operation,
                left,
                right,
            } => {
                let (verb, preposition) = operation.words();
                write!(f, "can't {verb} {left} time {preposition} {right} time")
            }
            Self::SourceActive {
                operation,
                left,
                right,
            } => {
                let (verb, preposition) = operation.words();
                write!(
                    f,
                    "can't {verb} {left} time {preposition} {right} time while a time source is active"
                )
            }
            Self::OutOfRange {
                seconds,
                nanoseconds,
            } => write!(
                f,
                "{seconds} s + {nanoseconds} ns does not fit 64-bit nanoseconds"
            ),
            Self::WireRange { seconds } => write!(
                f,
                "{seconds} s does not fit the 32-bit seconds of a message (largest is {})",
                i32::MAX
            ),
            Self::NegativeDuration { nanoseconds } => {
                write!(f, "duration must not be negative, got {nanoseconds} ns")
            }
            Self::NegativePeriod { nanoseconds } => {
                write!(f, "period must not be negative, got {nanoseconds} ns")
            }
            Self::PeriodNotPositive { nanoseconds } => {
                write!(f, "period must be greater than 0, got {nanoseconds} ns")
            }
            Self::RateNotPositive { hertz } => {
                write!(f, "rate must be greater than 0, got {hertz} Hz")
            }
            Self::RateOutOfRange { hertz } => write!(
                f,
                "rate of {hertz:e} Hz has no period between 1 ns and 292 years"
            ),
            Self::NotADuration => {
                f.write_str("expected a duration such as 1.5s, -250ms, 1h30m or plain seconds")
            }
            Self::NotATime => f.write_str("expected seconds such as 1700000000.25"),
            Self::JumpThresholdSign {
                direction,
                nanoseconds,
            } => write!(
                f,
                "minimum {direction} jump must be {} 0, got {nanoseconds} ns",
                if direction == "forward" {
                    "above"
                } else {
                    "below"
                }
            ),
        }
    }
}

impl core::error::Error for TimeError {}

#[cfg(test)]
mod tests {
    use super::*;
    use std::string::ToString as _;

    #[test]
    fn messages_name_the_kinds_and_the_numbers() {
        let mismatch = TimeError::KindMismatch {
            operation: KindOperation::Compare,
            left: KindId::Ros,
            right: KindId::Steady,
        };
        assert_eq!(
            mismatch.to_string(),
            "can't compare ros time with steady time"
        );
        let active = TimeError::SourceActive {
            operation: KindOperation::Convert,
            left: KindId::Ros,
            right: KindId::System,
        };
        assert_eq!(
            active.to_string(),
            "can't convert ros time to system time while a time source is active"
        );
        assert_eq!(
            TimeError::WireRange {
                seconds: 2_147_483_648
            }
            .to_string(),
            "2147483648 s does not fit the 32-bit seconds of a message (largest is 2147483647)"
        );
        assert_eq!(
            TimeError::RateNotPositive { hertz: -1.5 }.to_string(),
            "rate must be greater than 0, got -1.5 Hz"
        );
        assert_eq!(
            TimeError::RateOutOfRange {
                hertz: f64::INFINITY
            }
            .to_string(),
            "rate of inf Hz has no period between 1 ns and 292 years"
        );
    }
}
