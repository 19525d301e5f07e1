//! Messages in the order in which they were sent.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use crate::message::size_u64;
use crate::{Message, Query, Result, StorageReader, TopicId};

struct Held {
    topic: TopicId,
    log_time_ns: i64,
    sequence: u32,
    data: Vec<u8>,
}

/// Reorders a reader by publish time within a window of memory.
///
/// The reader should be in log-time order. A message that was sent earlier than one that already left the window is
/// late; [`late`](Self::late) counts those, so that a window that is too small is never silent.
///
/// ```no_run
/// use std::path::Path;
/// use timeloom_bag::bag::SentOrder;
/// use timeloom_bag::{BagReader, Query};
///
/// let reader = BagReader::open(Path::new("my_bag"))?;
/// let mut sent = SentOrder::new(reader, 64 << 20);
/// sent.start(&Query::default())?;
/// while sent.advance()? {
///     let message = sent.message().expect("there is one after advance");
///     println!("{}", message.publish_time_ns);
/// }
/// # Ok::<(), timeloom_bag::Error>(())
/// ```
pub struct SentOrder<R> {
    reader: R,
    window: u64,
    held: BinaryHeap<Reverse<(i64, u64, usize)>>,
    slots: Vec<Option<Held>>,
    free: Vec<usize>,
    bytes: u64,
    arrivals: u64,
    current: Option<(i64, Held)>,
    last_time_ns: i64,
    late: u64,
    ended: bool,
}

impl<R: StorageReader> SentOrder<R> {
    /// Wraps a reader that was started; `window` bytes of messages are held back.
    pub fn new(reader: R, window: u64) -> Self {
        Self {
            reader,
            window,
            held: BinaryHeap::new(),
            slots: Vec::new(),
            free: Vec::new(),
            bytes: 0,
            arrivals: 0,
            current: None,
            last_time_ns: i64::MIN,
            late: 0,
            ended: false,
        }
    }

    /// Restarts the reader; buffered messages are dropped.
    pub fn start(&mut self, query: &Query) -> Result<()> {
        self.reader.start(query)?;
        self.held.clear();
        self.slots.clear();
        self.free.clear();
        self.bytes = 0;
        self.current = None;
        self.last_time_ns = i64::MIN;
        self.ended = false;
        Ok(())
    }

    /// The underlying reader. Call [`start`](Self::start) again after moving it.
    pub fn reader_mut(&mut self) -> &mut R {
        &mut self.reader
    }

    /// Messages that came after one that was sent later.
    pub fn late(&self) -> u64 {
        self.late
    }

    /// Moves to the next message; `false` at the end.
    pub fn advance(&mut self) -> Result<bool> {
        while !self.ended && self.bytes <= self.window {
            self.fetch()?;
        }
        let Some(Reverse((time, _, slot))) = self.held.pop() else {
            self.current = None;
            return Ok(false);
        };
        let held = self.slots.get_mut(slot).and_then(Option::take);
        self.free.push(slot);
        self.bytes -= held
            .as_ref()
            .map_or(0, |held| size_u64(held.data.len()) + 64);
        self.late += u64::from(time < self.last_time_ns);
        self.last_time_ns = self.last_time_ns.max(time);
        self.current = held.map(|held| (time, held));
        Ok(true)
    }

    fn fetch(&mut self) -> Result<()> {
        let Some(message) = self.reader.next_message()? else {
            self.ended = true;
            return Ok(());
        };
        let held = Held {
            topic: message.topic,
            log_time_ns: message.log_time_ns,
            sequence: message.sequence,
            data: message.data.to_vec(),
        };
        let time = message.publish_time_ns;
        self.bytes += message.size() + 64;
        let slot = self.free.pop().unwrap_or_else(|| {
            self.slots.push(None);
            self.slots.len() - 1
        });
        if let Some(place) = self.slots.get_mut(slot) {
            *place = Some(held);
        }
        self.held.push(Reverse((time, self.arrivals, slot)));
        self.arrivals += 1;
        Ok(())
    }

    /// The current message.
    pub fn message(&self) -> Option<Message<'_>> {
        let (publish_time_ns, held) = self.current.as_ref()?;
        Some(Message {
            topic: held.topic,
            log_time_ns: held.log_time_ns,
            publish_time_ns: *publish_time_ns,
            sequence: held.sequence,
            data: &held.data,
        })
    }
}
