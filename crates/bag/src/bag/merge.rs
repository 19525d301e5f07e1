//! The merge of many files: a heap of the open ones, the rest waiting for their time.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::path::Path;
use std::sync::Arc;

use super::layout::{BagFile, open_again, open_described};
use super::time_map::TimeMap;
use crate::metadata::KnownMetadata;
use crate::robot::{self, RobotState, StatePart};
use crate::storage::FileInfo;
use crate::{
    Message, Order, Place, Query, Result, SharedPayload, StorageReader, StoredAt, TopicId,
};

/// A file of a merge.
pub(super) struct Member {
    pub(super) bag: usize,
    pub(super) file: BagFile,
    pub(super) info: FileInfo,
    /// Topic of the bag by topic of the file.
    pub(super) topics: Vec<u32>,
    /// Whether messages are compressed one by one.
    unpack: bool,
    place: Arc<dyn Place>,
    reader: Option<Box<dyn StorageReader>>,
    /// To the times of the merge; none if the file has them already.
    times: Option<Arc<dyn TimeMap>>,
}

impl Member {
    /// Opens a file to read its description.
    pub(super) fn open(
        place: &Arc<dyn Place>,
        bag: usize,
        file: &BagFile,
        unpack: Option<bool>,
        known: Option<KnownMetadata<'_>>,
    ) -> Result<Self> {
        let (reader, unpack) = open_described(place.as_ref(), file, unpack, known)?;
        let info = reader.info().clone();
        Ok(Self {
            bag,
            file: file.clone(),
            info,
            topics: Vec::new(),
            unpack,
            place: Arc::clone(place),
            reader: Some(reader),
            times: None,
        })
    }

    /// Puts the file on another clock.
    pub(super) fn set_times(&mut self, times: &Arc<dyn TimeMap>) {
        let info = &mut self.info;
        for time in [&mut info.start_time_ns, &mut info.end_time_ns] {
            *time = time.map(|time| times.map(time));
        }
        self.times = Some(Arc::clone(times));
    }

    /// Closes the file until it is needed.
    pub(super) fn close(&mut self) {
        self.reader = None;
    }

    /// The state of the robot that the file holds; a file that is closed is opened for it and closed again.
    fn state_texts(&mut self, part: StatePart) -> Result<Vec<String>> {
        match &mut self.reader {
            Some(reader) => reader.state_texts(part),
            None => open_again(self.place.as_ref(), &self.file, self.unpack)?.state_texts(part),
        }
    }

    fn begin(&mut self, query: &Query) -> Result<()> {
        let mut reader = match self.reader.take() {
            Some(reader) => reader,
            None => open_again(self.place.as_ref(), &self.file, self.unpack)?,
        };
        let topics = query.topics.as_ref().map(|wanted| {
            let of_file = self.topics.iter().enumerate();
            let ids = of_file.filter(|(_, topic)| wanted.contains(&TopicId(**topic)));
            ids.filter_map(|(index, _)| TopicId::from_index(index))
                .collect()
        });
        let is_mapped = self.times.is_some();
        reader.start(&Query {
            topics,
            // Those of a file on another clock are compared message by message.
            start_ns: query.start_ns.filter(|_| !is_mapped),
            end_ns: query.end_ns.filter(|_| !is_mapped),
            ..query.clone()
        })?;
        self.reader = Some(reader);
        Ok(())
    }

    #[inline]
    fn advance(&mut self, query: &Query) -> Result<Option<i64>> {
        let Some(reader) = &mut self.reader else {
            return Ok(None);
        };
        let Some(times) = &self.times else {
            return reader.next_time_ns();
        };
        while let Some(time) = reader.next_time_ns()? {
            let time = times.map(time);
            if query.contains(time) {
                return Ok(Some(time));
            }
        }
        Ok(None)
    }

    #[inline]
    fn message(&self) -> Option<Message<'_>> {
        let message = self.reader.as_ref()?.message()?;
        let times = self.times.as_ref();
        Some(Message {
            topic: TopicId(*self.topics.get(message.topic.index())?),
            log_time_ns: times.map_or(message.log_time_ns, |times| times.map(message.log_time_ns)),
            ..message
        })
    }
}

/// Directed time and directed position of the next message of an open file.
type Head = Reverse<(i64, i64)>;

/// All files of all bags in one order.
pub(super) struct Merge {
    members: Vec<Member>,
    query: Query,
    /// Members in the order in which they are opened, and the next of them.
    order: Vec<usize>,
    place: usize,
    heap: BinaryHeap<Head>,
    current: Option<usize>,
    /// The message of the current member was taken: it must be advanced first.
    used: bool,
    /// Messages of the current member before this directed time are next, whatever the other files hold: a run of them
    /// needs neither the heap nor the list of files.
    run_before: i64,
}

impl Merge {
    pub(super) fn new(members: Vec<Member>) -> Self {
        Self {
            members,
            query: Query::default(),
            order: Vec::new(),
            place: 0,
            heap: BinaryHeap::new(),
            current: None,
            used: false,
            run_before: i64::MIN,
        }
    }

    pub(super) fn members(&self) -> &[Member] {
        &self.members
    }

    /// The texts of all files.
    pub(super) fn state_texts(&mut self, part: StatePart) -> Result<Vec<String>> {
        let mut all = Vec::new();
        for member in &mut self.members {
            all.append(&mut member.state_texts(part)?);
        }
        Ok(all)
    }

    /// The states of all files: those of one bag follow each other, those of several bags are united.
    pub(super) fn state<T: RobotState>(&mut self) -> Result<T> {
        let mut all = T::default();
        let mut of_bag = (0, T::default());
        for member in &mut self.members {
            if member.bag != of_bag.0 {
                all.unite(&of_bag.1);
                of_bag = (member.bag, T::default());
            }
            let mut state: T = robot::from_texts(&member.state_texts(T::PART)?)?;
            if let Some(times) = &member.times {
                state.retime(times.as_ref());
            }
            of_bag.1.update(&state);
        }
        all.unite(&of_bag.1);
        Ok(all)
    }

    /// Puts the files of a bag on another clock.
    pub(super) fn set_times(&mut self, bag: usize, times: &Arc<dyn TimeMap>) {
        let members = self.members.iter_mut().filter(|member| member.bag == bag);
        members.for_each(|member| member.set_times(times));
    }

    pub(super) fn location(&self) -> Option<(usize, &Path)> {
        let member = self.members.get(self.current?)?;
        Some((member.bag, &member.file.path))
    }

    pub(super) fn start(&mut self, query: &Query) {
        self.query = query.clone();
        self.heap.clear();
        self.current = None;
        self.used = false;
        self.run_before = i64::MIN;
        self.place = 0;
        self.close_unless_single();
        let holds_any = |info: &FileInfo| {
            let (Some(start), Some(end)) = (info.start_time_ns, info.end_time_ns) else {
                return false;
            };
            query.start_ns.is_none_or(|from| end >= from)
                && query.end_ns.is_none_or(|to| start <= to)
        };
        self.order = (0..self.members.len())
            .filter(|at| holds_any(&self.members[*at].info))
            .collect();
        let info = |at: usize| &self.members[at].info;
        match query.order {
            Order::File => {}
            Order::LogTime => self.order.sort_by_key(|at| (info(*at).start_time_ns, *at)),
            Order::ReverseLogTime => self
                .order
                .sort_by_key(|at| Reverse((info(*at).end_time_ns, *at))),
        }
    }

    /// A single file stays open, so that a seek costs no more than in the file; of many, only those in use do.
    fn close_unless_single(&mut self) {
        if self.members.len() > 1 {
            self.members.iter_mut().for_each(Member::close);
        }
    }

    #[inline]
    fn directed(&self, value: i64) -> i64 {
        if self.query.order == Order::ReverseLogTime {
            !value
        } else {
            value
        }
    }

    /// Directed time from which on the next file that is not open may have messages.
    fn next_file_time(&self) -> Option<i64> {
        let info = &self.members.get(*self.order.get(self.place)?)?.info;
        match self.query.order {
            Order::LogTime => info.start_time_ns,
            Order::ReverseLogTime => info.end_time_ns.map(|time| !time),
            Order::File => Some(i64::MAX),
        }
    }

    #[inline]
    pub(super) fn advance(&mut self) -> Result<bool> {
        if let (true, Some(current)) = (self.used, self.current) {
            let next = self.advance_member(current)?;
            if next.is_some_and(|key| key < self.run_before) {
                return Ok(true);
            }
            self.used = false;
            self.push(current, next);
        }
        self.choose()
    }

    /// Chooses the file with the next message; `false` at the end.
    fn choose(&mut self) -> Result<bool> {
        loop {
            let next_open = self.heap.peek().map(|Reverse((time, _))| *time);
            match (next_open, self.next_file_time()) {
                (None, None) => {
                    self.current = None;
                    return Ok(false);
                }
                (Some(open), Some(file)) if open < file || self.query.order == Order::File => break,
                (Some(_), None) => break,
                _ => self.open_next()?,
            }
        }
        let Some(Reverse((_, rank))) = self.heap.pop() else {
            return Ok(false);
        };
        self.current = usize::try_from(self.directed(rank)).ok();
        self.used = true;
        let others = self.heap.peek().map(|Reverse((time, _))| *time);
        let others = others.into_iter().chain(self.next_file_time()).min();
        self.run_before = others.unwrap_or(i64::MAX);
        Ok(true)
    }

    fn open_next(&mut self) -> Result<()> {
        let Some(at) = self.order.get(self.place).copied() else {
            return Ok(());
        };
        self.place += 1;
        self.members[at].begin(&self.query)?;
        let next = self.advance_member(at)?;
        self.push(at, next);
        Ok(())
    }

    /// Advances a member; returns the directed time of its next message.
    #[inline]
    fn advance_member(&mut self, at: usize) -> Result<Option<i64>> {
        match self.members[at].advance(&self.query) {
            Ok(time) if self.query.order == Order::File => Ok(time.map(|_| 0)),
            Ok(time) => Ok(time.map(|time| self.directed(time))),
            Err(error) => {
                // The reader continues behind the damage with the next call.
                self.current = Some(at);
                self.used = true;
                self.run_before = i64::MIN;
                Err(error)
            }
        }
    }

    /// Queues a member by its next message; a finished one is closed.
    fn push(&mut self, at: usize, next: Option<i64>) {
        if let Some(key) = next {
            let rank = self.directed(i64::try_from(at).unwrap_or(i64::MAX));
            self.heap.push(Reverse((key, rank)));
        } else if self.members.len() > 1 {
            self.members[at].close();
        }
    }

    #[inline]
    pub(super) fn message(&self) -> Option<Message<'_>> {
        self.members.get(self.current?)?.message()
    }

    pub(super) fn shared_payload(&self) -> Option<SharedPayload> {
        let member = self.members.get(self.current?)?;
        member.reader.as_ref()?.shared_payload()
    }

    pub(super) fn stored_at(&self) -> Option<StoredAt<'_>> {
        let member = self.members.get(self.current?)?;
        member.reader.as_ref()?.stored_at()
    }
}
