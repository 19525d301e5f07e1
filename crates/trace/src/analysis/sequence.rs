//! Gaps in the numbers of publishers that may share a topic and a name.

use std::collections::HashMap;

/// Publishers of one topic and node that are distinguished.
const STREAMS: usize = 16;
/// Gaps that are kept for each publisher, in case the messages arrive late.
const STRETCHES: usize = 256;

#[derive(Debug, Default)]
pub(super) struct Sequences {
    streams: HashMap<(u32, u32), Vec<Stream>>,
    /// Number of sequence numbers of each topic that arrived.
    seen: HashMap<u32, u64>,
}

/// The numbers of one publisher.
#[derive(Debug)]
struct Stream {
    first: i64,
    next: i64,
    /// The time of publication of the last number, on the engine's time line.
    newest: i64,
    /// Missing numbers: start (inclusive) and end (exclusive).
    missing: Vec<(i64, i64)>,
    lost: u64,
}

impl Sequences {
    /// Adds the number of a tag from a topic and node that was published at `order` on the engine's time line.
    pub(super) fn add(&mut self, topic: u32, node: u32, sequence: i64, order: i64) {
        *self.seen.entry(topic).or_default() += 1;
        let streams = self.streams.entry((topic, node)).or_default();
        if let Some(stream) = streams.iter_mut().find(|stream| stream.next == sequence) {
            stream.next = sequence.saturating_add(1);
            stream.newest = stream.newest.max(order);
            return;
        }
        // Published before a number that arrived already: it is late, and not the first number of another publisher.
        let mut late = streams.iter_mut().filter(|stream| order < stream.newest);
        if late.any(|stream| stream.fill(sequence) || stream.begins_earlier(sequence)) {
            return;
        }
        // A publisher counts from zero: this is another one, or one that was restarted.
        if sequence != 0 {
            if streams.iter_mut().any(|stream| stream.fill(sequence)) {
                return;
            }
            let nearest = streams
                .iter_mut()
                .filter(|stream| stream.next < sequence)
                .min_by_key(|stream| stream.next.abs_diff(sequence));
            if let Some(stream) = nearest {
                stream.skip_to(sequence);
                stream.newest = stream.newest.max(order);
                return;
            }
        }
        if streams.len() < STREAMS {
            streams.push(Stream {
                first: sequence,
                next: sequence.saturating_add(1),
                newest: order,
                missing: Vec::new(),
                lost: 0,
            });
        }
    }

    /// Whether a number of a topic and node arrived already, as far as it is remembered.
    pub(super) fn has(&self, topic: u32, node: u32, sequence: i64) -> bool {
        let streams = self.streams.get(&(topic, node));
        streams.into_iter().flatten().any(|stream| {
            let missing = stream.missing.iter();
            (stream.first..stream.next).contains(&sequence)
                && !missing
                    .into_iter()
                    .any(|(from, to)| (*from..*to).contains(&sequence))
        })
    }

    /// Number of sequence numbers of a topic that never arrived.
    pub(super) fn missing(&self, topic: u32) -> u64 {
        let of_topic = self.streams.iter().filter(|((of, _), _)| *of == topic);
        of_topic
            .flat_map(|(_, streams)| streams)
            .map(|stream| stream.lost)
            .sum()
    }

    /// Number of sequence numbers of a topic, whether they arrived or not.
    pub(super) fn published(&self, topic: u32) -> u64 {
        let seen = self.seen.get(&topic).copied().unwrap_or(0);
        seen.saturating_add(self.missing(topic))
    }

    /// The publishers of a topic, by their sequence numbers.
    pub(super) fn publishers(&self, topic: u32) -> usize {
        let of_topic = self.streams.iter().filter(|((of, _), _)| *of == topic);
        of_topic.map(|(_, streams)| streams.len()).sum()
    }
}

impl Stream {
    fn skip_to(&mut self, sequence: i64) {
        self.miss(self.next, sequence);
        self.next = sequence.saturating_add(1);
    }

    fn miss(&mut self, from: i64, to: i64) {
        if from >= to {
            return;
        }
        self.lost = self.lost.saturating_add(from.abs_diff(to));
        self.missing.push((from, to));
        if self.missing.len() > STRETCHES {
            self.missing.remove(0);
        }
    }

    /// Adds a late number from before the first one that arrived.
    fn begins_earlier(&mut self, sequence: i64) -> bool {
        if sequence >= self.first {
            return false;
        }
        self.miss(sequence.saturating_add(1), self.first);
        self.first = sequence;
        true
    }

    /// Whether a late number fills a gap of this publisher.
    fn fill(&mut self, sequence: i64) -> bool {
        let inside = |(from, to): &(i64, i64)| (*from..*to).contains(&sequence);
        let Some(place) = self.missing.iter().position(inside) else {
            return false;
        };
        let (from, to) = self.missing.swap_remove(place);
        let parts = [(from, sequence), (sequence.saturating_add(1), to)];
        let parts = parts.into_iter().filter(|(from, to)| from < to);
        self.missing.extend(parts);
        self.lost = self.lost.saturating_sub(1);
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Numbers in the order of arrival, each with its time of publication.
    fn missing(numbers: &[(i64, i64)]) -> (u64, usize) {
        let mut sequences = Sequences::default();
        for (number, order) in numbers {
            sequences.add(1, 1, *number, *order);
        }
        (sequences.missing(1), sequences.publishers(1))
    }

    /// All in the order of their publication.
    fn in_order(numbers: &[i64]) -> (u64, usize) {
        let numbers: Vec<_> = numbers.iter().copied().zip(0..).collect();
        missing(&numbers)
    }

    /// Of one publisher, whose numbers are also its times.
    fn of_one(numbers: &[i64]) -> (u64, usize) {
        let numbers: Vec<_> = numbers.iter().map(|number| (*number, *number)).collect();
        missing(&numbers)
    }

    #[test]
    fn gaps_are_counted_and_filled_by_late_numbers() {
        assert_eq!(of_one(&[0, 1, 2]), (0, 1));
        assert_eq!(of_one(&[5, 6, 9]), (2, 1));
        assert_eq!(of_one(&[0, 3, 1, 4, 2]), (0, 1));
        assert_eq!(in_order(&[0, 3, 1, 4, 2]), (0, 1));
    }

    #[test]
    fn a_late_first_number_is_not_another_publisher() {
        assert_eq!(of_one(&[1, 0, 2, 3]), (0, 1));
        assert_eq!(of_one(&[3, 2, 1, 0]), (0, 1));
        assert_eq!(of_one(&[3, 0, 4]), (2, 1));
    }

    #[test]
    fn two_publishers_with_one_name_are_not_a_gap() {
        assert_eq!(in_order(&[0, 0, 1, 1, 2, 2]), (0, 2));
        assert_eq!(in_order(&[0, 1, 2, 0, 3, 1, 2, 4]), (0, 2));
        // One that was restarted.
        assert_eq!(in_order(&[0, 1, 2, 3, 0, 1, 2]), (0, 2));
    }
}
