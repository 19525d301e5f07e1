//! The state of a robot beside its messages, as a bag holds it: a series of texts for each part.
//!
//! The first text of each file has the state of that moment, the others have the changes; each file is complete from its
//! own beginning on. In MCAP a text is a metadata record, in sqlite3 a row of a table that rosbag2 does not look at.

mod environment;
mod parameters;
mod publishers;

pub use environment::{ENVIRONMENT_KEY, RecordingEnvironment};
pub use parameters::{NodeParameters, ParameterEntry, RobotParameter, RobotParameters};
pub use publishers::{MessagePublishers, PublisherRun};

use crate::Result;
use crate::bag::TimeMap;

/// A part of the state of a robot.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum StatePart {
    /// Nodes and endpoints: [`RobotGraph`](crate::RobotGraph).
    Graph,
    /// Parameters of the nodes: [`RobotParameters`].
    Parameters,
    /// Publishers of messages: [`MessagePublishers`].
    Publishers,
}

impl StatePart {
    /// All parts.
    pub const ALL: [Self; 3] = [Self::Graph, Self::Parameters, Self::Publishers];

    /// Name of the MCAP metadata records that hold it.
    pub const fn record_name(self) -> &'static str {
        match self {
            Self::Graph => "timeloom.graph",
            Self::Parameters => "timeloom.parameters",
            Self::Publishers => "timeloom.publishers",
        }
    }

    /// The key of the text in such a record, and the column in sqlite3.
    pub const fn key(self) -> &'static str {
        match self {
            Self::Graph => "graph",
            Self::Parameters => "parameters",
            Self::Publishers => "publishers",
        }
    }

    /// The table in sqlite3.
    pub const fn table(self) -> &'static str {
        match self {
            Self::Graph => "timeloom_graph",
            Self::Parameters => "timeloom_parameters",
            Self::Publishers => "timeloom_publishers",
        }
    }

    /// The part with such records; `None` for records of others.
    pub(crate) fn of_record(name: &str) -> Option<Self> {
        Self::ALL
            .into_iter()
            .find(|part| part.record_name() == name)
    }
}

/// One part of the state, read from its texts and written as such.
pub trait RobotState: Clone + Default {
    /// The kind of part.
    const PART: StatePart;

    /// Whether nothing is known.
    fn is_empty(&self) -> bool;

    /// The state as text.
    fn to_yaml(&self) -> String;

    /// Reads a text. Keys that are not known are skipped.
    ///
    /// # Errors
    /// When it is not YAML, of a later version, or contradicts itself.
    fn parse(text: &str) -> Result<Self>;

    /// Puts all log times on another clock.
    fn retime(&mut self, times: &dyn TimeMap);

    /// Adds what a later text of the same recording says.
    fn update(&mut self, later: &Self);

    /// Adds the state that another recording saw.
    fn unite(&mut self, other: &Self);

    /// Keeps what the next file of the same recording begins with.
    fn forget_past(&mut self);
}

/// The state that a series of texts gives.
pub(crate) fn from_texts<T: RobotState>(texts: &[String]) -> Result<T> {
    let mut state = T::default();
    for text in texts {
        state.update(&T::parse(text)?);
    }
    Ok(state)
}
