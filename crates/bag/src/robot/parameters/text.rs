//! The parameters as YAML: one line for each value, changes after the first one in a list of their own.

use timeloom_msg::ParameterValue;

use super::{NodeParameters, ParameterEntry, RobotParameter, RobotParameters, StatePart, VERSION};
use crate::yaml::{self, Node};
use crate::{Error, Result};

/// The value of a parameter that was deleted.
const DELETED: &str = "deleted";

pub(super) fn emit(robot: &RobotParameters) -> String {
    let nodes = robot.nodes.iter().map(|(name, node)| {
        let mut entries = vec![
            ("node".to_owned(), Node::text(name)),
            ("asked".to_owned(), Node::number(node.asked_ns)),
        ];
        if let Some(reason) = &node.unanswered {
            entries.push(("unanswered".to_owned(), Node::text(reason)));
        }
        if let Some(gone) = node.gone_ns {
            entries.push(("gone".to_owned(), Node::number(gone)));
        }
        entries.extend(values(node));
        Node::Map(entries)
    });
    yaml::emit(&Node::Map(vec![
        ("version".to_owned(), Node::number(VERSION)),
        ("nodes".to_owned(), Node::Sequence(nodes.collect())),
    ]))
}

/// `values` are those of the time at which the node was asked, `changes` all others.
fn values(node: &NodeParameters) -> Vec<(String, Node)> {
    let (mut values, mut changes) = (Vec::new(), Vec::new());
    let (mut read_only, mut descriptions) = (Vec::new(), Vec::new());
    for (name, parameter) in &node.parameters {
        let mut is_first = true;
        for entry in &parameter.history {
            let value = entry.value.as_ref();
            let value = value.map_or_else(|| DELETED.to_owned(), ParameterValue::to_typed_text);
            if std::mem::take(&mut is_first) && entry.time_ns == node.asked_ns {
                values.push((name.clone(), Node::text(value)));
            } else {
                changes.push(Node::Map(vec![
                    ("time".to_owned(), Node::number(entry.time_ns)),
                    ("name".to_owned(), Node::text(name)),
                    ("value".to_owned(), Node::text(value)),
                ]));
            }
        }
        if parameter.read_only {
            read_only.push(Node::text(name));
        }
        if !parameter.description.is_empty() {
            descriptions.push((name.clone(), Node::text(&parameter.description)));
        }
    }
    let mut entries = Vec::new();
    if !values.is_empty() {
        entries.push(("values".to_owned(), Node::Map(values)));
    }
    if !changes.is_empty() {
        entries.push(("changes".to_owned(), Node::Sequence(changes)));
    }
    if !read_only.is_empty() {
        entries.push(("read_only".to_owned(), Node::Sequence(read_only)));
    }
    if !descriptions.is_empty() {
        entries.push(("descriptions".to_owned(), Node::Map(descriptions)));
    }
    entries
}

pub(super) fn parse(text: &str) -> Result<RobotParameters> {
    let document = yaml::parse(text)?;
    let version = number(&document, "version")?;
    if version > i64::from(VERSION) {
        return Err(wrong(format!(
            "has version {version}, and only versions up to {VERSION} are known: use a later Timeloom"
        )));
    }
    let nodes = document.get("nodes").and_then(Node::as_sequence);
    let nodes = nodes.unwrap_or_default().iter().map(|entry| {
        let name = text_of(entry, "node").ok_or_else(|| wrong("has a node without a name"))?;
        Ok((name, node(entry)?))
    });
    Ok(RobotParameters {
        nodes: nodes.collect::<Result<_>>()?,
    })
}

fn node(entry: &Node) -> Result<NodeParameters> {
    let gone = entry.get("gone").map(|_| number(entry, "gone"));
    let mut node = NodeParameters {
        asked_ns: number(entry, "asked")?,
        unanswered: text_of(entry, "unanswered"),
        gone_ns: gone.transpose()?,
        ..NodeParameters::default()
    };
    let map = |key: &str| entry.get(key).and_then(Node::as_map).unwrap_or_default();
    let list = |key: &str| entry.get(key).and_then(Node::as_sequence);
    for (name, text) in map("values") {
        let time_ns = node.asked_ns;
        let value = value(name, text.as_str())?;
        node.add(name, ParameterEntry { time_ns, value });
    }
    for change in list("changes").unwrap_or_default() {
        let name = text_of(change, "name").ok_or_else(|| wrong("has a change without a name"))?;
        let time_ns = number(change, "time")?;
        let value = value(&name, change.get("value").and_then(Node::as_str))?;
        node.add(&name, ParameterEntry { time_ns, value });
    }
    let mut parameter = |name: &str, set: &dyn Fn(&mut RobotParameter)| {
        set(node.parameters.entry(name.to_owned()).or_default());
    };
    for name in list("read_only").unwrap_or_default() {
        parameter(name.as_str().unwrap_or_default(), &|it| it.read_only = true);
    }
    for (name, text) in map("descriptions") {
        let text = text.as_str().unwrap_or_default();
        parameter(name, &|it| text.clone_into(&mut it.description));
    }
    Ok(node)
}

fn value(name: &str, text: Option<&str>) -> Result<Option<ParameterValue>> {
    match text {
        Some(DELETED) => Ok(None),
        Some(text) => ParameterValue::from_typed_text(text)
            .map(Some)
            .ok_or_else(|| wrong(format!("has no value of parameter {name}: `{text}`"))),
        None => Err(wrong(format!("has no value of parameter {name}"))),
    }
}

fn text_of(node: &Node, key: &str) -> Option<String> {
    node.get(key).and_then(Node::as_str).map(str::to_owned)
}

fn number(node: &Node, key: &str) -> Result<i64> {
    let value = node.get(key).and_then(Node::as_str);
    let value = value.and_then(|text| text.parse().ok());
    value.ok_or_else(|| wrong(format!("has no number under the key {key}")))
}

fn wrong(reason: impl Into<String>) -> Error {
    Error::metadata(StatePart::Parameters.record_name(), reason)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::robot::RobotState as _;

    fn example() -> RobotParameters {
        let mut node = NodeParameters {
            asked_ns: 7,
            gone_ns: Some(30),
            ..NodeParameters::default()
        };
        let entry = |time_ns, value: Option<ParameterValue>| ParameterEntry { time_ns, value };
        node.add("frame: id", entry(7, Some("base \"link\"\n#".into())));
        node.add("rate", entry(7, Some(10_i64.into())));
        node.add("rate", entry(9, Some(0.5.into())));
        node.add("old", entry(8, None));
        let rate = node.parameters.get_mut("rate").unwrap();
        rate.read_only = true;
        rate.description = "per second".into();
        let silent = NodeParameters {
            asked_ns: 8,
            unanswered: Some("no answer within 3 s".into()),
            ..NodeParameters::default()
        };
        RobotParameters {
            nodes: [
                ("/a/talker".to_owned(), node),
                ("/silent".to_owned(), silent),
            ]
            .into(),
        }
    }

    #[test]
    fn parameters_read_back() {
        let text = example().to_yaml();
        assert_eq!(RobotParameters::parse(&text).unwrap(), example(), "{text}");
        assert!(text.contains("rate: integer 10"), "{text}");
    }

    #[test]
    fn invalid_texts_are_errors_with_a_reason() {
        for (from, to, reason) in [
            ("version: 1", "version: 2", "use a later Timeloom"),
            ("asked: 7", "asked: x", "key asked"),
            ("integer 10", "integer ten", "parameter rate"),
            ("node: /silent", "name: /silent", "node without a name"),
            ("time: 9", "time: x", "key time"),
        ] {
            let text = example().to_yaml();
            assert!(text.contains(from), "{text}");
            let error = RobotParameters::parse(&text.replace(from, to)).unwrap_err();
            assert!(error.to_string().contains(reason), "{error}");
            assert!(error.to_string().contains("timeloom.parameters"), "{error}");
        }
    }

    proptest! {
        #[test]
        fn names_and_values_of_any_kind_read_back(
            names in prop::collection::btree_map("\\PC{1,8}", ("\\PC{0,8}", 0..3_i64), 0..8),
        ) {
            let mut node = NodeParameters::default();
            for (name, (value, time_ns)) in &names {
                let value = Some(value.as_str().into());
                node.add(name, ParameterEntry { time_ns: *time_ns, value });
            }
            let robot = RobotParameters { nodes: [("/n".to_owned(), node)].into() };
            prop_assert_eq!(RobotParameters::parse(&robot.to_yaml()).unwrap(), robot);
        }

        #[test]
        fn a_broken_text_is_an_error_and_no_panic(at in 0..2000_usize, byte: u8) {
            let mut text = example().to_yaml().into_bytes();
            let length = text.len();
            text[at % length] = byte;
            if let Ok(text) = String::from_utf8(text) {
                let _read = RobotParameters::parse(&text);
            }
        }
    }
}
