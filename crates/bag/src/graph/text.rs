//! A graph as YAML, with tables for repeated values: types and `QoS` profiles.

use timeloom_msg::QosProfile;
use timeloom_msg::qos::{QosSpelling, parse_profiles, profiles_to_yaml};

use super::{EndpointRole, GRAPH_NAME, GRAPH_VERSION, GraphEndpoint, RobotGraph};
use crate::metadata::qos_text;
use crate::yaml::{self, Node};
use crate::{Error, Result};

pub(super) fn emit(graph: &RobotGraph) -> String {
    let mut types = Table::default();
    let mut profiles = Table::default();
    let endpoints = graph.endpoints().map(|endpoint| {
        let kind = types.place((endpoint.type_name.as_str(), endpoint.type_hash.as_str()));
        let mut entries = vec![
            ("id".to_owned(), Node::text(&endpoint.id)),
            ("node".to_owned(), Node::text(&endpoint.node)),
            (endpoint.role.name().to_owned(), Node::text(&endpoint.topic)),
            ("type".to_owned(), Node::number(kind)),
            ("qos".to_owned(), Node::number(profiles.place(endpoint.qos))),
            ("appeared".to_owned(), Node::number(endpoint.appeared_ns)),
        ];
        if let Some(gone) = endpoint.vanished_ns {
            entries.push(("vanished".to_owned(), Node::number(gone)));
        }
        Node::Map(entries)
    });
    let endpoints = Node::Sequence(endpoints.collect());
    let types = types.0.into_iter().map(|(name, hash)| {
        Node::Map(vec![
            ("name".to_owned(), Node::text(name)),
            ("hash".to_owned(), Node::text(hash)),
        ])
    });
    let profiles = profiles_to_yaml(&profiles.0, QosSpelling::Names);
    yaml::emit(&Node::Map(vec![
        ("version".to_owned(), Node::number(GRAPH_VERSION)),
        ("types".to_owned(), Node::Sequence(types.collect())),
        ("qos".to_owned(), qos_text::to_node(&profiles)),
        ("endpoints".to_owned(), endpoints),
    ]))
}

pub(super) fn parse(text: &str) -> Result<RobotGraph> {
    let document = yaml::parse(text)?;
    let version: u32 = number(&document, "version")?;
    if version > GRAPH_VERSION {
        return Err(wrong(format!(
            "has version {version}, and only versions up to {GRAPH_VERSION} are known: use a later Timeloom"
        )));
    }
    let list = |key: &str| document.get(key).and_then(Node::as_sequence);
    let types = list("types").unwrap_or_default();
    let profiles = document.get("qos").map(yaml::emit).unwrap_or_default();
    let profiles = parse_profiles(&profiles).map_err(|error| wrong(error.to_string()))?;
    let endpoints = list("endpoints").unwrap_or_default().iter();
    endpoints
        .map(|entry| endpoint(entry, types, &profiles))
        .collect()
}

fn endpoint(entry: &Node, types: &[Node], profiles: &[QosProfile]) -> Result<GraphEndpoint> {
    let text = |node: &Node, key: &str| {
        let value = node.get(key).and_then(Node::as_str);
        value.map(str::to_owned).unwrap_or_default()
    };
    let role = EndpointRole::ALL
        .into_iter()
        .find(|role| entry.get(role.name()).is_some())
        .ok_or_else(|| wrong("has an endpoint without a role"))?;
    let kind: usize = number(entry, "type")?;
    let kind = types
        .get(kind)
        .ok_or_else(|| wrong(format!("has no type {kind}")))?;
    let qos: usize = number(entry, "qos")?;
    let qos = profiles
        .get(qos)
        .ok_or_else(|| wrong(format!("has no qos profile {qos}")))?;
    let gone = entry.get("vanished").map(|_| number(entry, "vanished"));
    Ok(GraphEndpoint {
        id: text(entry, "id"),
        node: text(entry, "node"),
        role,
        topic: text(entry, role.name()),
        type_name: text(kind, "name"),
        type_hash: text(kind, "hash"),
        qos: *qos,
        appeared_ns: number(entry, "appeared")?,
        vanished_ns: gone.transpose()?,
    })
}

fn number<T: std::str::FromStr>(node: &Node, key: &str) -> Result<T> {
    let value = node.get(key).and_then(Node::as_str);
    let value = value.and_then(|text| text.parse().ok());
    value.ok_or_else(|| wrong(format!("has no number under the key {key}")))
}

fn wrong(reason: impl Into<String>) -> Error {
    Error::metadata(GRAPH_NAME, reason)
}

/// Values without repetitions, in the order of their first occurrence.
struct Table<T>(Vec<T>);

impl<T> Default for Table<T> {
    fn default() -> Self {
        Self(Vec::new())
    }
}

impl<T: PartialEq> Table<T> {
    fn place(&mut self, value: T) -> usize {
        self.0
            .iter()
            .position(|known| *known == value)
            .unwrap_or_else(|| {
                self.0.push(value);
                self.0.len() - 1
            })
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::robot::RobotState as _;

    prop_compose! {
        fn endpoints()(
            id in "[0-9a-f]{32}",
            node in "(|/[a-z/ :#'\"\\PC]{0,12})",
            role in 0..4_usize,
            topic in "/[a-z:# \\PC]{0,12}",
            kind in 0..3_usize,
            depth in 0..3_u64,
            appeared_ns: i64,
            vanished_ns: Option<i64>,
        ) -> GraphEndpoint {
            GraphEndpoint {
                id,
                node,
                role: EndpointRole::ALL[role],
                topic,
                type_name: format!("a/msg/T{kind}"),
                type_hash: ["", "RIHS01_00", "RIHS01_01"][kind].into(),
                qos: QosProfile { depth, ..QosProfile::SENSOR_DATA },
                appeared_ns,
                vanished_ns,
            }
        }
    }

    proptest! {
        #[test]
        fn a_graph_reads_back(endpoints in prop::collection::vec(endpoints(), 0..20)) {
            let graph: RobotGraph = endpoints.into_iter().collect();
            prop_assert_eq!(RobotGraph::parse(&graph.to_yaml()).unwrap(), graph);
        }

        #[test]
        fn a_broken_text_is_an_error_and_no_panic(at in 0..2000_usize, byte: u8) {
            let mut text = example().as_bytes().to_vec();
            let length = text.len();
            text[at % length] = byte;
            if let Ok(text) = String::from_utf8(text) {
                let _read = RobotGraph::parse(&text);
            }
        }
    }

    /// One publisher.
    fn example() -> String {
        let lidar = GraphEndpoint {
            id: "01".into(),
            node: "/lidar".into(),
            role: EndpointRole::Publisher,
            topic: "/scan".into(),
            type_name: "a/msg/T".into(),
            type_hash: String::new(),
            qos: QosProfile::SENSOR_DATA,
            appeared_ns: 7,
            vanished_ns: None,
        };
        RobotGraph::from_iter([lidar]).to_yaml()
    }

    #[test]
    fn unknown_keys_are_skipped() {
        let graph =
            RobotGraph::parse(&example().replace("appeared: 7", "appeared: 7\n    colour: red"))
                .unwrap();
        let lidar = graph.endpoint("01").unwrap();
        assert_eq!(
            (&*lidar.node, &*lidar.topic, lidar.qos.depth),
            ("/lidar", "/scan", 5)
        );
    }

    #[test]
    fn invalid_graph_texts_are_errors_with_a_reason() {
        for (from, to, reason) in [
            ("version: 1", "version: 2", "use a later Timeloom"),
            ("version: 1", "colour: 1", "key version"),
            ("type: 0", "type: 1", "no type 1"),
            ("qos: 0", "qos: 9", "no qos profile 9"),
            ("publisher:", "poet:", "without a role"),
            ("appeared: 7", "appeared: x", "key appeared"),
        ] {
            let error = RobotGraph::parse(&example().replace(from, to)).unwrap_err();
            assert!(error.to_string().contains(reason), "{error}");
        }
    }
}
