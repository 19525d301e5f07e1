//! A bag that another process planned to read: it must be the same here, and its topics are found by name.

use std::fmt;

use datafusion::error::{DataFusionError, Result};
use timeloom_bag::storage::FileInfo;
use timeloom_bag::{BagSummary, Error, TopicId, TopicInfo};

use super::Bag;

/// What the process that planned a query saw: a process that reads the bag must see the same.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[cfg_attr(feature = "cluster", derive(serde::Serialize, serde::Deserialize))]
pub(crate) struct PlannedBag {
    pub(crate) messages: u64,
    pub(crate) size: u64,
    /// Log times of the first and the last message.
    pub(crate) start_ns: Option<i64>,
    pub(crate) end_ns: Option<i64>,
}

impl PlannedBag {
    /// The bag as the asker opened it, or found it in a catalogue.
    #[cfg(feature = "cluster")]
    pub(crate) fn of(info: &BagSummary) -> Self {
        Self {
            messages: info.message_count(),
            size: info.file_size,
            start_ns: info.start_time_ns,
            end_ns: info.end_time_ns,
        }
    }
}

impl fmt::Display for PlannedBag {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} messages in {} bytes", self.messages, self.size)?;
        match self.start_ns.zip(self.end_ns) {
            Some((start, end)) => write!(f, " from {start} to {end} ns"),
            None => Ok(()),
        }
    }
}

/// Whether a bag is the one that was opened before. It may have grown: a bag that is being recorded does.
pub(super) fn continues(before: &BagSummary, found: &FileInfo) -> bool {
    let mut counts = before.message_counts.iter().zip(&found.message_counts);
    found.topics.starts_with(&before.topics)
        && counts.all(|(before, found)| before <= found)
        && (before.start_time_ns.is_none() || before.start_time_ns == found.start_time_ns)
        && before.end_time_ns <= found.end_time_ns
}

/// Refuses a bag that changed since it was planned to be read: the answer would be of neither state.
pub(super) fn check(bag: &Bag, found: &FileInfo) -> timeloom_bag::Result<()> {
    let here = PlannedBag {
        messages: found.message_count(),
        size: found.file_size,
        start_ns: found.start_time_ns,
        end_ns: found.end_time_ns,
    };
    let Some(planned) = bag.planned.filter(|planned| *planned != here) else {
        return Ok(());
    };
    let text = format!(
        "{}: the bag is not the one that the query was planned for: {here}, planned were {planned}",
        bag.uri
    );
    Err(Error::Place {
        source: text.into(),
    })
}

/// The ids of the planned topics in the bag that was opened here.
pub(crate) fn planned_topics(bag: &Bag, found: &FileInfo) -> Result<Vec<TopicId>> {
    let mut ids = Vec::new();
    for planned in bag.info.topics.iter() {
        let before = ids.len();
        let same = found.topics.iter().enumerate();
        let same = same.filter(|(_, topic)| is_same(planned, topic));
        ids.extend(same.filter_map(|(index, _)| TopicId::from_index(index)));
        if ids.len() == before {
            let (uri, name, type_name) = (&bag.uri, &planned.name, &planned.type_name);
            let text = format!("{uri}: there is no topic {name} of type {type_name}");
            return Err(DataFusionError::Execution(text));
        }
    }
    ids.sort_unstable();
    ids.dedup();
    Ok(ids)
}

/// A plan that reads no field names no definition.
fn is_same(planned: &TopicInfo, found: &TopicInfo) -> bool {
    planned.name == found.name
        && planned.type_name == found.type_name
        && (planned.definition.encoding.is_empty() || planned.definition == found.definition)
}

#[cfg(test)]
mod tests {
    use timeloom_bag::MessageDefinition;

    use super::*;

    fn topic(name: &str, text: &str) -> TopicInfo {
        TopicInfo {
            definition: MessageDefinition {
                encoding: "ros2msg".into(),
                text: text.into(),
            },
            ..TopicInfo::new(name, "a/msg/B")
        }
    }

    fn info(topics: Vec<TopicInfo>) -> FileInfo {
        FileInfo {
            message_counts: vec![1; topics.len()],
            topics,
            ..FileInfo::default()
        }
    }

    fn planned(messages: u64, topics: Vec<TopicInfo>) -> Bag {
        Bag::planned(
            "bag",
            "s3://b/bag",
            PlannedBag {
                messages,
                size: 0,
                start_ns: None,
                end_ns: None,
            },
            topics,
        )
    }

    #[test]
    fn topics_are_found_by_name_and_definition_wherever_they_are() {
        let found = info(vec![
            topic("/b", "int8 x"),
            topic("/a", "int8 x"),
            topic("/a", "int16 x"),
        ]);
        let ids = |wanted: TopicInfo| planned_topics(&planned(3, vec![wanted]), &found);
        assert_eq!(ids(topic("/a", "int16 x")).unwrap(), [TopicId(2)]);
        let any = ids(TopicInfo::new("/a", "a/msg/B")).unwrap();
        assert_eq!(any, [TopicId(1), TopicId(2)]);
        let gone = ids(topic("/c", "")).unwrap_err();
        assert!(gone.to_string().contains("/c"), "{gone}");
    }

    #[test]
    fn a_bag_that_changed_is_refused() {
        let found = info(vec![topic("/a", "")]);
        assert!(check(&planned(1, Vec::new()), &found).is_ok());
        let error = check(&planned(2, Vec::new()), &found).unwrap_err();
        let error = error.to_string();
        assert!(
            error.contains("1 messages") && error.contains("planned were 2"),
            "{error}"
        );
        let later = FileInfo {
            start_time_ns: Some(7),
            end_time_ns: Some(9),
            ..found
        };
        let error = check(&planned(1, Vec::new()), &later).unwrap_err();
        assert!(error.to_string().contains("from 7 to 9 ns"), "{error}");
    }

    #[test]
    fn a_bag_may_grow_but_not_become_another_one() {
        let before = BagSummary {
            topics: [topic("/a", "int8 x")].into(),
            message_counts: vec![3],
            start_time_ns: Some(5),
            end_time_ns: Some(8),
            ..BagSummary::default()
        };
        let same = FileInfo {
            topics: vec![topic("/a", "int8 x")],
            message_counts: vec![3],
            start_time_ns: Some(5),
            end_time_ns: Some(8),
            ..FileInfo::default()
        };
        assert!(continues(&before, &same));
        let mut grown = same.clone();
        grown.topics.push(topic("/b", ""));
        grown.message_counts = vec![4, 1];
        grown.end_time_ns = Some(10);
        assert!(continues(&before, &grown));
        assert!(continues(&BagSummary::default(), &grown));
        let changes: [fn(&mut FileInfo); 5] = [
            |info| info.topics.insert(0, topic("/b", "")),
            |info| info.topics[0].definition.text.push(' '),
            |info| info.message_counts[0] = 2,
            |info| info.start_time_ns = Some(6),
            |info| info.end_time_ns = Some(7),
        ];
        for change in changes {
            let mut other = same.clone();
            change(&mut other);
            assert!(!continues(&before, &other), "{other:?}");
        }
    }
}
