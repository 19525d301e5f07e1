//! `timeloom doctor`: whether this machine is fit to record and to replay.

use std::fs;

use clap::Args;
use jiff::Timestamp;
use rustix::process::{Resource, getrlimit};
use serde_json::json;
use timeloom_node::host_clock::{HostClock, HostClockProbe};
use timeloom_text::grouped;
use timeloom_time::{Clock, Duration, System, TimeBase};

use super::findings::WANTED_BUFFER;
use crate::context::Context;
use crate::live::LiveArguments;
use crate::outcome::Outcome;
use crate::verbs::info::Format;

const MIB: u64 = 1 << 20;
const GIB: u64 = 1 << 30;
/// 2020-01-01: a machine without a battery for its clock starts long before.
const EARLIEST: i64 = 1_577_836_800;
/// Less of it, and a recording ends soon: 100 MB/s fill it in less than a minute.
const LITTLE_DISK: u64 = 5 * GIB;
/// The recorder's default cache is 100 MB, twice.
const LITTLE_MEMORY: u64 = 512 * MIB;
/// Sockets of a graph with a few hundred participants, and the files of a bag.
const FEW_FILES: u64 = 1024;

/// Form of the report on the machine.
#[derive(Debug, Args)]
pub(crate) struct MachineArguments {
    /// Form of the output
    #[arg(long, value_enum, default_value_t, value_name = "FORMAT")]
    format: Format,
}

/// What the machine tells; `None` where it does not.
#[derive(Debug, Default)]
struct Machine {
    unix_seconds: i64,
    clock_source: Option<String>,
    host_clock: HostClock,
    memory: Option<u64>,
    disk: Option<u64>,
    open_files: Option<u64>,
    rmem_max: Option<u64>,
    /// What is set in the environment and not honoured.
    notes: Vec<String>,
}

pub(crate) fn run(arguments: &MachineArguments, context: &mut Context) -> anyhow::Result<Outcome> {
    let machine = Machine::look()?;
    let (problems, advice) = machine.judge();
    let out = context.printer.data();
    match arguments.format {
        Format::Text => {
            write!(out, "{}", machine.text())?;
            for text in &advice {
                writeln!(out, "Advice: {text}")?;
            }
            for text in &problems {
                writeln!(out, "Problem: {text}")?;
            }
            if problems.is_empty() {
                writeln!(out, "No problem found")?;
            }
        }
        Format::Json => writeln!(out, "{}", machine.json(&problems, &advice))?,
    }
    Ok(if problems.is_empty() {
        Outcome::Done
    } else {
        Outcome::ProblemFound
    })
}

fn line_of(path: &str) -> Option<String> {
    let text = fs::read_to_string(path).ok()?;
    Some(text.trim().to_owned())
}

/// `MemAvailable:   123 kB` of `/proc/meminfo`, in bytes.
fn available(meminfo: &str) -> Option<u64> {
    let line = meminfo
        .lines()
        .find_map(|line| line.strip_prefix("MemAvailable:"))?;
    let kib: u64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    kib.checked_mul(1024)
}

impl Machine {
    fn look() -> anyhow::Result<Self> {
        let environment = LiveArguments::environment()?;
        let disk = rustix::fs::statvfs(".").ok();
        let now: Clock<System> = Clock::new();
        Ok(Self {
            unix_seconds: now.now().nanos().div_euclid(1_000_000_000),
            clock_source: line_of(
                "/sys/devices/system/clocksource/clocksource0/current_clocksource",
            ),
            host_clock: HostClockProbe::new(&TimeBase::machine()).look(),
            memory: line_of("/proc/meminfo").as_deref().and_then(available),
            disk: disk.and_then(|disk| disk.f_bavail.checked_mul(disk.f_frsize)),
            open_files: getrlimit(Resource::Nofile).current,
            rmem_max: line_of("/proc/sys/net/core/rmem_max").and_then(|text| text.parse().ok()),
            notes: environment.notes.iter().map(ToString::to_string).collect(),
        })
    }

    /// Problems, and advice.
    fn judge(&self) -> (Vec<String>, Vec<String>) {
        let (mut problems, mut advice) = (Vec::new(), Vec::new());
        if self.unix_seconds < EARLIEST {
            problems.push("the clock was never set: every stamp will be wrong; run `sudo timedatectl set-ntp true`".into());
        }
        if let Some(source) = self.clock_source.as_deref().filter(|name| is_slow(name)) {
            advice.push(format!(
                "the kernel reads the time from {source}, which is slow: boot with `clocksource=tsc tsc=reliable` if \
                 the processor's counter is steady"
            ));
        }
        advice.extend(self.host_clock.advice());
        if self.memory.is_some_and(|bytes| bytes < LITTLE_MEMORY) {
            advice.push("little memory is left: record with `--max-cache-size 20000000`".into());
        }
        if self.disk.is_some_and(|bytes| bytes < LITTLE_DISK) {
            advice.push(
                "little space is left here: record elsewhere, or with `--min-free-space` so that it ends in time".into(),
            );
        }
        if self.open_files.is_some_and(|limit| limit < FEW_FILES) {
            advice.push(format!(
                "few files may be open: run `ulimit -n {FEW_FILES}`"
            ));
        }
        if self.rmem_max.is_some_and(|limit| limit < WANTED_BUFFER) {
            advice.push(format!(
                "receive buffers are limited: large messages on best effort may be lost; run `sudo sysctl -w \
                 net.core.rmem_max={WANTED_BUFFER}`"
            ));
        }
        advice.extend(self.notes.iter().cloned());
        (problems, advice)
    }

    fn text(&self) -> String {
        let unknown = || "unknown".to_owned();
        let size = |bytes: Option<u64>| {
            bytes.map_or_else(unknown, |bytes| {
                format!("{:.1} GiB", bytes as f64 / GIB as f64)
            })
        };
        let number = |number: Option<u64>| number.map_or_else(unknown, grouped);
        let now = Timestamp::from_second(self.unix_seconds)
            .map_or_else(|_| unknown(), |now| now.to_string());
        format!(
            "Timeloom: {} with {}\nClock: {now}, read from {}, {}\nTAI: {}\nHardware clocks: {}\nMemory: {} available\nDisk: {} free \
             here\nOpen files: at most {}\nReceive buffers: at most {} bytes\n",
            env!("CARGO_PKG_VERSION"),
            features().join(", "),
            self.clock_source.clone().unwrap_or_else(unknown),
            self.host_clock,
            match self.host_clock.tai_offset_s {
                0 => "the kernel does not know how far it is ahead".to_owned(),
                seconds => format!("{seconds} s ahead of UTC"),
            },
            match self.host_clock.hardware_clocks.as_slice() {
                [] => "none".to_owned(),
                clocks => clocks.join(", "),
            },
            size(self.memory),
            size(self.disk),
            number(self.open_files),
            number(self.rmem_max),
        )
    }

    fn json(&self, problems: &[String], advice: &[String]) -> serde_json::Value {
        json!({
            "version": env!("CARGO_PKG_VERSION"),
            "features": features(),
            "unix_seconds": self.unix_seconds,
            "clock_source": self.clock_source,
            "synchronised_by": self.host_clock.is_synchronised().then(|| self.host_clock.source()),
            "host_clock": {
                "source": self.host_clock.source(),
                "synchronised": self.host_clock.is_synchronised(),
                "reference": self.host_clock.reference(),
                "offset_ns": self.host_clock.offset().map(Duration::nanos),
                "error_ns": self.host_clock.error().map(Duration::nanos),
                "tai_offset_s": self.host_clock.tai_offset_s,
                "hardware_clocks": self.host_clock.hardware_clocks,
            },
            "memory_available": self.memory,
            "disk_free": self.disk,
            "open_files": self.open_files,
            "rmem_max": self.rmem_max,
            "advice": advice,
            "problems": problems,
        })
    }
}

/// Clocks that take a microsecond to read instead of nanoseconds.
fn is_slow(source: &str) -> bool {
    matches!(source, "hpet" | "acpi_pm" | "jiffies" | "refined-jiffies")
}

/// The transports and other parts that this binary was built with.
fn features() -> Vec<&'static str> {
    let mut features = vec!["DDS"];
    if cfg!(feature = "zenoh") {
        features.push("Zenoh");
    }
    if cfg!(feature = "remote") {
        features.push("object storage");
    }
    if cfg!(feature = "query") {
        features.push("SQL");
    }
    features
}

#[cfg(test)]
mod tests {
    use super::*;
    use timeloom_node::host_clock::Discipline;

    fn good() -> Machine {
        Machine {
            unix_seconds: 1_794_733_131,
            clock_source: Some("tsc".into()),
            host_clock: HostClock {
                discipline: Discipline::Timesyncd,
                tai_offset_s: 37,
                hardware_clocks: vec!["ptp0 mlx5_ptp".into()],
            },
            memory: Some(8 * GIB),
            disk: Some(100 * GIB),
            open_files: Some(FEW_FILES),
            rmem_max: Some(WANTED_BUFFER),
            notes: Vec::new(),
        }
    }

    #[test]
    fn a_good_machine_needs_no_advice() {
        assert_eq!(good().judge(), (vec![], vec![]));
        assert!(good().text().contains(
            "Clock: 2026-11-15T08:58:51Z, read from tsc, synchronised by systemd-timesyncd"
        ));
        assert!(
            good()
                .text()
                .contains("TAI: 37 s ahead of UTC\nHardware clocks: ptp0 mlx5_ptp\n")
        );
    }

    #[test]
    fn each_shortage_has_its_own_advice() {
        let unset = Machine {
            unix_seconds: 1000,
            ..good()
        };
        assert_eq!(unset.judge().0.len(), 1);
        let cases = [
            (
                Machine {
                    clock_source: Some("hpet".into()),
                    ..good()
                },
                "from hpet",
            ),
            (
                Machine {
                    host_clock: HostClock::default(),
                    ..good()
                },
                "synchronised",
            ),
            (
                Machine {
                    memory: Some(MIB),
                    ..good()
                },
                "little memory",
            ),
            (
                Machine {
                    disk: Some(GIB),
                    ..good()
                },
                "little space",
            ),
            (
                Machine {
                    open_files: Some(256),
                    ..good()
                },
                "few files",
            ),
            (
                Machine {
                    rmem_max: Some(212_992),
                    ..good()
                },
                "receive buffers",
            ),
        ];
        for (machine, words) in cases {
            let (problems, advice) = machine.judge();
            assert_eq!(problems.len(), 0, "{words}");
            assert_eq!(advice.len(), 1, "{words}: {advice:?}");
            assert!(advice[0].contains(words), "{advice:?}");
        }
    }

    #[test]
    fn memory_is_what_is_available() {
        assert_eq!(
            available("MemTotal: 9 kB\nMemAvailable:   2 kB\n"),
            Some(2048)
        );
        assert_eq!(available("MemTotal: 9 kB\n"), None);
    }
}
