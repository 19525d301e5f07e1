use std::collections::{BTreeMap, BTreeSet, HashMap, VecDeque};

use serde::Serialize;
use timeloom_time::{Duration, Ros, Time};

use super::message::Key;
use super::report::DeadlineReport;
use crate::notification::{DeadlineNotification, NotifiedSource};

/// A time limit of a target after its sources.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Deadline {
    /// Its name.
    pub name: String,
    /// The source; `None` means all sources of the target.
    pub source: Option<String>,
    /// Topics in between, in order; empty means every path from source to target. They need a source.
    pub via: Vec<String>,
    /// The target.
    pub target: String,
    /// The shortest duration that is too long. Zero means no deadline.
    pub limit: Duration,
}

/// The way in which a missed deadline was detected.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum FoundBy {
    /// The target arrived too late.
    Arrival,
    /// A link arrived late and showed that the target was too late.
    LateLink,
    /// The time expired without a target.
    Timer,
}

/// A deadline was missed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DeadlineEvent {
    /// The deadline's name.
    pub deadline: String,
    /// The target.
    pub target: String,
    /// The limit.
    pub limit: Duration,
    /// The way of detection.
    pub found_by: FoundBy,
    /// The stamp of the target's message; `None` without a target, or if it has no stamp.
    pub stamp: Option<Time<Ros>>,
    /// Time of the detection: the target's publication, or now.
    pub at: Time<Ros>,
    /// The sources of the target's message, including those in time.
    pub sources: Vec<SourceTiming>,
    /// The topic on which no message followed, if there was no target.
    pub missing_hop: Option<String>,
}

/// The duration of one source.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SourceTiming {
    /// Its topic.
    pub topic: String,
    /// Its stamp, if it has one.
    pub stamp: Option<Time<Ros>>,
    /// From its publication on.
    pub elapsed: Duration,
    /// Whether it is too long.
    pub is_overrun: bool,
}

impl DeadlineEvent {
    /// The message for `/deadline_notification`.
    pub fn notification(&self) -> DeadlineNotification {
        let sources = self.sources.iter().map(|source| NotifiedSource {
            topic: source.topic.clone(),
            stamp: source.stamp.unwrap_or(Time::ZERO),
            elapsed: source.elapsed,
            is_overrun: source.is_overrun,
        });
        DeadlineNotification {
            header_stamp: self.at,
            topic: self.target.clone(),
            stamp: self.stamp.unwrap_or(Time::ZERO),
            deadline: self.limit,
            sources: sources.collect(),
        }
    }
}

/// Sources that wait for a target; beyond, the oldest is dropped.
const MOST_WAITING: usize = 10_000;

/// An active deadline.
#[derive(Debug)]
pub(super) struct Watch {
    deadline: Deadline,
    source: Option<u32>,
    via: Vec<u32>,
    target: u32,
    limit: u64,
    /// Sources without a target so far.
    waiting: VecDeque<u64>,
    /// Sources whose time expired and whose target may still arrive.
    given_up: BTreeSet<u64>,
    /// The newest message of each source that a target was made of.
    reached: HashMap<u32, Key>,
    checked: u64,
    missed: u64,
    missed_by_late_link: u64,
    missed_by_timer: u64,
    /// For those without a target: the topic on which no message followed.
    ended_before: BTreeMap<String, u64>,
    streak: u64,
    longest_streak: u64,
}

impl Watch {
    pub(super) fn new(
        deadline: &Deadline,
        source: Option<u32>,
        via: Vec<u32>,
        target: u32,
    ) -> Self {
        Self {
            limit: u64::try_from(deadline.limit.nanos()).unwrap_or(0),
            deadline: deadline.clone(),
            source,
            via,
            target,
            waiting: VecDeque::new(),
            given_up: BTreeSet::new(),
            reached: HashMap::new(),
            checked: 0,
            missed: 0,
            missed_by_late_link: 0,
            missed_by_timer: 0,
            ended_before: BTreeMap::new(),
            streak: 0,
            longest_streak: 0,
        }
    }

    pub(super) fn source(&self) -> Option<u32> {
        self.source
    }

    pub(super) fn via(&self) -> &[u32] {
        &self.via
    }

    pub(super) fn target(&self) -> u32 {
        self.target
    }

    pub(super) fn limit(&self) -> u64 {
        self.limit
    }

    /// Starts the time of a source's message; false if an older one was dropped for it.
    pub(super) fn start(&mut self, number: u64) -> bool {
        self.waiting.push_back(number);
        if self.waiting.len() > MOST_WAITING {
            self.waiting.pop_front();
            return false;
        }
        true
    }

    /// Removes the first source whose time expired; `arrived` returns the arrival of a message, if it is still known.
    pub(super) fn due(&mut self, now: i64, arrived: impl Fn(u64) -> Option<i64>) -> Option<u64> {
        let number = *self.waiting.front()?;
        let limit = i64::try_from(self.limit).unwrap_or(i64::MAX);
        let over = arrived(number).is_none_or(|arrived| now.saturating_sub(arrived) >= limit);
        if over {
            self.waiting.pop_front();
        }
        over.then_some(number)
    }

    /// Records that a target was made of a source's message.
    pub(super) fn reach(&mut self, topic: u32, key: Key) {
        let newest = self.reached.entry(topic).or_insert(key);
        *newest = (*newest).max(key);
    }

    /// Whether a target was made of a source's message or of a newer one.
    pub(super) fn is_reached(&self, topic: u32, key: Key) -> bool {
        self.reached
            .get(&topic)
            .is_some_and(|newest| *newest >= key)
    }

    /// Records the arrival of a target; `late` are those of its sources that took too long.
    pub(super) fn check(&mut self, late: &[u64], found_by: FoundBy) {
        let given_up = late.iter().filter(|late| self.given_up.remove(late));
        if given_up.count() > 0 {
            // It was missed once, and now the cause is known.
            self.missed_by_timer = self.missed_by_timer.saturating_sub(1);
            self.count_miss(found_by);
        } else {
            self.note((!late.is_empty()).then_some(found_by));
        }
    }

    /// Records a source without a target in time, and the topic on which no message followed.
    pub(super) fn give_up(&mut self, number: u64, hop: &str) {
        self.note(Some(FoundBy::Timer));
        *self.ended_before.entry(hop.to_owned()).or_default() += 1;
        self.given_up.insert(number);
        if self.given_up.len() > MOST_WAITING {
            self.given_up.pop_first();
        }
    }

    /// The event of a missed deadline.
    pub(super) fn event(&self, found_by: FoundBy, at: Time<Ros>) -> DeadlineEvent {
        DeadlineEvent {
            deadline: self.deadline.name.clone(),
            target: self.deadline.target.clone(),
            limit: self.deadline.limit,
            found_by,
            stamp: None,
            at,
            sources: Vec::new(),
            missing_hop: None,
        }
    }

    pub(super) fn report(&self) -> DeadlineReport {
        DeadlineReport {
            name: self.deadline.name.clone(),
            source: self.deadline.source.clone(),
            via: self.deadline.via.clone(),
            target: self.deadline.target.clone(),
            limit_ns: self.limit,
            checked: self.checked,
            missed: self.missed,
            missed_by_late_link: self.missed_by_late_link,
            missed_by_timer: self.missed_by_timer,
            ended_before: self.ended_before.clone(),
            longest_streak: self.longest_streak,
        }
    }

    fn count_miss(&mut self, found_by: FoundBy) {
        match found_by {
            FoundBy::Arrival => self.missed += 1,
            FoundBy::LateLink => self.missed_by_late_link += 1,
            FoundBy::Timer => self.missed_by_timer += 1,
        }
    }

    fn note(&mut self, missed: Option<FoundBy>) {
        self.checked += 1;
        let Some(found_by) = missed else {
            self.streak = 0;
            return;
        };
        self.count_miss(found_by);
        self.streak += 1;
        self.longest_streak = self.longest_streak.max(self.streak);
    }
}
