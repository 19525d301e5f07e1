use std::fs;
use std::io::Read as _;
use std::process::{Command, Stdio};

use timeloom_time::{Clock, Duration, Steady, TimeBase, tai_offset};

use super::{ChronyTracking, Discipline, HostClock, PtpStatus};

/// The longest wait for the output of a program.
const PATIENCE: Duration = Duration::from_secs(2);
/// Interval of the checks for its end.
const LOOK_AGAIN: Duration = Duration::from_millis(10);
/// Longer output is not the expected one.
const LONGEST_ANSWER: u64 = 64 << 10;
/// The file that systemd-timesyncd creates when it has set the clock.
const TIMESYNCD: &str = "/run/systemd/timesync/synchronized";
/// Other programs that discipline a clock and are not queried.
const OTHERS: [&str; 3] = ["ntpd", "ntpd-rs", "openntpd"];

/// Finds the program that disciplines the clock of this host.
#[derive(Debug, Clone)]
pub struct HostClockProbe {
    steady: Clock<Steady>,
}

impl HostClockProbe {
    /// A probe of this machine.
    pub fn new(base: &TimeBase) -> Self {
        Self {
            steady: Clock::on(base),
        }
    }

    /// Queries chrony or ptp4l, whichever runs. Blocks until they answer, for two seconds each at most.
    pub fn look(&self) -> HostClock {
        HostClock {
            discipline: self.discipline(&running_programs()),
            tai_offset_s: tai_offset().nanos() / 1_000_000_000,
            hardware_clocks: hardware_clocks(),
        }
    }

    fn discipline(&self, programs: &[String]) -> Discipline {
        let runs = |name: &str| programs.iter().any(|program| program == name);
        if runs("ptp4l") {
            return Discipline::Ptp(self.ask_ptp());
        }
        if runs("chronyd") {
            let answer = self.ask("chronyc", &["-n", "-c", "tracking"]);
            return Discipline::Chrony(answer.as_deref().and_then(ChronyTracking::parse));
        }
        if fs::exists(TIMESYNCD).unwrap_or(false) {
            return Discipline::Timesyncd;
        }
        let other = OTHERS.iter().find(|name| runs(name));
        other.map_or(Discipline::None, |name| {
            Discipline::Other((*name).to_owned())
        })
    }

    fn ask_ptp(&self) -> Option<PtpStatus> {
        let questions = [
            "-u",
            "-b",
            "0",
            "GET TIME_STATUS_NP",
            "GET PORT_DATA_SET",
            "GET CURRENT_DATA_SET",
            "GET TIME_PROPERTIES_DATA_SET",
        ];
        PtpStatus::parse(&self.ask("pmc", &questions)?)
    }

    /// The output of a program; `None` if it is missing, fails or takes too long.
    fn ask(&self, program: &str, arguments: &[&str]) -> Option<String> {
        let mut child = Command::new(program)
            .args(arguments)
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .ok()?;
        let end = self.steady.now().saturating_add(PATIENCE);
        let succeeded = loop {
            match child.try_wait() {
                Ok(Some(status)) => break status.success(),
                Ok(None) if self.steady.now() < end => {
                    let _woke = self.steady.sleep_for(LOOK_AGAIN);
                }
                Ok(None) | Err(_) => {
                    // It may have ended just now; then there is nothing to kill.
                    let _ended = child.kill();
                    let _reaped = child.wait();
                    return None;
                }
            }
        };
        let mut text = String::new();
        let output = child.stdout.take().filter(|_| succeeded)?;
        output.take(LONGEST_ANSWER).read_to_string(&mut text).ok()?;
        Some(text)
    }
}

/// The names of all running programs, as far as the system shows them.
fn running_programs() -> Vec<String> {
    let entries = fs::read_dir("/proc").into_iter().flatten().flatten();
    let names = entries.filter_map(|entry| {
        let is_process = entry.file_name().to_str()?.parse::<u32>().is_ok();
        let name = is_process.then(|| fs::read_to_string(entry.path().join("comm")).ok())??;
        Some(name.trim().to_owned())
    });
    names.collect()
}

/// The clocks of network cards.
fn hardware_clocks() -> Vec<String> {
    let entries = fs::read_dir("/sys/class/ptp")
        .into_iter()
        .flatten()
        .flatten();
    let mut names: Vec<String> = entries
        .map(|entry| {
            let name = fs::read_to_string(entry.path().join("clock_name")).unwrap_or_default();
            let device = entry.file_name().to_string_lossy().into_owned();
            format!("{device} {}", name.trim()).trim().to_owned()
        })
        .collect();
    names.sort_unstable();
    names
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn this_machine_can_be_probed() {
        let clock = HostClockProbe::new(&TimeBase::machine()).look();
        assert!(!clock.source().is_empty());
        assert!((0..100).contains(&clock.tai_offset_s));
        assert!(!running_programs().is_empty());
    }

    #[test]
    fn programs_that_are_missing_fail_or_hang_give_none() {
        let probe = HostClockProbe::new(&TimeBase::machine());
        assert_eq!(probe.ask("timeloom-no-such-program", &[]), None);
        assert_eq!(probe.ask("false", &[]), None);
        assert_eq!(probe.ask("sleep", &["600"]), None);
        assert_eq!(probe.ask("echo", &["7"]).as_deref(), Some("7\n"));
    }

    #[test]
    fn ptp_is_preferred_to_chrony_which_may_only_read_its_result() {
        let probe = HostClockProbe::new(&TimeBase::machine());
        let programs = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect();
        let of = |names: &[&str]| {
            let programs: Vec<String> = programs(names);
            probe.discipline(&programs)
        };
        assert!(matches!(of(&["chronyd", "ptp4l"]), Discipline::Ptp(_)));
        assert!(matches!(of(&["chronyd"]), Discipline::Chrony(_)));
        let other = of(&["bash", "ntpd"]);
        assert!(matches!(
            other,
            Discipline::Other(_) | Discipline::Timesyncd
        ));
    }
}
