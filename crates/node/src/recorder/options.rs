use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;

use timeloom_bag::BagOptions;
use timeloom_msg::{QosProfile, TypeName};
use timeloom_time::{Clock, Duration, Ros};

use super::disk_guard::DiskGuard;
use super::drop_policy::DropPolicy;
use super::note::Note;
use super::types::TypeSource;
use crate::host_clock::HostClock;
use crate::trigger::Trigger;
use crate::{Error, Names, Result, TopicSelection};

/// Makes the options of a bag; called for each bag.
pub type BagFactory = Arc<dyn Fn() -> BagOptions + Send + Sync>;

/// Called with notes, on any thread of the recorder.
pub type Reporter = Arc<dyn Fn(&Note) + Send + Sync>;

/// Called before each write, with its number of bytes: tests simulate a slow disk with it.
pub type BeforeWrite = Arc<dyn Fn(usize) + Send + Sync>;

/// How many of the last messages of a latched topic a window begins with, if no option says it: as many as nodes that
/// publish to `/tf_static`, which each have their own.
const LATCHED_DEPTH: usize = 10;

/// The options of a recorder.
#[derive(Clone)]
pub struct Options {
    /// The directory of the bag.
    pub output: PathBuf,
    /// The options of the bag.
    pub bag: BagFactory,
    /// Which topics are recorded.
    pub selection: TopicSelection,
    /// Topics that are subscribed to at the start, with or without a publisher.
    pub static_topics: Vec<(String, TypeName)>,
    /// The QoS of subscriptions by topic, instead of one that adapts to the publishers.
    pub qos_overrides: BTreeMap<String, QosProfile>,
    /// Whether topics that appear later are recorded.
    pub discovery: DiscoveryMode,
    /// The time until a failed subscription is tried again.
    pub polling_interval: Duration,
    /// The bytes that may wait between receiving and writing; with 0, each message blocks until it is written.
    pub max_cache_bytes: usize,
    /// The time span of messages that may wait between receiving and writing; zero for no limit.
    pub max_cache_duration: Duration,
    /// Keep messages in a circular buffer and write them on [`Control::Snapshot`](super::Control::Snapshot).
    pub snapshot_mode: bool,
    /// Keep messages in a circular buffer and write those around the firings of triggers. The buffer has three quarters
    /// of [`max_cache_bytes`](Self::max_cache_bytes).
    pub triggers: Option<TriggerOptions>,
    /// Start paused.
    pub start_paused: bool,
    /// Which message is dropped when the queue is full.
    pub drop_policy: DropPolicy,
    /// The same for single topics.
    pub drop_policies: BTreeMap<String, DropPolicy>,
    /// The shortest time between two recorded messages, by topic.
    pub throttle: BTreeMap<String, Duration>,
    /// The number of last messages of a latched topic that are repeated at the start of each further file and snapshot.
    pub repeat: BTreeMap<String, usize>,
    /// The same for every latched topic.
    pub repeat_all: Option<usize>,
    /// The limits at which the recording ends.
    pub limits: Limits,
    /// The action when the disk is nearly full.
    pub disk_guard: Option<DiskGuard>,
    /// The interval of syncs to the disk, which make messages survive a power cut; zero for none.
    pub sync_interval: Duration,
    /// The clock of log times, instead of the time of arrival; subscriptions start when it has started.
    pub log_clock: Option<Clock<Ros>>,
    /// Remapping rules: topics are recorded under the name that the node uses for them.
    pub names: Option<Names>,
    /// The source of type definitions.
    pub types: Arc<dyn TypeSource>,
    /// How long messages wait for the definition of their type.
    pub type_patience: Duration,
    /// Called with notes for the user.
    pub reporter: Option<Reporter>,
    /// Reads the state of the host clock, which is written into the bag's custom data at the start, every minute and when
    /// the clock was set. May block for a while.
    pub host_clock: Option<HostClockSource>,
    /// The state of the robot that goes into the bag.
    pub state: RecordedState,
    /// For tests: called before each write.
    #[doc(hidden)]
    pub before_write: Option<BeforeWrite>,
}

/// Reads the state of the host clock.
pub type HostClockSource = Arc<dyn Fn() -> HostClock + Send + Sync>;

/// The triggers of a recorder.
#[derive(Clone, Debug, Default)]
pub struct TriggerOptions {
    /// The triggers; their names differ.
    pub triggers: Vec<Trigger>,
    /// The recording ends after so many windows; 0 for no limit.
    pub max_windows: u32,
}

impl TriggerOptions {
    /// Checks that there are triggers, and that their names differ.
    ///
    /// # Errors
    /// [`Error::Option`] with the reason.
    pub fn check(&self) -> Result<()> {
        let mut names: Vec<&str> = self.triggers.iter().map(|known| &*known.name).collect();
        names.sort_unstable();
        let twice = names.array_windows().find(|[one, next]| one == next);
        let reason = match twice {
            Some([name, _]) => format!("two have the name {name}"),
            None if names.is_empty() => "there is no trigger".to_owned(),
            None => return Ok(()),
        };
        Err(Error::Option {
            option: "triggers",
            reason,
        })
    }
}

/// The state of the robot, beside its messages, that goes into the bag.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
pub enum RecordedState {
    /// None.
    Nothing,
    /// The graph, and who published each message.
    #[default]
    Graph,
    /// Also the parameters of all nodes: they are asked for at the start, and their changes are heard.
    GraphAndParameters,
}

/// Whether topics that appear later are recorded.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
pub enum DiscoveryMode {
    /// Yes, during the whole recording.
    #[default]
    Continuous,
    /// No, only those that are there when the graph has settled.
    Once,
}

/// The limits of a recording; zero for none.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Limits {
    /// The longest duration.
    pub duration: Duration,
    /// The largest size of all files.
    pub bytes: u64,
    /// The largest number of messages.
    pub messages: u64,
}

impl Options {
    /// Records the selection into a directory, with the defaults of `ros2 bag record`.
    pub fn new(
        output: impl Into<PathBuf>,
        selection: TopicSelection,
        types: Arc<dyn TypeSource>,
    ) -> Self {
        Self {
            output: output.into(),
            bag: Arc::new(BagOptions::default),
            selection,
            static_topics: Vec::new(),
            qos_overrides: BTreeMap::new(),
            discovery: DiscoveryMode::default(),
            polling_interval: Duration::from_millis(100),
            max_cache_bytes: 100 << 20,
            max_cache_duration: Duration::ZERO,
            snapshot_mode: false,
            triggers: None,
            start_paused: false,
            drop_policy: DropPolicy::default(),
            drop_policies: BTreeMap::new(),
            throttle: BTreeMap::new(),
            repeat: BTreeMap::new(),
            repeat_all: None,
            limits: Limits::default(),
            disk_guard: None,
            sync_interval: Duration::from_secs(1),
            log_clock: None,
            names: None,
            types,
            type_patience: Duration::from_secs(3),
            reporter: None,
            host_clock: None,
            state: RecordedState::default(),
            before_write: None,
        }
    }

    /// Checks the options for contradictions.
    ///
    /// # Errors
    /// [`Error::Option`] with the option and the reason.
    pub fn check(&self) -> Result<()> {
        let wrong = |option, reason: &str| {
            Err(Error::Option {
                option,
                reason: reason.to_owned(),
            })
        };
        if self.selection.is_empty() && self.static_topics.is_empty() {
            return wrong("selection", "nothing is selected");
        }
        if self.snapshot_mode && self.max_cache_bytes == 0 {
            return wrong("snapshot mode", "it needs a cache, and the cache size is 0");
        }
        self.check_triggers()?;
        if self.discovery == DiscoveryMode::Once && self.log_clock.is_some() {
            return wrong(
                "discovery",
                "it cannot run once with simulated time: topics appear after the clock has started",
            );
        }
        Ok(())
    }

    fn check_triggers(&self) -> Result<()> {
        let Some(options) = &self.triggers else {
            return Ok(());
        };
        if self.max_cache_bytes == 0 {
            return Err(Error::Option {
                option: "triggers",
                reason: "they need a cache, and the cache size is 0".to_owned(),
            });
        }
        options.check()
    }

    /// Whether the circular buffer is written on request only.
    pub(super) fn has_plain_ring(&self) -> bool {
        self.snapshot_mode && self.triggers.is_none()
    }

    /// How many of the last messages of a topic are repeated; with triggers, windows begin with those of every latched
    /// topic.
    pub(super) fn repeats(&self, topic: &str, is_latched: bool) -> Option<usize> {
        let own = self.repeat.get(topic).copied();
        let all = self
            .repeat_all
            .or(self.triggers.as_ref().map(|_| LATCHED_DEPTH));
        own.or(all.filter(|_| is_latched))
    }

    pub(super) fn policy(&self, topic: &str) -> DropPolicy {
        if self.max_cache_bytes == 0 {
            return DropPolicy::Block;
        }
        let own = self.drop_policies.get(topic);
        own.copied().unwrap_or(self.drop_policy)
    }
}

impl std::fmt::Debug for Options {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Options")
            .field("output", &self.output)
            .field("selection", &self.selection)
            .finish_non_exhaustive()
    }
}
