use std::collections::VecDeque;
use std::path::PathBuf;
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, Mutex, MutexGuard};

use timeloom_bag::bag::SplitEvent;
use timeloom_bag::{HostClockRecord, TopicStatistics};
use timeloom_time::{CancelToken, Clock, Event, Steady, Time, TimeBase};
use timeloom_wire::Node;

use super::command::{Command, Commands};
use super::disk_guard::LowSpace;
use super::end_reason::EndReason;
use super::graph_index::GraphIndex;
use super::graph_log::GraphLog;
use super::note::Note;
use super::options::Options;
use super::parameter_log::ParameterLog;
use super::shared_input::SharedInput;
use super::topic_input::TopicInputs;
use timeloom_wire::backend::lock;

/// The state that the threads of one recording share.
pub(super) struct Shared {
    pub(super) options: Options,
    pub(super) directory: PathBuf,
    pub(super) base: TimeBase,
    pub(super) clock: Clock<Steady>,
    pub(super) started: Time<Steady>,
    pub(super) node: Arc<dyn Node>,
    /// Whether samples carry sequence numbers, by which duplicates are recognised.
    pub(super) has_sequences: bool,
    pub(super) input: Arc<SharedInput>,
    pub(super) inputs: Arc<TopicInputs>,
    pub(super) commands: Commands,
    pub(super) index: Mutex<GraphIndex>,
    pub(super) graph_log: Mutex<GraphLog>,
    /// The parameters of the robot's nodes.
    pub(super) parameter_log: Arc<Mutex<ParameterLog>>,
    /// The graph has changed, or the recording ends.
    pub(super) graph_changed: Event,
    pub(super) discovering: AtomicBool,
    pub(super) ending: CancelToken,
    pub(super) progress: Mutex<Progress>,
    /// Set when there is something to publish: a split, an end, a loss.
    pub(super) news: Event,
}

/// The progress of the writer.
#[derive(Default)]
pub(super) struct Progress {
    /// By topic of the recording.
    pub(super) topics: Vec<Written>,
    pub(super) files: usize,
    pub(super) splits: VecDeque<SplitEvent>,
    /// Low disk space events that were not taken yet.
    pub(super) low_space: Vec<LowSpace>,
    /// The last known state of the host clock.
    pub(super) host_clock: Option<HostClockRecord>,
    /// Why the recording ended.
    pub(super) ended: Option<EndReason>,
}

/// The written messages of one topic.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Written {
    pub(super) statistics: TopicStatistics,
    pub(super) repeated: u64,
}

impl Shared {
    pub(super) fn index(&self) -> MutexGuard<'_, GraphIndex> {
        lock(&self.index)
    }

    pub(super) fn graph_log(&self) -> MutexGuard<'_, GraphLog> {
        lock(&self.graph_log)
    }

    pub(super) fn progress(&self) -> MutexGuard<'_, Progress> {
        lock(&self.progress)
    }

    /// The time that messages are stamped with.
    pub(super) fn node_time_ns(&self) -> i64 {
        self.input.now_ns()
    }

    pub(super) fn command(&self, command: Command) {
        self.commands.push(command);
        self.input.queue.nudge();
    }

    pub(super) fn report(&self, note: &Note) {
        if let Some(reporter) = &self.options.reporter {
            reporter(note);
        }
    }

    /// Ends the recording; the first reason counts.
    pub(super) fn end(&self, reason: EndReason) {
        self.progress().ended.get_or_insert(reason);
        self.news.set();
    }
}
