//! Topics that bags share: the bags of a fleet have the same ones, with the same long definitions.

use std::collections::HashMap;
use std::sync::Arc;

use timeloom_bag::{MessageDefinition, TopicInfo};

/// Texts of a topic.
pub(crate) const TOPIC_TEXTS: usize = 7;

/// The numbers of the texts of a topic.
type Numbers = [u32; TOPIC_TEXTS];

/// All texts of topics, and all sets of topics.
#[derive(Default)]
pub(crate) struct TopicSets {
    texts: Vec<String>,
    numbers: HashMap<String, u32>,
    known: HashMap<Vec<Numbers>, Arc<[TopicInfo]>>,
}

impl TopicSets {
    /// The number of a text.
    pub(crate) fn number(&mut self, text: &str) -> u32 {
        if let Some(number) = self.numbers.get(text) {
            return *number;
        }
        // Far fewer texts fit into memory.
        let number = u32::try_from(self.texts.len()).unwrap_or(u32::MAX);
        self.numbers.insert(text.to_owned(), number);
        self.texts.push(text.to_owned());
        number
    }

    /// The same topics, in the memory of the first bag that had them.
    pub(crate) fn share(&mut self, topics: &[TopicInfo]) -> Arc<[TopicInfo]> {
        let mut numbers = Vec::with_capacity(topics.len());
        for topic in topics {
            numbers.push(texts(topic).map(|text| self.number(text)));
        }
        self.get(numbers)
    }

    /// The topics whose texts have these numbers.
    pub(crate) fn get(&mut self, numbers: Vec<Numbers>) -> Arc<[TopicInfo]> {
        if let Some(topics) = self.known.get(&numbers) {
            return Arc::clone(topics);
        }
        let text = |number: u32| {
            let place = usize::try_from(number).unwrap_or(usize::MAX);
            self.texts.get(place).cloned().unwrap_or_default()
        };
        let topics: Arc<[TopicInfo]> = numbers.iter().map(|it| topic(it.map(text))).collect();
        self.known.insert(numbers, Arc::clone(&topics));
        topics
    }
}

fn topic(texts: [String; TOPIC_TEXTS]) -> TopicInfo {
    let [
        name,
        type_name,
        serialization_format,
        offered_qos_profiles,
        type_description_hash,
        encoding,
        text,
    ] = texts;
    TopicInfo {
        name,
        type_name,
        serialization_format,
        offered_qos_profiles,
        type_description_hash,
        definition: MessageDefinition { encoding, text },
    }
}

/// The texts of a topic, in the order of the columns.
pub(crate) fn texts(topic: &TopicInfo) -> [&str; TOPIC_TEXTS] {
    [
        &topic.name,
        &topic.type_name,
        &topic.serialization_format,
        &topic.offered_qos_profiles,
        &topic.type_description_hash,
        &topic.definition.encoding,
        &topic.definition.text,
    ]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_topics_are_shared_and_others_are_not() {
        let mut sets = TopicSets::default();
        let topic = |name: &str| TopicInfo::new(name, "std_msgs/msg/String");
        let first = sets.share(&[topic("/a"), topic("/b")]);
        assert_eq!(*first, [topic("/a"), topic("/b")]);
        let again = sets.share(&[topic("/a"), topic("/b")]);
        assert!(Arc::ptr_eq(&first, &again));
        for other in [vec![topic("/b"), topic("/a")], vec![topic("/a")], vec![]] {
            assert_eq!(*sets.share(&other), other);
        }
    }
}
