use std::fmt;

/// Why a recording ended.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum EndReason {
    /// Somebody asked for it.
    Asked,
    /// It has lasted as long as it may.
    Duration,
    /// Its files have as many bytes as they may.
    Size,
    /// It has as many messages as it may.
    Messages,
    /// The disk is nearly full.
    LowDiskSpace,
    /// The directory or the file is not there any more.
    Vanished,
}

impl fmt::Display for EndReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Asked => "it was asked for",
            Self::Duration => "the maximum duration is reached",
            Self::Size => "the maximum size is reached",
            Self::Messages => "the maximum number of messages is reached",
            Self::LowDiskSpace => "the disk is nearly full",
            Self::Vanished => "the directory of the bag is gone",
        })
    }
}
