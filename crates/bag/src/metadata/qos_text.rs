//! The two spellings of offered `QoS` profiles: numbers before version 9, names since.

use crate::yaml::{self, Node};

/// The profiles as rosbag2 writes them since version 9: a list with names for the policies.
///
/// Text that is not a list of maps is kept as a string.
pub(crate) fn to_node(text: &str) -> Node {
    if text.is_empty() {
        return Node::Sequence(Vec::new());
    }
    match yaml::parse(text) {
        Ok(Node::Sequence(profiles)) => Node::Sequence(profiles.into_iter().map(named).collect()),
        _ => Node::text(text),
    }
}

fn named(profile: Node) -> Node {
    let Node::Map(entries) = profile else {
        return profile;
    };
    Node::Map(
        entries
            .into_iter()
            .map(|(key, value)| policy(key, value))
            .collect(),
    )
}

/// The names of a policy by their numbers.
fn names(key: &str) -> &'static [&'static str] {
    match key {
        "history" => &["system_default", "keep_last", "keep_all", "unknown"],
        "reliability" => &[
            "system_default",
            "reliable",
            "best_effort",
            "unknown",
            "best_available",
        ],
        "durability" => &[
            "system_default",
            "transient_local",
            "volatile",
            "unknown",
            "best_available",
        ],
        "liveliness" => &[
            "system_default",
            "automatic",
            "manual_by_node",
            "manual_by_topic",
            "unknown",
            "best_available",
        ],
        _ => &[],
    }
}

fn policy(key: String, value: Node) -> (String, Node) {
    let name = value
        .as_str()
        .and_then(|text| text.parse::<usize>().ok())
        .and_then(|code| names(&key).get(code));
    let value = name.map_or(value, |name| Node::Plain((*name).to_owned()));
    (key, value)
}

/// The profiles as rosbag2 writes them before version 9: a text with numbers for the policies.
///
/// Text that is not a list of maps is kept as it is.
pub(crate) fn with_numbers(text: &str) -> String {
    let Ok(Node::Sequence(profiles)) = yaml::parse(text) else {
        return text.to_owned();
    };
    let numbered = profiles.into_iter().map(|profile| match profile {
        Node::Map(entries) => Node::Map(entries.into_iter().map(number).collect()),
        other => other,
    });
    yaml::emit(&Node::Sequence(numbered.collect()))
}

fn number((key, value): (String, Node)) -> (String, Node) {
    let names = names(&key);
    let code = value
        .as_str()
        .and_then(|text| names.iter().position(|name| *name == text));
    let value = code.map_or(value, Node::number);
    (key, value)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_become_names_and_the_rest_stays() {
        let node = to_node(
            "- history: 1\n  depth: 10\n  reliability: 2\n  durability: 1\n  liveliness: 1",
        );
        assert_eq!(
            yaml::emit(&node),
            "- history: keep_last\n  depth: 10\n  reliability: best_effort\n  durability: transient_local\n  liveliness: automatic"
        );
        let text = "- history: keep_last\n  depth: 10\n  reliability: best_effort\n  durability: volatile\n  lifespan:\n    sec: 1\n    nsec: 2";
        assert_eq!(
            with_numbers(text),
            "- history: 1\n  depth: 10\n  reliability: 2\n  durability: 2\n  lifespan:\n    sec: 1\n    nsec: 2"
        );
        assert_eq!(with_numbers("not a list"), "not a list");
        assert_eq!(to_node(""), Node::Sequence(vec![]));
        assert_eq!(to_node("[]"), Node::Sequence(vec![]));
        assert_eq!(to_node("not a list"), Node::text("not a list"));
    }
}
