use ratatui::crossterm::event::KeyCode;

/// The longest sequence of one key; longer ones are dropped.
const LONGEST: usize = 16;

/// Parses the bytes that a terminal sends for keys; the bytes of one key may come in pieces.
#[derive(Debug, Default)]
pub struct KeyParser {
    pending: Vec<u8>,
}

enum Step {
    /// A sequence of so many bytes, and its key if it is known.
    Whole(Option<KeyCode>, usize),
    /// An incomplete sequence.
    Part,
}

impl KeyParser {
    /// The keys that are complete with these bytes.
    pub fn feed(&mut self, bytes: &[u8]) -> Vec<KeyCode> {
        self.pending.extend_from_slice(bytes);
        let mut keys = Vec::new();
        while !self.pending.is_empty() {
            match step(&self.pending) {
                Step::Whole(key, length) => {
                    keys.extend(key);
                    self.pending.drain(..length);
                }
                Step::Part if self.pending.len() >= LONGEST => self.pending.clear(),
                Step::Part => break,
            }
        }
        keys
    }

    /// Whether a sequence is incomplete: a lone Escape is a key only if nothing follows.
    pub fn has_part(&self) -> bool {
        !self.pending.is_empty()
    }

    /// Ends an incomplete sequence: a lone Escape is the key, anything else is dropped.
    pub fn end(&mut self) -> Option<KeyCode> {
        let lone = self.pending == [0x1b];
        self.pending.clear();
        lone.then_some(KeyCode::Esc)
    }
}

fn step(bytes: &[u8]) -> Step {
    match bytes {
        [0x1b] | [0x1b, b'[' | b'O'] => Step::Part,
        [0x1b, b'[', rest @ ..] => control_sequence(rest),
        [0x1b, b'O', last, ..] => Step::Whole(arrow(*last), 3),
        [b'\r' | b'\n', ..] => Step::Whole(Some(KeyCode::Enter), 1),
        [b'\t', ..] => Step::Whole(Some(KeyCode::Tab), 1),
        [0x7f | 0x08, ..] => Step::Whole(Some(KeyCode::Backspace), 1),
        // Ctrl and a key: none. Alt and a key: the key alone.
        [0..=0x1f, ..] => Step::Whole(None, 1),
        _ => character(bytes),
    }
}

/// After `ESC [`: parameters, then a final byte.
fn control_sequence(rest: &[u8]) -> Step {
    let Some(end) = rest.iter().position(|byte| (0x40..=0x7e).contains(byte)) else {
        return Step::Part;
    };
    let (parameters, last) = rest.split_at(end);
    let key = match (parameters, last.first()) {
        (b"1" | b"7", Some(b'~')) => Some(KeyCode::Home),
        (b"4" | b"8", Some(b'~')) => Some(KeyCode::End),
        (b"3", Some(b'~')) => Some(KeyCode::Delete),
        (b"5", Some(b'~')) => Some(KeyCode::PageUp),
        (b"6", Some(b'~')) => Some(KeyCode::PageDown),
        (b"", Some(last)) => arrow(*last),
        _ => None,
    };
    Step::Whole(key, 2 + end + 1)
}

fn arrow(last: u8) -> Option<KeyCode> {
    Some(match last {
        b'A' => KeyCode::Up,
        b'B' => KeyCode::Down,
        b'C' => KeyCode::Right,
        b'D' => KeyCode::Left,
        b'H' => KeyCode::Home,
        b'F' => KeyCode::End,
        b'M' => KeyCode::Enter,
        _ => return None,
    })
}

/// One character of UTF-8.
fn character(bytes: &[u8]) -> Step {
    let piece = bytes.get(..4).unwrap_or(bytes);
    let valid = match std::str::from_utf8(piece) {
        Ok(text) => text,
        Err(error) if error.valid_up_to() == 0 => {
            return match error.error_len() {
                Some(length) => Step::Whole(None, length),
                None => Step::Part,
            };
        }
        Err(error) => std::str::from_utf8(piece.get(..error.valid_up_to()).unwrap_or_default())
            .unwrap_or_default(),
    };
    match valid.chars().next() {
        Some(char) => Step::Whole(Some(KeyCode::Char(char)), char.len_utf8()),
        None => Step::Part,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn keys(bytes: &[u8]) -> Vec<KeyCode> {
        KeyParser::default().feed(bytes)
    }

    #[test]
    fn letters_and_the_space_bar() {
        assert_eq!(
            keys("s é€".as_bytes()),
            [
                KeyCode::Char('s'),
                KeyCode::Char(' '),
                KeyCode::Char('é'),
                KeyCode::Char('€')
            ]
        );
    }

    #[test]
    fn arrows_in_both_modes_of_a_terminal() {
        assert_eq!(
            keys(b"\x1b[A\x1b[B\x1b[C\x1b[D\x1bOA\x1bOD"),
            [
                KeyCode::Up,
                KeyCode::Down,
                KeyCode::Right,
                KeyCode::Left,
                KeyCode::Up,
                KeyCode::Left
            ]
        );
        assert_eq!(
            keys(b"\x1b[H\x1b[4~\x1b[5~\x1b[6~\x1b[3~"),
            [
                KeyCode::Home,
                KeyCode::End,
                KeyCode::PageUp,
                KeyCode::PageDown,
                KeyCode::Delete
            ]
        );
    }

    #[test]
    fn a_key_in_pieces_is_one_key() {
        let mut parser = KeyParser::default();
        assert_eq!(parser.feed(b"\x1b"), []);
        assert!(parser.has_part());
        assert_eq!(parser.feed(b"["), []);
        assert_eq!(parser.feed(b"A"), [KeyCode::Up]);
        assert!(!parser.has_part());
        let euro = "€".as_bytes();
        assert_eq!(parser.feed(&euro[..1]), []);
        assert_eq!(parser.feed(&euro[1..]), [KeyCode::Char('€')]);
    }

    #[test]
    fn escape_alone_is_a_key() {
        let mut parser = KeyParser::default();
        assert_eq!(parser.feed(b"\x1b"), []);
        assert_eq!(parser.end(), Some(KeyCode::Esc));
        assert_eq!(parser.feed(b"q"), [KeyCode::Char('q')]);
    }

    #[test]
    fn unknown_sequences_are_skipped() {
        // F5, Ctrl-right, a mouse report, a broken character, Alt-x.
        assert_eq!(keys(b"\x1b[15~ "), [KeyCode::Char(' ')]);
        assert_eq!(keys(b"\x1b[1;5Cn"), [KeyCode::Char('n')]);
        assert_eq!(keys(b"\xff\xfea"), [KeyCode::Char('a')]);
        assert_eq!(keys(b"\x1bx"), [KeyCode::Char('x')]);
        assert_eq!(keys(b"\x01\x02b"), [KeyCode::Char('b')]);
    }

    #[test]
    fn an_endless_sequence_is_dropped() {
        let mut parser = KeyParser::default();
        for _ in 0..1000 {
            assert_eq!(parser.feed(b"\x1b[000000000000000000"), []);
            assert!(parser.pending.len() < 2 * LONGEST, "bounded");
            parser.end();
        }
        assert_eq!(parser.feed(b"a"), [KeyCode::Char('a')]);
    }
}
