use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Mutex, MutexGuard};

use timeloom_wire::backend::lock;
use timeloom_wire::{Gid, Sample};

/// The samples that writers of a latched topic published before the subscription.
///
/// The subscriber of `zenoh-ext` queries the history twice, once for all writers and once for each that it finds; when
/// the second reply is half through as the first one ends, it delivers the rest and drops the beginning. Therefore the
/// first sample of a writer is held until its writer was queried once more, and the beginning is put in front of it.
#[derive(Debug, Default)]
pub(crate) struct LatchedHistory(Mutex<BTreeMap<Gid, WriterState>>);

#[derive(Debug)]
enum WriterState {
    /// Its samples are held, by number, until it has replied.
    Asked {
        held: BTreeMap<u64, Sample>,
        passed: BTreeSet<u64>,
    },
    /// Its samples pass, except for those that passed already.
    Open { passed: BTreeSet<u64> },
}

/// The decision for a sample.
#[derive(Debug, PartialEq)]
pub(crate) enum Admission {
    /// It goes to the receiver.
    Pass(Sample),
    /// It is held, and its writer must be queried.
    Ask,
    /// It is held, or was received before.
    Keep,
}

/// Limit of the known writers; others are not queried.
const MOST_WRITERS: usize = 10_000;
/// Limit of the held samples of a writer: the oldest are dropped, and show as a gap.
const MOST_HELD: usize = 10_000;

impl LatchedHistory {
    /// Decides on a received sample.
    pub(crate) fn admit(&self, sample: Sample) -> Admission {
        let (writer, Some(sequence)) = (sample.writer, sample.sequence) else {
            return Admission::Pass(sample);
        };
        let mut writers = self.lock();
        let is_full = writers.len() >= MOST_WRITERS;
        match writers.get_mut(&writer) {
            Some(WriterState::Asked { held, passed }) => {
                hold(held, passed, sequence, sample);
                Admission::Keep
            }
            Some(WriterState::Open { passed }) => {
                if passed.contains(&sequence) {
                    return Admission::Keep;
                }
                if passed.last().is_some_and(|last| sequence > *last) {
                    passed.clear();
                }
                Admission::Pass(sample)
            }
            None if is_full => Admission::Pass(sample),
            None if sequence <= 1 => {
                let passed = BTreeSet::new();
                writers.insert(writer, WriterState::Open { passed });
                Admission::Pass(sample)
            }
            None => {
                let (held, passed) = (BTreeMap::from([(sequence, sample)]), BTreeSet::new());
                writers.insert(writer, WriterState::Asked { held, passed });
                Admission::Ask
            }
        }
    }

    /// Adds a sample of the reply of a queried writer.
    pub(crate) fn answer(&self, sample: Sample) {
        if let Some(sequence) = sample.sequence
            && let Some(WriterState::Asked { held, passed }) = self.lock().get_mut(&sample.writer)
        {
            hold(held, passed, sequence, sample);
        }
    }

    /// The held samples of a writer that has replied, in order. When there are none, its samples pass from now on.
    pub(crate) fn release(&self, writer: Gid) -> Vec<Sample> {
        let mut writers = self.lock();
        let Some(state) = writers.get_mut(&writer) else {
            return Vec::new();
        };
        let WriterState::Asked { held, passed } = state else {
            return Vec::new();
        };
        if held.is_empty() {
            let passed = std::mem::take(passed);
            *state = WriterState::Open { passed };
            return Vec::new();
        }
        passed.extend(held.keys());
        std::mem::take(held).into_values().collect()
    }

    fn lock(&self) -> MutexGuard<'_, BTreeMap<Gid, WriterState>> {
        lock(&self.0)
    }
}

fn hold(held: &mut BTreeMap<u64, Sample>, passed: &BTreeSet<u64>, sequence: u64, sample: Sample) {
    if passed.contains(&sequence) {
        return;
    }
    held.entry(sequence).or_insert(sample);
    if held.len() > MOST_HELD {
        held.pop_first();
    }
}

#[cfg(test)]
mod tests {
    use bytes::Bytes;
    use timeloom_time::Time;

    use super::*;

    fn sample(writer: u8, sequence: u64) -> Sample {
        Sample {
            payload: Bytes::new(),
            source_time: None,
            receive_time: Time::from_nanos(0),
            writer: Gid([writer; 16]),
            sequence: Some(sequence),
        }
    }

    fn numbers(samples: &[Sample]) -> Vec<u64> {
        samples
            .iter()
            .filter_map(|sample| sample.sequence)
            .collect()
    }

    #[test]
    fn earlier_samples_go_before_the_first_one_received() {
        let history = LatchedHistory::default();
        assert_eq!(history.admit(sample(1, 10)), Admission::Ask);
        for sequence in 7..=11 {
            history.answer(sample(1, sequence));
        }
        assert_eq!(history.admit(sample(1, 12)), Admission::Keep);
        let writer = sample(1, 0).writer;
        assert_eq!(numbers(&history.release(writer)), [7, 8, 9, 10, 11, 12]);
        // While they are delivered, another one arrives.
        assert_eq!(history.admit(sample(1, 13)), Admission::Keep);
        assert_eq!(numbers(&history.release(writer)), [13]);
        assert!(history.release(writer).is_empty());
        assert_eq!(history.admit(sample(1, 11)), Admission::Keep, "it came");
        assert_eq!(history.admit(sample(1, 14)), Admission::Pass(sample(1, 14)));
    }

    #[test]
    fn a_writer_received_from_its_first_sample_is_not_queried() {
        let history = LatchedHistory::default();
        assert_eq!(history.admit(sample(2, 1)), Admission::Pass(sample(2, 1)));
        assert_eq!(history.admit(sample(2, 5)), Admission::Pass(sample(2, 5)));
        assert_eq!(history.admit(sample(3, 5)), Admission::Ask, "another one");
    }
}
