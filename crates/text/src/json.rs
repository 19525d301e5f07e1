//! JSON for people.

/// Indents JSON that stands on one line; numbers and strings stay as they are, to the digit.
pub fn indent_json(json: &str) -> String {
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn json_is_indented_and_unchanged_otherwise() {
        let json = r#"{"a":[1,{}],"b":"x,\"{y\\","c":[],"d":18446744073709551615}"#;
        let expected = "{\n  \"a\": [\n    1,\n    {}\n  ],\n  \"b\": \"x,\\\"{y\\\\\",\n  \"c\": [],\n  \"d\": 18446744073709551615\n}";
        assert_eq!(indent_json(json), expected);
    }
}
