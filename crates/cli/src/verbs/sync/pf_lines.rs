//! The state of a lidar and its clock, as lines.

use std::collections::VecDeque;

use serde_json::json;
use timeloom_pf::simulator::{SimulatedClock, SimulatedLidar};
use timeloom_pf::{LidarStatus, LinkState, ScanStamp};
use timeloom_sync::ClockPair;
use timeloom_text::{Scale, duration, grouped, sparkline};
use timeloom_time::{Clock, Duration, Reading, Steady, System, Time};

use super::summary::bounds_text;
use crate::context::Context;
use crate::verbs::info::Format;

/// Length of the sparklines in seconds.
const SHOWN: usize = 60;

/// Updates a table, or prints a line, once a second.
pub(crate) struct Lines {
    format: Format,
    drawn: usize,
    drifts: VecDeque<f64>,
    bounds: VecDeque<f64>,
    jitters: VecDeque<f64>,
}

impl Lines {
    pub(crate) fn new(format: Format) -> Self {
        Self {
            format,
            drawn: 0,
            drifts: VecDeque::new(),
            bounds: VecDeque::new(),
            jitters: VecDeque::new(),
        }
    }

    /// Shows a status; of a simulated device with the true error.
    pub(crate) fn show(
        &mut self,
        status: &LidarStatus,
        device: Option<&SimulatedLidar>,
        context: &mut Context,
    ) -> anyhow::Result<()> {
        let newest = status.newest_scan.as_ref();
        let error = newest.zip(device).and_then(|((raw, stamp), device)| {
            let now = Clock::<Steady>::new().now();
            true_error(*raw, stamp, &device.clock(), now)
        });
        let text = match self.format {
            Format::Json => json_line(status, &to_system(), error),
            Format::Text if context.printer.shows_progress() => {
                self.remember(status);
                let table = self.table(status, error);
                let up = std::mem::replace(&mut self.drawn, table.lines().count());
                if up > 0 {
                    write!(context.printer.data(), "\x1b[{up}A\x1b[J")?;
                }
                table
            }
            Format::Text => text_line(status, error),
        };
        writeln!(context.printer.data(), "{text}")?;
        Ok(())
    }

    fn remember(&mut self, status: &LidarStatus) {
        let Some(clock) = &status.clock else {
            return;
        };
        let bound = clock.newest.bounds.width().map_or(0, Duration::nanos);
        let values = [clock.drift_ppm, bound as f64, clock.jitter.nanos() as f64];
        let series = [&mut self.drifts, &mut self.bounds, &mut self.jitters];
        for (series, value) in series.into_iter().zip(values) {
            series.push_back(value);
            if series.len() > SHOWN {
                series.pop_front();
            }
        }
    }

    fn table(&self, status: &LidarStatus, error: Option<i64>) -> String {
        let line = |name: &str, value: String, series: &VecDeque<f64>| {
            format!(
                "{name:8} {value:>18}  {}",
                sparkline(series.iter().copied(), Scale::FromLeast)
            )
        };
        let mut lines = vec![format!("{}  {}", status.device.product, link(status))];
        if let Some(clock) = &status.clock {
            let drift = format!("{:.3} ppm", clock.drift_ppm);
            lines.push(line("drift", drift, &self.drifts));
            lines.push(line("bound", bounds_text(&clock.newest), &self.bounds));
            lines.push(line(
                "jitter",
                duration(clock.jitter.nanos()),
                &self.jitters,
            ));
        }
        let scans = &status.scans;
        lines.push(format!(
            "{:8} {:>18}  {} incomplete, {} lost; {} packets, {} lost",
            "scans",
            grouped(scans.scans),
            grouped(scans.scans_incomplete),
            grouped(scans.scans_lost),
            grouped(scans.packets),
            grouped(scans.packets_lost)
        ));
        lines.extend(
            error.map(|error| format!("{:8} {:>18}  against the truth", "error", duration(error))),
        );
        lines.join("\n")
    }
}

fn link(status: &LidarStatus) -> String {
    match (status.link, &status.clock) {
        (LinkState::Waiting, _) => "not connected".to_owned(),
        (LinkState::Connecting, _) => "connecting".to_owned(),
        (LinkState::Running, None) => "unsynced".to_owned(),
        (LinkState::Running, Some(clock)) => {
            format!("{}  epoch {}", clock.newest.health, clock.newest.epoch)
        }
    }
}

fn text_line(status: &LidarStatus, error: Option<i64>) -> String {
    let scans = &status.scans;
    let mut parts = vec![link(status)];
    if let Some(clock) = &status.clock {
        parts.push(format!(
            "drift: {:.3} ppm  jitter: {}  bound: {}",
            clock.drift_ppm,
            duration(clock.jitter.nanos()),
            bounds_text(&clock.newest)
        ));
    }
    parts.push(format!(
        "scans: {}  packets: {}  lost: {}",
        scans.scans + scans.scans_incomplete,
        scans.packets,
        scans.packets_lost
    ));
    parts.extend(error.map(|error| format!("true error: {}", duration(error))));
    parts.join("  ")
}

/// Now, on the steady clock and on the system clock.
fn to_system() -> ClockPair<System> {
    let reading = Reading::take(&Clock::<Steady>::new(), &Clock::<System>::new());
    ClockPair::new(reading.after(), reading.other())
}

fn json_line(status: &LidarStatus, to_system: &ClockPair<System>, error: Option<i64>) -> String {
    let clock = status.clock.as_ref();
    let newest = clock.map(|clock| clock.newest);
    let (scans, packets) = (&status.scans, &status.packets);
    let link = match status.link {
        LinkState::Waiting => "waiting",
        LinkState::Connecting => "connecting",
        LinkState::Running => "running",
    };
    json!({
        "link": link,
        "product": status.device.product,
        "flags": status.flags.0,
        "health": newest.map(|newest| newest.health.name()),
        "epoch": newest.map(|newest| newest.epoch),
        "offset_ns": clock.map(|clock| to_system.offset_from_steady(clock.offset_ns)),
        "offset_steady_ns": clock.map(|clock| clock.offset_ns),
        "drift_ppm": clock.map(|clock| clock.drift_ppm),
        "jitter_ns": clock.map(|clock| clock.jitter.nanos()),
        "sigma_ns": newest.map(|newest| newest.sigma.nanos()),
        "bound_ns": newest.and_then(|newest| newest.bounds.width()).map(Duration::nanos),
        "true_error_ns": error,
        "scans": scans.scans,
        "scans_incomplete": scans.scans_incomplete,
        "scans_lost": scans.scans_lost,
        "scans_missed": scans.scans_missed,
        "packets": scans.packets,
        "packets_lost": scans.packets_lost,
        "packets_bad": packets.bad,
        "packets_foreign": packets.foreign,
        "bytes_skipped": packets.skipped_bytes,
        "duplicates": scans.duplicates,
        "late": scans.late,
        "restarts": scans.restarts,
        "renumbered": scans.renumbered,
        "kernel_stamps": packets.kernel_stamps,
        "user_stamps": packets.user_stamps,
        "requests": status.requests_answered,
        "requests_failed": status.requests_failed,
        "connections": status.connections,
        "last_error": status.last_error,
    })
    .to_string()
}

/// The stamp that a scan was given out with, minus when its first point was really measured; none for a scan of the time
/// before the device was restarted.
fn true_error(
    raw: u64,
    stamp: &ScanStamp,
    clock: &SimulatedClock,
    now: Time<Steady>,
) -> Option<i64> {
    let since_start = clock.stamp(clock.on_since())..=clock.stamp(now);
    since_start
        .contains(&raw)
        .then(|| (stamp.host - clock.host_of(raw)).nanos())
}

#[cfg(test)]
mod tests {
    use timeloom_pf::ClockReport;
    use timeloom_pf::simulator::ClockModel;
    use timeloom_sync::{Bounds, Counters, Health, Mapped};

    use super::*;

    #[test]
    fn the_true_error_is_that_of_the_stamp() {
        let model = ClockModel {
            start_s: 100.0,
            quantum: 1,
            ..ClockModel::default()
        };
        let at = |millis: i64| Time::from_nanos(millis * 1_000_000);
        let clock = SimulatedClock::new(model, at(0));
        let measured = clock.stamp(at(5_000));
        // An offset of the settings, and a method without an estimate, are in the stamp too.
        let stamp = ScanStamp {
            host: at(5_007),
            mapped: None,
        };
        let error = true_error(measured, &stamp, &clock, at(6_000)).unwrap();
        assert!((error - 7_000_000).abs() < 10, "{error}");
        let restarted = SimulatedClock::new(
            ClockModel {
                start_s: 0.0,
                ..model
            },
            at(5_500),
        );
        assert_eq!(true_error(measured, &stamp, &restarted, at(6_000)), None);
    }

    #[test]
    fn json_has_the_offset_to_the_system_clock_and_to_the_steady_clock() {
        let status = LidarStatus {
            clock: Some(ClockReport {
                offset_ns: -7,
                drift_ppm: 0.0,
                jitter: Duration::ZERO,
                newest: Mapped {
                    host: Time::from_nanos(0),
                    sigma: Duration::ZERO,
                    bounds: Bounds::default(),
                    health: Health::Locked,
                    epoch: 0,
                },
                counters: Counters::default(),
            }),
            ..LidarStatus::default()
        };
        let system = Time::from_nanos(1_700_000_000_000_000_500);
        let pair = ClockPair::new(Time::from_nanos(500), system);
        let line: serde_json::Value =
            serde_json::from_str(&json_line(&status, &pair, None)).unwrap();
        assert_eq!(line["offset_ns"], 1_699_999_999_999_999_993_i64);
        assert_eq!(line["offset_steady_ns"], -7);
    }
}
