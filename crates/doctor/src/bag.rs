use timeloom_bag::{BagInfo, Message, TopicInfo};
use timeloom_msg::Value;

use crate::Finding;
use crate::topic_health::TopicHealth;

/// The examination of a bag: it is given every message, and compares them with the bag's account of itself.
#[derive(Debug)]
pub struct BagExamination {
    info: BagInfo,
    topics: Vec<TopicInfo>,
    health: Vec<TopicHealth>,
    damage: Vec<String>,
}

impl BagExamination {
    /// Starts with the bag's account of itself; `topics` are those of the reader, by their dense ids.
    pub fn new(info: BagInfo, topics: Vec<TopicInfo>) -> Self {
        Self {
            damage: info.damage.clone(),
            health: vec![TopicHealth::default(); topics.len()],
            topics,
            info,
        }
    }

    /// Takes the next message with its value, or with the reason why it cannot be decoded.
    pub fn take(&mut self, message: &Message<'_>, value: &Result<Value, String>) {
        if let Some(topic) = self.health.get_mut(message.topic.index()) {
            topic.take(message, value);
        }
    }

    /// Takes an error of the reader.
    pub fn take_error(&mut self, error: &timeloom_bag::Error) {
        let text = error.to_string();
        if self.damage.last() != Some(&text) {
            self.damage.push(text);
        }
    }

    /// The bag's account of itself.
    pub fn info(&self) -> &BagInfo {
        &self.info
    }

    /// Descriptions of damage.
    pub fn damage(&self) -> &[String] {
        &self.damage
    }

    /// Number of topics in the bag.
    pub fn topic_count(&self) -> usize {
        self.topics.len()
    }

    /// Number of messages read.
    pub fn messages(&self) -> u64 {
        self.health.iter().map(|one| one.messages).sum()
    }

    /// Number of messages that could not be decoded.
    pub fn undecoded(&self) -> u64 {
        self.health.iter().map(|one| one.undecoded).sum()
    }

    /// The findings, after the last message.
    pub fn check(&self) -> Vec<Finding> {
        let damage = self.damage.iter().cloned().map(Finding::Damage);
        let compatibility = self.info.compatibility.iter().cloned();
        let mut findings: Vec<Finding> = damage
            .chain(compatibility.map(Finding::Incompatible))
            .collect();
        findings.extend(self.counts());
        findings.extend(self.losses());
        findings.extend(self.each_topic());
        findings.extend(self.all_topics());
        findings
    }

    fn counts(&self) -> impl Iterator<Item = Finding> {
        self.info.topics.iter().filter_map(|entry| {
            let read: u64 = self.health_of(&entry.name).map(|one| one.messages).sum();
            (read != entry.message_count).then(|| Finding::CountDiffers {
                topic: entry.name.clone(),
                claimed: entry.message_count,
                read,
            })
        })
    }

    fn losses(&self) -> impl Iterator<Item = Finding> {
        let topics = self.info.topics.iter().map(|it| (&it.name, it.statistics));
        let services = self.info.services.iter();
        let services = services.map(|it| (&it.name, it.statistics));
        topics.chain(services).filter_map(|(name, statistics)| {
            let statistics = statistics.filter(|one| one.messages_lost() > 0)?;
            Some(Finding::Lost {
                name: name.clone(),
                statistics,
            })
        })
    }

    fn each_topic(&self) -> Vec<Finding> {
        let mut findings = Vec::new();
        let start = self.info.start_time_ns.unwrap_or(0);
        let simulated = self.has_messages("/clock");
        for (topic, health) in self.topics.iter().zip(&self.health) {
            let name = &topic.name;
            if let Some(reason) = &health.reason {
                findings.push(Finding::Undecodable {
                    topic: name.clone(),
                    undecoded: health.undecoded,
                    messages: health.messages,
                    reason: reason.clone(),
                });
            }
            findings.extend(health.check(name, start, simulated));
            if health.messages > 0 && topic.offered_qos_profiles.trim().is_empty() {
                findings.push(Finding::NoQos {
                    topic: name.clone(),
                });
            }
        }
        findings
    }

    fn all_topics(&self) -> Option<Finding> {
        if self.has_messages("/tf") && !self.has_messages("/tf_static") {
            return Some(Finding::StaticTransformsMissing);
        }
        (self.messages() == 0).then_some(Finding::Empty)
    }

    fn has_messages(&self, name: &str) -> bool {
        self.health_of(name).any(|one| one.messages > 0)
    }

    /// A topic may have several types, and then several entries.
    fn health_of<'a>(&'a self, name: &'a str) -> impl Iterator<Item = &'a TopicHealth> {
        let both = self.topics.iter().zip(&self.health);
        both.filter(move |(topic, _)| topic.name == name)
            .map(|(_, health)| health)
    }
}
