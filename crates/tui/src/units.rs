//! Formats numbers.

use timeloom_time::Duration;

/// `12.3 MB`: at most eight characters.
pub(crate) fn bytes(count: f64) -> String {
    let mut value = count.max(0.0);
    for unit in ["B", "kB", "MB", "GB"] {
        if value < 999.5 {
            return match unit {
                "B" => format!("{value:.0} B"),
                _ if value < 99.95 => format!("{value:.1} {unit}"),
                _ => format!("{value:.0} {unit}"),
            };
        }
        value /= 1000.0;
    }
    format!("{value:.1} TB")
}

/// `640`, `40.0`, `0.50`: a rate in hertz.
pub(crate) fn hertz(rate: f64) -> String {
    match rate {
        _ if rate >= 999.5 => format!("{rate:.0}"),
        _ if rate >= 9.995 => format!("{rate:.1}"),
        _ => format!("{rate:.2}"),
    }
}

/// `1,234,567`.
pub(crate) fn count(number: u64) -> String {
    let digits = number.to_string();
    let mut text = String::with_capacity(digits.len() + digits.len() / 3);
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// `1:02:03.4`, `02:03.4`: a time since the beginning.
pub(crate) fn since(duration: Duration) -> String {
    let tenths = duration.nanos() / 100_000_000;
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
    fn sizes() {
        let texts: Vec<_> = [0.0, 999.0, 1000.0, 99_940.0, 123_456.0, 2.5e9, 7e13]
            .map(bytes)
            .into();
        assert_eq!(
            texts,
            [
                "0 B", "999 B", "1.0 kB", "99.9 kB", "123 kB", "2.5 GB", "70.0 TB"
            ]
        );
        assert_eq!(bytes(-3.0), "0 B");
    }

    #[test]
    fn rates_and_counts() {
        assert_eq!(
            [0.5, 40.0, 640.04, 1000.0].map(hertz),
            ["0.50", "40.0", "640.0", "1000"]
        );
        assert_eq!(
            [0, 999, 1000, 1_234_567].map(count),
            ["0", "999", "1,000", "1,234,567"]
        );
    }

    #[test]
    fn times_since_the_beginning() {
        let text = |seconds: f64| since(Duration::try_from_secs_f64(seconds).unwrap());
        assert_eq!(text(0.0), "00:00.0");
        assert_eq!(text(75.84), "01:15.8");
        assert_eq!(text(3723.46), "1:02:03.4");
        assert_eq!(text(-1.5), "-00:01.5");
    }
}
