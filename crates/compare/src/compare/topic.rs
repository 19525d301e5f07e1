use std::collections::VecDeque;

use timeloom_bag::{Message, TopicInfo};
use timeloom_msg::{Schema, StampProgram, TypeResolver, Value};

use super::{CompareOptions, Item};
use crate::align::{Aligned, Aligner, Side};
use crate::report::{TopicReport, TopicSide};
use crate::rules::TopicRules;
use crate::value_diff::{FieldDiff, diff_bytes, diff_values};
use crate::{AlignBy, Error, Result};

/// The comparison of one topic that both bags have.
pub(super) struct TopicCompare<'a> {
    options: &'a CompareOptions,
    rules: TopicRules<'a>,
    decoders: [Decoder; 2],
    align_by: AlignBy,
    aligner: Aligner<Item>,
    results: VecDeque<Aligned<Item>>,
    counts: [u64; 2],
    times: [Option<(i64, i64)>; 2],
    /// The largest numbers of messages that have a partner, by bag.
    newest: [u64; 2],
    report: TopicReport,
}

/// The reader of the messages of one bag.
struct Decoder {
    schema: Result<Schema, String>,
    stamp: Option<StampProgram>,
}

impl Decoder {
    fn new(topic: &TopicInfo, resolver: &TypeResolver, distro: &str) -> Self {
        let schema = topic.schema(&resolver.clone().for_distro(distro));
        let schema = schema.map_err(|error| error.to_string());
        let stamp = schema.as_ref().ok().and_then(StampProgram::compile);
        Self { schema, stamp }
    }

    fn decode(&self, payload: &[u8]) -> Result<Value, String> {
        let schema = self.schema.as_ref().map_err(Clone::clone)?;
        schema.decode(payload).map_err(|error| error.to_string())
    }
}

impl<'a> TopicCompare<'a> {
    pub(super) fn new(
        topics: [&TopicInfo; 2],
        sides: [TopicSide; 2],
        distros: &[String; 2],
        length_ns: i64,
        options: &'a CompareOptions,
        resolver: &TypeResolver,
    ) -> Result<Self> {
        let [left, right] = topics;
        let decoders = [
            Decoder::new(left, resolver, &distros[0]),
            Decoder::new(right, resolver, &distros[1]),
        ];
        let align_by = choose_alignment(&left.name, options.alignment.by, &decoders)?;
        let within = match align_by {
            AlignBy::Order | AlignBy::Sequence => 0,
            _ => options.alignment.within_ns,
        };
        Ok(Self {
            options,
            rules: options.rules.of_topic(&left.name),
            decoders,
            align_by,
            aligner: Aligner::new(within),
            results: VecDeque::new(),
            counts: [0; 2],
            times: [None; 2],
            newest: [0; 2],
            report: TopicReport::new(left.name.clone(), align_by, sides, length_ns),
        })
    }

    /// Adds a message; gives how the memory of the waiting messages changed, by bag.
    pub(super) fn add(
        &mut self,
        side: Side,
        time_ns: i64,
        message: &Message<'_>,
    ) -> Result<[isize; 2]> {
        let index = side.index();
        self.counts[index] += 1;
        let (first, _) = self.times[index].unwrap_or((time_ns, time_ns));
        self.times[index] = Some((first, time_ns));
        let item = Item {
            ordinal: self.counts[index],
            time_ns,
            payload: message.data.to_vec(),
        };
        let key = self.key(side, &item, message)?;
        let before = self.memory();
        self.aligner.add(side, key, item, &mut self.results);
        self.judge();
        Ok(self.change_since(before))
    }

    pub(super) fn give_up_oldest(&mut self, side: Side) -> [isize; 2] {
        let before = self.memory();
        self.aligner.give_up_oldest(side, &mut self.results);
        self.judge();
        self.change_since(before)
    }

    pub(super) fn finish(&mut self) {
        self.aligner.finish(&mut self.results);
        self.judge();
    }

    pub(super) fn waiting_bytes(&self, side: Side) -> usize {
        self.aligner.waiting_bytes(side)
    }

    pub(super) fn report(mut self) -> TopicReport {
        self.report.close(self.counts, self.times, self.options);
        self.report
    }

    fn memory(&self) -> [usize; 2] {
        [Side::Left, Side::Right].map(|side| self.aligner.waiting_bytes(side))
    }

    fn change_since(&self, before: [usize; 2]) -> [isize; 2] {
        let now = self.memory();
        [0, 1].map(|side| now[side].cast_signed() - before[side].cast_signed())
    }

    /// The criterion that pairs messages.
    fn key(&mut self, side: Side, item: &Item, message: &Message<'_>) -> Result<i64> {
        let ordinal = i64::try_from(item.ordinal).unwrap_or(i64::MAX);
        Ok(match self.align_by {
            AlignBy::Auto | AlignBy::Order => ordinal,
            AlignBy::Time => item.time_ns,
            AlignBy::AbsoluteTime => message.log_time_ns,
            AlignBy::Sequence if message.sequence == 0 => {
                return Err(Error::Align {
                    topic: self.report.name.clone(),
                    by: self.align_by.name(),
                    reason: "the bag has no sequence numbers of the publisher".into(),
                });
            }
            AlignBy::Sequence => i64::from(message.sequence),
            AlignBy::Stamp => {
                let program = self.decoders[side.index()].stamp.as_ref();
                let stamp = program.and_then(|program| program.read(message.data).ok());
                if let Some(stamp) = stamp {
                    stamp.nanos()
                } else {
                    self.report.undecoded += 1;
                    item.time_ns
                }
            }
        })
    }

    /// Compares what the aligner gave out.
    fn judge(&mut self) {
        while let Some(aligned) = self.results.pop_front() {
            match aligned {
                Aligned::Single(side, item) => self.report.single(side, &item),
                Aligned::Pair(left, right) => self.pair(&left, &right),
            }
        }
    }

    fn pair(&mut self, left: &Item, right: &Item) {
        let numbers = [left.ordinal, right.ordinal];
        // A pair comes out with its second message: in the same order, the numbers of both bags ascend.
        if numbers
            .iter()
            .zip(self.newest)
            .any(|(number, newest)| *number < newest)
        {
            self.report.reordered += 1;
        }
        self.newest = [0, 1].map(|side| self.newest[side].max(numbers[side]));
        let differences = self.differences(&left.payload, &right.payload);
        self.report.pair(left, &differences);
    }

    fn differences(&mut self, left: &[u8], right: &[u8]) -> Vec<FieldDiff> {
        if left == right && !self.rules.equal_bytes_may_differ() {
            return Vec::new();
        }
        let values = [
            self.decoders[0].decode(left),
            self.decoders[1].decode(right),
        ];
        match values {
            [Ok(left), Ok(right)] => diff_values(&left, &right, &self.rules),
            [left_value, right_value] => {
                self.report.undecoded += 1;
                let reason = left_value.err().or(right_value.err());
                if self.report.undecoded_reason.is_none() {
                    self.report.undecoded_reason = reason;
                }
                diff_bytes(left, right).into_iter().collect()
            }
        }
    }
}

fn choose_alignment(topic: &str, by: AlignBy, decoders: &[Decoder; 2]) -> Result<AlignBy> {
    let have_stamps = decoders.iter().all(|decoder| decoder.stamp.is_some());
    match by {
        AlignBy::Auto if have_stamps => Ok(AlignBy::Stamp),
        AlignBy::Auto => Ok(AlignBy::Order),
        AlignBy::Stamp if !have_stamps => Err(Error::Align {
            topic: topic.to_owned(),
            by: by.name(),
            reason: "its type has no header stamp".into(),
        }),
        other => Ok(other),
    }
}
