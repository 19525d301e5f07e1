//! Rules for names of topics, services, namespaces and nodes, as `rmw` and `rcl` enforce them.

use super::type_name::is_identifier;
use crate::{Error, Result};

/// Longest full topic name: DDS allows 255, and the prefix `rt` or `rq` takes the rest.
const MAX_TOPIC_NAME: usize = 247;
/// Longest namespace of a node.
const MAX_NAMESPACE: usize = 245;
/// Longest node name.
const MAX_NODE_NAME: usize = 255;

/// Checks a topic or service name in the syntax of users: absolute, relative or private (`~/x`), with `{node}`
/// substitutions.
pub fn validate_topic_name(name: &str) -> Result<()> {
    let fail = |reason| Err(invalid("topic name", name, reason));
    let rest = match name.strip_prefix('~') {
        Some("") => return Ok(()),
        Some(rest) if rest.starts_with('/') => rest,
        Some(_) => return fail("`~` must be followed by `/`"),
        None => name,
    };
    if rest.contains('~') {
        return fail("`~` is only allowed at the start");
    }
    let (plain, balanced) = strip_substitutions(rest);
    if !balanced {
        return fail("unbalanced or empty substitution `{}`");
    }
    check_tokens("topic name", name, &plain, Start::Anywhere)
}

/// Checks a fully qualified topic or service name, such as `/robot/scan`.
pub fn validate_full_topic_name(name: &str) -> Result<()> {
    if name.len() > MAX_TOPIC_NAME {
        return Err(invalid("topic name", name, "longer than 247 bytes"));
    }
    check_tokens("topic name", name, name, Start::Slash)
}

/// Checks a namespace: `/` alone, or an absolute name.
pub fn validate_namespace(name: &str) -> Result<()> {
    if name.len() > MAX_NAMESPACE {
        return Err(invalid("namespace", name, "longer than 245 bytes"));
    }
    if name == "/" {
        return Ok(());
    }
    check_tokens("namespace", name, name, Start::Slash)
}

/// Checks the base name of a node: letters, digits and underscores, not starting with a digit.
pub fn validate_node_name(name: &str) -> Result<()> {
    if name.len() > MAX_NODE_NAME {
        return Err(invalid("node name", name, "longer than 255 bytes"));
    }
    if name.contains('/') {
        return Err(invalid("node name", name, "must not contain `/`"));
    }
    check_tokens("node name", name, name, Start::Anywhere)
}

/// Whether `ros2 topic list` hides the name: some token starts with an underscore.
pub fn is_hidden(name: &str) -> bool {
    name.split('/').any(|token| token.starts_with('_'))
}

#[derive(Clone, Copy, PartialEq)]
enum Start {
    Anywhere,
    Slash,
}

fn check_tokens(what: &'static str, name: &str, text: &str, start: Start) -> Result<()> {
    let fail = |reason| Err(invalid(what, name, reason));
    if text.is_empty() {
        return fail("must not be empty");
    }
    if start == Start::Slash && !text.starts_with('/') {
        return fail("must start with `/`");
    }
    if text.ends_with('/') {
        return fail("must not end with `/`");
    }
    let tokens = text.strip_prefix('/').unwrap_or(text);
    for token in tokens.split('/') {
        if token.is_empty() {
            return fail("must not contain `//`");
        }
        if token.starts_with(|c: char| c.is_ascii_digit()) {
            return fail("a part must not start with a digit");
        }
        if !token
            .bytes()
            .all(|b| b.is_ascii_alphanumeric() || b == b'_')
        {
            return fail("only letters, digits, `_` and `/` are allowed");
        }
    }
    Ok(())
}

/// Replaces each `{word}` by `word`, and returns whether all braces were balanced and filled.
fn strip_substitutions(text: &str) -> (String, bool) {
    let mut plain = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(open) = rest.find(['{', '}']) {
        let (before, tail) = rest.split_at(open);
        plain.push_str(before);
        let Some((word, after)) = tail.strip_prefix('{').and_then(|t| t.split_once('}')) else {
            return (plain, false);
        };
        if !is_identifier(word) {
            return (plain, false);
        }
        plain.push_str(word);
        rest = after;
    }
    plain.push_str(rest);
    (plain, true)
}

pub(super) fn invalid(what: &'static str, name: &str, reason: &'static str) -> Error {
    Error::Name {
        what,
        name: name.to_owned(),
        reason,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn topic_names_as_users_write_them() {
        for good in [
            "chatter", "/chatter", "a/b", "~", "~/x", "/a/_b", "{node}/x", "/x{ns}", "a1",
        ] {
            assert_eq!(validate_topic_name(good), Ok(()), "{good}");
        }
        for bad in [
            "", "/", "a/", "a//b", "1a", "/a/2b", "a b", "~x", "a~", "{", "{}", "a}", "{a{b}}",
            "{a/b}", "ä",
        ] {
            assert!(validate_topic_name(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn full_names_start_with_a_slash_and_are_bounded() {
        assert!(validate_full_topic_name("/chatter").is_ok());
        assert!(validate_full_topic_name("chatter").is_err());
        assert!(validate_full_topic_name(&format!("/{}", "a".repeat(246))).is_ok());
        assert!(validate_full_topic_name(&format!("/{}", "a".repeat(247))).is_err());
    }

    #[test]
    fn node_names_and_namespaces() {
        assert!(validate_node_name("rosbag2_player").is_ok());
        assert!(validate_node_name("a/b").is_err());
        assert!(validate_node_name("9a").is_err());
        assert!(validate_namespace("/").is_ok());
        assert!(validate_namespace("/robot").is_ok());
        assert!(validate_namespace("robot").is_err());
    }

    #[test]
    fn the_message_names_the_name_and_the_rule() {
        let error = validate_topic_name("a//b").unwrap_err().to_string();
        assert_eq!(error, "invalid topic name `a//b`: must not contain `//`");
    }

    #[test]
    fn hidden_names() {
        assert!(is_hidden("/add_two_ints/_service_event"));
        assert!(is_hidden("/_x"));
        assert!(!is_hidden("/a_b"));
    }
}
