use std::collections::VecDeque;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard};

use timeloom_bag::TopicInfo;
use timeloom_time::{Event, TimeBase};

use super::moment::Trigger;
use super::types::FoundType;
use crate::Result;
use timeloom_wire::backend::lock;

/// A command to the writer thread.
pub(super) enum Command {
    /// Declare the next topic.
    AddTopic(Box<NewTopic>),
    /// The definition of a topic's type arrived.
    Define { topic: u32, found: FoundType },
    /// Start a new file.
    Split(Reply<Result<PathBuf>>),
    /// Start a new file at that moment.
    SplitAt(Trigger),
    /// Write the messages of the circular buffer; replies with their number.
    Snapshot(Reply<Result<u64>>),
    /// The clock of this host, from the start until now, as text.
    HostClock(String),
    /// Write the remaining messages, and end.
    Finish,
}

/// A topic that is about to be subscribed to.
pub(super) struct NewTopic {
    pub(super) topic: u32,
    pub(super) info: TopicInfo,
    /// Its messages are held until the definition arrives.
    pub(super) awaits_definition: bool,
    /// The number of its last messages that are repeated at the start of a new file.
    pub(super) repeat: Option<usize>,
}

/// The queue of commands.
#[derive(Default)]
pub(super) struct Commands(Mutex<Waiting>);

#[derive(Default)]
struct Waiting {
    commands: VecDeque<Command>,
    /// The thread has ended.
    closed: bool,
}

impl Commands {
    fn lock(&self) -> MutexGuard<'_, Waiting> {
        lock(&self.0)
    }

    /// Adds a command; after the end it is dropped, with its reply.
    pub(super) fn push(&self, command: Command) {
        let mut waiting = self.lock();
        if !waiting.closed {
            waiting.commands.push_back(command);
        }
    }

    pub(super) fn take(&self) -> VecDeque<Command> {
        std::mem::take(&mut self.lock().commands)
    }

    /// Drops all commands from now on: the thread has ended.
    pub(super) fn close(&self) {
        let mut waiting = self.lock();
        waiting.closed = true;
        let late = std::mem::take(&mut waiting.commands);
        drop(waiting);
        drop(late);
    }
}

/// One end of a reply: the writer gives it, the caller waits for it.
pub(super) struct Reply<T> {
    value: Arc<Mutex<Option<T>>>,
    given: Event,
}

impl<T> Reply<T> {
    /// Both ends of a reply.
    pub(super) fn pair(base: &TimeBase) -> (Self, Self) {
        let reply = Self {
            value: Arc::default(),
            given: Event::new(base),
        };
        let other = Self {
            value: Arc::clone(&reply.value),
            given: reply.given.clone(),
        };
        (reply, other)
    }

    pub(super) fn give(self, value: T) {
        *lock(&self.value) = Some(value);
    }

    /// Blocks for the reply; `None` if the other end was dropped.
    pub(super) fn wait(self) -> Option<T> {
        self.given.wait();
        let mut value = lock(&self.value);
        value.take()
    }
}

impl<T> Drop for Reply<T> {
    fn drop(&mut self) {
        self.given.set();
    }
}
