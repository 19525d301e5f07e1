//! Times as people write them.

use std::str::FromStr;

use jiff::civil::{Date, DateTime, Time};
use jiff::tz::TimeZone;
use jiff::{Timestamp, ToSpan as _};

/// A time as it was typed; where it lies is known once the bag is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum TimeArgument {
    /// After the start of the bag, in nanoseconds: `+10s`.
    FromStart(i64),
    /// Before the end of the bag, in nanoseconds: `-10s`.
    BeforeEnd(i64),
    /// Nanoseconds since the epoch, or of simulated time.
    Absolute(i64),
    /// A time of day in the local zone, on the day of the bag.
    OfDay(Time),
    /// A date and time in the local zone.
    Local(DateTime),
}

impl TimeArgument {
    /// The time in nanoseconds, for a bag from `start_ns` to `end_ns`; `None` beyond what 64 bits hold.
    pub(crate) fn resolve(self, start_ns: i64, end_ns: i64, zone: &TimeZone) -> Option<i64> {
        match self {
            Self::FromStart(offset) => start_ns.checked_add(offset),
            Self::BeforeEnd(offset) => end_ns.checked_sub(offset),
            Self::Absolute(time) => Some(time),
            Self::Local(time) => nanoseconds(time, zone),
            Self::OfDay(time) => {
                let start = Timestamp::from_nanosecond(start_ns.into()).ok()?;
                let day = start.to_zoned(zone.clone()).date();
                let same = nanoseconds(day.to_datetime(time), zone)?;
                // A recording that runs past midnight continues on the next day.
                let next = day
                    .checked_add(1.day())
                    .ok()
                    .and_then(|day| nanoseconds(day.to_datetime(time), zone));
                Some(
                    next.filter(|next| same < start_ns && *next <= end_ns)
                        .unwrap_or(same),
                )
            }
        }
    }
}

fn nanoseconds(time: DateTime, zone: &TimeZone) -> Option<i64> {
    let time = time.to_zoned(zone.clone()).ok()?.timestamp();
    i64::try_from(time.as_nanosecond()).ok()
}

impl FromStr for TimeArgument {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let text = text.trim();
        let parsed = if let Some(offset) = text.strip_prefix('+') {
            span(offset).map(Self::FromStart)
        } else if let Some(offset) = text.strip_prefix('-') {
            span(offset).map(Self::BeforeEnd)
        } else {
            number(text).map(Self::Absolute).or_else(|| calendar(text))
        };
        parsed.ok_or_else(|| {
            "expected +10s or +1m30s (after the start), -10s (before the end), 14:03:07, 2026-11-15T08:58:51.9, \
             an RFC 3339 time, seconds since the epoch such as 1794733131.5, or nanoseconds such as 1794733131500000000"
                .into()
        })
    }
}

/// A date, a time, or both; with an offset it needs no zone.
fn calendar(text: &str) -> Option<TimeArgument> {
    if let Ok(time) = text.parse::<Timestamp>() {
        return i64::try_from(time.as_nanosecond())
            .ok()
            .map(TimeArgument::Absolute);
    }
    if !text.contains('-') {
        return text
            .contains(':')
            .then(|| text.parse().ok().map(TimeArgument::OfDay))?;
    }
    let date = || {
        text.parse::<Date>()
            .ok()
            .map(|date| date.to_datetime(Time::midnight()))
    };
    text.parse::<DateTime>()
        .ok()
        .or_else(date)
        .map(TimeArgument::Local)
}

/// Seconds with an optional fraction; integers with as many digits as nanoseconds of this century have are those.
fn number(text: &str) -> Option<i64> {
    if let Some(digits) = text.strip_suffix("ns") {
        return digits.parse().ok();
    }
    let text = text.strip_suffix('s').unwrap_or(text);
    let (whole, _) = text.split_once('.').unwrap_or((text, ""));
    match whole.len() {
        0..=11 => seconds(text),
        // Milliseconds and microseconds would be a guess.
        12..=17 => None,
        _ => text.parse().ok(),
    }
}

/// A decimal number of seconds without a sign, in nanoseconds.
fn seconds(text: &str) -> Option<i64> {
    if text.starts_with('-') {
        return None;
    }
    let time: timeloom_time::Time = text.parse().ok()?;
    Some(time.nanos())
}

/// A duration such as `1m30s`, `2.5s`, `250ms` or plain seconds, without a sign; in nanoseconds.
pub(crate) fn span(text: &str) -> Option<i64> {
    if text.starts_with('-') {
        return None;
    }
    text.parse().ok().map(timeloom_time::Duration::nanos)
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: i64 = 1_000_000_000;
    /// The golden bag `mcap_plain`.
    const START: i64 = 1_794_733_131_923_572_955;
    const END: i64 = 1_794_733_136_040_299_199;

    fn resolved(text: &str, zone: &TimeZone) -> Option<i64> {
        text.parse::<TimeArgument>().ok()?.resolve(START, END, zone)
    }

    #[test]
    fn every_spelling_gives_its_time() {
        for (text, expected) in [
            ("+10s", START + 10 * SECOND),
            ("+1m30s", START + 90 * SECOND),
            ("+2.5", START + 2_500_000_000),
            ("+250ms", START + 250_000_000),
            ("-1s", END - SECOND),
            ("08:58:53", 1_794_733_133 * SECOND),
            ("08:58:53.25", 1_794_733_133 * SECOND + 250_000_000),
            ("2026-11-15T08:58:51.9", 1_794_733_131_900_000_000),
            ("2026-11-15 08:58:51.9", 1_794_733_131_900_000_000),
            ("2026-11-15", 1_794_700_800 * SECOND),
            ("2026-11-15T08:58:51.9Z", 1_794_733_131_900_000_000),
            ("2026-11-15T09:58:51.9+01:00", 1_794_733_131_900_000_000),
            ("1794733131.923572955", START),
            ("1794733132", 1_794_733_132 * SECOND),
            ("1794733131923572955", START),
            ("12.5", 12_500_000_000),
            ("1500ns", 1500),
        ] {
            assert_eq!(resolved(text, &TimeZone::UTC), Some(expected), "{text}");
        }
    }

    #[test]
    fn invalid_times_are_refused() {
        for text in [
            "",
            "+",
            "-",
            "+10x",
            "+1s2",
            "soon",
            "25:00:00",
            "2026-13-01",
            "1794733131923",
            "1.2.3",
            ".",
            "+.",
            "1e9",
        ] {
            assert!(text.parse::<TimeArgument>().is_err(), "{text}");
        }
        assert_eq!(resolved("+400000d", &TimeZone::UTC), None);
    }

    #[test]
    fn a_time_of_day_is_local_and_follows_the_bag_past_midnight() {
        let zone = TimeZone::fixed(jiff::tz::offset(9));
        assert_eq!(resolved("17:58:53", &zone), Some(1_794_733_133 * SECOND));
        let start = resolved("23:59:00", &zone).unwrap();
        let time: TimeArgument = "00:01:00".parse().unwrap();
        assert_eq!(
            time.resolve(start, start + 300 * SECOND, &zone),
            Some(start + 120 * SECOND)
        );
        assert_eq!(
            time.resolve(start, start + 60 * SECOND, &zone),
            Some(start + 120 * SECOND - 86_400 * SECOND)
        );
    }
}
