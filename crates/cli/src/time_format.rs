//! The form of times in lines of messages.

use clap::ValueEnum;
use timeloom_bag::export;

/// Format of times.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, ValueEnum)]
pub(crate) enum TimeFormat {
    /// Integer nanoseconds since the epoch
    #[default]
    Nanoseconds,
    /// Seconds since the epoch with nine digits
    Seconds,
    /// 2026-11-15T08:58:51.923572955Z
    Rfc3339,
}

impl From<TimeFormat> for export::TimeFormat {
    fn from(format: TimeFormat) -> Self {
        match format {
            TimeFormat::Nanoseconds => Self::Nanoseconds,
            TimeFormat::Seconds => Self::Seconds,
            TimeFormat::Rfc3339 => Self::Rfc3339,
        }
    }
}
