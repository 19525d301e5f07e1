//! A fast path for the YAML that rosbag2 and this crate write: block maps and sequences whose scalars are on one line.

use super::Node;
use super::parse::MAX_DEPTH;

/// A longer line is left to the complete parser, which has bounds of its own for keys.
const MAX_LINE: usize = 1000;
/// A longer text is left to the complete parser, which bounds the number of values.
const MAX_LINES: usize = 1_000_000;

/// Parses a text if it is of this form and without doubt means the same to every YAML reader; `None` leaves it to the
/// complete parser, which takes ten times as long. Errors are also left to it.
pub(super) fn parse(text: &str) -> Option<Node> {
    let mut parser = BlockParser {
        lines: lines(text)?,
        at: 0,
    };
    let first = parser.lines.first()?.indent;
    let node = parser.node(first, 0)?;
    (parser.at == parser.lines.len() && first == 0).then_some(node)
}

/// The lines of a text; `None` if one is empty, long, or not of plain characters. Looks at each byte once.
fn lines(text: &str) -> Option<Vec<Line<'_>>> {
    let mut lines = Vec::with_capacity((text.len() / 32).min(MAX_LINES));
    let mut rest = text;
    while !rest.is_empty() {
        let end = rest.bytes().position(|byte| !(b' '..=b'~').contains(&byte));
        let (line, tail) = rest.split_at_checked(end.unwrap_or(rest.len()))?;
        rest = match tail {
            "" => "",
            _ => tail.strip_prefix('\r').unwrap_or(tail).strip_prefix('\n')?,
        };
        let indent = line.bytes().position(|byte| byte != b' ')?;
        if line.len() > MAX_LINE || lines.len() >= MAX_LINES {
            return None;
        }
        let text = line.get(indent..)?;
        lines.push(Line { indent, text });
    }
    Some(lines)
}

/// A line without its indentation.
#[derive(Clone, Copy)]
struct Line<'t> {
    indent: usize,
    text: &'t str,
}

struct BlockParser<'t> {
    lines: Vec<Line<'t>>,
    at: usize,
}

impl<'t> BlockParser<'t> {
    fn line(&self) -> Option<Line<'t>> {
        self.lines.get(self.at).copied()
    }

    /// The map or sequence at this indentation.
    fn node(&mut self, indent: usize, depth: usize) -> Option<Node> {
        if depth >= MAX_DEPTH {
            return None;
        }
        let first = self.line()?;
        let node = if first.text.starts_with("- ") {
            Node::Sequence(self.items(indent, depth)?)
        } else if let Some(empty) = empty(first.text) {
            self.at += 1;
            empty
        } else {
            Node::Map(self.entries(indent, depth)?)
        };
        // Deeper lines would continue a scalar, or are an error.
        let goes_on = self.line().is_some_and(|line| line.indent > indent);
        (!goes_on).then_some(node)
    }

    fn entries(&mut self, indent: usize, depth: usize) -> Option<Vec<(String, Node)>> {
        let mut entries = Vec::with_capacity(8);
        while let Some(line) = self.line().filter(|line| line.indent == indent) {
            if line.text.starts_with("- ") {
                return None;
            }
            let (key, value) = key_and_value(line.text)?;
            self.at += 1;
            let value = if value.is_empty() {
                let inner = self.line().filter(|inner| inner.indent > indent)?;
                self.node(inner.indent, depth + 1)?
            } else {
                scalar(value)?
            };
            entries.push((key.to_owned(), value));
        }
        (!entries.is_empty()).then_some(entries)
    }

    fn items(&mut self, indent: usize, depth: usize) -> Option<Vec<Node>> {
        let mut items = Vec::new();
        while let Some(line) = self.line().filter(|line| line.indent == indent) {
            let item = line.text.strip_prefix("- ")?;
            let is_block = item.starts_with("- ") || key_and_value(item).is_some();
            items.push(if is_block {
                // The rest of the line is the first line of the item.
                *self.lines.get_mut(self.at)? = Line {
                    indent: indent + 2,
                    text: item,
                };
                self.node(indent + 2, depth + 1)?
            } else {
                self.at += 1;
                scalar(item)?
            });
        }
        Some(items)
    }
}

fn empty(text: &str) -> Option<Node> {
    match text {
        "[]" => Some(Node::Sequence(Vec::new())),
        "{}" => Some(Node::Map(Vec::new())),
        _ => None,
    }
}

/// A plain key and the text behind it.
fn key_and_value(text: &str) -> Option<(&str, &str)> {
    let is_of_key =
        |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'/' | b'.' | b'-');
    let end = text.bytes().position(|byte| !is_of_key(byte))?;
    let (key, rest) = text.split_at_checked(end)?;
    let begins = key.bytes().next()?;
    let value = match rest.strip_prefix(':')? {
        "" => "",
        value => value.strip_prefix(' ')?,
    };
    (begins.is_ascii_alphanumeric() || matches!(begins, b'_' | b'/')).then_some((key, value))
}

fn scalar(text: &str) -> Option<Node> {
    if let Some(node) = empty(text) {
        return Some(node);
    }
    if let Some(quoted) = text.strip_prefix('"') {
        return unquoted(quoted).map(Node::Text);
    }
    is_plain(text).then(|| Node::Plain(text.to_owned()))
}

/// The text before the closing quote, which must be the last character.
fn unquoted(quoted: &str) -> Option<String> {
    let inner = quoted.strip_suffix('"')?;
    let mut text = String::with_capacity(inner.len());
    let mut rest = inner.chars();
    while let Some(next) = rest.next() {
        text.push(match next {
            '"' => return None,
            '\\' => match rest.next()? {
                'n' => '\n',
                same @ ('"' | '\\') => same,
                _ => return None,
            },
            other => other,
        });
    }
    Some(text)
}

/// Whether a text is a plain scalar that ends with it.
fn is_plain(text: &str) -> bool {
    let bytes = text.as_bytes();
    let begins_well = match bytes {
        [b'-', next, ..] => next.is_ascii_alphanumeric() || *next == b'.',
        [first, ..] => {
            first.is_ascii_alphanumeric() || matches!(first, b'_' | b'/' | b'.' | b'+' | b'~')
        }
        [] => false,
    };
    begins_well
        && !text.starts_with("...")
        && !matches!(bytes.last(), Some(b' ' | b':'))
        && !bytes.windows(2).any(|pair| matches!(pair, b": " | b" #"))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::parse::parse_complete;
    use super::*;
    use crate::yaml::emit;

    #[test]
    fn what_rosbag2_and_this_crate_write_is_of_this_form() {
        let bags = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../testdata/bags");
        let mut fast = 0;
        for bag in std::fs::read_dir(bags).unwrap() {
            let path = bag.unwrap().path().join("metadata.yaml");
            let Ok(text) = std::fs::read_to_string(path) else {
                continue;
            };
            let complete = parse_complete(&text);
            if let Some(node) = parse(&text) {
                assert_eq!(node, complete.unwrap());
                fast += 1;
            }
        }
        assert!(fast > 5, "{fast}");
    }

    #[test]
    fn scalars_over_several_lines_are_left_to_the_complete_parser() {
        for text in [
            "a: b\n  c",
            "- a\n  b",
            "a:\n  b\n  c",
            "a: |\n  b",
            "a:\n- b",
            "a: b # c",
            "a: 'b'",
            "a: [b]",
            "a:",
            "---\na: b",
            "a: b\n\nc: d",
            "a: \"b\\x41\"",
            "a: b: c",
            " a: b",
        ] {
            assert_eq!(parse(text), None, "{text:?}");
        }
    }

    fn trees() -> impl Strategy<Value = Node> {
        let text = prop_oneof![
            "[a-z_/]{1,8}",
            "[ -~]{0,8}",
            "-?[0-9.]{1,6}",
            "[a-z:# \"\\\\\n]{0,6}"
        ];
        let leaf = prop_oneof![
            text.clone().prop_map(Node::Plain),
            text.clone().prop_map(Node::Text)
        ];
        leaf.prop_recursive(4, 24, 4, move |inner| {
            prop_oneof![
                proptest::collection::vec(inner.clone(), 0..4).prop_map(Node::Sequence),
                proptest::collection::vec((text.clone(), inner), 0..4).prop_map(Node::Map),
            ]
        })
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(2000))]

        /// Also for texts that were changed at random: a text that is accepted here means the same to both parsers.
        #[test]
        fn both_parsers_agree(
            tree in trees(),
            changes in proptest::collection::vec((any::<proptest::sample::Index>(), "[ -~\n]{0,2}"), 0..4),
        ) {
            let mut text = emit(&tree);
            for (at, new) in changes {
                let at = at.index(text.len() + 1);
                if text.is_char_boundary(at) {
                    text.insert_str(at, &new);
                }
            }
            if let Some(node) = parse(&text) {
                let complete = parse_complete(&text);
                prop_assert_eq!(Some(node), complete.ok(), "{:?}", text);
            }
        }
    }
}
