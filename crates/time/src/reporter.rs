use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use crate::sync::{Mutex, lock};

/// A warning of a clock; libraries do not print.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ClockWarning {
    /// A jump handler did not return in time; the jump continued without it.
    HandlerHangs {
        /// The handler's name.
        handler: String,
    },
    /// A jump handler panicked; the other handlers were called nevertheless.
    HandlerPanicked {
        /// The handler's name.
        handler: String,
        /// The message of the panic.
        message: String,
    },
    /// More than one source sends time: clocks jump between them.
    TwoSources {
        /// The source that was first.
        first: String,
        /// The source that joined.
        second: String,
    },
    /// A sample of a source arrived out of order and was dropped.
    OutOfOrder {
        /// The source's name.
        source: String,
        /// The sequence number of the late sample.
        sequence: u64,
        /// The sequence number already seen.
        newest: u64,
    },
    /// A time source tried to steer a controlled clock; the clock remains controlled.
    SourceRefused,
    /// A clock that a [`TimeHub`](crate::TimeHub) steers was set by hand; it stays with its hub.
    OverrideRefused,
    /// A control was called on a clock that follows an external source.
    ControlRefused {
        /// The refused control.
        action: &'static str,
    },
}

impl fmt::Display for ClockWarning {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::HandlerHangs { handler } => {
                write!(
                    f,
                    "jump handler `{handler}` does not return; the clock jumped without it"
                )
            }
            Self::HandlerPanicked { handler, message } => {
                write!(f, "jump handler `{handler}` panicked: {message}")
            }
            Self::TwoSources { first, second } => {
                write!(
                    f,
                    "two sources send time: `{first}` and `{second}`; stop one of them"
                )
            }
            Self::OutOfOrder {
                source,
                sequence,
                newest,
            } => write!(
                f,
                "time source `{source}` sent sample {sequence} after sample {newest}; it was dropped"
            ),
            Self::SourceRefused => {
                f.write_str("this clock is controlled by calls; a time source can't steer it")
            }
            Self::OverrideRefused => {
                f.write_str("this clock is attached to a time hub; detach it to set it by hand")
            }
            Self::ControlRefused { action } => {
                write!(
                    f,
                    "can't {action}: this clock follows an external time source"
                )
            }
        }
    }
}

type Sink = Arc<dyn Fn(&ClockWarning) + Send + Sync>;

/// The callback for warnings.
#[derive(Default)]
pub(crate) struct Reporter(Mutex<Option<Sink>>);

impl Reporter {
    pub(crate) fn set(&self, sink: Sink) {
        *lock(&self.0) = Some(sink);
    }

    pub(crate) fn report(&self, warning: &ClockWarning) {
        let sink = lock(&self.0).clone();
        if let Some(sink) = sink {
            // User code: its panic must not stop a jump half-way.
            let _panicked = catch_unwind(AssertUnwindSafe(|| sink(warning)));
        }
    }
}
