//! Text from outside on a terminal.

use std::borrow::Cow;

/// Text that a terminal only prints: escape sequences and other control characters, which names of topics and nodes may
/// hold, are shown as `\x1b`. Line breaks and tabs stay.
pub(crate) fn plain_text(text: &str) -> Cow<'_, str> {
    if !text.contains(is_command) {
        return Cow::Borrowed(text);
    }
    let mut plain = String::with_capacity(text.len() + 16);
    for letter in text.chars() {
        if is_command(letter) {
            let code = u32::from(letter);
            let shown = match code {
                0..=0xff => format!("\\x{code:02x}"),
                _ => format!("\\u{{{code:x}}}"),
            };
            plain.push_str(&shown);
        } else {
            plain.push(letter);
        }
    }
    Cow::Owned(plain)
}

/// Control characters, and those that change the direction of a line.
fn is_command(letter: char) -> bool {
    let is_control = letter.is_control() && !matches!(letter, '\n' | '\t');
    let is_direction = matches!(letter, '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}');
    is_control || is_direction
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commands_of_a_terminal_are_shown() {
        assert_eq!(plain_text("/a → /b\n\tc"), "/a → /b\n\tc");
        assert_eq!(plain_text("/a\x1b[31m\x07\r"), "/a\\x1b[31m\\x07\\x0d");
        assert_eq!(plain_text("/\u{9b}2J\u{202e}x"), "/\\x9b2J\\u{202e}x");
    }
}
