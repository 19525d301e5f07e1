//! The last sequence number that each reliable writer has announced, also after it left, and the participants whose
//! lease expired.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Mutex, MutexGuard};
use timeloom_wire::backend::lock;

/// The known state of the writers of all domains.
static LAST: Mutex<WriterStates> = Mutex::new(WriterStates {
    numbers: BTreeMap::new(),
    questions: 0,
    silent: BTreeSet::new(),
});

struct WriterStates {
    numbers: BTreeMap<[u8; 16], Number>,
    /// Number of requests to writers so far.
    questions: u64,
    /// Participants whose lease expired: they may still publish while we do not receive them.
    silent: BTreeSet<Prefix>,
}

/// The last number of one writer.
#[derive(Clone, Copy, Default)]
struct Number {
    number: u64,
    /// Number of requests sent before the last answer.
    questions: u64,
}

/// The common part of the identities of a participant and its writers.
type Prefix = [u8; 12];

/// With more writers than this in the life of a process, those with the lowest identities are forgotten; their ends are
/// reported as unknown.
const MOST: usize = 1 << 16;

fn last() -> MutexGuard<'static, WriterStates> {
    lock(&LAST)
}

fn prefix(identity: &[u8; 16]) -> Prefix {
    let mut prefix = [0; 12];
    prefix.copy_from_slice(&identity[..12]);
    prefix
}

/// A writer announced `number` as its last.
pub(super) fn announce(writer: [u8; 16], number: u64) {
    let mut last = last();
    let questions = last.questions;
    let known = last.numbers.entry(writer).or_default();
    *known = Number {
        number: number.max(known.number),
        questions,
    };
    if last.numbers.len() > MOST {
        last.numbers.pop_first();
    }
    if !last.silent.is_empty() {
        // The participant is alive again.
        last.silent.remove(&prefix(&writer));
    }
}

/// The lease of a participant expired.
pub(super) fn lease_expired(participant: &[u8; 16]) {
    let mut last = last();
    last.silent.insert(prefix(participant));
    if last.silent.len() > MOST {
        last.silent.pop_first();
    }
}

/// The last number that a writer has announced, if any.
pub(crate) fn last_number(writer: &[u8; 16]) -> Option<u64> {
    last().numbers.get(writer).map(|known| known.number)
}

/// Counts a request to writers; returns its number.
pub(crate) fn new_question() -> u64 {
    let mut last = last();
    last.questions += 1;
    last.questions
}

/// Whether a writer has announced its last number since that request.
pub(crate) fn has_announced_since(writer: &[u8; 16], question: u64) -> bool {
    let known = last().numbers.get(writer).copied();
    known.is_some_and(|known| known.questions >= question)
}

/// Whether the lease of a writer's participant expired and the writer has announced nothing since.
pub(crate) fn is_lease_expired(writer: &[u8; 16]) -> bool {
    last().silent.contains(&prefix(writer))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_highest_number_is_kept() {
        let writer = [0xee; 16];
        assert_eq!(last_number(&writer), None);
        announce(writer, 7);
        announce(writer, 5);
        assert_eq!(last_number(&writer), Some(7));
    }

    #[test]
    fn an_answer_counts_only_after_the_request() {
        let writer = [0xab; 16];
        announce(writer, 7);
        let question = new_question();
        assert!(!has_announced_since(&writer, question));
        announce(writer, 7);
        assert!(has_announced_since(&writer, question));
        assert!(!has_announced_since(&[0xac; 16], question));
    }

    #[test]
    fn an_expired_lease_is_renewed_by_the_next_announcement() {
        let (mut participant, writer) = ([0xdd; 16], [0xdd; 16]);
        participant[15] = 0xc1;
        assert!(!is_lease_expired(&writer));
        lease_expired(&participant);
        assert!(is_lease_expired(&writer));
        assert!(!is_lease_expired(&[0xcc; 16]));
        announce(writer, 3);
        assert!(!is_lease_expired(&writer));
    }
}
