//! Messages that are not in the bag on purpose.

use serde::Serialize;

/// The cause for leaving out a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum LeftOutCause {
    /// Recording was paused; includes messages lost on the wire meanwhile.
    Paused,
    /// The topic was throttled.
    Throttled,
    /// A newer message replaced it in the ring of the snapshot mode.
    Overwritten,
    /// It was recorded, and then deleted together with an old file.
    Deleted,
    /// Its type is not the type under which the topic is recorded.
    TypeConflict,
}

impl LeftOutCause {
    /// All causes.
    pub const ALL: [Self; 5] = [
        Self::Paused,
        Self::Throttled,
        Self::Overwritten,
        Self::Deleted,
        Self::TypeConflict,
    ];

    /// The name in metadata, JSON and tables.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Paused => "paused",
            Self::Throttled => "throttled",
            Self::Overwritten => "overwritten",
            Self::Deleted => "deleted",
            Self::TypeConflict => "type_conflict",
        }
    }
}

/// Messages left out on purpose, by cause.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize)]
pub struct LeftOut {
    /// While recording was paused.
    pub paused: u64,
    /// By throttling.
    pub throttled: u64,
    /// Overwritten in the ring of the snapshot mode.
    pub overwritten: u64,
    /// Recorded, then deleted together with an old file.
    pub deleted: u64,
    /// Of a type that conflicts with that of the recorded topic.
    pub type_conflict: u64,
}

impl LeftOut {
    /// All causes together.
    pub fn total(&self) -> u64 {
        LeftOutCause::ALL
            .into_iter()
            .fold(0, |sum: u64, cause| sum.saturating_add(self.get(cause)))
    }

    /// The messages left out by `cause`.
    pub const fn get(&self, cause: LeftOutCause) -> u64 {
        match cause {
            LeftOutCause::Paused => self.paused,
            LeftOutCause::Throttled => self.throttled,
            LeftOutCause::Overwritten => self.overwritten,
            LeftOutCause::Deleted => self.deleted,
            LeftOutCause::TypeConflict => self.type_conflict,
        }
    }

    /// Adds `count` messages left out by `cause`.
    pub fn add(&mut self, cause: LeftOutCause, count: u64) {
        let slot = self.slot(cause);
        *slot = slot.saturating_add(count);
    }

    pub(super) const fn slot(&mut self, cause: LeftOutCause) -> &mut u64 {
        match cause {
            LeftOutCause::Paused => &mut self.paused,
            LeftOutCause::Throttled => &mut self.throttled,
            LeftOutCause::Overwritten => &mut self.overwritten,
            LeftOutCause::Deleted => &mut self.deleted,
            LeftOutCause::TypeConflict => &mut self.type_conflict,
        }
    }

    /// Adds another part.
    pub fn merge(&mut self, other: &Self) {
        for cause in LeftOutCause::ALL {
            self.add(cause, other.get(cause));
        }
    }
}
