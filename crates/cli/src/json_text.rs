//! JSON and numbers as text, where no library is needed.

use std::fmt::Write as _;

/// A string as JSON, quotes included.
pub(crate) fn string(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}

/// Indents JSON that stands on one line; numbers and strings stay as they are, to the digit.
pub(crate) fn indented(json: &str) -> String {
    let mut text = String::with_capacity(json.len() * 2);
    let (mut depth, mut quoted, mut escaped) = (0usize, false, false);
    let mut letters = json.chars().peekable();
    while let Some(letter) = letters.next() {
        if quoted {
            text.push(letter);
            quoted = escaped || letter != '"';
            escaped = !escaped && letter == '\\';
            continue;
        }
        match letter {
            '"' => {
                quoted = true;
                text.push('"');
            }
            '{' | '[' => {
                text.push(letter);
                if let Some(close) = letters.next_if(|next| matches!(next, '}' | ']')) {
                    text.push(close);
                } else {
                    depth += 1;
                    line(&mut text, depth);
                }
            }
            '}' | ']' => {
                depth = depth.saturating_sub(1);
                line(&mut text, depth);
                text.push(letter);
            }
            ',' => {
                text.push(',');
                line(&mut text, depth);
            }
            ':' => text.push_str(": "),
            _ => text.push(letter),
        }
    }
    text
}

fn line(text: &mut String, depth: usize) {
    text.push('\n');
    text.extend(std::iter::repeat_n("  ", depth));
}

/// A number with commas between thousands.
pub(crate) fn grouped(number: u64) -> String {
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

/// A count with its noun, such as `1 message` or `2,000 messages`.
pub(crate) fn counted(number: u64, noun: &str) -> String {
    let mut text = grouped(number);
    let plural = if number == 1 { "" } else { "s" };
    // Writing to a string cannot fail.
    let _ok = write!(text, " {noun}{plural}");
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn json_is_indented_and_unchanged_otherwise() {
        let json = r#"{"a":[1,{}],"b":"x,\"{y\\","c":[],"d":18446744073709551615}"#;
        let expected = "{\n  \"a\": [\n    1,\n    {}\n  ],\n  \"b\": \"x,\\\"{y\\\\\",\n  \"c\": [],\n  \"d\": 18446744073709551615\n}";
        assert_eq!(indented(json), expected);
        let same = |text: &str| serde_json::from_str::<serde_json::Value>(text).unwrap();
        assert_eq!(same(json), same(&indented(json)));
    }

    #[test]
    fn thousands_have_commas() {
        assert_eq!(
            (grouped(0), grouped(999), grouped(1000), grouped(1_234_567)),
            ("0".into(), "999".into(), "1,000".into(), "1,234,567".into())
        );
        assert_eq!(
            (counted(1, "message"), counted(2000, "file")),
            ("1 message".into(), "2,000 files".into())
        );
    }
}
