//! Messages that reached the recorder, or would have, and that it lost.

use serde::Serialize;

/// The place at which the recorder lost a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum LossCause {
    /// The queue between receiving and writing was full.
    Queue,
    /// The message could not be compressed.
    Compression,
    /// The storage refused the message, or a damaged file no longer holds it.
    Storage,
    /// The message was lost on the wire while the recorder itself did not accept messages.
    Backpressure,
}

impl LossCause {
    /// All causes.
    pub const ALL: [Self; 4] = [
        Self::Queue,
        Self::Compression,
        Self::Storage,
        Self::Backpressure,
    ];

    /// The name in metadata, JSON and tables.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Queue => "queue",
            Self::Compression => "compression",
            Self::Storage => "storage",
            Self::Backpressure => "backpressure",
        }
    }
}

/// Messages lost by the recorder, by cause.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize)]
pub struct RecorderLoss {
    /// Lost in the queue.
    pub queue: u64,
    /// Lost in compression.
    pub compression: u64,
    /// Lost in the storage.
    pub storage: u64,
    /// Lost on the wire while the recorder did not accept messages.
    pub backpressure: u64,
}

impl RecorderLoss {
    /// All causes together.
    pub fn total(&self) -> u64 {
        LossCause::ALL
            .into_iter()
            .fold(0, |sum: u64, cause| sum.saturating_add(self.get(cause)))
    }

    /// The messages lost by `cause`.
    pub const fn get(&self, cause: LossCause) -> u64 {
        match cause {
            LossCause::Queue => self.queue,
            LossCause::Compression => self.compression,
            LossCause::Storage => self.storage,
            LossCause::Backpressure => self.backpressure,
        }
    }

    /// Adds `count` messages lost by `cause`.
    pub fn add(&mut self, cause: LossCause, count: u64) {
        let slot = self.slot(cause);
        *slot = slot.saturating_add(count);
    }

    pub(super) const fn slot(&mut self, cause: LossCause) -> &mut u64 {
        match cause {
            LossCause::Queue => &mut self.queue,
            LossCause::Compression => &mut self.compression,
            LossCause::Storage => &mut self.storage,
            LossCause::Backpressure => &mut self.backpressure,
        }
    }

    /// Adds another part.
    pub fn merge(&mut self, other: &Self) {
        for cause in LossCause::ALL {
            self.add(cause, other.get(cause));
        }
    }
}
