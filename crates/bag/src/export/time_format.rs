//! Times of exported messages.

use timeloom_text::{rfc3339, seconds};

/// The format of times.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum TimeFormat {
    /// Nanoseconds since the epoch, as an integer.
    #[default]
    Nanoseconds,
    /// Seconds since the epoch with nine digits.
    Seconds,
    /// `2026-11-15T08:58:51.923572955Z`.
    Rfc3339,
}

impl TimeFormat {
    /// A time, without quotes.
    pub fn text(self, time_ns: i64) -> String {
        match self {
            Self::Nanoseconds => time_ns.to_string(),
            Self::Seconds => seconds(time_ns),
            Self::Rfc3339 => rfc3339(time_ns),
        }
    }

    /// A time as JSON: a number, or a string where it is a date.
    pub(super) fn json(self, time_ns: i64) -> String {
        let text = self.text(time_ns);
        if self == Self::Rfc3339 {
            format!("\"{text}\"")
        } else {
            text
        }
    }
}
