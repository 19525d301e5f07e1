use timeloom_time::Duration;

/// Parses a duration: `80ms`, `1.5s`, `200us`, `2min`, `7ns`, `0`.
///
/// # Errors
/// The reason as text.
pub fn parse_span(text: &str) -> Result<Duration, String> {
    let text = text.trim();
    let wrong = || format!("{text:?} is not a duration (examples: 80ms, 1.5s, 200us)");
    if text == "0" {
        return Ok(Duration::ZERO);
    }
    let start = text
        .find(|letter: char| !letter.is_ascii_digit() && !matches!(letter, '.' | '-' | '+'))
        .ok_or_else(wrong)?;
    let (number, unit) = text.split_at(start);
    let number: f64 = number.parse().map_err(|_invalid| wrong())?;
    let seconds = match unit.trim() {
        "ns" => 1e-9,
        "us" | "µs" => 1e-6,
        "ms" => 1e-3,
        "s" => 1.0,
        "min" => 60.0,
        _ => return Err(wrong()),
    };
    Duration::try_from_secs_f64(number * seconds).ok_or_else(wrong)
}

/// Formats nanoseconds with three digits and a unit.
pub fn span_text(nanos: u64) -> String {
    timeloom_text::duration(i64::try_from(nanos).unwrap_or(i64::MAX))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spans_are_read_and_written() {
        let nanos = |text| parse_span(text).map(Duration::nanos);
        assert_eq!(nanos("80ms"), Ok(80_000_000));
        assert_eq!(nanos(" 1.5 s "), Ok(1_500_000_000));
        assert_eq!(nanos("200us"), Ok(200_000));
        assert_eq!(nanos("-3ms"), Ok(-3_000_000));
        assert_eq!(nanos("0"), Ok(0));
        for wrong in ["", "80", "ms", "soon", "1e400s", "1.2.3ms", "5 parsecs"] {
            assert!(nanos(wrong).is_err(), "{wrong}");
        }
        let texts = [
            0,
            999,
            1_000,
            12_345,
            123_456,
            7_890_000,
            80_000_000,
            4_200_000_000,
        ];
        let texts = texts.map(span_text);
        assert_eq!(
            texts,
            [
                "0 ns", "999 ns", "1.00 µs", "12.3 µs", "123 µs", "7.89 ms", "80.0 ms", "4.20 s"
            ]
        );
    }
}
