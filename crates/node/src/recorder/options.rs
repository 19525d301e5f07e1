use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;

use timeloom_bag::BagOptions;
use timeloom_msg::{QosProfile, TypeName};
use timeloom_time::{Clock, Duration, Ros};

use super::disk_guard::DiskGuard;
use super::drop_policy::DropPolicy;
use super::note::Note;
use super::selection::Selection;
use super::types::TypeSource;
use crate::host_clock::HostClock;
use crate::{Error, Names, Result};

/// Makes the options of the bag; called for each bag that is begun.
pub type BagFactory = Arc<dyn Fn() -> BagOptions + Send + Sync>;

/// Hears of notes, on any thread of the recorder.
pub type Reporter = Arc<dyn Fn(&Note) + Send + Sync>;

/// Called with the bytes that are about to be written; a test makes a disk slow with it.
pub type BeforeWrite = Arc<dyn Fn(usize) + Send + Sync>;

/// How and what to record.
#[derive(Clone)]
pub struct Options {
    /// The directory of the bag.
    pub output: PathBuf,
    /// How it is written.
    pub bag: BagFactory,
    /// What is recorded.
    pub selection: Selection,
    /// Topics that are subscribed to at once, whether somebody publishes them or not.
    pub static_topics: Vec<(String, TypeName)>,
    /// What to ask for instead of what the publishers offer, by topic.
    pub qos_overrides: BTreeMap<String, QosProfile>,
    /// Whether topics that come later are recorded.
    pub discovery: DiscoveryMode,
    /// The longest time until a topic that could not be subscribed to is tried again.
    pub polling_interval: Duration,
    /// Bytes between receiving and writing; 0 lets each message wait until it is written.
    pub max_cache_bytes: usize,
    /// The span of time between receiving and writing; zero without limit.
    pub max_cache_duration: Duration,
    /// Messages are kept in a circular buffer and written when a snapshot is asked for.
    pub snapshot_mode: bool,
    /// Nothing is recorded until it is resumed.
    pub start_paused: bool,
    /// What goes when the queue is full.
    pub drop_policy: DropPolicy,
    /// What goes when the queue is full, for single topics.
    pub drop_policies: BTreeMap<String, DropPolicy>,
    /// The shortest time between two recorded messages, by topic.
    pub throttle: BTreeMap<String, Duration>,
    /// How many of a latched topic's last messages begin every further file and every snapshot.
    pub repeat: BTreeMap<String, usize>,
    /// The same for every latched topic.
    pub repeat_all: Option<usize>,
    /// When the recording ends by itself.
    pub limits: Limits,
    /// What happens when the disk is nearly full.
    pub disk_guard: Option<DiskGuard>,
    /// How often what is written is made to survive a power cut; zero for never.
    pub sync_interval: Duration,
    /// Gives log times instead of the time of arrival; nothing is subscribed to before it has started.
    pub log_clock: Option<Clock<Ros>>,
    /// Topics of the graph are recorded under the name by which the node reaches them; without, under their own.
    pub names: Option<Names>,
    /// Where definitions of types come from.
    pub types: Arc<dyn TypeSource>,
    /// How long messages wait for the definition of their type.
    pub type_patience: Duration,
    /// Hears of what people should know.
    pub reporter: Option<Reporter>,
    /// Tells who disciplines the clock of this host: it is written into the bag's custom data at the start, every minute
    /// and when the clock was set. May block for a while.
    pub host_clock: Option<HostClockSource>,
    /// Makes a disk slow, in tests.
    pub before_write: Option<BeforeWrite>,
}

/// Tells how the clock of this host is.
pub type HostClockSource = Arc<dyn Fn() -> HostClock + Send + Sync>;

/// Whether topics that come later are recorded.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
pub enum DiscoveryMode {
    /// As long as it records.
    #[default]
    Continuous,
    /// Those that are there when the graph has settled, and no others.
    Once,
}

/// When a recording ends by itself; zero is never.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Limits {
    /// After this time.
    pub duration: Duration,
    /// When its files have this many bytes.
    pub bytes: u64,
    /// When it has this many messages.
    pub messages: u64,
}

impl Options {
    /// Records the selection into a directory, with the defaults of `ros2 bag record`.
    pub fn new(
        output: impl Into<PathBuf>,
        selection: Selection,
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
            before_write: None,
        }
    }

    /// Refuses what makes no sense together.
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
            return wrong("snapshot mode", "it needs a cache, and its size is 0");
        }
        if self.discovery == DiscoveryMode::Once && self.log_clock.is_some() {
            return wrong(
                "discovery",
                "simulated time needs it to go on: the topics come after the clock",
            );
        }
        Ok(())
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
