use serde::Deserialize;
use timeloom_node::player::{Control, Mark};
use timeloom_time::{Duration, Time};

use crate::error::{Error, Result};

/// A request of our own page: JSON with an `op`. Times are seconds since the beginning of the data.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize)]
#[serde(tag = "op", rename_all = "camelCase")]
pub enum PageRequest {
    /// Pauses.
    Pause,
    /// Resumes.
    Resume,
    /// Pauses or resumes.
    Toggle,
    /// Sets the rate.
    Rate {
        /// The rate, 1 is real time.
        value: f64,
    },
    /// Seeks to a time.
    Seek {
        /// Seconds since the beginning.
        seconds: f64,
    },
    /// Seeks relative to the current time.
    SeekBy {
        /// Seconds; back if negative.
        seconds: f64,
    },
    /// Publishes the next message.
    StepForward,
    /// Publishes the previous message.
    StepBack,
    /// Starts the loop here.
    MarkA,
    /// Ends the loop here.
    MarkB,
    /// Clears the loop.
    ClearMarks,
}

/// Farther than any bag: about thirty years.
const FARTHEST_SECONDS: f64 = 1e9;

impl PageRequest {
    /// Parses a text of the page.
    ///
    /// # Errors
    /// When it is not a JSON object with a known `op` and its fields.
    pub fn parse(text: &str) -> Result<Self> {
        serde_json::from_str(text)
            .map_err(|error| Error::malformed("request of the page", text.len(), error))
    }

    /// The control, for data that begins at `start_ns`.
    ///
    /// # Errors
    /// When a number of seconds is out of range.
    pub fn control(self, start_ns: i64) -> Result<Control> {
        Ok(match self {
            Self::Pause => Control::Pause,
            Self::Resume => Control::Resume,
            Self::Toggle => Control::TogglePaused,
            Self::Rate { value } => Control::SetRate(value),
            Self::Seek { seconds } => {
                let time = start_ns.saturating_add(nanoseconds(seconds)?);
                Control::Seek(Time::from_nanos(time))
            }
            Self::SeekBy { seconds } => {
                Control::SeekBy(Duration::from_nanos(nanoseconds(seconds)?))
            }
            Self::StepForward => Control::PlayNext,
            Self::StepBack => Control::StepBack,
            Self::MarkA => Control::Mark(Mark::A),
            Self::MarkB => Control::Mark(Mark::B),
            Self::ClearMarks => Control::SetLoop(None),
        })
    }
}

fn nanoseconds(seconds: f64) -> Result<i64> {
    if !seconds.is_finite() || seconds.abs() > FARTHEST_SECONDS {
        return Err(Error::Refused(format!(
            "seek time out of range: {seconds} s"
        )));
    }
    #[expect(
        clippy::cast_possible_truncation,
        reason = "checked above: far within the range, and a fraction of a nanosecond means nothing"
    )]
    Ok((seconds * 1e9).round() as i64)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn control(text: &str) -> Result<Control> {
        PageRequest::parse(text)?.control(1_000)
    }

    #[test]
    fn seconds_are_relative_to_the_start_of_the_bag() {
        assert_eq!(
            control(r#"{"op":"seek","seconds":1.5}"#).unwrap(),
            Control::Seek(Time::from_nanos(1_500_001_000))
        );
        assert_eq!(
            control(r#"{"op":"seekBy","seconds":-0.1}"#).unwrap(),
            Control::SeekBy(Duration::from_nanos(-100_000_000))
        );
        assert_eq!(
            control(r#"{"op":"markA"}"#).unwrap(),
            Control::Mark(Mark::A)
        );
    }

    #[test]
    fn times_out_of_range_are_refused() {
        for text in [
            r#"{"op":"seek","seconds":1e300}"#,
            r#"{"op":"seekBy","seconds":-1e10}"#,
        ] {
            assert!(control(text).is_err(), "{text}");
        }
        assert!(control(r#"{"op":"format"}"#).is_err());
        assert!(control("x").is_err());
    }
}
