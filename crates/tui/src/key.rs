//! Keys, from the bytes that a terminal sends for them.

/// A key of the keyboard.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Key {
    /// A letter, digit or sign; the space bar too.
    Char(char),
    Up,
    Down,
    Left,
    Right,
    Home,
    End,
    PageUp,
    PageDown,
    Delete,
    Enter,
    Tab,
    Backspace,
    Escape,
}

/// The longest sequence of one key; what is longer is none that we know.
const LONGEST: usize = 16;

/// Turns bytes into keys; the bytes of one key may come in pieces.
#[derive(Debug, Default)]
pub(crate) struct KeyParser {
    pending: Vec<u8>,
}

/// What the bytes so far are.
enum Step {
    /// A key, or none that we know, of so many bytes.
    Whole(Option<Key>, usize),
    /// The beginning of something.
    Part,
}

impl KeyParser {
    /// The keys that are complete with these bytes.
    pub(crate) fn feed(&mut self, bytes: &[u8]) -> Vec<Key> {
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

    /// Whether a key has begun: a lone Escape is one only when nothing follows it.
    pub(crate) fn has_part(&self) -> bool {
        !self.pending.is_empty()
    }

    /// Nothing follows: a lone Escape was the key itself, another beginning is dropped.
    pub(crate) fn end(&mut self) -> Option<Key> {
        let lone = self.pending == [0x1b];
        self.pending.clear();
        lone.then_some(Key::Escape)
    }
}

fn step(bytes: &[u8]) -> Step {
    match bytes {
        [0x1b] | [0x1b, b'[' | b'O'] => Step::Part,
        [0x1b, b'[', rest @ ..] => control_sequence(rest),
        [0x1b, b'O', last, ..] => Step::Whole(arrow(*last), 3),
        [b'\r' | b'\n', ..] => Step::Whole(Some(Key::Enter), 1),
        [b'\t', ..] => Step::Whole(Some(Key::Tab), 1),
        [0x7f | 0x08, ..] => Step::Whole(Some(Key::Backspace), 1),
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
        (b"1" | b"7", Some(b'~')) => Some(Key::Home),
        (b"4" | b"8", Some(b'~')) => Some(Key::End),
        (b"3", Some(b'~')) => Some(Key::Delete),
        (b"5", Some(b'~')) => Some(Key::PageUp),
        (b"6", Some(b'~')) => Some(Key::PageDown),
        (b"", Some(last)) => arrow(*last),
        _ => None,
    };
    Step::Whole(key, 2 + end + 1)
}

fn arrow(last: u8) -> Option<Key> {
    Some(match last {
        b'A' => Key::Up,
        b'B' => Key::Down,
        b'C' => Key::Right,
        b'D' => Key::Left,
        b'H' => Key::Home,
        b'F' => Key::End,
        b'M' => Key::Enter,
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
        Some(char) => Step::Whole(Some(Key::Char(char)), char.len_utf8()),
        None => Step::Part,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn keys(bytes: &[u8]) -> Vec<Key> {
        KeyParser::default().feed(bytes)
    }

    #[test]
    fn letters_and_the_space_bar() {
        assert_eq!(
            keys("s é€".as_bytes()),
            [
                Key::Char('s'),
                Key::Char(' '),
                Key::Char('é'),
                Key::Char('€')
            ]
        );
    }

    #[test]
    fn arrows_in_both_modes_of_a_terminal() {
        assert_eq!(
            keys(b"\x1b[A\x1b[B\x1b[C\x1b[D\x1bOA\x1bOD"),
            [
                Key::Up,
                Key::Down,
                Key::Right,
                Key::Left,
                Key::Up,
                Key::Left
            ]
        );
        assert_eq!(
            keys(b"\x1b[H\x1b[4~\x1b[5~\x1b[6~\x1b[3~"),
            [Key::Home, Key::End, Key::PageUp, Key::PageDown, Key::Delete]
        );
    }

    #[test]
    fn a_key_in_pieces_is_one_key() {
        let mut parser = KeyParser::default();
        assert_eq!(parser.feed(b"\x1b"), []);
        assert!(parser.has_part());
        assert_eq!(parser.feed(b"["), []);
        assert_eq!(parser.feed(b"A"), [Key::Up]);
        assert!(!parser.has_part());
        let euro = "€".as_bytes();
        assert_eq!(parser.feed(&euro[..1]), []);
        assert_eq!(parser.feed(&euro[1..]), [Key::Char('€')]);
    }

    #[test]
    fn escape_alone_is_a_key() {
        let mut parser = KeyParser::default();
        assert_eq!(parser.feed(b"\x1b"), []);
        assert_eq!(parser.end(), Some(Key::Escape));
        assert_eq!(parser.feed(b"q"), [Key::Char('q')]);
    }

    #[test]
    fn what_is_unknown_is_left_out_and_the_next_key_is_not() {
        // F5, Ctrl-right, a mouse report, a broken character, Alt-x.
        assert_eq!(keys(b"\x1b[15~ "), [Key::Char(' ')]);
        assert_eq!(keys(b"\x1b[1;5Cn"), [Key::Char('n')]);
        assert_eq!(keys(b"\xff\xfea"), [Key::Char('a')]);
        assert_eq!(keys(b"\x1bx"), [Key::Char('x')]);
        assert_eq!(keys(b"\x01\x02b"), [Key::Char('b')]);
    }

    #[test]
    fn an_endless_sequence_is_dropped() {
        let mut parser = KeyParser::default();
        for _ in 0..1000 {
            assert_eq!(parser.feed(b"\x1b[000000000000000000"), []);
            assert!(parser.pending.len() < 2 * LONGEST, "bounded");
            parser.end();
        }
        assert_eq!(parser.feed(b"a"), [Key::Char('a')]);
    }
}
