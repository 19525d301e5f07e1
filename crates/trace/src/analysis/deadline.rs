use std::collections::{BTreeSet, VecDeque};

use serde::Serialize;
use timeloom_time::{Duration, Ros, Time};

use crate::notification::{DeadlineNotification, NotifiedSource};

/// How long a target may take after its sources.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Deadline {
    /// What people call it.
    pub name: String,
    /// The source; none means all sources of the target.
    pub source: Option<String>,
    /// The target.
    pub target: String,
    /// What is too long: this, or more. Zero means no deadline.
    pub limit: Duration,
}

/// How it was found out that a deadline was missed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum FoundBy {
    /// The target came too late.
    Arrival,
    /// A link came late and showed that the target was too late.
    LateLink,
    /// Time ran out and no target came.
    Timer,
}

/// A deadline was missed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DeadlineEvent {
    /// The deadline's name.
    pub deadline: String,
    /// The target.
    pub target: String,
    /// What was allowed.
    pub limit: Duration,
    /// How it was found out.
    pub found_by: FoundBy,
    /// The stamp of the target's message; none when no target came, or it has no stamp.
    pub stamp: Option<Time<Ros>>,
    /// When it was found out: the target's publication, or now.
    pub at: Time<Ros>,
    /// The sources of the target's message, the punctual ones too.
    pub sources: Vec<SourceTiming>,
    /// The topic on which nothing came, when no target came.
    pub missing_hop: Option<String>,
}

/// How long one source took.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SourceTiming {
    /// Its topic.
    pub topic: String,
    /// Its stamp, if it has one.
    pub stamp: Option<Time<Ros>>,
    /// From its publication on.
    pub elapsed: Duration,
    /// Whether that is too long.
    pub is_overrun: bool,
}

impl DeadlineEvent {
    /// The message that says so.
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

/// A deadline at work.
#[derive(Debug)]
pub(super) struct Watch {
    pub(super) deadline: Deadline,
    pub(super) source: Option<u32>,
    pub(super) target: u32,
    pub(super) limit: u64,
    /// Sources that nothing was heard of yet.
    pub(super) waiting: VecDeque<u64>,
    /// Sources whose time ran out and whose target may still come.
    pub(super) given_up: BTreeSet<u64>,
    pub(super) checked: u64,
    pub(super) missed: u64,
    pub(super) missed_by_late_link: u64,
    pub(super) missed_by_timer: u64,
    pub(super) streak: u64,
    pub(super) longest_streak: u64,
}

impl Watch {
    pub(super) fn new(deadline: &Deadline, source: Option<u32>, target: u32) -> Self {
        Self {
            limit: u64::try_from(deadline.limit.nanos()).unwrap_or(0),
            deadline: deadline.clone(),
            source,
            target,
            waiting: VecDeque::new(),
            given_up: BTreeSet::new(),
            checked: 0,
            missed: 0,
            missed_by_late_link: 0,
            missed_by_timer: 0,
            streak: 0,
            longest_streak: 0,
        }
    }

    /// Notes that what was given up came after all: it was missed once, and now it is known how.
    pub(super) fn came_after_all(&mut self, found_by: FoundBy) {
        self.missed_by_timer = self.missed_by_timer.saturating_sub(1);
        match found_by {
            FoundBy::Arrival => self.missed += 1,
            FoundBy::LateLink => self.missed_by_late_link += 1,
            FoundBy::Timer => self.missed_by_timer += 1,
        }
    }

    pub(super) fn note(&mut self, missed: Option<FoundBy>) {
        self.checked += 1;
        let Some(found_by) = missed else {
            self.streak = 0;
            return;
        };
        match found_by {
            FoundBy::Arrival => self.missed += 1,
            FoundBy::LateLink => self.missed_by_late_link += 1,
            FoundBy::Timer => self.missed_by_timer += 1,
        }
        self.streak += 1;
        self.longest_streak = self.longest_streak.max(self.streak);
    }
}
