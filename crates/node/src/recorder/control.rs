use std::path::PathBuf;

use super::moment::Moment;

/// A command to a recorder, from a key, a service or a program.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Control {
    /// Leave out messages until it is resumed; subscriptions stay.
    Pause,
    /// Record messages again.
    Resume,
    /// Record messages again from that moment on.
    ResumeAt(Moment),
    /// Pause or resume.
    TogglePaused,
    /// Start a new file.
    Split,
    /// Start a new file at that moment.
    SplitAt(Moment),
    /// Write what the circular buffer holds; only with [`Options::snapshot_mode`](super::Options::snapshot_mode). With
    /// [`Options::triggers`](super::Options::triggers), open a window as if a trigger had fired.
    Snapshot,
    /// Fire a trigger, whatever its condition.
    Fire {
        /// Its name.
        trigger: String,
    },
    /// Close the bag; the node stays. Blocks until the bag is closed.
    Stop,
    /// Start a new bag after a stop.
    Record {
        /// Its directory, by default that of the options. If it exists, `_1`, `_2` and so on is appended.
        output: Option<PathBuf>,
    },
    /// Record new topics again.
    StartDiscovery,
    /// Record no new topics.
    StopDiscovery,
}
