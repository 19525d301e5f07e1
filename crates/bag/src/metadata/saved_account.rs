//! The account that a writer saves in a file while the file is open, so that it survives `kill -9`.

use super::TopicRecord;
use super::read::{items, string};
use super::statistics_yaml::{
    FOUND_AGAIN, found_again, found_again_entry, missing_entries, statistics, timeline,
    timeline_node,
};
use crate::yaml::{self, Node};
use crate::{MissingCause, Result, TopicInfo, TopicStatistics};

const TOPICS: &str = "topics_statistics";

/// The topics whose account changed: all that is missing in the file so far, and when it went missing since the last save.
pub(crate) fn to_yaml(changed: &[TopicRecord]) -> String {
    let topics = changed.iter().map(|record| {
        let mut entries = vec![
            ("topic_name".to_owned(), Node::text(&record.topic.name)),
            ("type".to_owned(), Node::text(&record.topic.type_name)),
        ];
        let account = record.statistics.unwrap_or_default();
        let transport = account.messages_lost_in_transport;
        if transport > 0 {
            entries.push(("messages_lost_in_transport".into(), Node::number(transport)));
        }
        entries.extend(missing_entries(&account));
        if !record.timeline.is_empty() {
            let timeline = timeline_node(&record.timeline);
            entries.push(("missing_by_time".into(), timeline));
        }
        entries.extend(found_again_entry(&record.found_again));
        Node::Map(entries)
    });
    let topics = Node::Sequence(topics.collect());
    yaml::emit(&Node::Map(vec![(TOPICS.into(), topics)]))
}

/// What is read back from the saved accounts of a file, in their order.
#[derive(Default)]
pub(crate) struct SavedAccount {
    pub(crate) topics: Vec<TopicRecord>,
}

impl SavedAccount {
    /// Takes a later save: its counts replace those before, its times are added.
    pub(crate) fn absorb(&mut self, text: &str) -> Result<()> {
        let document = yaml::parse(text)?;
        let Some(list) = document.get(TOPICS) else {
            return Ok(());
        };
        for item in items(list, TOPICS)? {
            let text = |key: &str| item.get(key).map_or(Ok(String::new()), |v| string(v, key));
            let (name, type_name) = (text("topic_name")?, text("type")?);
            let (counts, later) = (statistics(item)?, item.get("missing_by_time"));
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

/// A loss that was none after all lowers the count; its time goes with it.
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

    #[test]
    fn later_saves_replace_counts_and_add_times() {
        let mut saved = SavedAccount::default();
        saved.absorb(&to_yaml(&[record(5, &[(1, 5)])])).unwrap();
        saved.absorb(&to_yaml(&[record(7, &[(3, 2)])])).unwrap();
        assert_eq!(saved.topics, [record(7, &[(1, 5), (3, 2)])]);
        saved.absorb(&to_yaml(&[record(6, &[])])).unwrap();
        assert_eq!(saved.topics, [record(6, &[(1, 5), (3, 1)])]);
        assert!(saved.absorb("topics_statistics: 3").is_err());
    }
}
