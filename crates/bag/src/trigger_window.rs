//! The windows of a recording with triggers, as `record` writes them into the custom data of a bag.

use crate::yaml::{self, Node};

/// The key of the windows in the custom data.
pub const TRIGGER_WINDOWS_KEY: &str = "timeloom.trigger_windows";

/// A window of time that one or more triggers have put into a bag.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct TriggerWindow {
    /// Its number, from 1.
    pub number: u32,
    /// The file that it begins in.
    pub file: String,
    /// The log time of its begin.
    pub begin_ns: i64,
    /// The log time of its end.
    pub end_ns: i64,
    /// Why it ended: `complete`, `recording ended` or `clock jumped back`; empty while it is open.
    pub end: String,
    /// Messages of the time before the trigger that did not fit into memory.
    pub lost: u64,
    /// The triggers that fired in it, oldest first.
    pub firings: Vec<TriggerFiring>,
    /// Further firings that are not listed.
    pub more_firings: u64,
}

/// A trigger that fired.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct TriggerFiring {
    /// Its name.
    pub trigger: String,
    /// The log time.
    pub time_ns: i64,
    /// Its condition.
    pub condition: String,
    /// The observation.
    pub reason: String,
}

impl TriggerWindow {
    /// The windows in the custom data of a bag's metadata; empty if it has none.
    pub fn all(custom_data: &[(String, String)]) -> Vec<Self> {
        let text = custom_data
            .iter()
            .find(|(key, _)| key == TRIGGER_WINDOWS_KEY);
        text.map_or_else(Vec::new, |(_, text)| Self::parse_all(text))
    }

    /// Parses the value of [`TRIGGER_WINDOWS_KEY`]; invalid entries are skipped.
    pub fn parse_all(text: &str) -> Vec<Self> {
        let document = yaml::parse(text).ok();
        let windows = document
            .as_ref()
            .and_then(|document| document.get("windows"));
        let windows = windows.and_then(Node::as_sequence).unwrap_or_default();
        windows.iter().filter_map(Self::parse).collect()
    }

    fn parse(node: &Node) -> Option<Self> {
        let firings = node.get("firings").and_then(Node::as_sequence);
        let firings = firings.unwrap_or_default().iter();
        Some(Self {
            number: number(node, "window")?,
            file: text(node, "file"),
            begin_ns: number(node, "begin_ns")?,
            end_ns: number(node, "end_ns")?,
            end: text(node, "end"),
            lost: number(node, "lost").unwrap_or(0),
            firings: firings.filter_map(TriggerFiring::parse).collect(),
            more_firings: number(node, "more_firings").unwrap_or(0),
        })
    }

    /// The value of [`TRIGGER_WINDOWS_KEY`].
    pub fn to_text<'a>(windows: impl IntoIterator<Item = &'a Self>) -> String {
        let windows = windows.into_iter().map(Self::node).collect();
        yaml::emit(&Node::Map(vec![(
            "windows".to_owned(),
            Node::Sequence(windows),
        )]))
    }

    fn node(&self) -> Node {
        let firings = self.firings.iter().map(TriggerFiring::node).collect();
        map([
            ("window", Node::number(self.number)),
            ("file", Node::text(&self.file)),
            ("begin_ns", Node::number(self.begin_ns)),
            ("end_ns", Node::number(self.end_ns)),
            ("end", Node::text(&self.end)),
            ("lost", Node::number(self.lost)),
            ("firings", Node::Sequence(firings)),
            ("more_firings", Node::number(self.more_firings)),
        ])
    }
}

impl TriggerFiring {
    fn parse(node: &Node) -> Option<Self> {
        Some(Self {
            trigger: text(node, "trigger"),
            time_ns: number(node, "time_ns")?,
            condition: text(node, "condition"),
            reason: text(node, "reason"),
        })
    }

    fn node(&self) -> Node {
        map([
            ("trigger", Node::text(&self.trigger)),
            ("time_ns", Node::number(self.time_ns)),
            ("condition", Node::text(&self.condition)),
            ("reason", Node::text(&self.reason)),
        ])
    }
}

fn map<const N: usize>(entries: [(&str, Node); N]) -> Node {
    let entries = entries.into_iter();
    Node::Map(entries.map(|(key, node)| (key.to_owned(), node)).collect())
}

fn number<T: std::str::FromStr>(node: &Node, key: &str) -> Option<T> {
    node.get(key)?.as_str()?.parse().ok()
}

fn text(node: &Node, key: &str) -> String {
    let text = node.get(key).and_then(Node::as_str);
    text.unwrap_or_default().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn windows_are_read_as_they_were_written() {
        let window = TriggerWindow {
            number: 1,
            file: "drive_0.mcap".into(),
            begin_ns: -5,
            end_ns: 1_700_000_000_000_000_000,
            end: "complete".into(),
            lost: 3,
            firings: vec![TriggerFiring {
                trigger: "low".into(),
                time_ns: 7,
                condition: "/a.b == \"x: y\"".into(),
                reason: "/a.b is \"x: # y\"\nand 'more'".into(),
            }],
            more_firings: 0,
        };
        let open = TriggerWindow {
            number: 2,
            ..TriggerWindow::default()
        };
        let text = TriggerWindow::to_text([&window, &open]);
        let data = [(TRIGGER_WINDOWS_KEY.to_owned(), text)];
        assert_eq!(TriggerWindow::all(&data), [window, open]);
        assert_eq!(TriggerWindow::all(&[]), []);
        assert_eq!(TriggerWindow::parse_all("windows: [1, {window: x}]"), []);
    }
}
