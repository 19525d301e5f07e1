//! Publishers of messages: for each topic, the publisher from a log time on.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use super::{RobotState, StatePart};
use crate::bag::TimeMap;
use crate::yaml::{self, Node};
use crate::{Error, Result};

/// The version of the text that is written. A reader refuses a later one.
const VERSION: u32 = 1;

/// Messages of a topic from one publisher, up to the next run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PublisherRun {
    /// Log time of the first of them.
    pub from_ns: i64,
    /// The gid of the publisher in hexadecimal digits, as in the [graph](crate::GraphEndpoint::id); empty when it is not
    /// known.
    pub gid: String,
}

/// The publishers of the messages in a bag.
///
/// A topic with one publisher has one run. Where two messages of a topic have the same log time and different publishers,
/// the one that arrived last is named.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct MessagePublishers {
    topics: BTreeMap<String, Vec<PublisherRun>>,
}

impl MessagePublishers {
    /// Adds a run at its time, unless it is there; of two with the same time, the later counts.
    pub fn add(&mut self, topic: &str, run: PublisherRun) {
        let runs = self.topics.entry(topic.to_owned()).or_default();
        let place = runs.partition_point(|known| known.from_ns <= run.from_ns);
        let before = place.checked_sub(1).and_then(|at| runs.get(at));
        // A run of the same publisher as before it stays: one of another may come between them.
        if before != Some(&run) {
            runs.insert(place, run);
        }
    }

    /// The gid of the publisher of a message; `None` when it is not known.
    pub fn of(&self, topic: &str, log_time_ns: i64) -> Option<&str> {
        let runs = self.topics.get(topic)?;
        let later = runs.partition_point(|run| run.from_ns <= log_time_ns);
        let run = runs.get(later.checked_sub(1)?)?;
        (!run.gid.is_empty()).then_some(run.gid.as_str())
    }

    /// The runs of all topics.
    pub fn runs(&self) -> impl Iterator<Item = (&str, &PublisherRun)> {
        self.topics
            .iter()
            .flat_map(|(topic, runs)| runs.iter().map(|run| (topic.as_str(), run)))
    }

    /// The same with other names for topics: from, to.
    pub(crate) fn renamed(self, names: &[(String, String)]) -> Self {
        let rename = |topic: String| match names.iter().find(|(from, _)| *from == topic) {
            Some((_, to)) => to.clone(),
            None => topic,
        };
        let topics = self.topics.into_iter();
        Self {
            topics: topics.map(|(topic, runs)| (rename(topic), runs)).collect(),
        }
    }
}

impl RobotState for MessagePublishers {
    const PART: StatePart = StatePart::Publishers;

    fn is_empty(&self) -> bool {
        self.topics.is_empty()
    }

    fn to_yaml(&self) -> String {
        let mut gids: Vec<&str> = Vec::new();
        let mut topics = Vec::new();
        for (topic, runs) in &self.topics {
            let (mut text, mut last) = (String::new(), 0);
            for run in runs {
                let known = gids.iter().position(|gid| *gid == run.gid);
                let place = known.unwrap_or_else(|| {
                    gids.push(&run.gid);
                    gids.len() - 1
                });
                let step = i128::from(run.from_ns) - last;
                // Writing to a text never fails.
                let _written = write!(text, "{step} {place} ");
                last = run.from_ns.into();
            }
            topics.push(Node::Map(vec![
                ("topic".to_owned(), Node::text(topic)),
                ("runs".to_owned(), Node::text(text.trim_end())),
            ]));
        }
        let gids = gids.into_iter().map(Node::text).collect();
        yaml::emit(&Node::Map(vec![
            ("version".to_owned(), Node::number(VERSION)),
            ("publishers".to_owned(), Node::Sequence(gids)),
            ("topics".to_owned(), Node::Sequence(topics)),
        ]))
    }

    fn parse(text: &str) -> Result<Self> {
        let document = yaml::parse(text)?;
        let version = document.get("version").and_then(Node::as_str);
        let version: Option<u32> = version.and_then(|text| text.parse().ok());
        let version = version.ok_or_else(|| wrong("has no number under the key version"))?;
        if version > VERSION {
            return Err(wrong(format!(
                "has version {version}, and only versions up to {VERSION} are known: use a later Timeloom"
            )));
        }
        let list = |key: &str| document.get(key).and_then(Node::as_sequence);
        let gids = list("publishers").unwrap_or_default();
        let mut all = Self::default();
        for entry in list("topics").unwrap_or_default() {
            let text = |key: &str| entry.get(key).and_then(Node::as_str).unwrap_or_default();
            all.topics
                .insert(text("topic").to_owned(), runs(text("runs"), gids)?);
        }
        Ok(all)
    }

    fn retime(&mut self, times: &dyn TimeMap) {
        for run in self.topics.values_mut().flatten() {
            run.from_ns = times.map(run.from_ns);
        }
    }

    fn update(&mut self, later: &Self) {
        for (topic, run) in later.runs() {
            self.add(topic, run.clone());
        }
    }

    /// Of a topic that both recorders heard at the same time, the publishers are not known.
    fn unite(&mut self, other: &Self) {
        for (topic, runs) in &other.topics {
            let Some(known) = self.topics.get_mut(topic) else {
                self.topics.insert(topic.clone(), runs.clone());
                continue;
            };
            let first = runs.first().map(|run| run.from_ns);
            let last = known.last().map(|run| run.from_ns);
            if last < first {
                known.extend(runs.iter().cloned());
            } else if known != runs {
                self.topics.remove(topic);
            }
        }
    }

    /// The last publisher of each topic.
    fn forget_past(&mut self) {
        for runs in self.topics.values_mut() {
            let past = runs.len().saturating_sub(1);
            runs.drain(..past);
        }
    }
}

/// Pairs of a step in time and the place of a publisher.
fn runs(text: &str, gids: &[Node]) -> Result<Vec<PublisherRun>> {
    let mut words = text.split_ascii_whitespace();
    let (mut runs, mut time) = (Vec::new(), 0_i128);
    while let Some(step) = words.next() {
        let step: Option<i128> = step.parse().ok();
        let place: Option<usize> = words.next().and_then(|place| place.parse().ok());
        let gid = place.and_then(|place| gids.get(place)?.as_str());
        let (Some(step), Some(gid)) = (step, gid) else {
            return Err(wrong("has a run without a time or a publisher"));
        };
        time = time.saturating_add(step);
        runs.push(PublisherRun {
            from_ns: i64::try_from(time).map_err(|_range| wrong("has a time out of range"))?,
            gid: gid.to_owned(),
        });
    }
    if !runs.is_sorted_by_key(|run| run.from_ns) {
        return Err(wrong("has runs that are not in the order of time"));
    }
    Ok(runs)
}

fn wrong(reason: impl Into<String>) -> Error {
    Error::metadata(StatePart::Publishers.record_name(), reason)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn publishers(runs: &[(&str, i64, &str)]) -> MessagePublishers {
        let mut all = MessagePublishers::default();
        for (topic, from_ns, gid) in runs {
            let run = PublisherRun {
                from_ns: *from_ns,
                gid: (*gid).to_owned(),
            };
            all.add(topic, run);
        }
        all
    }

    #[test]
    fn a_message_belongs_to_the_last_run_that_began_before_it() {
        let all = publishers(&[
            ("/a", 10, "01"),
            ("/a", 20, "02"),
            ("/a", 30, ""),
            ("/b", 5, "01"),
        ]);
        let of = [9, 10, 19, 20, 30].map(|time| all.of("/a", time));
        assert_eq!(of, [None, Some("01"), Some("01"), Some("02"), None]);
        assert_eq!(all.of("/c", 10), None);
        let renamed = all.renamed(&[("/a".into(), "/x".into())]);
        assert_eq!(renamed.of("/x", 12), Some("01"));
    }

    #[test]
    fn files_of_one_recording_give_the_runs_of_the_whole() {
        let mut first = publishers(&[("/a", 10, "01"), ("/a", 20, "02")]);
        let mut second = first.clone();
        second.forget_past();
        second.update(&publishers(&[("/a", 30, "01")]));
        assert_eq!(second, publishers(&[("/a", 20, "02"), ("/a", 30, "01")]));
        first.update(&second);
        assert_eq!(first.runs().count(), 3);
    }

    #[test]
    fn overlapping_recordings_keep_unknown_times_unknown() {
        let mut both = publishers(&[("/a", 10, "01"), ("/b", 10, "01"), ("/c", 10, "01")]);
        let other = [("/a", 5, "02"), ("/b", 20, "02"), ("/d", 7, "03")];
        both.unite(&publishers(&other));
        assert_eq!(both.of("/a", 12), None);
        assert_eq!(both.of("/b", 25), Some("02"));
        assert_eq!(both.of("/c", 12), Some("01"));
        assert_eq!(both.of("/d", 12), Some("03"));
    }

    #[test]
    fn invalid_texts_are_errors_with_a_reason() {
        let text = publishers(&[("/a", 10, "01"), ("/a", 20, "02")]).to_yaml();
        assert!(text.contains("10 0 10 1"), "{text}");
        for (from, to, reason) in [
            ("version: 1", "version: 2", "use a later Timeloom"),
            ("10 0 10 1", "10 0 10", "without a time or a publisher"),
            ("10 0 10 1", "10 0 10 7", "without a time or a publisher"),
            ("10 0 10 1", "10 0 -5 1", "order of time"),
            ("10 0 10 1", "9223372036854775807 0 1 1", "out of range"),
        ] {
            let error = MessagePublishers::parse(&text.replace(from, to)).unwrap_err();
            assert!(error.to_string().contains(reason), "{error}");
        }
    }

    proptest! {
        #[test]
        fn runs_of_any_times_read_back(
            runs in prop::collection::vec(("/[a-c]", any::<i64>(), "[0-9a-f]{0,4}"), 0..20),
        ) {
            let runs: Vec<_> = runs.iter().map(|(t, from, gid)| (t.as_str(), *from, gid.as_str())).collect();
            let all = publishers(&runs);
            prop_assert_eq!(MessagePublishers::parse(&all.to_yaml()).unwrap(), all);
        }
    }
}
