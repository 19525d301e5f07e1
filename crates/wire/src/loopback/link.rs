use std::collections::VecDeque;

use super::endpoints::Stored;
use super::faults::RandomFaults;
use crate::service::{Reply, Request};

/// Sender and receiver.
pub(super) type LinkKey = (crate::gid::Gid, crate::gid::Gid);

/// A matched sender and receiver.
#[derive(Debug)]
pub(super) struct Link {
    pub(super) topic: String,
    pub(super) reliable: bool,
    pub(super) dice: RandomFaults,
    /// Arrival time of the last sample in order: later ones do not arrive before it.
    pub(super) last_due: i64,
    /// Number of samples on their way.
    pub(super) in_flight: usize,
    /// Samples that a reliable sender keeps while the connection is down.
    pub(super) held: VecDeque<Content>,
    pub(super) account: LinkAccount,
}

impl Link {
    pub(super) fn new(topic: &str, reliable: bool, dice: RandomFaults) -> Self {
        Self {
            topic: topic.to_owned(),
            reliable,
            dice,
            last_due: i64::MIN,
            in_flight: 0,
            held: VecDeque::new(),
            account: LinkAccount::default(),
        }
    }

    /// Whether everything that was sent has arrived.
    pub(super) fn is_acknowledged(&self) -> bool {
        !self.reliable || (self.in_flight == 0 && self.held.is_empty())
    }
}

/// The content of a link.
#[derive(Clone, Debug)]
pub(super) enum Content {
    Sample(Stored),
    Request(Request),
    Reply(Reply),
}

/// The true counts between one writer and one reader, to check loss accounts against.
///
/// `sent + duplicated = delivered + dropped + overflowed + expired + waiting`, always.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LinkAccount {
    /// Samples that the writer sent while the two were matched, including those kept for a late joiner.
    pub sent: u64,
    /// Additional copies that the network made.
    pub duplicated: u64,
    /// Samples delivered to the receiver.
    pub delivered: u64,
    /// Samples that the network lost, that were overwritten while it was down, or that were in flight when one side
    /// left.
    pub dropped: u64,
    /// Samples that the reader's queue had no room for.
    pub overflowed: u64,
    /// Samples whose lifespan was over.
    pub expired: u64,
    /// Samples on their way, in the reader's queue, or held back.
    pub waiting: u64,
}
