use std::path::PathBuf;

use bytes::Bytes;
use timeloom_bag::bag::SentOrder;
use timeloom_bag::{BagReader, Message, Order, Query, Result, StorageReader as _, TopicId};

use super::options::MessageOrder;

/// A position between messages: before the `skip`th message (from 0) of those at `time`, or before the first later one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Position {
    pub(super) time: i64,
    pub(super) skip: u32,
}

impl Position {
    /// Before all messages at that time.
    pub(super) const fn at(time: i64) -> Self {
        Self { time, skip: 0 }
    }
}

/// A message of the bags.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Item {
    pub(super) topic: TopicId,
    /// By the selected order.
    pub(super) time: i64,
    /// Its number among the messages at that time.
    pub(super) index: u32,
    pub(super) data: Bytes,
    pub(super) part: Part,
    /// The number of its file; `None` if it is irrelevant.
    pub(super) file: Option<u32>,
}

/// The role of an item in the read-ahead.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Part {
    /// It is to be played, in this lap of a loop.
    Lap(u64),
    /// It is the state of a latched topic, from before the start of that lap.
    Latched(u64),
}

impl Part {
    /// The lap of a loop that it belongs to.
    pub(super) const fn lap(self) -> u64 {
        match self {
            Self::Lap(lap) | Self::Latched(lap) => lap,
        }
    }
}

impl Item {
    /// The position after it.
    pub(super) const fn after(&self) -> Position {
        Position {
            time: self.time,
            skip: self.index.saturating_add(1),
        }
    }
}

/// Reads bags forward from any position, and finds messages before a position.
pub(super) struct BagSource {
    reader: Reader,
    order: MessageOrder,
    topics: Vec<TopicId>,
    /// The first and last log time.
    bounds: (i64, i64),
    /// The position of the forward reading: the number of messages to skip at a time, and the number of the last
    /// message.
    skip: Position,
    last: Option<Position>,
    /// Messages in the order of sending are limited to this range.
    sent_range: (i64, i64),
    /// The files of a bag that has several, and the one that was read last.
    files: (Vec<PathBuf>, usize),
}

enum Reader {
    Received(BagReader),
    Sent(SentOrder<BagReader>),
}

/// The largest difference by which a message may have been received before it was sent, by another machine's clock.
const CLOCK_SKEW: i64 = 1_000_000_000;

impl BagSource {
    /// Reads `topics` of the bags; `window` bytes are buffered to sort by the time of sending.
    pub(super) fn new(
        reader: BagReader,
        topics: Vec<TopicId>,
        order: MessageOrder,
        window: u64,
    ) -> Self {
        let info = reader.info();
        let bounds = (
            info.start_time_ns.unwrap_or(0),
            info.end_time_ns.unwrap_or(0),
        );
        let files: Vec<PathBuf> = reader.files().map(|(path, _)| path.to_owned()).collect();
        let files = if reader.bags().len() == 1 && files.len() > 1 {
            files
        } else {
            Vec::new()
        };
        let reader = match order {
            MessageOrder::Received => Reader::Received(reader),
            MessageOrder::Sent => Reader::Sent(SentOrder::new(reader, window)),
        };
        Self {
            reader,
            order,
            topics,
            bounds,
            skip: Position::at(i64::MIN),
            last: None,
            sent_range: (i64::MIN, i64::MAX),
            files: (files, 0),
        }
    }

    /// The number of the file of the current message; `None` if there is only one file, or no single order.
    pub(super) fn file(&mut self) -> Option<u32> {
        let Reader::Received(reader) = &self.reader else {
            return None;
        };
        let (files, last) = &mut self.files;
        if files.is_empty() {
            return None;
        }
        let (_, path) = reader.location()?;
        if files.get(*last).is_none_or(|file| file != path) {
            *last = files.iter().position(|file| file == path)?;
        }
        u32::try_from(*last).ok()
    }

    fn bags(&mut self) -> &mut BagReader {
        match &mut self.reader {
            Reader::Received(reader) => reader,
            Reader::Sent(sent) => sent.reader_mut(),
        }
    }

    /// Number of messages that were too late to be sorted by their time of sending.
    pub(super) fn late(&self) -> u64 {
        match &self.reader {
            Reader::Received(_) => 0,
            Reader::Sent(sent) => sent.late(),
        }
    }

    /// Reads from a position, up to `end` inclusive.
    pub(super) fn start(&mut self, from: Position, end: i64) -> Result<()> {
        self.skip = from;
        self.last = None;
        let mut query = Query {
            topics: Some(self.topics.clone()),
            start_ns: Some(from.time),
            end_ns: Some(end),
            ..Query::default()
        };
        match &mut self.reader {
            Reader::Received(reader) => reader.start(&query),
            Reader::Sent(sent) => {
                // At the ends of the bag there is no limit: times of sending may be outside of the log times.
                let first = if from.time <= self.bounds.0 {
                    i64::MIN
                } else {
                    from.time
                };
                let last = if end >= self.bounds.1 { i64::MAX } else { end };
                self.sent_range = (first, last);
                query.start_ns = Some(first.saturating_sub(CLOCK_SKEW));
                query.end_ns = None;
                sent.start(&query)
            }
        }
    }

    /// The next message and its number among those of its time; a damaged part is an error, once.
    pub(super) fn next(&mut self) -> Result<Option<(Message<'_>, i64, u32)>> {
        loop {
            let more = match &mut self.reader {
                Reader::Received(reader) => reader.advance()?,
                Reader::Sent(sent) => sent.advance()?,
            };
            let Some(time) = more
                .then(|| self.message())
                .flatten()
                .map(|message| self.time_of(&message))
            else {
                return Ok(None);
            };
            if let Some(index) = self.count(time) {
                return Ok(self.message().map(|message| (message, time, index)));
            }
        }
    }

    fn message(&self) -> Option<Message<'_>> {
        match &self.reader {
            Reader::Received(reader) => reader.message(),
            Reader::Sent(sent) => sent.message(),
        }
    }

    /// The payload of the current message, in the memory of the reader if it does not keep much more of it.
    pub(super) fn payload(&self) -> Bytes {
        let shared = match &self.reader {
            Reader::Received(reader) => reader.shared_payload(),
            Reader::Sent(_) => None,
        };
        let copied = || {
            self.message()
                .map(|message| Bytes::copy_from_slice(message.data))
        };
        let payload = shared.map(Bytes::from_owner).or_else(copied);
        payload.unwrap_or_default()
    }

    fn time_of(&self, message: &Message<'_>) -> i64 {
        match self.order {
            MessageOrder::Received => message.log_time_ns,
            MessageOrder::Sent => message.publish_time_ns,
        }
    }

    /// The number of the current message among those of its time; `None` if it is to be skipped.
    fn count(&mut self, time: i64) -> Option<u32> {
        let outside = self.order == MessageOrder::Sent
            && !(self.sent_range.0..=self.sent_range.1).contains(&time);
        if outside {
            return None;
        }
        let index = match self.last {
            Some(last) if last.time == time => last.skip.saturating_add(1),
            _ => 0,
        };
        self.last = Some(Position { time, skip: index });
        (time != self.skip.time || index >= self.skip.skip).then_some(index)
    }

    /// The message before a position, not before `start`. Forward reading must be restarted.
    pub(super) fn previous(&mut self, before: Position, start: i64) -> Result<Option<Item>> {
        let here = if before.skip > 0 {
            self.count_at(before.time)?.min(before.skip)
        } else {
            0
        };
        let behind = if here > 0 {
            self.count_at(before.time)? - here
        } else {
            0
        };
        let end = if here > 0 {
            before.time
        } else {
            before.time.saturating_sub(1)
        };
        let query = Query {
            order: Order::ReverseLogTime,
            topics: Some(self.topics.clone()),
            start_ns: Some(start),
            end_ns: Some(end),
        };
        let reader = self.bags();
        reader.start(&query)?;
        for _ in 0..behind {
            reader.advance()?;
        }
        let Some(message) = reader.next_message()? else {
            return Ok(None);
        };
        let mut item = Item {
            topic: message.topic,
            time: message.log_time_ns,
            index: 0,
            data: Bytes::copy_from_slice(message.data),
            part: Part::Lap(0),
            file: None,
        };
        let of_its_time = if here > 0 {
            here
        } else {
            self.count_at(item.time)?
        };
        item.index = of_its_time.saturating_sub(1);
        Ok(Some(item))
    }

    /// The first message between two times, both inclusive. Forward reading must be restarted.
    pub(super) fn first(&mut self, start: i64, end: i64) -> Result<Option<Item>> {
        self.start(Position::at(start), end)?;
        let found = self.next()?;
        Ok(found.map(|(message, time, index)| Item {
            topic: message.topic,
            time,
            index,
            data: Bytes::copy_from_slice(message.data),
            part: Part::Lap(0),
            file: None,
        }))
    }

    fn count_at(&mut self, time: i64) -> Result<u32> {
        let query = Query {
            topics: Some(self.topics.clone()),
            start_ns: Some(time),
            end_ns: Some(time),
            ..Query::default()
        };
        let reader = self.bags();
        reader.start(&query)?;
        let mut count = 0;
        while reader.advance()? {
            count += 1;
        }
        Ok(count)
    }

    /// The last messages of latched topics before a time, oldest first: for each topic as many as it keeps. Forward
    /// reading must be restarted.
    pub(super) fn latched(
        &mut self,
        before: i64,
        keeps: &[(TopicId, usize)],
        lap: u64,
    ) -> Result<Vec<Item>> {
        let mut found = Vec::new();
        let reader = self.bags();
        // One by one: the others are not read repeatedly until the rarest is found.
        for (topic, keep) in keeps {
            reader.start(&Query {
                order: Order::ReverseLogTime,
                topics: Some(vec![*topic]),
                start_ns: None,
                end_ns: Some(before.saturating_sub(1)),
            })?;
            for _ in 0..*keep {
                let Some(message) = reader.next_message()? else {
                    break;
                };
                found.push(Item {
                    topic: *topic,
                    time: message.log_time_ns,
                    index: 0,
                    data: Bytes::copy_from_slice(message.data),
                    part: Part::Latched(lap),
                    file: None,
                });
            }
        }
        // The newest of each topic was found first; the sort is stable for equal times.
        found.reverse();
        found.sort_by_key(|item| item.time);
        Ok(found)
    }
}
