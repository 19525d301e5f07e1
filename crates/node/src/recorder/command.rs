use std::collections::VecDeque;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard};

use timeloom_bag::TopicInfo;
use timeloom_time::{Event, TimeBase};

use super::moment::Trigger;
use super::types::FoundType;
use crate::Result;
use timeloom_wire::backend::lock;

/// What the writer's thread is asked to do, in order.
pub(super) enum Command {
    /// Declare the next topic.
    AddTopic(Box<NewTopic>),
    /// The definition of a topic's type came.
    Define { topic: u32, found: FoundType },
    /// Go on with a new file.
    Split(Reply<Result<PathBuf>>),
    /// Go on with a new file from that moment on.
    SplitAt(Trigger),
    /// Write what the circular buffer holds; answers how many messages that are.
    Snapshot(Reply<Result<u64>>),
    /// The clock of this host, from the start until now, as text.
    HostClock(String),
    /// Write what is left, and end.
    Finish,
}

/// A topic that is about to be subscribed to.
pub(super) struct NewTopic {
    pub(super) topic: u32,
    pub(super) info: TopicInfo,
    /// Its messages wait until the definition comes.
    pub(super) awaits_definition: bool,
    /// How many of its last messages begin a new file.
    pub(super) repeat: Option<usize>,
}

/// Commands that wait.
#[derive(Default)]
pub(super) struct Commands(Mutex<Waiting>);

#[derive(Default)]
struct Waiting {
    commands: VecDeque<Command>,
    /// No thread takes commands any more.
    closed: bool,
}

impl Commands {
    fn lock(&self) -> MutexGuard<'_, Waiting> {
        lock(&self.0)
    }

    /// Adds a command; one that comes too late is dropped, and its reply with it.
    pub(super) fn push(&self, command: Command) {
        let mut waiting = self.lock();
        if !waiting.closed {
            waiting.commands.push_back(command);
        }
    }

    pub(super) fn take(&self) -> VecDeque<Command> {
        std::mem::take(&mut self.lock().commands)
    }

    /// Drops what waits and all that comes: the thread that took it is gone.
    pub(super) fn close(&self) {
        let mut waiting = self.lock();
        waiting.closed = true;
        let late = std::mem::take(&mut waiting.commands);
        drop(waiting);
        drop(late);
    }
}

/// Where an answer is put and waited for.
pub(super) struct Reply<T> {
    value: Arc<Mutex<Option<T>>>,
    given: Event,
}

impl<T> Reply<T> {
    /// Both ends of an answer.
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

    /// Blocks until the answer is there; `None` when whoever was to give it is gone.
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
