//! Division of the messages of a query among threads.

use timeloom_bag::TopicId;

use super::bounds::Bounds;
use crate::bag_set::BagSet;

/// Bags with fewer messages are read by one thread.
const WORTH_A_SPLIT: u64 = 50_000;
/// Readers that are open at a time, at least.
const LEAST_PARTITIONS: usize = 16;

/// A stretch of one bag.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Piece {
    pub(crate) bag: usize,
    pub(crate) start_ns: Option<i64>,
    pub(crate) end_ns: Option<i64>,
}

/// Whether rows may come from all bags at once.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Spread {
    /// As many partitions as there are bags, and a large bag is several.
    Over(usize),
    /// One partition, bag after bag: the first rows are those that a limit wants.
    OneAfterTheOther,
}

/// The partitions of a scan: each is a list of pieces that are read one after the other.
pub(crate) fn pieces(
    set: &BagSet,
    topics: &[Vec<TopicId>],
    bounds: &Bounds,
    spread: Spread,
) -> Vec<Vec<Piece>> {
    let mut all = Vec::new();
    for (bag, topics) in topics.iter().enumerate() {
        let Some(known) = set.bags.get(bag).filter(|_| !topics.is_empty()) else {
            continue;
        };
        let ends = (known.info.start_time_ns, known.info.end_time_ns);
        let (Some(first), Some(last)) = ends else {
            continue;
        };
        let start = bounds.start_ns.map_or(first, |start| start.max(first));
        let end = bounds.end_ns.map_or(last, |end| end.min(last));
        if start > end {
            continue;
        }
        let parts = match spread {
            Spread::Over(target) if known.count(topics) >= WORTH_A_SPLIT => {
                target.div_ceil(set.bags.len().max(1))
            }
            _ => 1,
        };
        let mut parts = split(bag, start, end, parts);
        // Whatever the index says of the ends of the bag, all of it is read.
        if let Some(piece) = parts.first_mut() {
            piece.start_ns = bounds.start_ns;
        }
        if let Some(piece) = parts.last_mut() {
            piece.end_ns = bounds.end_ns;
        }
        all.extend(parts);
    }
    let partitions = match spread {
        Spread::OneAfterTheOther => 1,
        Spread::Over(target) => all.len().clamp(1, target.max(LEAST_PARTITIONS)),
    };
    let each = all.len().div_ceil(partitions).max(1);
    let mut partitions: Vec<Vec<Piece>> = all.chunks(each).map(<[Piece]>::to_vec).collect();
    if partitions.is_empty() {
        partitions.push(Vec::new());
    }
    partitions
}

/// Cuts a stretch of time into equal parts that do not overlap.
fn split(bag: usize, start: i64, end: i64, parts: usize) -> Vec<Piece> {
    let span = i128::from(end) - i128::from(start) + 1;
    let parts = i128::try_from(parts).unwrap_or(1).clamp(1, span);
    let cut = |part: i128| i128::from(start) + span * part / parts;
    let time = |time: i128| i64::try_from(time).ok();
    (0..parts)
        .map(|part| Piece {
            bag,
            start_ns: time(cut(part)),
            end_ns: time(cut(part + 1) - 1),
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pieces_cover_each_instant_once() {
        for (start, end, parts) in [(0, 9, 3), (5, 5, 4), (i64::MIN, i64::MAX, 7)] {
            let pieces = split(1, start, end, parts);
            assert_eq!(pieces.first().unwrap().start_ns, Some(start));
            assert_eq!(pieces.last().unwrap().end_ns, Some(end));
            for pair in pieces.windows(2) {
                assert_eq!(pair[0].end_ns.unwrap() + 1, pair[1].start_ns.unwrap());
            }
        }
    }
}
