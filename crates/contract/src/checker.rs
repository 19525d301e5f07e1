use std::collections::{BTreeMap, BTreeSet};

use timeloom_bag::{HostClockRecord, TopicInfo, TopicStatistics};
use timeloom_msg::TypeResolver;

use crate::check::{Check, Report};
use crate::clock_checks::clock_checks;
use crate::topic_checker::{Since, TopicChecker};
use crate::{Contract, OtherTopics, Result};

/// Holds a recording or a running robot against a contract, message by message. It reads no file and no clock.
pub struct Checker<'a> {
    contract: &'a Contract,
    /// By the index that [`Checker::message`] takes.
    topics: Vec<Option<TopicChecker<'a>>>,
    names: Vec<String>,
    /// Violations that [`Checker::new_violations`] has returned: topic and part.
    announced: BTreeSet<(String, String)>,
}

/// Facts that are known at the end of a recording.
#[derive(Debug, Clone, Default)]
pub struct Recording {
    /// When it starts; host clock states have absolute times.
    pub start_ns: i64,
    /// From the start to the end.
    pub duration_ns: i64,
    /// The account of each topic by its index; `None` without an account.
    pub statistics: Vec<Option<TopicStatistics>>,
    /// The states of the host clock.
    pub host_clock: Vec<HostClockRecord>,
}

impl<'a> Checker<'a> {
    /// A checker for the topics of a recording. A topic is known by its index from then on.
    ///
    /// # Errors
    /// When the contract names a field that the type of its topic does not have.
    pub fn new(
        contract: &'a Contract,
        topics: &[TopicInfo],
        resolver: &TypeResolver,
    ) -> Result<Self> {
        let mut checker = Self::live(contract);
        for topic in topics {
            checker.add(topic, resolver, Since::Start)?;
        }
        Ok(checker)
    }

    /// A checker for a running robot, whose topics are added as they appear.
    pub fn live(contract: &'a Contract) -> Self {
        Self {
            contract,
            topics: Vec::new(),
            names: Vec::new(),
            announced: BTreeSet::new(),
        }
    }

    /// Adds a topic that is subscribed to at a time; its index.
    ///
    /// The wait for its first message is no gap, unless none comes at all.
    ///
    /// # Errors
    /// When the contract names a field that its type does not have.
    pub fn add_topic(
        &mut self,
        topic: &TopicInfo,
        resolver: &TypeResolver,
        time_ns: i64,
    ) -> Result<usize> {
        self.add(topic, resolver, Since::Subscribed(time_ns))
    }

    fn add(&mut self, topic: &TopicInfo, resolver: &TypeResolver, since: Since) -> Result<usize> {
        let found = self.contract.topics.get_key_value(&topic.name);
        let checker = found
            .map(|(name, wanted)| TopicChecker::new(name, wanted, topic, resolver, since))
            .transpose()?;
        self.topics.push(checker);
        self.names.push(topic.name.clone());
        Ok(self.topics.len() - 1)
    }

    /// Time has come so far: topics without a message for too long are violations.
    pub fn pass_time(&mut self, time_ns: i64) {
        for topic in self.topics.iter_mut().flatten() {
            topic.pass_time(time_ns);
        }
    }

    /// The parts that are violated and were not returned before. Counts, rates and losses are known at the end only.
    pub fn new_violations(&mut self) -> Vec<Check> {
        let mut violated: Vec<Check> = Vec::new();
        for (checker, name) in self.topics.iter().zip(&self.names) {
            match checker {
                Some(checker) => violated.extend(checker.violated()),
                None => violated.extend(self.forbidden(name)),
            }
        }
        violated.retain(|check| {
            let key = (check.topic.clone(), check.what.clone());
            self.announced.insert(key)
        });
        violated
    }

    /// The violation of a topic that the contract does not name.
    fn forbidden(&self, name: &str) -> Option<Check> {
        let forbidden = self.contract.other_topics == OtherTopics::Forbidden;
        forbidden.then(|| Check::plain(name, "present", "no", "yes", false))
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
                    checks.push(Check::plain(name, "present", "no", "yes", false));
                }
                None => {}
            }
        }
        for (name, wanted) in &self.contract.topics {
            if !self.names.contains(name) {
                let allowed = if wanted.optional { "yes or no" } else { "yes" };
                let check = Check::plain(name, "present", allowed, "no", wanted.optional);
                by_name.entry(name.clone()).or_default().push(check);
            }
        }
        let clock = self.contract.clock.as_ref();
        let mut checks = clock.map_or_else(Vec::new, |clock| {
            clock_checks(clock, &recording.host_clock, recording.start_ns)
        });
        checks.extend(by_name.into_values().flatten());
        Report { checks }
    }
}
