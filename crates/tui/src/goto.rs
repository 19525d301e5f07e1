//! Parses a time to seek to.

use timeloom_time::{Duration, Ros, Time};

/// A place in a bag: `90`, `1:30`, `1:02:03.5` since the beginning, `+5` and `-5` from here, `50%`.
pub(crate) fn place(
    text: &str,
    now: Time<Ros>,
    (start, end): (Time<Ros>, Time<Ros>),
) -> Option<Time<Ros>> {
    let text = text.trim().trim_end_matches('s');
    let place = if let Some(percent) = text.strip_suffix('%') {
        let share = percent
            .trim()
            .parse::<f64>()
            .ok()
            .filter(|share| (0.0..=100.0).contains(share))?;
        part(share / 100.0, (start, end))
    } else if let Some(forward) = text.strip_prefix('+') {
        now.saturating_add(clock_text(forward)?)
    } else if let Some(back) = text.strip_prefix('-') {
        now.saturating_add(Duration::from_nanos(-clock_text(back)?.nanos()))
    } else {
        start.saturating_add(clock_text(text)?)
    };
    Some(place.clamp(start, end.max(start)))
}

/// A share of the way from the beginning to the end.
pub(crate) fn part(share: f64, (start, end): (Time<Ros>, Time<Ros>)) -> Time<Ros> {
    let length = end.checked_since(start).unwrap_or_default();
    let seconds = length.as_secs_f64() * share;
    start.saturating_add(Duration::try_from_secs_f64(seconds).unwrap_or_default())
}

/// `90`, `1:30`, `1:02:03.5`.
fn clock_text(text: &str) -> Option<Duration> {
    let mut seconds = 0.0;
    let mut parts = 0;
    for piece in text.split(':') {
        let value = piece
            .parse::<f64>()
            .ok()
            .filter(|value| value.is_finite() && *value >= 0.0)?;
        seconds = seconds * 60.0 + value;
        parts += 1;
    }
    (parts <= 3).then_some(())?;
    Duration::try_from_secs_f64(seconds)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(text: &str) -> Option<i64> {
        let second = |seconds: i64| Time::from_nanos(seconds * 1_000_000_000);
        let place = place(text, second(1050), (second(1000), second(1200)))?;
        Some(place.nanos() / 1_000_000_000 - 1000)
    }

    #[test]
    fn places() {
        assert_eq!(at("90"), Some(90));
        assert_eq!(at(" 1:30 "), Some(90));
        assert_eq!(at("90s"), Some(90));
        assert_eq!(at("+5"), Some(55));
        assert_eq!(at("-5"), Some(45));
        assert_eq!(at("50%"), Some(100));
    }

    #[test]
    fn times_are_clamped_to_the_range() {
        assert_eq!(at("1:00:00"), Some(200));
        assert_eq!(at("-500"), Some(0));
    }

    #[test]
    fn invalid_times_are_refused() {
        for text in ["", "x", "1:2:3:4", "NaN", "101%", "1:-5", "inf"] {
            assert_eq!(at(text), None, "{text}");
        }
    }
}
