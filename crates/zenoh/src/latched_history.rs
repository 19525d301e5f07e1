use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Mutex, MutexGuard};

use timeloom_wire::backend::lock;
use timeloom_wire::{Gid, Sample};

/// The samples that writers of a latched topic published before the subscription.
///
/// The subscriber of `zenoh-ext` asks for it twice, once for all writers and once for each that it finds; when the
/// second answer is half through as the first one ends, it passes on the rest and forgets the beginning. So the first
/// sample of a writer is held until its writer was asked once more, and the beginning is put in front of it.
#[derive(Debug, Default)]
pub(crate) struct LatchedHistory(Mutex<BTreeMap<Gid, WriterState>>);

#[derive(Debug)]
enum WriterState {
    /// Its samples are held, by number, until it has answered.
    Asked {
        held: BTreeMap<u64, Sample>,
        passed: BTreeSet<u64>,
    },
    /// Its samples pass, but for those that passed already.
    Open { passed: BTreeSet<u64> },
}

/// What becomes of a sample.
#[derive(Debug, PartialEq)]
pub(crate) enum Admission {
    /// It goes to the receiver.
    Pass(Sample),
    /// It is held, and its writer must be asked.
    Ask,
    /// It is held, or came before.
    Keep,
}

/// Writers that are known at most; those beyond are not asked.
const MOST_WRITERS: usize = 10_000;
/// Samples of a writer that are held at most: the oldest go, and show as a gap.
const MOST_HELD: usize = 10_000;

impl LatchedHistory {
    /// Takes in a sample as it came.
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

    /// Takes in a sample of a writer that was asked.
    pub(crate) fn answer(&self, sample: Sample) {
        if let Some(sequence) = sample.sequence
            && let Some(WriterState::Asked { held, passed }) = self.lock().get_mut(&sample.writer)
        {
            hold(held, passed, sequence, sample);
        }
    }

    /// What is held of a writer that has answered, in order. When nothing is, its samples pass from now on.
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
        // While they are passed on, another one comes.
        assert_eq!(history.admit(sample(1, 13)), Admission::Keep);
        assert_eq!(numbers(&history.release(writer)), [13]);
        assert!(history.release(writer).is_empty());
        assert_eq!(history.admit(sample(1, 11)), Admission::Keep, "it came");
        assert_eq!(history.admit(sample(1, 14)), Admission::Pass(sample(1, 14)));
    }

    #[test]
    fn a_writer_received_from_its_first_sample_is_not_asked() {
        let history = LatchedHistory::default();
        assert_eq!(history.admit(sample(2, 1)), Admission::Pass(sample(2, 1)));
        assert_eq!(history.admit(sample(2, 5)), Admission::Pass(sample(2, 5)));
        assert_eq!(history.admit(sample(3, 5)), Admission::Ask, "another one");
    }
}
