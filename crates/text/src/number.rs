//! Counts, rates and shares.

/// A number with commas between thousands: `1,234,567`.
pub fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let mut text = String::with_capacity(digits.len() * 4 / 3);
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// A count with its noun: `1 message`, `2,000 messages`, `3 latencies`.
pub fn counted(number: u64, noun: &str) -> String {
    let count = grouped(number);
    match noun.strip_suffix('y') {
        _ if number == 1 => format!("{count} {noun}"),
        // `day` and `key` take an s.
        Some(stem) if !stem.ends_with(['a', 'e', 'o', 'u']) => format!("{count} {stem}ies"),
        _ => format!("{count} {noun}s"),
    }
}

/// A rate in hertz, without the unit: `0.50`, `40.0`, `1000`.
pub fn hertz(rate: f64) -> String {
    match rate {
        _ if rate >= 999.5 => format!("{rate:.0}"),
        _ if rate >= 9.995 => format!("{rate:.1}"),
        _ => format!("{rate:.2}"),
    }
}

/// A share in percent: `25.53 %`. Only zero is printed as 0 %, and only the whole as 100 %.
pub fn percent(value: f64) -> String {
    if value > 0.0 && value < 0.01 {
        return "<0.01 %".into();
    }
    if (99.995..100.0).contains(&value) {
        return ">99.99 %".into();
    }
    format!("{value:.2} %")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn thousands_have_commas() {
        let numbers = [0, 999, 1000, 1_234_567].map(grouped);
        assert_eq!(numbers, ["0", "999", "1,000", "1,234,567"]);
    }

    #[test]
    fn nouns_have_their_plural() {
        assert_eq!(counted(1, "message"), "1 message");
        assert_eq!(counted(2000, "file"), "2,000 files");
        assert_eq!(counted(0, "reply"), "0 replies");
        assert_eq!(counted(1, "reply"), "1 reply");
        assert_eq!(counted(3, "day"), "3 days");
    }

    #[test]
    fn rates_have_three_digits() {
        let rates = [0.5, 40.0, 640.04, 1000.0].map(hertz);
        assert_eq!(rates, ["0.50", "40.0", "640.0", "1000"]);
    }

    #[test]
    fn percentages_are_not_rounded_to_0_or_100() {
        let texts = [0.0, 0.001, 0.05, 25.53, 99.997, 100.0].map(percent);
        let expected = [
            "0.00 %", "<0.01 %", "0.05 %", "25.53 %", ">99.99 %", "100.00 %",
        ];
        assert_eq!(texts, expected);
    }
}
