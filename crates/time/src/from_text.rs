//! Times and durations from text, as their `Display` writes them and as people write them.

use core::str::FromStr;

use crate::duration::{Duration, NANOS_PER_SEC};
use crate::error::TimeError;
use crate::kind::Kind;
use crate::time::Time;

impl FromStr for Duration {
    type Err = TimeError;

    /// A duration such as `1.5s`, `-250ms`, `1h30m`, or plain seconds. Units are `ns`, `us` (or `µs`), `ms`, `s`, `m`
    /// (or `min`), `h` and `d`; fractions of a nanosecond are truncated.
    ///
    /// ```
    /// use timeloom_time::Duration;
    /// assert_eq!("1h30m".parse(), Ok(Duration::from_secs(5_400)));
    /// assert_eq!("-2.5".parse(), Ok(Duration::from_millis(-2_500)));
    /// let shown = Duration::from_nanos(-1_234_567).to_string();
    /// assert_eq!(shown.parse(), Ok(Duration::from_nanos(-1_234_567)));
    /// assert!("soon".parse::<Duration>().is_err());
    /// ```
    ///
    /// # Errors
    ///
    /// [`TimeError::NotADuration`], also beyond ±292 years.
    fn from_str(text: &str) -> Result<Self, TimeError> {
        let (negative, text) = sign(text);
        let nanos = if is_number(text) {
            decimal(text, NANOS_PER_SEC)
        } else {
            units(text)
        };
        signed(nanos, negative)
            .map(Self::from_nanos)
            .ok_or(TimeError::NotADuration)
    }
}

impl<K: Kind> FromStr for Time<K> {
    type Err = TimeError;

    /// Seconds since the zero of the clock, such as `1700000000.25`; fractions of a nanosecond are truncated.
    ///
    /// ```
    /// use timeloom_time::{Ros, Time};
    /// let time: Time = "-1.5".parse()?;
    /// assert_eq!(time, Time::from_millis(-1_500));
    /// assert_eq!(time.to_string().parse(), Ok(time));
    /// assert!("12:00".parse::<Time<Ros>>().is_err());
    /// # Ok::<_, timeloom_time::TimeError>(())
    /// ```
    ///
    /// # Errors
    ///
    /// [`TimeError::NotATime`], also beyond ±292 years.
    fn from_str(text: &str) -> Result<Self, TimeError> {
        let (negative, text) = sign(text);
        signed(decimal(text, NANOS_PER_SEC), negative)
            .map(Self::from_nanos)
            .ok_or(TimeError::NotATime)
    }
}

fn sign(text: &str) -> (bool, &str) {
    match text.strip_prefix('-') {
        Some(rest) => (true, rest),
        None => (false, text),
    }
}

fn signed(nanos: Option<i128>, negative: bool) -> Option<i64> {
    let nanos = nanos?;
    i64::try_from(if negative { -nanos } else { nanos }).ok()
}

fn is_number(text: &str) -> bool {
    text.bytes()
        .all(|byte| byte.is_ascii_digit() || byte == b'.')
}

/// Numbers with units, one after the other.
fn units(text: &str) -> Option<i128> {
    let mut rest = text;
    let mut total = 0i128;
    while !rest.is_empty() {
        let digits = rest.find(|c: char| !c.is_ascii_digit() && c != '.')?;
        let (value, tail) = rest.split_at_checked(digits)?;
        let letters = tail
            .find(|c: char| c.is_ascii_digit() || c == '.')
            .unwrap_or(tail.len());
        let (unit, tail) = tail.split_at_checked(letters)?;
        total = total.checked_add(decimal(value, nanos_of(unit)?)?)?;
        rest = tail;
    }
    Some(total)
}

fn nanos_of(unit: &str) -> Option<i64> {
    Some(match unit {
        "ns" => 1,
        "us" | "µs" => 1_000,
        "ms" => 1_000_000,
        "s" => NANOS_PER_SEC,
        "m" | "min" => 60 * NANOS_PER_SEC,
        "h" => 3_600 * NANOS_PER_SEC,
        "d" => 86_400 * NANOS_PER_SEC,
        _ => return None,
    })
}

/// A decimal number times a unit, without rounding errors of floating point.
fn decimal(text: &str, unit: i64) -> Option<i128> {
    let (whole, fraction) = text.split_once('.').unwrap_or((text, ""));
    let digits = |part: &str| part.bytes().all(|byte| byte.is_ascii_digit());
    let empty = whole.is_empty() && fraction.is_empty();
    if empty || !digits(whole) || !digits(fraction) || fraction.len() > 18 {
        return None;
    }
    let number = |part: &str| -> Option<i128> {
        if part.is_empty() {
            return Some(0);
        }
        part.parse::<u64>().ok().map(i128::from)
    };
    let scale = 10i128.pow(u32::try_from(fraction.len()).ok()?);
    let part = number(fraction)? * i128::from(unit) / scale;
    // Below 2^64 times a day in nanoseconds: far from overflow.
    Some(number(whole)? * i128::from(unit) + part)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::string::ToString as _;

    #[test]
    fn a_text_that_is_not_a_duration_is_refused() {
        for wrong in [
            "",
            "-",
            ".",
            "s",
            "5 s",
            "1.2.3s",
            "1e3",
            "5x",
            "--5s",
            "5s-",
            "99999999999d",
            "inf",
        ] {
            assert_eq!(
                wrong.parse::<Duration>(),
                Err(TimeError::NotADuration),
                "{wrong}"
            );
        }
        for wrong in ["", "1s", "now", "9223372036.854775808", "."] {
            let time = wrong.parse::<Time<crate::kind::Ros>>();
            assert_eq!(time, Err(TimeError::NotATime), "{wrong}");
        }
    }

    #[test]
    fn units_add_up() {
        let parse = |text: &str| text.parse::<Duration>().map(Duration::nanos);
        assert_eq!(parse("1d2h3min4s5ms6us7ns"), Ok(93_784_005_006_007));
        assert_eq!(parse("0.5µs"), Ok(500));
        assert_eq!(parse(".5"), Ok(500_000_000));
        assert_eq!(parse("2."), Ok(2_000_000_000));
        assert_eq!(parse("0.9ns"), Ok(0));
    }

    proptest! {
        #[test]
        fn displayed_values_parse_back(nanos in any::<i64>()) {
            let duration = Duration::from_nanos(nanos);
            prop_assert_eq!(duration.to_string().parse(), Ok(duration));
            let time = Time::<crate::kind::Ros>::from_nanos(nanos);
            prop_assert_eq!(time.to_string().parse(), Ok(time));
        }

        #[test]
        fn no_text_panics(text in ".{0,40}") {
            let _duration = text.parse::<Duration>();
            let _time = text.parse::<Time<crate::kind::Ros>>();
        }
    }
}
