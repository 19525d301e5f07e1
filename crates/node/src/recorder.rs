//! The recorder writes the messages of a robot into a bag and counts every message that is not in it.
//!
//! Samples are taken where they arrive, on the middleware's receive threads (`input`), and wait in a queue that is
//! bounded in bytes (`queue`). One thread writes the bag in batches (`writer`); another looks at the graph and keeps
//! the subscriptions (`discovery`). Files are closed in the background by `timeloom-bag`.

mod bag_recording;
mod budget;
mod command;
mod control;
mod discovery;
mod disk_guard;
mod drop_policy;
mod dropped;
mod end_reason;
mod event_topic;
mod graph_index;
mod graph_log;
mod host_clock;
mod ledger;
#[cfg(all(test, loom))]
mod loom_models;
mod mismatch;
mod moment;
mod note;
mod notifier;
mod options;
mod parameter_log;
mod parameter_watch;
mod pressure;
mod publisher_runs;
mod publishers;
mod qos_class;
mod queue;
mod queued_message;
mod recorded_topic;
mod report;
mod ring;
mod selection;
mod services;
mod shared;
mod shared_input;
mod status;
mod throttle;
mod topic_input;
mod transport_account;
mod trigger_binding;
mod trigger_gate;
mod types;
mod watchdog;
mod writer;

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard};

use timeloom_bag::bag::SplitEvent;
use timeloom_time::{Duration, Event};
use timeloom_wire::{Node, Participant};

pub use crate::TopicSelection as Selection;
pub use control::Control;
pub use disk_guard::{DiskGuard, DiskSpace, LowSpaceAction};
pub use drop_policy::DropPolicy;
pub use end_reason::EndReason;
pub use moment::{Moment, Stamp};
pub use note::Note;
pub use notifier::Notifier;
pub use options::{
    BagFactory, BeforeWrite, DiscoveryMode, HostClockSource, Limits, Options, RecordedState,
    Reporter, TriggerOptions,
};
pub use report::Report;
pub use services::Services;
pub use status::{Phase, Status, TopicStatus, TriggerStatus};
pub use types::{BuiltinTypes, FoundType, TypeSource};

use self::bag_recording::BagRecording;
use self::disk_guard::LowSpace;
use crate::{Error, Result};
use timeloom_wire::backend::lock;

/// Records the topics of a ROS graph into a bag and accounts for every message.
///
/// For each topic, published = recorded + lost in transport + lost in the recorder + left out + unknown.
///
/// Clones share one recorder. [`finish`](Self::finish) closes the bag.
///
/// ```no_run
/// use std::sync::Arc;
/// use timeloom_node::recorder::{BuiltinTypes, Options, Recorder, Selection};
/// use timeloom_time::TimeBase;
/// use timeloom_wire::loopback::LoopbackNetwork;
/// use timeloom_wire::{NodeName, Participant};
///
/// let network = LoopbackNetwork::new(&TimeBase::machine());
/// let participant: Arc<dyn Participant> = network.participant("recorder")?;
/// let node = participant.node(NodeName::new("/", "recorder")?)?;
/// let selection = Selection { all_topics: true, ..Selection::default() };
/// let options = Options::new("my_bag", selection, Arc::new(BuiltinTypes));
/// let recorder = Recorder::start(participant, node, options)?;
/// // … messages are recorded in the background …
/// for report in recorder.finish()? {
///     for topic in &report.topics {
///         println!("{}: {} recorded", topic.name, topic.statistics.messages_recorded);
///     }
/// }
/// # Ok::<_, Box<dyn std::error::Error>>(())
/// ```
///
/// The crate `timeloom-examples` has a complete program: `cargo run --example recorder`.
#[derive(Clone)]
pub struct Recorder(Arc<Inner>);

struct Inner {
    participant: Arc<dyn Participant>,
    node: Arc<dyn Node>,
    options: Options,
    /// Held while a bag is opened or closed, which may take long.
    changing: Mutex<()>,
    /// Held only briefly.
    state: Mutex<State>,
    /// Set when something changed: a split, an end, a change of state.
    news: Event,
}

struct State {
    /// The recording of the bag that is open, or being closed.
    recording: Option<Arc<BagRecording>>,
    /// The reports of closed bags that were not taken yet.
    reports: Vec<Report>,
    last: Option<Status>,
    /// Splits of closed bags that were not taken yet.
    splits: Vec<SplitEvent>,
}

impl Recorder {
    /// Starts to record, as a node of that participant.
    ///
    /// # Errors
    /// When options contradict each other, the bag cannot be created, or a thread cannot be started.
    pub fn start(
        participant: Arc<dyn Participant>,
        node: Arc<dyn Node>,
        options: Options,
    ) -> Result<Self> {
        options.check()?;
        let news = Event::new(&participant.time_base());
        let output = options.output.clone();
        let recording = BagRecording::start(&participant, &node, &options, output, &news)?;
        tracing::info!(node = %node.name(), output = %options.output.display(), "recording");
        Ok(Self(Arc::new(Inner {
            participant,
            node,
            options,
            changing: Mutex::new(()),
            state: Mutex::new(State {
                recording: Some(Arc::new(recording)),
                reports: Vec::new(),
                last: None,
                splits: Vec::new(),
            }),
            news,
        })))
    }

    fn state(&self) -> MutexGuard<'_, State> {
        lock(&self.0.state)
    }

    /// Executes a command. Blocks until it is done: for a stop, until the bag is closed.
    ///
    /// # Errors
    /// [`Error::NotRecording`] without an open bag, [`Error::Recording`] if there is one already, and errors of the bag.
    pub fn control(&self, control: &Control) -> Result<()> {
        tracing::info!(?control, "recorder");
        match control {
            Control::Stop => return self.stop(),
            Control::Record { output } => return self.record(output.as_deref()),
            _ => {}
        }
        // A file that is slow to open or close blocks only this call.
        let recording = self.recording().ok_or(Error::NotRecording)?;
        match control {
            Control::Pause => recording.set_paused(true),
            Control::Resume => recording.set_paused(false),
            Control::TogglePaused => recording.set_paused(!recording.is_paused()),
            Control::ResumeAt(moment) => recording.resume_at(moment)?,
            Control::SplitAt(moment) => recording.split_at(moment)?,
            Control::Split => recording.split().map(drop)?,
            Control::Snapshot => recording.snapshot().map(drop)?,
            Control::Fire { trigger } => recording.fire(trigger)?,
            Control::StartDiscovery => recording.set_discovering(true),
            Control::StopDiscovery => recording.set_discovering(false),
            Control::Stop | Control::Record { .. } => {}
        }
        self.0.news.set();
        Ok(())
    }

    fn recording(&self) -> Option<Arc<BagRecording>> {
        self.state().recording.clone()
    }

    fn changing(&self) -> MutexGuard<'_, ()> {
        lock(&self.0.changing)
    }

    fn record(&self, output: Option<&Path>) -> Result<()> {
        let _changing = self.changing();
        if let Some(recording) = self.recording() {
            let path = recording.shared.directory.clone();
            return Err(Error::Recording { path });
        }
        let inner = &self.0;
        let directory = free_directory(output.unwrap_or(&inner.options.output));
        let (participant, node) = (&inner.participant, &inner.node);
        let started =
            BagRecording::start(participant, node, &inner.options, directory, &inner.news)?;
        let mut state = self.state();
        state.recording = Some(Arc::new(started));
        state.last = None;
        Ok(())
    }

    fn stop(&self) -> Result<()> {
        let _changing = self.changing();
        let recording = self.recording().ok_or(Error::NotRecording)?;
        let finished = recording.finish();
        let mut last = recording.status();
        last.phase = Phase::Stopped;
        let mut state = self.state();
        state.recording = None;
        let report = finished?;
        state
            .splits
            .extend(recording.shared.progress().splits.drain(..));
        if let Some(file) = report.metadata.relative_file_paths.last() {
            state.splits.push(SplitEvent {
                closed_file: report.directory.join(file),
                opened_file: PathBuf::new(),
            });
        }
        last.topics.clone_from(&report.topics);
        last.elapsed = report.elapsed;
        last.files = report.metadata.files.len();
        last.queue_bytes = 0;
        state.last = Some(last);
        state.reports.push(report);
        drop(state);
        self.0.news.set();
        Ok(())
    }

    /// The files that were closed and opened since the last call; the last file of a bag opens none.
    pub(super) fn take_splits(&self) -> Vec<SplitEvent> {
        let mut state = self.state();
        let mut splits = std::mem::take(&mut state.splits);
        if let Some(recording) = &state.recording {
            splits.extend(recording.shared.progress().splits.drain(..));
        }
        splits
    }

    /// Low disk space events since the last call.
    fn take_low_space(&self) -> Vec<LowSpace> {
        let state = self.state();
        let recording = state.recording.as_ref();
        recording.map_or_else(Vec::new, |recording| {
            std::mem::take(&mut recording.shared.progress().low_space)
        })
    }

    /// Set when something changed: a split, an end, a change of state. Clear it before you read the status.
    pub fn news(&self) -> &Event {
        &self.0.news
    }

    /// The options that it was started with.
    pub fn options(&self) -> &Options {
        &self.0.options
    }

    /// The current status. Never waits for a file, even while one is opened or closed.
    pub fn status(&self) -> Status {
        let state = self.state();
        match (&state.recording, &state.last) {
            (Some(recording), _) => recording.status(),
            (None, Some(last)) => last.clone(),
            (None, None) => Status {
                phase: Phase::Stopped,
                directory: self.0.options.output.clone(),
                files: 0,
                elapsed: Duration::ZERO,
                queue_bytes: 0,
                queue_limit: 0,
                host_clock: None,
                discovery: false,
                topics: Vec::new(),
                triggers: None,
            },
        }
    }

    /// Why the recording ended: a limit, a full disk or a deleted directory. `None` while it runs.
    ///
    /// The bag is closed by [`Control::Stop`] or [`finish`](Self::finish).
    pub fn ended(&self) -> Option<EndReason> {
        let state = self.state();
        let recording = state.recording.as_ref()?;
        let progress = recording.shared.progress();
        progress.ended.clone()
    }

    /// Ends the recording and closes the bag. Blocks until it is closed.
    ///
    /// Returns the reports of all bags since the last call, in order.
    ///
    /// # Errors
    /// When the bag cannot be closed.
    pub fn finish(&self) -> Result<Vec<Report>> {
        match self.stop() {
            Ok(()) | Err(Error::NotRecording) => Ok(std::mem::take(&mut self.state().reports)),
            Err(error) => Err(error),
        }
    }
}

/// A directory that does not exist yet: that one, or with `_1`, `_2` appended. Lyrical's recorder appends `(1)`, which
/// must be quoted in a shell.
fn free_directory(wanted: &Path) -> PathBuf {
    let mut directory = wanted.to_path_buf();
    let mut number = 0;
    while directory.exists() {
        number += 1;
        let mut name = wanted.as_os_str().to_owned();
        name.push(format!("_{number}"));
        directory = PathBuf::from(name);
    }
    directory
}

impl std::fmt::Debug for Recorder {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Recorder")
            .field("output", &self.0.options.output)
            .finish_non_exhaustive()
    }
}
