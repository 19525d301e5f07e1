//! What was published, for each topic.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::Path;

use serde_json::{Value as Json, json};

/// What became of the messages of one topic.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct Entry {
    /// How many the middleware took; their numbers count from 0.
    pub(super) published: u64,
    pub(super) bytes: u64,
    /// How many it refused, because a reliable receiver was too slow for too long. They were never sent.
    pub(super) refused: u64,
}

/// The entries by topic, and how the load went.
#[derive(Debug, Clone, PartialEq, Default)]
pub(crate) struct Ledger {
    pub(super) topics: BTreeMap<String, Entry>,
    /// From the first message to the last.
    pub(super) seconds: f64,
    /// How much later than planned a message was sent at worst.
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

    /// How many were published on each topic, from a file that holds [`to_json`](Self::to_json).
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
        let width = self.topics.keys().map(String::len).max().unwrap_or(0);
        let width = width.max(5);
        let mut text = format!(
            "{:<width$} {:>12} {:>16} {:>8}\n",
            "topic", "published", "bytes", "refused"
        );
        let total = ("total".to_owned(), self.total());
        let total = std::iter::once((&total.0, &total.1));
        for (name, entry) in self.topics.iter().chain(total) {
            let line = writeln!(
                text,
                "{name:<width$} {:>12} {:>16} {:>8}",
                entry.published, entry.bytes, entry.refused
            );
            // Writing to a string does not fail.
            line.unwrap_or_default();
        }
        text
    }
}
