//! Gaps in the numbers of publishers that may share a topic and a name.

use std::collections::HashMap;

/// More publishers of one topic and node are not told apart.
const STREAMS: usize = 16;
/// So many stretches of missing numbers are remembered per publisher, in case they come late.
const STRETCHES: usize = 16;

#[derive(Debug, Default)]
pub(super) struct Sequences {
    streams: HashMap<(u32, u32), Vec<Stream>>,
    /// How many numbers of each topic came.
    seen: HashMap<u32, u64>,
}

/// The numbers of one publisher.
#[derive(Debug)]
struct Stream {
    next: i64,
    /// Missing numbers: from, and up to but without.
    missing: Vec<(i64, i64)>,
    lost: u64,
}

impl Sequences {
    /// Takes the number of a tag from a topic and node.
    pub(super) fn add(&mut self, topic: u32, node: u32, sequence: i64) {
        *self.seen.entry(topic).or_default() += 1;
        let streams = self.streams.entry((topic, node)).or_default();
        if let Some(stream) = streams.iter_mut().find(|stream| stream.next == sequence) {
            stream.next = sequence.saturating_add(1);
            return;
        }
        // A publisher counts from zero: this is another one, or one that was started again.
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
                return;
            }
        }
        if streams.len() < STREAMS {
            streams.push(Stream {
                next: sequence.saturating_add(1),
                missing: Vec::new(),
                lost: 0,
            });
        }
    }

    /// How many numbers of a topic never came.
    pub(super) fn missing(&self, topic: u32) -> u64 {
        let of_topic = self.streams.iter().filter(|((of, _), _)| *of == topic);
        of_topic
            .flat_map(|(_, streams)| streams)
            .map(|stream| stream.lost)
            .sum()
    }

    /// How many numbers of a topic there are, whether they came or not.
    pub(super) fn published(&self, topic: u32) -> u64 {
        let seen = self.seen.get(&topic).copied().unwrap_or(0);
        seen.saturating_add(self.missing(topic))
    }

    /// How many publishers a topic has, as far as their numbers tell.
    pub(super) fn publishers(&self, topic: u32) -> usize {
        let of_topic = self.streams.iter().filter(|((of, _), _)| *of == topic);
        of_topic.map(|(_, streams)| streams.len()).sum()
    }
}

impl Stream {
    fn skip_to(&mut self, sequence: i64) {
        self.lost = self.lost.saturating_add(self.next.abs_diff(sequence));
        self.missing.push((self.next, sequence));
        if self.missing.len() > STRETCHES {
            self.missing.remove(0);
        }
        self.next = sequence.saturating_add(1);
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

    fn missing(numbers: &[i64]) -> (u64, usize) {
        let mut sequences = Sequences::default();
        for number in numbers {
            sequences.add(1, 1, *number);
        }
        (sequences.missing(1), sequences.publishers(1))
    }

    #[test]
    fn gaps_are_counted_and_late_ones_forgiven() {
        assert_eq!(missing(&[0, 1, 2]), (0, 1));
        assert_eq!(missing(&[5, 6, 9]), (2, 1));
        assert_eq!(missing(&[0, 3, 1, 4, 2]), (0, 1));
    }

    #[test]
    fn two_publishers_of_one_name_are_no_gap() {
        assert_eq!(missing(&[0, 0, 1, 1, 2, 2]), (0, 2));
        assert_eq!(missing(&[0, 1, 2, 0, 3, 1, 2, 4]), (0, 2));
        // One that was started again.
        assert_eq!(missing(&[0, 1, 2, 3, 0, 1, 2]), (0, 2));
    }
}
