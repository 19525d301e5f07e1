use std::collections::BTreeMap;

use timeloom_bag::{TopicInfo, TopicStatistics};
use timeloom_msg::TypeResolver;

use crate::check::Report;
use crate::topic_checker::{TopicChecker, plain};
use crate::{Contract, OtherTopics, Result};

/// Holds a recording against a contract, message by message. It reads no file and no clock.
pub struct Checker<'a> {
    contract: &'a Contract,
    /// By the index that [`Checker::message`] takes.
    topics: Vec<Option<TopicChecker<'a>>>,
    names: Vec<String>,
}

/// What is known at the end of a recording.
#[derive(Debug, Clone, Default)]
pub struct Recording {
    /// From the start to the end.
    pub duration_ns: i64,
    /// The account of each topic by its index; `None` without an account.
    pub statistics: Vec<Option<TopicStatistics>>,
}

impl<'a> Checker<'a> {
    /// A checker for these topics. A topic is known by its index from then on.
    ///
    /// # Errors
    /// When the contract names a field that the type of its topic does not have.
    pub fn new(
        contract: &'a Contract,
        topics: &[TopicInfo],
        resolver: &TypeResolver,
    ) -> Result<Self> {
        let checkers = topics.iter().map(|topic| {
            let found = contract.topics.get_key_value(&topic.name);
            found
                .map(|(name, wanted)| TopicChecker::new(name, wanted, topic, resolver))
                .transpose()
        });
        Ok(Self {
            contract,
            topics: checkers.collect::<Result<_>>()?,
            names: topics.iter().map(|topic| topic.name.clone()).collect(),
        })
    }

    /// Whether messages of a topic are needed.
    pub fn needs(&self, topic: usize) -> bool {
        self.topics.get(topic).is_some_and(Option::is_some)
    }

    /// Takes a message: the index of its topic, its log time since the start of the recording, the log time itself, its
    /// payload.
    pub fn message(&mut self, topic: usize, time_ns: i64, log_time_ns: i64, payload: &[u8]) {
        if let Some(Some(topic)) = self.topics.get_mut(topic) {
            topic.message(time_ns, log_time_ns, payload);
        }
    }

    /// Ends the check.
    pub fn finish(self, recording: &Recording) -> Report {
        let mut by_name = BTreeMap::new();
        for (index, (checker, name)) in self.topics.into_iter().zip(&self.names).enumerate() {
            let statistics = recording.statistics.get(index).and_then(Option::as_ref);
            let checks: &mut Vec<_> = by_name.entry(name.clone()).or_default();
            match checker {
                Some(checker) => checks.extend(checker.finish(recording.duration_ns, statistics)),
                None if self.contract.other_topics == OtherTopics::Forbidden => {
                    checks.push(plain(name, "present", "no", "yes", false));
                }
                None => {}
            }
        }
        for (name, wanted) in &self.contract.topics {
            if !self.names.contains(name) {
                let allowed = if wanted.optional { "yes or no" } else { "yes" };
                let check = plain(name, "present", allowed, "no", wanted.optional);
                by_name.entry(name.clone()).or_default().push(check);
            }
        }
        Report {
            checks: by_name.into_values().flatten().collect(),
        }
    }
}
