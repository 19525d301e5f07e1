//! The log of a node: a callback, and `/rosout`.

use std::fmt;
use std::str::FromStr;
use std::sync::{Arc, Mutex, OnceLock};

use timeloom_msg::Value;
use timeloom_time::{Clock, System, TimeBase, WireTime};
use timeloom_wire::MessageTime;
use timeloom_wire::backend::lock;

use super::typed_publisher::TypedPublisher;
use crate::{Error, Result};

/// The severity of a log message, with the numbers of `rcl_interfaces/msg/Log`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Severity {
    /// For developers.
    Debug,
    /// As expected.
    Info,
    /// Works, but needs attention.
    Warn,
    /// Did not work.
    Error,
    /// Ends the program.
    Fatal,
}

impl Severity {
    /// The number on the wire.
    pub const fn level(self) -> u8 {
        match self {
            Self::Debug => 10,
            Self::Info => 20,
            Self::Warn => 30,
            Self::Error => 40,
            Self::Fatal => 50,
        }
    }
}

impl FromStr for Severity {
    type Err = Error;

    /// The names of ROS, in any case: `debug`, `info`, `warn`, `error`, `fatal`; `unset` is the lowest.
    fn from_str(text: &str) -> Result<Self> {
        Ok(match text.to_ascii_lowercase().as_str() {
            "unset" | "debug" => Self::Debug,
            "info" => Self::Info,
            "warn" => Self::Warn,
            "error" => Self::Error,
            "fatal" => Self::Fatal,
            _ => {
                return Err(Error::Argument {
                    argument: text.to_owned(),
                    reason: "expected a log level: debug, info, warn, error or fatal".to_owned(),
                });
            }
        })
    }
}

impl fmt::Display for Severity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Debug => "debug",
            Self::Info => "info",
            Self::Warn => "warning",
            Self::Error => "error",
            Self::Fatal => "fatal",
        })
    }
}

type Report = Arc<dyn Fn(Severity, &str) + Send + Sync>;

/// The logger of a node. Cheap to clone.
#[derive(Clone)]
pub(super) struct Logger(Arc<Inner>);

struct Inner {
    /// The node's name with dots.
    name: String,
    /// Less severe messages are dropped, as in rcl.
    level: Severity,
    clock: Clock<System>,
    rosout: OnceLock<TypedPublisher>,
    report: Mutex<Option<Report>>,
}

impl Logger {
    pub(super) fn new(node: &str, level: Severity, base: &TimeBase) -> Self {
        Self(Arc::new(Inner {
            name: node.trim_start_matches('/').replace('/', "."),
            level,
            clock: Clock::on(base),
            rosout: OnceLock::new(),
            report: Mutex::default(),
        }))
    }

    pub(super) fn publish_on(&self, rosout: TypedPublisher) {
        // Set once, by the node that created both.
        let _set = self.0.rosout.set(rosout);
    }

    pub(super) fn set_reporter(&self, report: Report) {
        *lock(&self.0.report) = Some(report);
    }

    /// Logs to the owner and on `/rosout`.
    pub(super) fn log(&self, severity: Severity, text: &str) {
        if severity < self.0.level {
            return;
        }
        self.report(severity, text);
        if let Some(rosout) = self.0.rosout.get() {
            let sent = self
                .message(rosout, severity, text)
                .and_then(|message| rosout.publish(&message));
            if let Err(error) = sent {
                let text = format!("can't publish on /rosout: {error}");
                self.report(Severity::Warn, &text);
            }
        }
    }

    /// Logs to the owner only; for threads that must not publish.
    pub(super) fn report(&self, severity: Severity, text: &str) {
        if severity < self.0.level {
            return;
        }
        let report = lock(&self.0.report);
        let report = report.clone();
        if let Some(report) = report {
            report(severity, text);
        }
    }

    fn message(&self, rosout: &TypedPublisher, severity: Severity, text: &str) -> Result<Value> {
        let mut message = rosout.message()?;
        // The machine's time, also in simulation, as in rcl.
        let stamp = WireTime::saturating_from(self.0.clock.now());
        message.set_time("stamp", stamp)?;
        message.set("level", severity.level())?;
        message.set("name", self.0.name.as_str())?;
        message.set("msg", text)?;
        Ok(message)
    }
}
