//! Plans of replay tests.

mod document;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use timeloom_compare::{CompareOptions, Kind, Rules};
use timeloom_contract::Contract;
use timeloom_node::Remap;
use timeloom_time::{Duration, PlaybackRate};

use crate::{Error, Result};

/// The runs of a replay test.
#[derive(Debug, Clone)]
pub struct TestPlan {
    /// The file.
    pub path: PathBuf,
    /// The runs, in the order of the file; repeated ones are numbered.
    pub runs: Vec<RunPlan>,
    /// Number of concurrent runs, if given.
    pub jobs: Option<usize>,
}

/// One run of a replay test. Paths are absolute, or relative to the working directory.
#[derive(Debug, Clone)]
pub struct RunPlan {
    /// The name, which is also that of its directory.
    pub name: String,
    /// The bags that are played as one.
    pub bags: Vec<PathBuf>,
    /// The program and its arguments.
    pub command: Vec<String>,
    /// Where the command runs.
    pub directory: PathBuf,
    /// Variables for the command, besides those of this process.
    pub environment: BTreeMap<String, String>,
    /// The inputs.
    pub inputs: Inputs,
    /// The topics that are recorded.
    pub outputs: Vec<String>,
    /// Whether outputs must have a publisher before the first input is played.
    pub waits_for_publishers: bool,
    /// The playback rate.
    pub rate: PlaybackRate,
    /// The pace of playback.
    pub pace: PacePlan,
    /// The bag that the outputs are compared with.
    pub expected: Option<PathBuf>,
    /// Rules of the comparison.
    pub compare: ComparePlan,
    /// Contract of the outputs.
    pub contract: Option<Contract>,
    /// Limits of the paths from inputs to outputs.
    pub budgets: Option<timeloom_trace::Plan>,
    /// Largest number of lost output messages.
    pub max_lost: u64,
    /// Time limits.
    pub timeouts: Timeouts,
}

/// The played part of the bag.
#[derive(Debug, Clone, Default)]
pub struct Inputs {
    /// The topics of the bag; `None` is all that are no output.
    pub topics: Option<Vec<String>>,
    /// Other names for them.
    pub remaps: Vec<Remap>,
    /// The topics that must have a subscriber before the first message; `None` is all that are played.
    pub wait_for: Option<Vec<String>>,
}

/// The pace of playback.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PacePlan {
    /// The messages of an output.
    Lockstep {
        /// The output.
        topic: String,
        /// Largest lead of time over its stamps.
        window: Duration,
    },
    /// The acknowledgement of each input.
    WaitAcked,
}

/// Comparison of outputs with the expected bag.
#[derive(Debug, Clone)]
pub struct ComparePlan {
    /// The options; [`CompareOptions::topics`] is set to the outputs of a run.
    pub options: CompareOptions,
}

impl Default for ComparePlan {
    fn default() -> Self {
        Self {
            options: CompareOptions {
                rules: Rules::default(),
                // The limit of losses is `max_lost`.
                ignore: vec![Kind::Losses],
                ..CompareOptions::default()
            },
        }
    }
}

/// Time limits of a run, in real time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Timeouts {
    /// For the subscribers of the inputs and the publishers of the outputs.
    pub start: Duration,
    /// For the next output while time waits for it.
    pub idle: Duration,
    /// For missing outputs after the last input.
    pub finish: Duration,
    /// For the end of the process after each of SIGINT and SIGTERM.
    pub stop: Duration,
}

impl Default for Timeouts {
    fn default() -> Self {
        Self {
            start: Duration::from_secs(30),
            idle: Duration::from_secs(10),
            finish: Duration::from_secs(5),
            stop: Duration::from_secs(5),
        }
    }
}

impl TestPlan {
    /// Reads a plan and the files that it names, except for bags. Paths in it are relative to its directory.
    ///
    /// # Errors
    /// [`Error::Plan`] with the line of a mistake, and a suggestion for a key that is not known; [`Error::File`] for a
    /// file that cannot be read.
    pub fn read(path: &Path) -> Result<Self> {
        let text = std::fs::read_to_string(path).map_err(Error::file("read", path))?;
        document::parse(path, &text)
    }
}

impl RunPlan {
    /// The topic that time waits for.
    pub(crate) fn lockstep_topic(&self) -> Option<&str> {
        match &self.pace {
            PacePlan::Lockstep { topic, .. } => Some(topic),
            PacePlan::WaitAcked => None,
        }
    }

    /// Whether a topic of the bag is played.
    pub(crate) fn plays(&self, topic: &str) -> bool {
        match &self.inputs.topics {
            Some(topics) => topics.iter().any(|name| name == topic),
            None => topic != "/clock" && !self.outputs.iter().any(|output| output == topic),
        }
    }

    /// Whether playing waits for a subscriber of a topic.
    pub(crate) fn waits_for(&self, topic: &str) -> bool {
        let named = self.inputs.wait_for.as_ref();
        named.is_none_or(|topics| topics.iter().any(|name| name == topic))
    }
}
