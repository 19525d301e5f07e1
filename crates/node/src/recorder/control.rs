use std::path::PathBuf;

use super::moment::Moment;

/// What a recorder can be asked to do, by a key, a service or a program.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Control {
    /// Messages that come are left out until it is resumed; subscriptions stay.
    Pause,
    /// Messages are recorded again.
    Resume,
    /// Messages are recorded again from that moment on.
    ResumeAt(Moment),
    /// Pause or resume.
    TogglePaused,
    /// Go on with a new file.
    Split,
    /// Go on with a new file from that moment on.
    SplitAt(Moment),
    /// Write what the circular buffer holds; only with [`Options::snapshot_mode`](super::Options::snapshot_mode).
    Snapshot,
    /// Close the bag; the node stays. Blocks until everything is on its way to the disk.
    Stop,
    /// Start a new bag after a stop, there or beside the first one.
    Record {
        /// Where to; by default where the options say. A directory that exists gets `_1`, `_2` and so on behind it.
        output: Option<PathBuf>,
    },
    /// Look for new topics again.
    StartDiscovery,
    /// Stay with the topics that are recorded now.
    StopDiscovery,
}
