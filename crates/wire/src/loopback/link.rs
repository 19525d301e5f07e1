use std::collections::VecDeque;

use super::endpoints::Stored;
use super::faults::Dice;
use crate::service::{Reply, Request};

/// From whom to whom.
pub(super) type LinkKey = (crate::gid::Gid, crate::gid::Gid);

/// A sender and a receiver that have found each other.
#[derive(Debug)]
pub(super) struct Link {
    pub(super) topic: String,
    pub(super) reliable: bool,
    pub(super) dice: Dice,
    /// When the last sample that keeps the order comes: none comes before it.
    pub(super) last_due: i64,
    /// How many are on their way.
    pub(super) in_flight: usize,
    /// What a reliable sender keeps while the connection is down.
    pub(super) held: VecDeque<Content>,
    pub(super) account: LinkAccount,
}

impl Link {
    pub(super) fn new(topic: &str, reliable: bool, dice: Dice) -> Self {
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

    /// Whether everything that was sent has come.
    pub(super) fn is_acknowledged(&self) -> bool {
        !self.reliable || (self.in_flight == 0 && self.held.is_empty())
    }
}

/// What a link carries.
#[derive(Clone, Debug)]
pub(super) enum Content {
    Sample(Stored),
    Request(Request),
    Reply(Reply),
}

/// The truth about one writer and one reader, to check accounts of losses against.
///
/// `sent + duplicated = delivered + dropped + overflowed + expired + waiting`, always.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LinkAccount {
    /// Samples that the writer sent while the two were matched, kept ones for a late joiner included.
    pub sent: u64,
    /// Samples that the network made of one.
    pub duplicated: u64,
    /// Samples that the receiver was given.
    pub delivered: u64,
    /// Samples that the network lost, that were overwritten while it was down, or that one of the two left behind.
    pub dropped: u64,
    /// Samples that the reader's queue had no room for.
    pub overflowed: u64,
    /// Samples whose lifespan was over.
    pub expired: u64,
    /// Samples on their way, in the reader's queue, or held back.
    pub waiting: u64,
}
