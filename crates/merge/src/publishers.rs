//! On which host the publisher of a topic is.

use std::collections::{BTreeMap, BTreeSet};

use timeloom_sync::{Crossing, Crossings};

/// No local message is slower at its best, in nanoseconds.
const LOCAL: i64 = 20_000_000;

/// On one clock, no message arrives earlier than it is sent by more than this, in nanoseconds.
const EARLY: i64 = 100_000;
/// Unless the clock is set while the message is under way, which happens to few.
const MOST_EARLY: f64 = 0.1;

/// The reason for which a publisher is thought to be on a host.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Reason {
    /// The user says so.
    Declared,
    /// Its tags have the steady clock of that host.
    Boot,
    /// Its messages reach the recorder of that host at once, and those of other hosts impossibly early or late.
    Local,
}

/// A topic over all bags.
#[derive(Debug, Default)]
struct Topic {
    /// By bag: from the publish time to the log time.
    crossings: BTreeMap<usize, Crossings>,
    declared: Option<usize>,
    /// Hosts whose steady clock is in the tags of the topic.
    boots: BTreeSet<usize>,
}

/// The publishers of all topics.
#[derive(Debug, Default)]
pub(crate) struct Publishers {
    topics: BTreeMap<String, Topic>,
}

impl Publishers {
    pub(crate) fn declare(&mut self, topic: &str, bag: usize) {
        self.topic(topic).declared = Some(bag);
    }

    /// A tag says that the topic is published on the host of a bag.
    pub(crate) fn boot(&mut self, topic: &str, bag: usize) {
        self.topic(topic).boots.insert(bag);
    }

    /// Takes a message that was recorded in a bag.
    pub(crate) fn message(&mut self, topic: &str, bag: usize, crossing: Crossing) {
        // A storage without publish times repeats the log time.
        if crossing.sent_ns != crossing.received_ns && crossing.sent_ns != 0 {
            let crossings = &mut self.topic(topic).crossings;
            crossings.entry(bag).or_default().add(crossing);
        }
    }

    /// The host of the publisher, if it is known.
    pub(crate) fn host(&self, topic: &str) -> Option<(usize, Reason)> {
        let topic = self.topics.get(topic)?;
        if let Some(bag) = topic.declared {
            return Some((bag, Reason::Declared));
        }
        if let (Some(bag), 1) = (topic.boots.first(), topic.boots.len()) {
            return Some((*bag, Reason::Boot));
        }
        if topic.boots.len() > 1 {
            return None;
        }
        let is_local = |crossings: &Crossings| {
            crossings
                .least_delay_ns()
                .is_some_and(|least| (0..=LOCAL).contains(&least))
        };
        let mut local = topic.crossings.iter().filter(|(_, it)| is_local(it));
        let (bag, _) = local.next()?;
        let is_only = local.next().is_none() && topic.crossings.len() > 1;
        is_only.then_some((*bag, Reason::Local))
    }

    /// The first topic whose messages reach the recorder of its own host before they are sent, that host, and by how much.
    pub(crate) fn misplaced(&self) -> Option<(&str, usize, i64)> {
        self.topics.iter().find_map(|(name, topic)| {
            let (host, _) = self.host(name)?;
            let crossings = topic.crossings.get(&host)?;
            let early = crossings
                .iter()
                .filter(|crossing| crossing.apparent_delay_ns() < -EARLY);
            // A few show a clock that was set.
            let share = early.count() as f64 / crossings.iter().count().max(1) as f64;
            let least = crossings.least_delay_ns()?;
            (share > MOST_EARLY).then_some((name.as_str(), host, least.saturating_neg()))
        })
    }

    /// Whether a bag has publish times of a topic.
    pub(crate) fn has_publish_times(&self, topic: &str, bag: usize) -> bool {
        let topic = self.topics.get(topic);
        topic.is_some_and(|topic| topic.crossings.contains_key(&bag))
    }

    /// All messages that went from one host to another: topic, from, to, messages.
    pub(crate) fn crossings(&self) -> impl Iterator<Item = (&str, usize, usize, &Crossings)> {
        self.topics.iter().flat_map(|(name, topic)| {
            let host = self.host(name).map(|(host, _)| host);
            let others = topic.crossings.iter();
            others.filter_map(move |(bag, crossings)| {
                let host = host.filter(|host| host != bag)?;
                Some((name.as_str(), host, *bag, crossings))
            })
        })
    }

    fn topic(&mut self, name: &str) -> &mut Topic {
        if !self.topics.contains_key(name) {
            self.topics.insert(name.to_owned(), Topic::default());
        }
        self.topics.entry(name.to_owned()).or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn heard(publishers: &mut Publishers, topic: &str, bag: usize, delay_ns: i64) {
        for step in 1..20 {
            let sent_ns = step * 1_000_000_000;
            publishers.message(
                topic,
                bag,
                Crossing {
                    sent_ns,
                    received_ns: sent_ns + delay_ns + step,
                },
            );
        }
    }

    #[test]
    fn a_publisher_is_where_its_messages_come_at_once_and_nowhere_else() {
        let mut publishers = Publishers::default();
        let host = |publishers: &Publishers, topic: &str| publishers.host(topic).map(|it| it.0);
        heard(&mut publishers, "/far_behind", 0, 100_000);
        heard(&mut publishers, "/far_behind", 1, -30_000_000);
        assert_eq!(host(&publishers, "/far_behind"), Some(0));
        heard(&mut publishers, "/far_ahead", 0, 31_000_000);
        heard(&mut publishers, "/far_ahead", 1, 100_000);
        assert_eq!(host(&publishers, "/far_ahead"), Some(1));
        // Clocks that are nearly the same: it may be on either host.
        heard(&mut publishers, "/near", 0, 100_000);
        heard(&mut publishers, "/near", 1, 300_000);
        assert_eq!(host(&publishers, "/near"), None);
        publishers.declare("/near", 1);
        assert_eq!(publishers.host("/near"), Some((1, Reason::Declared)));
        // One recorder alone shows nothing.
        heard(&mut publishers, "/alone", 0, 100_000);
        assert_eq!(host(&publishers, "/alone"), None);
        publishers.boot("/alone", 0);
        assert_eq!(publishers.host("/alone"), Some((0, Reason::Boot)));
        assert_eq!(publishers.misplaced(), None);
        publishers.declare("/far_behind", 1);
        assert_eq!(publishers.misplaced(), Some(("/far_behind", 1, 29_999_999)));
        publishers.declare("/far_behind", 0);
        // No publish times.
        heard(&mut publishers, "/plain", 0, 0);
        assert!(publishers.has_publish_times("/near", 0));
        let crossings: Vec<_> = publishers
            .crossings()
            .map(|(name, from, to, _)| (name, from, to))
            .collect();
        assert_eq!(
            crossings,
            [("/far_ahead", 1, 0), ("/far_behind", 0, 1), ("/near", 1, 0)]
        );
    }
}
