//! From tree to text, in the block style of yaml-cpp, which rosbag2 uses.

use super::Node;

/// Writes a tree in the block style of yaml-cpp; no newline at the end, as rosbag2 does.
pub fn emit(node: &Node) -> String {
    let mut out = String::new();
    match node {
        Node::Map(entries) if !entries.is_empty() => map(&mut out, entries, 0),
        Node::Sequence(items) if !items.is_empty() => sequence(&mut out, items, 0),
        other => inline(&mut out, other),
    }
    out
}

/// Appends the entries of a map whose first key is already in place, `depth` characters into its line.
pub(crate) fn emit_map_at(out: &mut String, entries: &[(String, Node)], depth: usize) {
    map(out, entries, depth);
}

fn indent(out: &mut String, depth: usize) {
    for _ in 0..depth {
        out.push(' ');
    }
}

fn map(out: &mut String, entries: &[(String, Node)], depth: usize) {
    for (place, (key, value)) in entries.iter().enumerate() {
        if place > 0 {
            out.push('\n');
            indent(out, depth);
        }
        emit_text(out, key);
        out.push(':');
        match value {
            Node::Map(inner) if !inner.is_empty() => {
                out.push('\n');
                indent(out, depth + 2);
                map(out, inner, depth + 2);
            }
            Node::Sequence(items) => {
                out.push('\n');
                indent(out, depth + 2);
                if items.is_empty() {
                    out.push_str("[]");
                } else {
                    sequence(out, items, depth + 2);
                }
            }
            other => {
                out.push(' ');
                inline(out, other);
            }
        }
    }
}

fn sequence(out: &mut String, items: &[Node], depth: usize) {
    for (place, item) in items.iter().enumerate() {
        if place > 0 {
            out.push('\n');
            indent(out, depth);
        }
        out.push_str("- ");
        match item {
            Node::Map(inner) if !inner.is_empty() => map(out, inner, depth + 2),
            Node::Sequence(inner) if !inner.is_empty() => sequence(out, inner, depth + 2),
            other => inline(out, other),
        }
    }
}

fn inline(out: &mut String, node: &Node) {
    match node {
        Node::Plain(text) if text.is_empty() => out.push('~'),
        Node::Plain(text) if plain_is_safe(text) => out.push_str(text),
        Node::Plain(text) => quoted(out, text),
        Node::Text(text) => emit_text(out, text),
        Node::Sequence(_) => out.push_str("[]"),
        Node::Map(_) => out.push_str("{}"),
    }
}

/// Appends a string: plain if every YAML reader returns the same string, else in double quotes.
pub(crate) fn emit_text(out: &mut String, text: &str) {
    if plain_is_safe(text) && !looks_typed(text) {
        out.push_str(text);
    } else {
        quoted(out, text);
    }
}

fn plain_is_safe(text: &str) -> bool {
    let bytes = text.as_bytes();
    let (Some(first), Some(last)) = (bytes.first(), bytes.last()) else {
        return false;
    };
    let starts_well = match first {
        b'-' | b'?' | b':' => {
            bytes.get(1).is_some_and(|next| !next.is_ascii_whitespace()) && *first == b'-'
        }
        b',' | b'[' | b']' | b'{' | b'}' | b'#' | b'&' | b'*' | b'!' | b'|' | b'>' | b'\''
        | b'"' | b'%' | b'@' | b'`' | b' ' => false,
        _ => true,
    };
    starts_well
        && !matches!(last, b' ' | b':')
        && !text.starts_with("---")
        && !text.starts_with("...")
        && is_one_line(text)
}

/// Whether nothing inside of a plain text ends it: no control characters, no `: ` and no ` #`. In one pass, because
/// saved accounts are written while messages arrive.
fn is_one_line(text: &str) -> bool {
    let mut before = 0;
    for byte in text.bytes() {
        if byte.is_ascii_control() || matches!((before, byte), (b':', b' ') | (b' ', b'#')) {
            return false;
        }
        before = byte;
    }
    text.is_ascii()
        || text.chars().all(|c| {
            !c.is_control() && !matches!(c, '\u{feff}' | '\u{85}' | '\u{2028}' | '\u{2029}')
        })
}

/// Whether some YAML reader takes this plain text for a null, a boolean or a number.
fn looks_typed(text: &str) -> bool {
    // Names are neither: no typed word is longer, and no number begins with a letter.
    let longest_word = "-.inf".len();
    let first = text.as_bytes().first().copied().unwrap_or_default();
    if text.len() > longest_word && (first.is_ascii_alphabetic() || first == b'/') {
        return false;
    }
    let lower = text.to_ascii_lowercase();
    let word = matches!(
        lower.as_str(),
        "~" | "null"
            | "true"
            | "false"
            | "yes"
            | "no"
            | "on"
            | "off"
            | "y"
            | "n"
            | "<<"
            | "="
            | ".inf"
            | "-.inf"
            | "+.inf"
            | ".nan"
    );
    let numeric = lower.starts_with(|c: char| c.is_ascii_digit() || matches!(c, '-' | '+' | '.'))
        && lower.chars().all(|c| {
            c.is_ascii_hexdigit()
                || matches!(c, '-' | '+' | '.' | '_' | ':' | 'x' | 'o' | ' ' | 't' | 'z')
        });
    word || numeric
}

fn quoted(out: &mut String, text: &str) {
    out.push('"');
    for c in text.chars() {
        match c {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            '\t' => out.push_str("\\t"),
            '\r' => out.push_str("\\r"),
            c if c.is_control() || matches!(c, '\u{feff}' | '\u{85}' | '\u{2028}' | '\u{2029}') => {
                let code = format!("\\u{:04x}", u32::from(c));
                out.push_str(&code);
            }
            c => out.push(c),
        }
    }
    out.push('"');
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::yaml::parse;
    use proptest::prelude::*;

    fn tree() -> impl Strategy<Value = Node> {
        let leaf = prop_oneof![
            any::<String>().prop_map(Node::Text),
            "[ -~]{0,12}".prop_map(Node::Text),
            Just(Node::null())
        ];
        leaf.prop_recursive(4, 40, 5, |inner| {
            prop_oneof![
                proptest::collection::vec(inner.clone(), 0..5).prop_map(Node::Sequence),
                proptest::collection::vec(("[ -~]{1,8}", inner), 1..5).prop_map(Node::Map),
            ]
        })
    }

    /// The same tree without styles, for a comparison of values.
    fn values(node: &Node) -> Node {
        match node {
            Node::Plain(text) if !matches!(text.as_str(), "~" | "") => Node::Text(text.clone()),
            Node::Sequence(items) => Node::Sequence(items.iter().map(values).collect()),
            Node::Map(entries) => Node::Map(
                entries
                    .iter()
                    .map(|(k, v)| (k.clone(), values(v)))
                    .collect(),
            ),
            other => other.clone(),
        }
    }

    proptest! {
        #[test]
        fn emitted_yaml_parses_to_the_same_values(node in tree()) {
            let text = emit(&node);
            let back = parse(&text).unwrap();
            prop_assert_eq!(values(&back), values(&node), "{}", text);
        }
    }

    #[test]
    fn words_that_yaml_1_1_would_turn_into_booleans_are_quoted() {
        for word in [
            "no",
            "on",
            "1_000",
            "1e5",
            "0x1F",
            "",
            "2024-01-02",
            "12:30:45",
            "~",
            ".5",
        ] {
            assert!(emit(&Node::text(word)).starts_with('"'), "{word}");
        }
        for word in [
            "jazzy",
            "/imu/data",
            "sensor_msgs/msg/Imu",
            "RIHS01_ab",
            "lab_run_0.mcap",
        ] {
            assert_eq!(emit(&Node::text(word)), word);
        }
    }

    #[test]
    fn the_layout_equals_that_of_yaml_cpp() {
        let text = "a:\n  []\nb:\n  - c: 1\n    d:\n      e: 2\n  - f\ng: \"\"\nh: ~";
        assert_eq!(emit(&parse(text).unwrap()), text);
    }
}
