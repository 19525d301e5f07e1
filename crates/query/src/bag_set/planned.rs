//! A bag that another process planned to read: it must be the same here, and its topics are found by name.

use datafusion::error::{DataFusionError, Result};
#[cfg(feature = "cluster")]
use timeloom_bag::BagSummary;
use timeloom_bag::storage::FileInfo;
use timeloom_bag::{Error, TopicId, TopicInfo};

use super::Bag;

/// What the process that planned a query saw: a process that reads the bag must see the same.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct PlannedBag {
    pub(crate) messages: u64,
    pub(crate) size: u64,
}

impl PlannedBag {
    /// The bag as the asker opened it, or found it in a catalogue.
    #[cfg(feature = "cluster")]
    pub(crate) fn of(info: &BagSummary) -> Self {
        Self {
            messages: info.message_count(),
            size: info.file_size,
        }
    }
}

/// Refuses a bag that changed since it was planned to be read: the answer would be of neither state.
pub(super) fn check(bag: &Bag, found: &FileInfo) -> timeloom_bag::Result<()> {
    let here = PlannedBag {
        messages: found.message_count(),
        size: found.file_size,
    };
    let Some(planned) = bag.planned.filter(|planned| *planned != here) else {
        return Ok(());
    };
    let text = format!(
        "{}: the bag is not the one that the query was planned for: {} messages in {} bytes, planned were {} in {}",
        bag.uri, here.messages, here.size, planned.messages, planned.size
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
            PlannedBag { messages, size: 0 },
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
    }
}
