use std::fmt;

/// Why a recording ended.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum EndReason {
    /// It was stopped.
    Asked,
    /// It reached its maximum duration.
    Duration,
    /// It reached its maximum size.
    Size,
    /// It reached its maximum number of messages.
    Messages,
    /// It has its maximum number of windows.
    Windows,
    /// The disk is nearly full.
    LowDiskSpace,
    /// The directory or the file is not there any more.
    Vanished,
}

impl fmt::Display for EndReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Asked => "requested",
            Self::Duration => "the maximum duration is reached",
            Self::Size => "the maximum size is reached",
            Self::Messages => "the maximum number of messages is reached",
            Self::Windows => "the maximum number of windows is reached",
            Self::LowDiskSpace => "the disk is nearly full",
            Self::Vanished => "the directory of the bag is gone",
        })
    }
}
