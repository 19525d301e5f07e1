use std::collections::VecDeque;
use std::path::PathBuf;
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use timeloom_bag::TopicStatistics;
use timeloom_bag::bag::SplitEvent;
use timeloom_time::{CancelToken, Clock, Event, Steady, Time, TimeBase};
use timeloom_wire::Node;

use super::command::{Command, Commands};
use super::disk_guard::LowSpace;
use super::end_reason::EndReason;
use super::gate::Gate;
use super::graph_index::GraphIndex;
use super::graph_log::GraphLog;
use super::intake::Intakes;
use super::note::Note;
use super::options::Options;

/// What the threads of one recording share.
pub(super) struct Shared {
    pub(super) options: Options,
    pub(super) directory: PathBuf,
    pub(super) base: TimeBase,
    pub(super) clock: Clock<Steady>,
    pub(super) started: Time<Steady>,
    pub(super) node: Arc<dyn Node>,
    /// Samples carry numbers, so that what comes twice is recognised.
    pub(super) has_sequences: bool,
    pub(super) gate: Arc<Gate>,
    pub(super) intakes: Arc<Intakes>,
    pub(super) commands: Commands,
    pub(super) index: Mutex<GraphIndex>,
    pub(super) graph_log: Mutex<GraphLog>,
    /// The graph has changed, or the recording ends.
    pub(super) graph_changed: Event,
    pub(super) discovering: AtomicBool,
    pub(super) ending: CancelToken,
    pub(super) progress: Mutex<Progress>,
    /// Something is there for whoever tells others: a split, an end, a loss.
    pub(super) news: Event,
}

/// What the writer tells of its work.
#[derive(Default)]
pub(super) struct Progress {
    /// By topic of the recording.
    pub(super) topics: Vec<Written>,
    pub(super) files: usize,
    pub(super) splits: VecDeque<SplitEvent>,
    /// How often the disk was nearly full since somebody asked.
    pub(super) low_space: Vec<LowSpace>,
    /// Why the recording is over, once it is.
    pub(super) ended: Option<EndReason>,
}

/// What became of one topic's messages.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Written {
    pub(super) statistics: TopicStatistics,
    pub(super) repeated: u64,
}

impl Shared {
    pub(super) fn index(&self) -> MutexGuard<'_, GraphIndex> {
        self.index.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn graph_log(&self) -> MutexGuard<'_, GraphLog> {
        let log = self.graph_log.lock();
        log.unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn progress(&self) -> MutexGuard<'_, Progress> {
        self.progress.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The time that messages are stamped with.
    pub(super) fn node_time_ns(&self) -> i64 {
        self.gate.now_ns()
    }

    pub(super) fn command(&self, command: Command) {
        self.commands.push(command);
        self.gate.queue.nudge();
    }

    pub(super) fn tell(&self, note: &Note) {
        if let Some(reporter) = &self.options.reporter {
            reporter(note);
        }
    }

    /// Says that the recording is over; the first reason counts.
    pub(super) fn end(&self, reason: EndReason) {
        self.progress().ended.get_or_insert(reason);
        self.news.set();
    }
}
