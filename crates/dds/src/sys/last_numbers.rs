//! The last number that each reliable writer has said it has sent, also after it is gone.

use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// What the writers of all domains said.
static LAST: Mutex<BTreeMap<[u8; 16], u64>> = Mutex::new(BTreeMap::new());

/// More writers than this in the life of a process, and those of the lowest names are forgotten: what nobody knows is
/// reported as unknown.
const MOST: usize = 1 << 16;

fn last() -> MutexGuard<'static, BTreeMap<[u8; 16], u64>> {
    LAST.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A writer said that `number` is its last.
pub(super) fn tell(writer: [u8; 16], number: u64) {
    let mut last = last();
    let known = last.entry(writer).or_default();
    *known = number.max(*known);
    if last.len() > MOST {
        last.pop_first();
    }
}

/// The last number that a writer has told, if it has told any.
pub(crate) fn last_number(writer: &[u8; 16]) -> Option<u64> {
    last().get(writer).copied()
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
}
