//! The published messages of each topic.

use std::collections::BTreeMap;
use std::path::Path;

use serde_json::{Value as Json, json};
use timeloom_text::Table;

/// Counts of one topic.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct Entry {
    /// Number of messages that the middleware accepted; they are numbered from 0.
    pub(super) published: u64,
    pub(super) bytes: u64,
    /// Number of refused messages, because a reliable receiver was too slow for too long. They were never sent.
    pub(super) refused: u64,
}

/// The entries by topic, and statistics of the load.
#[derive(Debug, Clone, PartialEq, Default)]
pub(crate) struct Ledger {
    pub(super) topics: BTreeMap<String, Entry>,
    /// Time from the first message to the last.
    pub(super) seconds: f64,
    /// The largest lateness of a message.
    pub(super) latest_seconds: f64,
    /// Whether all reliable receivers have acknowledged everything.
    pub(super) acknowledged: bool,
}

impl Ledger {
    pub(super) fn total(&self) -> Entry {
        let mut total = Entry::default();
        for entry in self.topics.values() {
            total.published += entry.published;
            total.bytes += entry.bytes;
            total.refused += entry.refused;
        }
        total
    }

    pub(super) fn to_json(&self) -> Json {
        let entry = |entry: &Entry| json!({"published": entry.published, "bytes": entry.bytes, "refused": entry.refused});
        let topics = self
            .topics
            .iter()
            .map(|(name, of)| (name.clone(), entry(of)));
        json!({
            "seconds": self.seconds,
            "latest_seconds": self.latest_seconds,
            "acknowledged": self.acknowledged,
            "total": entry(&self.total()),
            "topics": topics.collect::<serde_json::Map<_, _>>(),
        })
    }

    /// Published messages by topic, from a file that holds [`to_json`](Self::to_json).
    pub(super) fn published(path: &Path) -> anyhow::Result<BTreeMap<String, u64>> {
        let wrong = |what: &str| anyhow::anyhow!("{}: {what}", path.display());
        let text = std::fs::read_to_string(path)
            .map_err(|error| wrong(&format!("cannot read: {error}")))?;
        let json: Json = serde_json::from_str(&text).map_err(|error| wrong(&error.to_string()))?;
        let topics = json.get("topics").and_then(Json::as_object);
        let topics = topics.ok_or_else(|| wrong("not a ledger of `timeloom-bench load`"))?;
        let mut published = BTreeMap::new();
        for (name, entry) in topics {
            let count = entry.get("published").and_then(Json::as_u64);
            let count = count.ok_or_else(|| wrong(&format!("{name} has no published count")))?;
            published.insert(name.clone(), count);
        }
        Ok(published)
    }

    pub(super) fn to_text(&self) -> String {
        let mut table = Table::new("", &["topic", "published", "bytes", "refused"]);
        let total = ("total".to_owned(), self.total());
        let total = std::iter::once((&total.0, &total.1));
        for (name, entry) in self.topics.iter().chain(total) {
            let counts = [entry.published, entry.bytes, entry.refused];
            table.row(std::iter::once(name.clone()).chain(counts.map(|count| count.to_string())));
        }
        table.text()
    }
}
