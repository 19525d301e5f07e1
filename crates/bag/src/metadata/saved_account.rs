//! The account that a writer saves in a file while the file is open, so that it survives `kill -9`.

use std::fmt::Write as _;

use super::TopicRecord;
use super::read::{items, string};
use super::statistics_yaml::{
    BY_TIME, FOUND_AGAIN, INTERVAL, found_again, found_again_entry, missing_entries, statistics,
    timeline,
};
use crate::yaml::{self, Node};
use crate::{LossTimeline, MissingCause, Result, TopicInfo, TopicStatistics};

const TOPICS: &str = "topics_statistics";

/// The text of a saved account: YAML, written without a tree because it is written while messages arrive.
pub(crate) struct AccountText(String);

impl AccountText {
    pub(crate) fn new() -> Self {
        Self(format!("{TOPICS}:"))
    }

    /// Adds a topic whose account changed: all missing messages of the file so far, and the times of those since the
    /// last save.
    pub(crate) fn add(
        &mut self,
        topic: &TopicInfo,
        account: &TopicStatistics,
        since_saved: &LossTimeline,
        found_again: &TopicStatistics,
    ) {
        let out = &mut self.0;
        out.push_str("\n  - topic_name: ");
        yaml::emit_text(out, &topic.name);
        out.push_str("\n    type: ");
        yaml::emit_text(out, &topic.type_name);
        if account.messages_lost_in_transport > 0 {
            let lost = account.messages_lost_in_transport;
            // Writing to a string does not fail.
            let _ok = write!(out, "\n    messages_lost_in_transport: {lost}");
        }
        emit_entries(out, &missing_entries(account));
        if !since_saved.is_empty() {
            let width = since_saved.interval_seconds();
            let _ok = write!(out, "\n    {BY_TIME}:\n      {INTERVAL}: {width}");
            for (cause, text) in since_saved.to_texts() {
                let _ok = write!(out, "\n      {}: ", cause.name());
                yaml::emit_text(out, &text);
            }
        }
        emit_entries(out, found_again_entry(found_again).as_slice());
    }

    pub(crate) fn finish(self) -> String {
        self.0
    }
}

fn emit_entries(out: &mut String, entries: &[(String, Node)]) {
    if !entries.is_empty() {
        out.push_str("\n    ");
        yaml::emit_map_at(out, entries, 4);
    }
}

/// The saved accounts of a file, merged in their order.
#[derive(Default)]
pub(crate) struct SavedAccount {
    pub(crate) topics: Vec<TopicRecord>,
}

impl SavedAccount {
    /// Adds a later save: its counts replace earlier ones, its times are added.
    pub(crate) fn absorb(&mut self, text: &str) -> Result<()> {
        let document = yaml::parse(text)?;
        let Some(list) = document.get(TOPICS) else {
            return Ok(());
        };
        for item in items(list, TOPICS)? {
            let text = |key: &str| item.get(key).map_or(Ok(String::new()), |v| string(v, key));
            let (name, type_name) = (text("topic_name")?, text("type")?);
            let (counts, later) = (statistics(item)?, item.get(BY_TIME));
            let later = later.map(timeline).transpose()?.unwrap_or_default();
            let found = item.get(FOUND_AGAIN).map(found_again).transpose()?;
            let record = self.topic(&name, &type_name);
            record.timeline.merge(&later);
            record.statistics = Some(counts);
            record.found_again = found.unwrap_or_default();
            take_back_excess(record, &counts);
        }
        Ok(())
    }

    fn topic(&mut self, name: &str, type_name: &str) -> &mut TopicRecord {
        let same =
            |known: &TopicRecord| known.topic.name == name && known.topic.type_name == type_name;
        let at = self.topics.iter().position(same).unwrap_or_else(|| {
            let topic = TopicInfo::new(name, type_name);
            self.topics.push(TopicRecord::new(&topic));
            self.topics.len() - 1
        });
        &mut self.topics[at]
    }
}

/// A loss that was taken back lowers the count; its time is removed with it.
fn take_back_excess(record: &mut TopicRecord, counts: &TopicStatistics) {
    for cause in MissingCause::all() {
        let timed = record.timeline.total(cause);
        let excess = timed.saturating_sub(counts.missing(cause));
        record.timeline.take_back(cause, excess);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::TopicAccount;

    fn record(lost: u64, when: &[(i64, u64)]) -> TopicRecord {
        let mut account = TopicAccount::default();
        for (second, messages) in when {
            account
                .timeline
                .add(second * 1_000_000_000, MissingCause::Transport, *messages);
        }
        account.statistics.messages_lost_in_transport = lost;
        account.statistics.left_out.paused = lost * 2;
        TopicRecord {
            statistics: Some(account.statistics),
            timeline: account.timeline,
            ..TopicRecord::new(&TopicInfo::new("/a", "b/msg/C"))
        }
    }

    fn to_yaml(record: &TopicRecord) -> String {
        let mut text = AccountText::new();
        let statistics = record.statistics.unwrap();
        text.add(
            &record.topic,
            &statistics,
            &record.timeline,
            &record.found_again,
        );
        text.finish()
    }

    #[test]
    fn the_text_equals_that_of_the_yaml_emitter() {
        let mut record = record(5, &[(-1, 2), (1, 3)]);
        record.topic = TopicInfo::new("no", "b/msg/C: d");
        record.found_again.miss(MissingCause::Transport, 4);
        let text = to_yaml(&record);
        assert_eq!(yaml::emit(&yaml::parse(&text).unwrap()), text);
        assert!(text.contains("transport: \"-1x2 1x3\""), "{text}");
    }

    #[test]
    fn later_saves_replace_counts_and_add_times() {
        let mut saved = SavedAccount::default();
        saved.absorb(&to_yaml(&record(5, &[(1, 5)]))).unwrap();
        saved.absorb(&to_yaml(&record(7, &[(3, 2)]))).unwrap();
        assert_eq!(saved.topics, [record(7, &[(1, 5), (3, 2)])]);
        saved.absorb(&to_yaml(&record(6, &[]))).unwrap();
        assert_eq!(saved.topics, [record(6, &[(1, 5), (3, 1)])]);
        assert!(saved.absorb("topics_statistics: 3").is_err());
    }
}
