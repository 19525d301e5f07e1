//! State of the lidar and its clock, as `/diagnostics`.

use timeloom_msg::Value;
use timeloom_msg::value::{Array, Struct};
use timeloom_pf::{ClockReport, LidarStatus, LinkState, Severity};
use timeloom_sync::{ClockPair, Health};
use timeloom_time::{Duration, Ros, Steady, Time};

use crate::Result;
use crate::layout::Layout;
use crate::messages::fill_stamp;
use crate::scan_publisher::Published;

const STATUS: &str = "diagnostic_msgs/msg/DiagnosticStatus";
const KEY_VALUE: &str = "diagnostic_msgs/msg/KeyValue";

/// The numbers of `diagnostic_msgs/DiagnosticStatus`.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Level {
    Ok = 0,
    Warn = 1,
    Error = 2,
}

/// The state that is reported.
pub(crate) struct Subject<'a> {
    pub(crate) node: &'a str,
    pub(crate) host: &'a str,
    pub(crate) method: &'a str,
    pub(crate) status: &'a LidarStatus,
    pub(crate) published: Published,
    /// The same moment on the node's clock and on the steady one.
    pub(crate) now: (Time<Ros>, Time<Steady>),
}

/// Makes the messages.
pub(crate) struct Diagnostics {
    status: Layout<5>,
    key_value: Layout<2>,
    /// Packets and scans that were lost before the last message.
    lost: u64,
}

type Values = Vec<(&'static str, String)>;

impl Diagnostics {
    pub(crate) fn new() -> Result<Self> {
        let fields = ["level", "name", "message", "hardware_id", "values"];
        Ok(Self {
            status: Layout::new(STATUS, fields)?,
            key_value: Layout::new(KEY_VALUE, ["key", "value"])?,
            lost: 0,
        })
    }

    /// Fills a `diagnostic_msgs/DiagnosticArray`: one status of the connection, one of the clock.
    pub(crate) fn fill(&mut self, message: &mut Value, subject: &Subject<'_>) -> Result<()> {
        fill_stamp(message, subject.now.0)?;
        let lost = lost(subject);
        let news = lost.saturating_sub(std::mem::replace(&mut self.lost, lost));
        let statuses = vec![
            self.status("connection", subject, &connection(subject, news)),
            self.status("clock", subject, &clock(subject)),
        ];
        Ok(message.set("status", Array::Struct(statuses))?)
    }

    fn status(&self, what: &str, subject: &Subject<'_>, report: &Report) -> Struct {
        let device = &subject.status.device;
        let hardware = format!("{} {}", device.product, device.serial);
        let pair = |(key, value): &(&str, String)| {
            self.key_value.fill([(*key).into(), value.as_str().into()])
        };
        let values = report.values.iter().map(pair).collect();
        self.status.fill([
            (report.level as u8).into(),
            format!("{}: {what}", subject.node).as_str().into(),
            report.message.as_str().into(),
            hardware.trim().into(),
            Array::Struct(values).into(),
        ])
    }
}

struct Report {
    level: Level,
    message: String,
    values: Values,
}

/// Packets and scans that were not published.
fn lost(subject: &Subject<'_>) -> u64 {
    let (scans, packets) = (&subject.status.scans, &subject.status.packets);
    scans.packets_lost
        + scans.scans_missed
        + packets.bad
        + subject.published.failed
        + subject.published.dropped
}

/// State of the connection; `lost` packets since the last report.
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
            let text = format!("receiving scans; {lost} packets lost since the last report");
            (Level::Warn, text)
        }
        LinkState::Running if flags == Level::Ok => (Level::Ok, "receiving scans".to_owned()),
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
        ("not published", published.missing().to_string()),
        ("scans complete", scans.scans.to_string()),
        ("scans incomplete", scans.scans_incomplete.to_string()),
        ("scans lost", scans.scans_lost.to_string()),
        ("scans missed", scans.scans_missed.to_string()),
        ("packets", scans.packets.to_string()),
        ("packets lost", scans.packets_lost.to_string()),
        ("packets duplicated", scans.duplicates.to_string()),
        ("packets late", scans.late.to_string()),
        ("packets invalid", (packets.bad + scans.bad).to_string()),
        ("packets from other hosts", packets.foreign.to_string()),
        ("bytes skipped", packets.skipped_bytes.to_string()),
        ("device restarts", scans.restarts.to_string()),
        ("scan counter resets", scans.renumbered.to_string()),
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
        ("kernel stamps", packets.kernel_stamps.to_string()),
        ("user-space stamps", packets.user_stamps.to_string()),
        ("invalid stamps", packets.bad_stamps.to_string()),
        (
            "requests answered",
            subject.status.requests_answered.to_string(),
        ),
    ];
    let Some(report) = &subject.status.clock else {
        return Report {
            level: Level::Warn,
            message: Health::Unsynced.to_string(),
            values,
        };
    };
    // Without packets, the estimator itself does not notice that time passes.
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
    let offset = ClockPair::new(steady, ros).offset_from_steady(report.offset_ns) as f64 / 1e9;
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
        ("outliers", counters.outliers.to_string()),
    ]
}
