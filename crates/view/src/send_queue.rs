use std::collections::{BTreeMap, VecDeque};
use std::sync::PoisonError;

use timeloom_time::sync::{Condvar, Mutex, MutexGuard, lock};

use crate::channel::ChannelId;
use crate::outgoing::{Class, Outgoing};

/// Bytes passed to the socket at once.
const BATCH: usize = 256 * 1024;

/// The send queue of one client, bounded in bytes.
///
/// When data messages do not fit, the oldest are dropped and counted. Everything else must be delivered; a client that
/// does not accept even that is disconnected.
pub(crate) struct SendQueue {
    state: Mutex<State>,
    ready: Condvar,
    limit: usize,
}

#[derive(Default)]
struct State {
    items: VecDeque<Outgoing>,
    data_bytes: usize,
    control_bytes: usize,
    dropped: BTreeMap<ChannelId, u64>,
    dropped_total: u64,
    reported: u64,
    end: End,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum End {
    #[default]
    Open,
    /// The queued messages are still sent.
    Finishing,
    /// Nothing more is sent.
    Gone,
}

/// Messages dropped for a client since it connected, reported when the count has grown.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct DropReport {
    pub(crate) total: u64,
    pub(crate) by_channel: BTreeMap<ChannelId, u64>,
}

/// The queue overflowed: the client was disconnected.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Overflow;

impl SendQueue {
    /// A queue with `limit` bytes for data messages, and the same for everything else.
    pub(crate) fn new(limit: usize) -> Self {
        Self {
            state: Mutex::default(),
            ready: Condvar::new(),
            limit,
        }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        lock(&self.state)
    }

    /// Queues a message; never blocks on the client.
    pub(crate) fn push(&self, item: Outgoing) -> Result<(), Overflow> {
        let mut state = self.lock();
        if state.end != End::Open {
            return Ok(());
        }
        match item.class {
            Class::Data(channel) => state.push_data(channel, item, self.limit),
            Class::Latest(kind) => {
                state.remove_first(|class| class == Class::Latest(kind));
                state.append(item);
            }
            Class::Control => state.append(item),
        }
        if state.control_bytes > self.limit {
            *state = State {
                end: End::Gone,
                ..State::default()
            };
            self.ready.notify_all();
            return Err(Overflow);
        }
        self.ready.notify_one();
        Ok(())
    }

    /// Blocks until there is something to send and takes a batch; empty at the end.
    pub(crate) fn take(&self) -> Vec<Outgoing> {
        let mut state = self.lock();
        while state.items.is_empty() && state.end == End::Open {
            state = self
                .ready
                .wait(state)
                .unwrap_or_else(PoisonError::into_inner);
        }
        let (mut batch, mut bytes) = (Vec::new(), 0);
        while bytes < BATCH
            && let Some(item) = state.items.pop_front()
        {
            bytes += item.size();
            state.forget(&item);
            batch.push(item);
        }
        batch
    }

    /// Accepts no more messages; the queued ones are still sent.
    pub(crate) fn finish(&self) {
        let mut state = self.lock();
        if state.end == End::Open {
            state.end = End::Finishing;
        }
        self.ready.notify_all();
    }

    /// Accepts and sends nothing more.
    pub(crate) fn abandon(&self) {
        let mut state = self.lock();
        state.end = End::Gone;
        state.items.clear();
        self.ready.notify_all();
    }

    /// The dropped messages, if there are more than at the last call.
    pub(crate) fn drop_report(&self) -> Option<DropReport> {
        let mut state = self.lock();
        let total = state.dropped_total;
        if std::mem::replace(&mut state.reported, total) == total {
            return None;
        }
        Some(DropReport {
            total,
            by_channel: state.dropped.clone(),
        })
    }

    /// Number of dropped messages.
    pub(crate) fn dropped(&self) -> u64 {
        self.lock().dropped_total
    }
}

impl State {
    fn push_data(&mut self, channel: ChannelId, item: Outgoing, limit: usize) {
        let size = item.size();
        if size > limit {
            self.count_drop(channel);
            return;
        }
        while self.data_bytes + size > limit {
            let oldest = self.remove_first(|class| matches!(class, Class::Data(_)));
            match oldest.map(|item| item.class) {
                Some(Class::Data(channel)) => self.count_drop(channel),
                _ => break,
            }
        }
        self.append(item);
    }

    fn append(&mut self, item: Outgoing) {
        *self.account(item.class) += item.size();
        self.items.push_back(item);
    }

    fn remove_first(&mut self, wanted: impl Fn(Class) -> bool) -> Option<Outgoing> {
        let place = self.items.iter().position(|item| wanted(item.class))?;
        let item = self.items.remove(place)?;
        self.forget(&item);
        Some(item)
    }

    fn forget(&mut self, item: &Outgoing) {
        let account = self.account(item.class);
        *account = account.saturating_sub(item.size());
    }

    fn account(&mut self, class: Class) -> &mut usize {
        match class {
            Class::Data(_) => &mut self.data_bytes,
            Class::Control | Class::Latest(_) => &mut self.control_bytes,
        }
    }

    fn count_drop(&mut self, channel: ChannelId) {
        *self.dropped.entry(channel).or_default() += 1;
        self.dropped_total += 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use bytes::Bytes;
    use proptest::prelude::*;

    fn data(channel: u32, size: usize) -> Outgoing {
        Outgoing::message(ChannelId(channel), 0, 0, Bytes::from(vec![0; size]))
    }

    fn channels(items: &[Outgoing]) -> Vec<Class> {
        items.iter().map(|item| item.class).collect()
    }

    #[test]
    fn the_oldest_data_is_dropped_and_counted() {
        let queue = SendQueue::new(100);
        for channel in 1..=3 {
            queue.push(data(channel, 30)).unwrap();
        }
        let kept = channels(&queue.take());
        assert_eq!(kept, [Class::Data(ChannelId(2)), Class::Data(ChannelId(3))]);
        let report = queue.drop_report().unwrap();
        assert_eq!(report.by_channel, BTreeMap::from([(ChannelId(1), 1)]));
        assert_eq!(queue.drop_report(), None);
    }

    #[test]
    fn oversized_messages_are_dropped_and_counted() {
        let queue = SendQueue::new(100);
        queue.push(data(1, 10)).unwrap();
        queue.push(data(2, 200)).unwrap();
        assert_eq!(channels(&queue.take()), [Class::Data(ChannelId(1))]);
        assert_eq!(queue.dropped(), 1);
    }

    #[test]
    fn control_messages_keep_their_position() {
        let queue = SendQueue::new(100);
        queue.push(data(1, 60)).unwrap();
        queue.push(Outgoing::text("a".into())).unwrap();
        queue.push(data(2, 60)).unwrap();
        let kept = channels(&queue.take());
        assert_eq!(kept, [Class::Control, Class::Data(ChannelId(2))]);
    }

    #[test]
    fn only_the_newest_time_is_queued() {
        let queue = SendQueue::new(100);
        for time in 0..1_000 {
            queue.push(Outgoing::time(time)).unwrap();
        }
        let items = queue.take();
        assert_eq!(items.len(), 1);
        assert_eq!(items[0].payload[1..], 999u64.to_le_bytes());
    }

    #[test]
    fn a_client_that_accepts_nothing_is_disconnected() {
        let queue = SendQueue::new(100);
        let result = (0..100).find_map(|_| queue.push(Outgoing::text("x".repeat(9))).err());
        assert_eq!(result, Some(Overflow));
        assert!(queue.take().is_empty());
        assert_eq!(queue.push(data(1, 1)), Ok(()));
    }

    #[test]
    fn queued_messages_are_sent_after_the_end() {
        let queue = SendQueue::new(100);
        queue.push(Outgoing::text("bye".into())).unwrap();
        queue.finish();
        queue.push(Outgoing::text("late".into())).unwrap();
        assert_eq!(queue.take().len(), 1);
        assert!(queue.take().is_empty());
    }

    proptest! {
        #[test]
        fn every_message_is_sent_or_counted(
            sizes in proptest::collection::vec((0u32..4, 0usize..120), 0..60), takes in 1usize..10
        ) {
            let queue = SendQueue::new(200);
            let mut sent = 0u64;
            for (turn, (channel, size)) in sizes.iter().enumerate() {
                queue.push(data(*channel, *size)).unwrap();
                prop_assert!(queue.lock().data_bytes <= 200);
                if turn % takes == 0 {
                    sent += queue.take().len() as u64;
                }
            }
            queue.finish();
            sent += queue.take().len() as u64;
            prop_assert_eq!(sent + queue.dropped(), sizes.len() as u64);
            prop_assert_eq!(queue.lock().data_bytes, 0);
        }
    }
}

#[cfg(all(test, loom))]
mod loom_models {
    use std::sync::Arc;

    use timeloom_time::sync::loom::thread;
    use timeloom_time::sync::model;

    use super::*;

    /// Messages queued before the end are sent, and the sender thread sees the end.
    #[test]
    fn queued_messages_precede_the_end() {
        model(3, || {
            let queue = Arc::new(SendQueue::new(1000));
            let giver = {
                let queue = Arc::clone(&queue);
                thread::spawn(move || {
                    queue.push(Outgoing::text("a".into())).unwrap();
                    queue.push(Outgoing::text("b".into())).unwrap();
                    queue.finish();
                })
            };
            let mut sent = 0;
            loop {
                match queue.take().len() {
                    0 => break,
                    some => sent += some,
                }
            }
            assert_eq!(sent, 2);
            giver.join().unwrap();
        });
    }

    #[test]
    fn a_disconnect_ends_the_sender() {
        model(3, || {
            let queue = Arc::new(SendQueue::new(1000));
            let cutter = {
                let queue = Arc::clone(&queue);
                thread::spawn(move || queue.abandon())
            };
            let late = queue.push(Outgoing::text("a".into()));
            assert_eq!(late, Ok(()));
            while !queue.take().is_empty() {}
            cutter.join().unwrap();
        });
    }
}
