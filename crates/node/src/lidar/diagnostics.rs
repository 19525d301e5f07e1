//! How the lidar and its clock are, as `/diagnostics`.

use timeloom_msg::value::{Array, Struct};
use timeloom_msg::{Definitions, Schema, Value};
use timeloom_pf::{ClockReport, LidarStatus, LinkState, Severity};
use timeloom_sync::Health;
use timeloom_time::{Duration, Ros, Steady, Time};

use super::messages::fill_stamp;
use super::scan_publisher::Published;
use crate::{Error, Result};

const STATUS: &str = "diagnostic_msgs/msg/DiagnosticStatus";
const KEY_VALUE: &str = "diagnostic_msgs/msg/KeyValue";

/// The numbers of `diagnostic_msgs/DiagnosticStatus`.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Level {
    Ok = 0,
    Warn = 1,
    Error = 2,
}

/// What the report is about.
pub(super) struct Subject<'a> {
    pub(super) node: &'a str,
    pub(super) host: &'a str,
    pub(super) method: &'a str,
    pub(super) status: &'a LidarStatus,
    pub(super) published: Published,
    /// The same moment on the node's clock and on the steady one.
    pub(super) now: (Time<Ros>, Time<Steady>),
}

/// Makes the messages.
pub(super) struct Diagnostics {
    status: Schema,
    key_value: Schema,
    /// Packets and scans that were lost until the last message.
    lost: u64,
}

type Values = Vec<(&'static str, String)>;

impl Diagnostics {
    pub(super) fn new() -> Result<Self> {
        let known = Definitions::builtin();
        Ok(Self {
            status: known.schema(STATUS)?,
            key_value: known.schema(KEY_VALUE)?,
            lost: 0,
        })
    }

    /// Fills a `diagnostic_msgs/DiagnosticArray`: one status of the connection, one of the clock.
    pub(super) fn fill(&mut self, message: &mut Value, subject: &Subject<'_>) -> Result<()> {
        fill_stamp(message, subject.now.0)?;
        let lost = lost(subject);
        let news = lost.saturating_sub(std::mem::replace(&mut self.lost, lost));
        let statuses = vec![
            self.status("connection", subject, connection(subject, news))?,
            self.status("clock", subject, clock(subject))?,
        ];
        Ok(message.set("status", Array::Struct(statuses))?)
    }

    fn status(&self, what: &str, subject: &Subject<'_>, report: Report) -> Result<Struct> {
        let mut status = self.status.default_value()?;
        status.set("level", report.level as u8)?;
        status.set("name", format!("{}: {what}", subject.node))?;
        status.set("message", report.message)?;
        let device = &subject.status.device;
        status.set(
            "hardware_id",
            format!("{} {}", device.product, device.serial)
                .trim()
                .to_owned(),
        )?;
        let pairs = report
            .values
            .iter()
            .map(|(key, value)| self.pair(key, value));
        status.set("values", Array::Struct(pairs.collect::<Result<_>>()?))?;
        into_struct(status)
    }

    fn pair(&self, key: &str, value: &str) -> Result<Struct> {
        let mut pair = self.key_value.default_value()?;
        pair.set("key", key)?;
        pair.set("value", value)?;
        into_struct(pair)
    }
}

struct Report {
    level: Level,
    message: String,
    values: Values,
}

/// Everything that did not become a point of a published scan, in packets, and in scans where there was no packet.
fn lost(subject: &Subject<'_>) -> u64 {
    let (scans, packets) = (&subject.status.scans, &subject.status.packets);
    scans.packets_lost + scans.scans_missed + packets.bad + subject.published.failed
}

/// How the connection is; `lost` since the last report.
fn connection(subject: &Subject<'_>, lost: u64) -> Report {
    let (status, published) = (subject.status, subject.published);
    let (scans, packets) = (&status.scans, &status.packets);
    let flags = match status.flags.severity() {
        Severity::Normal => Level::Ok,
        Severity::Warning => Level::Warn,
        Severity::Error => Level::Error,
    };
    let (link, message) = match status.link {
        LinkState::Running if flags == Level::Ok && lost > 0 => {
            let text = format!("scans come, but {lost} packets were lost since the last report");
            (Level::Warn, text)
        }
        LinkState::Running if flags == Level::Ok => (Level::Ok, "scans come".to_owned()),
        LinkState::Running => (Level::Ok, status.flags.to_string()),
        LinkState::Connecting => (Level::Warn, "connecting".to_owned()),
        LinkState::Waiting => (Level::Error, status.last_error.clone().unwrap_or_default()),
    };
    let values = vec![
        ("host", subject.host.to_owned()),
        ("product", status.device.product.clone()),
        ("status flags", status.flags.to_string()),
        ("connections", status.connections.to_string()),
        ("requests failed", status.requests_failed.to_string()),
        ("scans published", published.scans.to_string()),
        (
            "not published",
            (published.failed + published.incomplete_dropped).to_string(),
        ),
        ("scans complete", scans.scans.to_string()),
        ("scans incomplete", scans.scans_incomplete.to_string()),
        ("scans lost", scans.scans_lost.to_string()),
        ("scans missed", scans.scans_missed.to_string()),
        ("packets", scans.packets.to_string()),
        ("packets lost", scans.packets_lost.to_string()),
        ("packets doubled", scans.duplicates.to_string()),
        ("packets late", scans.late.to_string()),
        ("packets bad", (packets.bad + scans.bad).to_string()),
        ("packets of others", packets.foreign.to_string()),
        ("bytes skipped", packets.skipped_bytes.to_string()),
        ("device restarts", scans.restarts.to_string()),
        ("scan numbers anew", scans.renumbered.to_string()),
        ("last error", status.last_error.clone().unwrap_or_default()),
    ];
    Report {
        level: link.max(flags),
        message,
        values,
    }
}

fn clock(subject: &Subject<'_>) -> Report {
    let packets = &subject.status.packets;
    let mut values = vec![
        ("method", subject.method.to_owned()),
        (
            "packets stamped by the kernel",
            packets.kernel_stamps.to_string(),
        ),
        ("packets stamped by us", packets.user_stamps.to_string()),
        ("stamps that cannot be", packets.bad_stamps.to_string()),
        ("requests answered", subject.status.times_told.to_string()),
    ];
    let Some(report) = &subject.status.clock else {
        return Report {
            level: Level::Warn,
            message: Health::Unsynced.to_string(),
            values,
        };
    };
    // The estimate does not know that nothing feeds it any more.
    let health = match (report.newest.health, subject.status.link) {
        (Health::Locked | Health::Converging, LinkState::Waiting | LinkState::Connecting) => {
            Health::Holdover
        }
        (health, _) => health,
    };
    values.push(("health", health.to_string()));
    values.extend(clock_values(report, subject.now));
    let level = match health {
        Health::Locked | Health::Converging => Level::Ok,
        Health::Unsynced | Health::Holdover => Level::Warn,
        Health::Degraded => Level::Error,
    };
    Report {
        level,
        message: health.to_string(),
        values,
    }
}

fn clock_values(report: &ClockReport, (ros, steady): (Time<Ros>, Time<Steady>)) -> Values {
    let micros = |duration: Duration| format!("{:.1}", duration.nanos() as f64 / 1e3);
    let to_ros = i128::from(ros.nanos()) - i128::from(steady.nanos());
    let offset = (to_ros + i128::from(report.offset_ns)) as f64 / 1e9;
    let bound = report.newest.bounds.width();
    let counters = &report.counters;
    vec![
        ("epoch", report.newest.epoch.to_string()),
        ("offset to ROS time [s]", format!("{offset:.6}")),
        ("drift [ppm]", format!("{:.3}", report.drift_ppm)),
        ("jitter [us]", micros(report.jitter)),
        ("sigma [us]", micros(report.newest.sigma)),
        (
            "bound [us]",
            bound.map_or_else(|| "none".to_owned(), micros),
        ),
        ("samples", counters.samples.to_string()),
        ("samples ignored", counters.ignored.to_string()),
        ("samples that cannot be", counters.outliers.to_string()),
    ]
}

fn into_struct(value: Value) -> Result<Struct> {
    match value {
        Value::Struct(inside) => Ok(inside),
        _ => Err(Error::Request { field: "status" }),
    }
}
