use timeloom_msg::Value;

use super::FleetAnswer;
use super::member::FleetIdentity;
use crate::recorder::{DiskSpace, Phase, Status};
use crate::{Error, Result};

/// The status of one recorder in a fleet.
#[derive(Clone, Debug, PartialEq)]
pub struct FleetStatus {
    /// The full name of its node.
    pub node: String,
    /// The name of its host.
    pub host: String,
    /// The number of its process.
    pub process: u32,
    /// The version of its program.
    pub version: String,
    /// Its state.
    pub phase: Phase,
    /// The directory of the bag, on its host.
    pub bag: String,
    /// The number of files.
    pub files: u32,
    /// Seconds since the start of the bag.
    pub elapsed_s: f64,
    /// Bytes of recorded messages.
    pub bytes: u64,
    /// Messages in the bag.
    pub recorded: u64,
    /// Messages lost in transport.
    pub lost_in_transport: u64,
    /// Messages lost in the recorder.
    pub lost_in_recorder: u64,
    /// Messages left out on purpose.
    pub left_out: u64,
    /// Messages that may have been published.
    pub unknown: u64,
    /// Whether there is no upper bound of the unknown messages.
    pub unknown_is_open: bool,
    /// Bytes between receiving and writing.
    pub queue_bytes: u64,
    /// The limit of that queue.
    pub queue_limit: u64,
    /// Free bytes on the disk of the bag; `None` when it is not known.
    pub disk_available: Option<u64>,
    /// The program that disciplines the host clock; empty when the clock is not watched.
    pub clock_source: String,
    /// Whether the host clock is synchronised.
    pub clock_synchronised: bool,
    /// Upper bound of the error of the host clock.
    pub clock_error_ns: Option<i64>,
}

/// The words of the phases.
const PHASES: [(Phase, &str); 3] = [
    (Phase::Recording, "recording"),
    (Phase::Paused, "paused"),
    (Phase::Stopped, "stopped"),
];

impl FleetStatus {
    pub(super) fn new(status: &Status, node: &str, identity: &FleetIdentity) -> Self {
        let total = status.total();
        let clock = status.host_clock.clone().unwrap_or_default();
        let space = DiskSpace::of(&status.directory);
        Self {
            node: node.to_owned(),
            host: identity.host.clone(),
            process: identity.process,
            version: identity.version.clone(),
            phase: status.phase,
            bag: status.directory.display().to_string(),
            files: u32::try_from(status.files).unwrap_or(u32::MAX),
            elapsed_s: status.elapsed.as_secs_f64(),
            bytes: total.bytes_written,
            recorded: total.messages_recorded,
            lost_in_transport: total.messages_lost_in_transport,
            lost_in_recorder: total.messages_lost_in_recorder(),
            left_out: total.messages_left_out(),
            unknown: total.unknown.at_most(),
            unknown_is_open: total.unknown.is_open(),
            queue_bytes: status.queue_bytes as u64,
            queue_limit: status.queue_limit as u64,
            disk_available: space.ok().map(|space| space.available),
            clock_source: clock.source,
            clock_synchronised: clock.synchronised,
            clock_error_ns: clock.error_ns,
        }
    }

    /// The word of its phase.
    pub fn phase_name(&self) -> &'static str {
        let known = PHASES.iter().find(|(phase, _)| *phase == self.phase);
        known.map_or("stopped", |(_, name)| name)
    }

    /// Messages that were lost for certain.
    pub fn lost(&self) -> u64 {
        self.lost_in_transport.saturating_add(self.lost_in_recorder)
    }

    /// Fills in the answer to a command.
    pub(super) fn fill(&self, answer: &mut Value) -> Result<()> {
        let mut set = |field: &str, value: Value| answer.set(&format!("status.{field}"), value);
        set("node_name", self.node.as_str().into())?;
        set("host", self.host.as_str().into())?;
        set("process", Value::Uint32(self.process))?;
        set("version", self.version.as_str().into())?;
        set("phase", self.phase_name().into())?;
        set("bag", self.bag.as_str().into())?;
        set("files", Value::Uint32(self.files))?;
        set("elapsed", Value::Float64(self.elapsed_s))?;
        for (field, number) in [
            ("bytes_written", self.bytes),
            ("messages_recorded", self.recorded),
            ("messages_lost_in_transport", self.lost_in_transport),
            ("messages_lost_in_recorder", self.lost_in_recorder),
            ("messages_left_out", self.left_out),
            ("messages_unknown", self.unknown),
            ("queue_bytes", self.queue_bytes),
            ("queue_limit", self.queue_limit),
            ("disk_available", self.disk_available.unwrap_or(u64::MAX)),
        ] {
            set(field, Value::Uint64(number))?;
        }
        set("unknown_is_open", Value::Bool(self.unknown_is_open))?;
        set("clock_source", self.clock_source.as_str().into())?;
        set("clock_synchronised", Value::Bool(self.clock_synchronised))?;
        set(
            "clock_has_error",
            Value::Bool(self.clock_error_ns.is_some()),
        )?;
        let error = Value::Int64(self.clock_error_ns.unwrap_or(0));
        Ok(set("clock_error_ns", error)?)
    }
}

impl FleetAnswer {
    /// Reads an answer.
    pub(super) fn read(answer: &Value) -> Result<Self> {
        let field = |field: &str| answer.get(&format!("status.{field}"));
        let text = |name: &str| -> String {
            let value = field(name);
            let value = value.as_ref().and_then(Value::as_str);
            value.unwrap_or_default().to_owned()
        };
        let number = |name: &str| field(name).and_then(|value| value.as_u64()).unwrap_or(0);
        let small = |name: &str| u32::try_from(number(name)).unwrap_or(u32::MAX);
        let flag = |name: &str| field(name) == Some(Value::Bool(true));
        let phase = text("phase");
        let phase = PHASES.iter().find(|(_, name)| *name == phase);
        let phase = phase.ok_or_else(|| Error::Failed {
            reason:
                "the answer has an unknown phase: use the same version of timeloom on all hosts"
                    .into(),
        })?;
        let error = answer.get("error");
        let error = error.as_ref().and_then(Value::as_str).unwrap_or_default();
        let done = answer.get("done") == Some(Value::Bool(true));
        let available = number("disk_available");
        let clock_error = field("clock_error_ns").and_then(|value| value.as_i64());
        Ok(Self {
            refused: (!done).then(|| error.to_owned()),
            status: FleetStatus {
                node: text("node_name"),
                host: text("host"),
                process: small("process"),
                version: text("version"),
                phase: phase.0,
                bag: text("bag"),
                files: small("files"),
                elapsed_s: field("elapsed")
                    .and_then(|value| value.as_f64())
                    .unwrap_or(0.0),
                bytes: number("bytes_written"),
                recorded: number("messages_recorded"),
                lost_in_transport: number("messages_lost_in_transport"),
                lost_in_recorder: number("messages_lost_in_recorder"),
                left_out: number("messages_left_out"),
                unknown: number("messages_unknown"),
                unknown_is_open: flag("unknown_is_open"),
                queue_bytes: number("queue_bytes"),
                queue_limit: number("queue_limit"),
                disk_available: (available != u64::MAX).then_some(available),
                clock_source: text("clock_source"),
                clock_synchronised: flag("clock_synchronised"),
                clock_error_ns: clock_error.filter(|_| flag("clock_has_error")),
            },
        })
    }
}
