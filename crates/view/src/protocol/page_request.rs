use serde::Deserialize;

use crate::command::Command;
use crate::error::{Error, Result};

/// What our own page asks for: JSON with an `op`. Times are seconds since the beginning of the data.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize)]
#[serde(tag = "op", rename_all = "camelCase")]
pub enum PageRequest {
    /// Stop time.
    Pause,
    /// Let it go on.
    Resume,
    /// The other of the two.
    Toggle,
    /// Another rate.
    Rate {
        /// The rate, 1 is real time.
        value: f64,
    },
    /// Another place.
    Seek {
        /// Seconds since the beginning.
        seconds: f64,
    },
    /// A place relative to this one.
    SeekBy {
        /// Seconds; back if negative.
        seconds: f64,
    },
    /// The next message.
    StepForward,
    /// The message before.
    StepBack,
    /// Repeat from here.
    MarkA,
    /// Repeat up to here.
    MarkB,
    /// Repeat no more.
    ClearMarks,
    /// A new file.
    Split,
    /// Write what is in memory.
    Snapshot,
}

/// Farther than any bag: about thirty years.
const FARTHEST_SECONDS: f64 = 1e9;

impl PageRequest {
    /// Understands a text of the page.
    ///
    /// # Errors
    /// When it is no JSON object with a known `op` and its fields.
    pub fn parse(text: &str) -> Result<Self> {
        serde_json::from_str(text)
            .map_err(|error| Error::malformed("request of the page", text.len(), error))
    }

    /// The command, for data that begins at `start_ns`.
    ///
    /// # Errors
    /// When a number of seconds is none, or absurd.
    pub fn command(self, start_ns: i64) -> Result<Command> {
        Ok(match self {
            Self::Pause => Command::Pause,
            Self::Resume => Command::Resume,
            Self::Toggle => Command::Toggle,
            Self::Rate { value } => Command::SetRate(value),
            Self::Seek { seconds } => {
                Command::SeekTo(start_ns.saturating_add(nanoseconds(seconds)?))
            }
            Self::SeekBy { seconds } => Command::SeekBy(nanoseconds(seconds)?),
            Self::StepForward => Command::StepForward,
            Self::StepBack => Command::StepBack,
            Self::MarkA => Command::MarkA,
            Self::MarkB => Command::MarkB,
            Self::ClearMarks => Command::ClearMarks,
            Self::Split => Command::Split,
            Self::Snapshot => Command::Snapshot,
        })
    }
}

fn nanoseconds(seconds: f64) -> Result<i64> {
    if !seconds.is_finite() || seconds.abs() > FARTHEST_SECONDS {
        return Err(Error::Refused(format!("{seconds} s is no place in a bag")));
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

    fn command(text: &str) -> Result<Command> {
        PageRequest::parse(text)?.command(1_000)
    }

    #[test]
    fn seconds_become_times_of_the_bag() {
        assert_eq!(
            command(r#"{"op":"seek","seconds":1.5}"#).unwrap(),
            Command::SeekTo(1_500_001_000)
        );
        assert_eq!(
            command(r#"{"op":"seekBy","seconds":-0.1}"#).unwrap(),
            Command::SeekBy(-100_000_000)
        );
        assert_eq!(command(r#"{"op":"markA"}"#).unwrap(), Command::MarkA);
    }

    #[test]
    fn absurd_places_are_refused() {
        for text in [
            r#"{"op":"seek","seconds":1e300}"#,
            r#"{"op":"seekBy","seconds":-1e10}"#,
        ] {
            assert!(command(text).is_err(), "{text}");
        }
        assert!(command(r#"{"op":"format"}"#).is_err());
        assert!(command("x").is_err());
    }
}
