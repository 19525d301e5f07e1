use std::fs;

use rustix::process::{Resource, getrlimit};
use timeloom_node::host_clock::{HostClock, HostClockProbe};
use timeloom_time::{Clock, System, TimeBase};
use timeloom_wire::environment::{Environment, VariableWarning};

use crate::Finding;

/// The receive buffer that Cyclone DDS asks the kernel for: `8MB` in its units.
pub const WANTED_RECEIVE_BUFFER: u64 = 8 << 20;
/// Enough open files for the sockets of a graph with a few hundred participants and for the files of a bag.
pub const MIN_OPEN_FILES: u64 = 1024;
/// 2020-01-01: a machine without a battery for its clock starts long before.
const EARLIEST_UNIX_SECONDS: i64 = 1_577_836_800;
/// 100 MB/s fill this in less than a minute.
const LITTLE_DISK: u64 = 5 << 30;
/// The recorder's default cache is 100 MB, twice.
const LITTLE_MEMORY: u64 = 512 << 20;

/// The state of this machine; `None` where the kernel does not say.
#[derive(Debug, Clone, Default)]
pub struct Machine {
    /// The date.
    pub unix_seconds: i64,
    /// The kernel's clock source, such as `tsc`.
    pub clock_source: Option<String>,
    /// Synchronisation of the clock.
    pub host_clock: HostClock,
    /// Available memory in bytes.
    pub memory: Option<u64>,
    /// Free bytes on the disk of the working directory.
    pub disk: Option<u64>,
    /// The limit for open files of this process.
    pub open_files: Option<u64>,
    /// The largest receive buffer in bytes.
    pub rmem_max: Option<u64>,
    /// Variables that are set in the environment and not honoured.
    pub notes: Vec<VariableWarning>,
}

impl Machine {
    /// Reads the state of this machine.
    pub fn read(environment: &Environment) -> Self {
        let disk = rustix::fs::statvfs(".").ok();
        let now: Clock<System> = Clock::new();
        Self {
            unix_seconds: now.now().nanos().div_euclid(1_000_000_000),
            clock_source: line_of(
                "/sys/devices/system/clocksource/clocksource0/current_clocksource",
            ),
            host_clock: HostClockProbe::new(&TimeBase::machine()).look(),
            memory: line_of("/proc/meminfo").as_deref().and_then(available),
            disk: disk.and_then(|disk| disk.f_bavail.checked_mul(disk.f_frsize)),
            open_files: getrlimit(Resource::Nofile).current,
            rmem_max: receive_buffer_limit(),
            notes: environment.notes.clone(),
        }
    }

    /// The checks of the machine.
    pub fn check(&self) -> Vec<Finding> {
        let mut findings = Vec::new();
        let mut add = |wrong: bool, finding: Finding| {
            if wrong {
                findings.push(finding);
            }
        };
        let below = |value: Option<u64>, limit: u64| value.is_some_and(|value| value < limit);
        add(
            self.unix_seconds < EARLIEST_UNIX_SECONDS,
            Finding::ClockNeverSet,
        );
        if let Some(source) = self.clock_source.clone() {
            add(is_slow(&source), Finding::SlowClockSource { source });
        }
        if let Some(advice) = self.host_clock.advice() {
            add(true, Finding::HostClock(advice));
        }
        add(below(self.memory, LITTLE_MEMORY), Finding::LittleMemory);
        add(below(self.disk, LITTLE_DISK), Finding::LittleDisk);
        add(
            below(self.open_files, MIN_OPEN_FILES),
            Finding::FewOpenFiles,
        );
        findings.extend(receive_buffers(self.rmem_max));
        findings.extend(self.notes.iter().cloned().map(Finding::Environment));
        findings
    }
}

/// The kernel's limit of receive buffers in bytes.
pub fn receive_buffer_limit() -> Option<u64> {
    line_of("/proc/sys/net/core/rmem_max").and_then(|text| text.parse().ok())
}

pub(crate) fn receive_buffers(rmem_max: Option<u64>) -> Option<Finding> {
    let small = rmem_max.is_some_and(|limit| limit < WANTED_RECEIVE_BUFFER);
    small.then_some(Finding::SmallReceiveBuffers)
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

/// Clocks that take a microsecond to read instead of nanoseconds.
fn is_slow(source: &str) -> bool {
    matches!(source, "hpet" | "acpi_pm" | "jiffies" | "refined-jiffies")
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
            memory: Some(8 << 30),
            disk: Some(100 << 30),
            open_files: Some(MIN_OPEN_FILES),
            rmem_max: Some(WANTED_RECEIVE_BUFFER),
            notes: Vec::new(),
        }
    }

    #[test]
    fn a_good_machine_has_no_findings() {
        assert_eq!(good().check(), []);
    }

    #[test]
    fn each_shortage_is_one_finding() {
        let changed = |change: fn(&mut Machine)| {
            let mut machine = good();
            change(&mut machine);
            machine.check()
        };
        let source = "hpet".to_owned();
        assert_eq!(
            changed(|machine| machine.unix_seconds = 1000),
            [Finding::ClockNeverSet]
        );
        assert_eq!(
            changed(|machine| machine.clock_source = Some("hpet".into())),
            [Finding::SlowClockSource { source }]
        );
        assert!(matches!(
            changed(|machine| machine.host_clock = HostClock::default()).as_slice(),
            [Finding::HostClock(text)] if text.contains("no known time daemon")
        ));
        assert_eq!(
            changed(|machine| machine.memory = Some(1 << 20)),
            [Finding::LittleMemory]
        );
        assert_eq!(
            changed(|machine| machine.disk = Some(1 << 30)),
            [Finding::LittleDisk]
        );
        assert_eq!(
            changed(|machine| machine.open_files = Some(256)),
            [Finding::FewOpenFiles]
        );
        assert_eq!(
            changed(|machine| machine.rmem_max = Some(212_992)),
            [Finding::SmallReceiveBuffers]
        );
    }

    #[test]
    fn available_memory_is_read_from_meminfo() {
        assert_eq!(
            available("MemTotal: 9 kB\nMemAvailable:   2 kB\n"),
            Some(2048)
        );
        assert_eq!(available("MemTotal: 9 kB\n"), None);
    }
}
