//! Durations, and times as seconds.

/// Three digits and a unit: `999 ns`, `12.3 µs`, `7.89 ms`, `4.20 s`.
pub fn duration(nanoseconds: i64) -> String {
    let sign = if nanoseconds < 0 { "-" } else { "" };
    let size = nanoseconds.unsigned_abs();
    let value = size as f64;
    let (value, unit) = match size {
        0..1_000 => return format!("{sign}{size} ns"),
        1_000..1_000_000 => (value / 1e3, "µs"),
        1_000_000..1_000_000_000 => (value / 1e6, "ms"),
        _ => (value / 1e9, "s"),
    };
    let digits = match value {
        ..10.0 => 2,
        10.0..100.0 => 1,
        _ => 0,
    };
    format!("{sign}{value:.digits$} {unit}")
}

/// A difference of two clocks, with its sign and to the microsecond: `-180.950 ms`, `+3600.000123 s`.
pub fn offset(nanoseconds: i64) -> String {
    let size = nanoseconds.unsigned_abs();
    if size < 10_000_000_000 {
        return format!("{:+.3} ms", nanoseconds as f64 / 1e6);
    }
    let sign = if nanoseconds < 0 { '-' } else { '+' };
    let (seconds, micros) = (size / 1_000_000_000, size / 1_000 % 1_000_000);
    format!("{sign}{seconds}.{micros:06} s")
}

/// Seconds with nine digits and without a unit: exact, which a float is not for times since 1970.
pub fn seconds(nanoseconds: i64) -> String {
    let sign = if nanoseconds < 0 { "-" } else { "" };
    let size = nanoseconds.unsigned_abs();
    format!("{sign}{}.{:09}", size / 1_000_000_000, size % 1_000_000_000)
}

/// A time since the beginning, with tenths: `02:03.4`, `1:02:03.4`.
pub fn elapsed(nanoseconds: i64) -> String {
    let tenths = nanoseconds / 100_000_000;
    let sign = if tenths < 0 { "-" } else { "" };
    let tenths = tenths.unsigned_abs();
    let (seconds, tenth) = (tenths / 10, tenths % 10);
    let (hours, minutes, seconds) = (seconds / 3600, seconds / 60 % 60, seconds % 60);
    if hours > 0 {
        format!("{sign}{hours}:{minutes:02}:{seconds:02}.{tenth}")
    } else {
        format!("{sign}{minutes:02}:{seconds:02}.{tenth}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn offsets_are_exact_to_the_microsecond() {
        assert_eq!(offset(-180_950_400), "-180.950 ms");
        assert_eq!(offset(0), "+0.000 ms");
        assert_eq!(offset(3_600_000_123_999), "+3600.000123 s");
        assert_eq!(offset(i64::MIN), "-9223372036.854775 s");
    }

    #[test]
    fn durations_have_three_digits() {
        let nanoseconds = [
            0,
            -999,
            1_000,
            12_345,
            123_456,
            -7_890_000,
            80_000_000,
            4_200_000_000,
        ];
        assert_eq!(
            nanoseconds.map(duration),
            [
                "0 ns", "-999 ns", "1.00 µs", "12.3 µs", "123 µs", "-7.89 ms", "80.0 ms", "4.20 s"
            ]
        );
    }

    #[test]
    fn seconds_are_exact() {
        assert_eq!(seconds(4_116_726_244), "4.116726244");
        assert_eq!(seconds(-1), "-0.000000001");
        assert_eq!(seconds(i64::MIN), "-9223372036.854775808");
    }

    #[test]
    fn elapsed_times_have_minutes() {
        assert_eq!(elapsed(0), "00:00.0");
        assert_eq!(elapsed(75_840_000_000), "01:15.8");
        assert_eq!(elapsed(3_723_460_000_000), "1:02:03.4");
        assert_eq!(elapsed(-1_500_000_000), "-00:01.5");
    }
}
