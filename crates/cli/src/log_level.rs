//! The level of messages on stderr, with the names of ROS.

use clap::ValueEnum;
use timeloom_node::Severity;

/// The messages printed on stderr; losses and errors are always printed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default, ValueEnum)]
pub(crate) enum LogLevel {
    /// Everything, with the node's name and parameters, and the events of the libraries
    Debug,
    /// Notes, warnings and errors
    #[default]
    Info,
    /// Warnings and errors
    Warn,
    /// Errors
    Error,
    /// Errors
    Fatal,
}

impl From<Severity> for LogLevel {
    fn from(severity: Severity) -> Self {
        match severity {
            Severity::Debug => Self::Debug,
            Severity::Info => Self::Info,
            Severity::Warn => Self::Warn,
            Severity::Error => Self::Error,
            Severity::Fatal => Self::Fatal,
        }
    }
}

impl From<LogLevel> for Severity {
    fn from(level: LogLevel) -> Self {
        match level {
            LogLevel::Debug => Self::Debug,
            LogLevel::Info => Self::Info,
            LogLevel::Warn => Self::Warn,
            LogLevel::Error => Self::Error,
            LogLevel::Fatal => Self::Fatal,
        }
    }
}
