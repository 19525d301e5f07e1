//! The last number that each reliable writer has said it has sent, also after it is gone, and who left without a word.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// What is known of the writers of all domains.
static LAST: Mutex<Told> = Mutex::new(Told {
    numbers: BTreeMap::new(),
    questions: 0,
    silent: BTreeSet::new(),
});

struct Told {
    numbers: BTreeMap<[u8; 16], Number>,
    /// How often writers were asked.
    questions: u64,
    /// Participants whose lease ran out: they may have gone on where nobody heard them.
    silent: BTreeSet<Prefix>,
}

/// The last number of one writer.
#[derive(Clone, Copy, Default)]
struct Number {
    number: u64,
    /// Number of requests sent before the last answer.
    questions: u64,
}

/// What the identities of a participant and its writers have in common.
type Prefix = [u8; 12];

/// More writers than this in the life of a process, and those of the lowest names are forgotten: what nobody knows is
/// reported as unknown.
const MOST: usize = 1 << 16;

fn last() -> MutexGuard<'static, Told> {
    LAST.lock().unwrap_or_else(PoisonError::into_inner)
}

fn prefix(identity: &[u8; 16]) -> Prefix {
    let mut prefix = [0; 12];
    prefix.copy_from_slice(&identity[..12]);
    prefix
}

/// A writer said that `number` is its last.
pub(super) fn tell(writer: [u8; 16], number: u64) {
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
        // It is back.
        last.silent.remove(&prefix(&writer));
    }
}

/// A participant was not heard of for too long.
pub(super) fn fell_silent(participant: &[u8; 16]) {
    let mut last = last();
    last.silent.insert(prefix(participant));
    if last.silent.len() > MOST {
        last.silent.pop_first();
    }
}

/// The last number that a writer has told, if it has told any.
pub(crate) fn last_number(writer: &[u8; 16]) -> Option<u64> {
    last().numbers.get(writer).map(|told| told.number)
}

/// Counts a question to writers; gives its number.
pub(crate) fn new_question() -> u64 {
    let mut last = last();
    last.questions += 1;
    last.questions
}

/// Whether a writer has told its last number since that question.
pub(crate) fn told_since(writer: &[u8; 16], question: u64) -> bool {
    let told = last().numbers.get(writer).copied();
    told.is_some_and(|told| told.questions >= question)
}

/// Whether a writer left without a word and has told nothing since.
pub(crate) fn is_silent(writer: &[u8; 16]) -> bool {
    last().silent.contains(&prefix(writer))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_highest_number_counts() {
        let writer = [0xee; 16];
        assert_eq!(last_number(&writer), None);
        tell(writer, 7);
        tell(writer, 5);
        assert_eq!(last_number(&writer), Some(7));
    }

    #[test]
    fn an_answer_comes_after_the_question() {
        let writer = [0xab; 16];
        tell(writer, 7);
        let question = new_question();
        assert!(!told_since(&writer, question));
        tell(writer, 7);
        assert!(told_since(&writer, question));
        assert!(!told_since(&[0xac; 16], question));
    }

    #[test]
    fn who_left_without_a_word_is_silent_until_it_is_back() {
        let (mut participant, writer) = ([0xdd; 16], [0xdd; 16]);
        participant[15] = 0xc1;
        assert!(!is_silent(&writer));
        fell_silent(&participant);
        assert!(is_silent(&writer));
        assert!(!is_silent(&[0xcc; 16]));
        tell(writer, 3);
        assert!(!is_silent(&writer));
    }
}
