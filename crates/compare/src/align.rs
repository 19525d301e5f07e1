//! Pairing of the messages of the left and the right bag.

mod exact;
mod nearest;

use std::collections::VecDeque;

use exact::Exact;
use nearest::Nearest;
use serde::Deserialize;

/// The criterion that pairs two messages of a topic.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum AlignBy {
    /// The header stamp where the type has one, else the order.
    #[default]
    Auto,
    /// The n-th message of the topic in one bag and the n-th in the other.
    Order,
    /// The sequence number of the publisher.
    Sequence,
    /// The header stamp.
    Stamp,
    /// The log time since the start of each bag.
    Time,
    /// The log time itself.
    AbsoluteTime,
}

impl AlignBy {
    /// The name, as the command line has it.
    pub fn name(self) -> &'static str {
        match self {
            Self::Auto => "auto",
            Self::Order => "order",
            Self::Sequence => "sequence",
            Self::Stamp => "stamp",
            Self::Time => "time",
            Self::AbsoluteTime => "absolute-time",
        }
    }

    /// Whether log times decide.
    pub(crate) fn is_by_time(self) -> bool {
        matches!(self, Self::Time | Self::AbsoluteTime)
    }
}

/// Two messages belong together up to this distance of their log times.
const DEFAULT_DISTANCE_NS: u64 = 20_000_000;

/// Options of the alignment.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Alignment {
    /// The criterion.
    pub by: AlignBy,
    /// Largest distance of two stamps or times, in nanoseconds; 0 asks for equal ones.
    pub within_ns: u64,
}

impl Alignment {
    /// An alignment with a distance; by default 20 ms for log times, and 0 for stamps. `None` if a distance is given
    /// that has no effect.
    pub fn new(by: AlignBy, within_ns: Option<u64>) -> Option<Self> {
        let takes_distance = by.is_by_time() || by == AlignBy::Stamp;
        if within_ns.is_some() && !takes_distance {
            return None;
        }
        let default = if by.is_by_time() {
            DEFAULT_DISTANCE_NS
        } else {
            0
        };
        Some(Self {
            by,
            within_ns: within_ns.unwrap_or(default),
        })
    }
}

/// One of the two bags.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Side {
    Left,
    Right,
}

impl Side {
    pub(crate) fn other(self) -> Self {
        match self {
            Self::Left => Self::Right,
            Self::Right => Self::Left,
        }
    }

    pub(crate) fn index(self) -> usize {
        match self {
            Self::Left => 0,
            Self::Right => 1,
        }
    }
}

/// A result of the alignment.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Aligned<T> {
    /// Two messages that belong together: left, right.
    Pair(T, T),
    /// A message without a partner.
    Single(Side, T),
}

/// A message that waits for its partner.
pub(crate) trait Waiting {
    /// The memory that it takes, in bytes.
    fn bytes(&self) -> usize;
}

/// Aligns the messages of one topic. Messages are added in the order of each bag; results come out as soon as they are
/// certain.
pub(crate) enum Aligner<T> {
    Exact(Exact<T>),
    Nearest(Nearest<T>),
}

impl<T: Waiting> Aligner<T> {
    pub(crate) fn new(within_ns: u64) -> Self {
        match i64::try_from(within_ns) {
            Ok(0) => Self::Exact(Exact::new()),
            Ok(within) => Self::Nearest(Nearest::new(within)),
            Err(_) => Self::Nearest(Nearest::new(i64::MAX)),
        }
    }

    pub(crate) fn add(&mut self, side: Side, key: i64, item: T, out: &mut VecDeque<Aligned<T>>) {
        match self {
            Self::Exact(exact) => exact.add(side, key, item, out),
            Self::Nearest(nearest) => nearest.add(side, key, item, out),
        }
    }

    /// Gives up on the message that waits longest on a side, to free memory.
    pub(crate) fn give_up_oldest(&mut self, side: Side, out: &mut VecDeque<Aligned<T>>) {
        match self {
            Self::Exact(exact) => exact.give_up_oldest(side, out),
            Self::Nearest(nearest) => nearest.give_up_oldest(side, out),
        }
    }

    /// Ends both streams: what still waits has no partner.
    pub(crate) fn finish(&mut self, out: &mut VecDeque<Aligned<T>>) {
        match self {
            Self::Exact(exact) => exact.finish(out),
            Self::Nearest(nearest) => nearest.finish(out),
        }
    }

    /// The memory of the messages that wait on a side.
    pub(crate) fn waiting_bytes(&self, side: Side) -> usize {
        match self {
            Self::Exact(exact) => exact.waiting_bytes(side),
            Self::Nearest(nearest) => nearest.waiting_bytes(side),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    impl Waiting for u64 {
        fn bytes(&self) -> usize {
            8
        }
    }

    fn run(within: u64, messages: &[(Side, i64, u64)]) -> Vec<Aligned<u64>> {
        let mut aligner = Aligner::new(within);
        let mut out = VecDeque::new();
        for (side, key, item) in messages {
            aligner.add(*side, *key, *item, &mut out);
        }
        aligner.finish(&mut out);
        assert_eq!(aligner.waiting_bytes(Side::Left), 0);
        assert_eq!(aligner.waiting_bytes(Side::Right), 0);
        out.into()
    }

    #[test]
    fn equal_keys_are_pairs_in_any_order() {
        use Side::{Left, Right};
        let out = run(
            0,
            &[
                (Left, 1, 10),
                (Left, 2, 11),
                (Right, 2, 20),
                (Right, 1, 21),
                (Right, 3, 22),
            ],
        );
        assert_eq!(
            out,
            [
                Aligned::Pair(11, 20),
                Aligned::Pair(10, 21),
                Aligned::Single(Right, 22)
            ]
        );
    }

    #[test]
    fn repeated_keys_are_paired_in_their_order() {
        use Side::{Left, Right};
        let out = run(
            0,
            &[(Left, 0, 1), (Left, 0, 2), (Right, 0, 3), (Right, 0, 4)],
        );
        assert_eq!(out, [Aligned::Pair(1, 3), Aligned::Pair(2, 4)]);
    }

    #[test]
    fn the_nearer_of_two_messages_is_the_partner() {
        use Side::{Left, Right};
        let out = run(10, &[(Left, 0, 1), (Left, 8, 2), (Right, 9, 3)]);
        assert_eq!(out, [Aligned::Single(Left, 1), Aligned::Pair(2, 3)]);
        let out = run(
            10,
            &[(Right, 9, 3), (Left, 0, 1), (Left, 8, 2), (Left, 12, 4)],
        );
        assert_eq!(
            out,
            [
                Aligned::Single(Left, 1),
                Aligned::Pair(2, 3),
                Aligned::Single(Left, 4)
            ]
        );
    }

    proptest! {
        /// Every message comes out exactly once, and pairs are within the distance.
        #[test]
        fn every_message_has_one_result(
            left in prop::collection::vec(0_i64..200, 0..40),
            right in prop::collection::vec(0_i64..200, 0..40),
            within in 0_u64..20,
            seed in any::<u64>(),
        ) {
            let (mut left, mut right) = (left, right);
            left.sort_unstable();
            right.sort_unstable();
            let mut messages = Vec::new();
            let (mut l, mut r, mut bits) = (left.iter(), right.iter(), seed);
            let (mut next_l, mut next_r) = (l.next(), r.next());
            let mut id = 0;
            while next_l.is_some() || next_r.is_some() {
                let take_left = next_r.is_none() || (next_l.is_some() && bits & 1 == 0);
                bits = bits.rotate_right(1);
                if take_left {
                    messages.push((Side::Left, *next_l.unwrap(), id));
                    next_l = l.next();
                } else {
                    messages.push((Side::Right, *next_r.unwrap(), id));
                    next_r = r.next();
                }
                id += 1;
            }
            let out = run(within, &messages);
            let mut seen = Vec::new();
            let key = |item: u64| messages[usize::try_from(item).unwrap()].1;
            for aligned in out {
                match aligned {
                    Aligned::Pair(a, b) => {
                        prop_assert!(key(a).abs_diff(key(b)) <= within);
                        seen.extend([a, b]);
                    }
                    Aligned::Single(_, a) => seen.push(a),
                }
            }
            seen.sort_unstable();
            prop_assert_eq!(seen, (0..id).collect::<Vec<_>>());
        }
    }
}
