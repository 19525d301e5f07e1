//! The program that disciplines the clock of this host, and the accuracy of the clock.

mod chrony;
mod history;
mod probe;
mod ptp;

use std::fmt;

use timeloom_time::Duration;

pub use chrony::ChronyTracking;
pub use history::{HostClockEntry, HostClockHistory, HostClockReason};
pub use probe::HostClockProbe;
pub use ptp::PtpStatus;

/// The program that disciplines the system clock.
#[derive(Debug, Clone, PartialEq, Default)]
pub enum Discipline {
    /// No known program.
    #[default]
    None,
    /// chrony and its status; `None` if it does not answer.
    Chrony(Option<ChronyTracking>),
    /// ptp4l and its status; `None` if it does not answer, which may need root.
    Ptp(Option<PtpStatus>),
    /// systemd-timesyncd, which has set the clock.
    Timesyncd,
    /// Another program, by name; its status is not read.
    Other(String),
}

/// The clock of this host at a moment.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct HostClock {
    /// The program that disciplines it.
    pub discipline: Discipline,
    /// The offset of TAI from UTC in the kernel, in seconds; 0 if it was never set.
    pub tai_offset_s: i64,
    /// The names of the network cards' own clocks (`/sys/class/ptp`): with one, hardware time stamps are possible.
    pub hardware_clocks: Vec<String>,
}

impl HostClock {
    /// The name of the program that disciplines the clock.
    pub fn source(&self) -> &str {
        match &self.discipline {
            Discipline::None => "none",
            Discipline::Chrony(_) => "chrony",
            Discipline::Ptp(_) => "ptp4l",
            Discipline::Timesyncd => "systemd-timesyncd",
            Discipline::Other(name) => name,
        }
    }

    /// The reference clock, as the program names it.
    pub fn reference(&self) -> Option<String> {
        match &self.discipline {
            Discipline::Chrony(Some(tracking)) => Some(tracking.reference()),
            Discipline::Ptp(Some(status)) => status.grandmaster.clone(),
            _ => None,
        }
    }

    /// Whether the clock follows a reference at the moment.
    pub fn is_synchronised(&self) -> bool {
        match &self.discipline {
            Discipline::Chrony(Some(tracking)) => tracking.is_synchronised(),
            Discipline::Ptp(Some(status)) => status.is_synchronised(),
            Discipline::Timesyncd => true,
            _ => false,
        }
    }

    /// System time minus reference time, as the program estimates it.
    pub fn offset(&self) -> Option<Duration> {
        match &self.discipline {
            Discipline::Chrony(Some(tracking)) if tracking.is_synchronised() => {
                Some(tracking.offset)
            }
            Discipline::Ptp(Some(status)) if status.is_synchronised() => Some(status.offset),
            _ => None,
        }
    }

    /// The error bound of the clock, if the program knows one.
    ///
    /// For chrony: the offset, half the delay to the reference and the dispersion. For PTP: the offset and the delay of
    /// the path, which no asymmetry can exceed.
    pub fn error(&self) -> Option<Duration> {
        match &self.discipline {
            Discipline::Chrony(Some(tracking)) if tracking.is_synchronised() => {
                Some(tracking.error())
            }
            Discipline::Ptp(Some(status)) if status.is_synchronised() => Some(status.error()),
            _ => None,
        }
    }

    /// The problem and what to do about it; `None` if there is none.
    pub fn advice(&self) -> Option<String> {
        match &self.discipline {
            Discipline::None | Discipline::Other(_) => Some(
                "no known time daemon synchronises this clock: to compare stamps of several machines, run chrony, \
                 systemd-timesyncd or PTP on both"
                    .to_owned(),
            ),
            Discipline::Chrony(None) => {
                Some("chronyd is running but does not answer: try `chronyc tracking`".to_owned())
            }
            Discipline::Chrony(Some(tracking)) if !tracking.is_synchronised() => Some(
                "chrony has no usable source: see `chronyc sources`".to_owned(),
            ),
            Discipline::Ptp(None) => Some(
                "ptp4l is running but does not answer, its socket may need root: try \
                 `sudo pmc -u -b 0 'GET TIME_STATUS_NP'`"
                    .to_owned(),
            ),
            Discipline::Ptp(Some(status)) if !status.is_synchronised() => Some(format!(
                "ptp4l follows no grandmaster (port state {}): check that the network has one and that the switch forwards PTP",
                status.port_state
            )),
            Discipline::Ptp(Some(status)) if status.is_tai() && self.tai_offset_s == 0 => Some(
                "PTP uses TAI, and the kernel's TAI offset is not set: stamps of devices with PTP time are 37 s ahead; set it \
                 with `phc2sys -w` or chrony's `leapsectz`"
                    .to_owned(),
            ),
            _ => None,
        }
    }
}

impl fmt::Display for HostClock {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.discipline == Discipline::None {
            return f.write_str("not synchronised by a known program");
        }
        let source = self.source();
        if !self.is_synchronised() {
            return write!(f, "not synchronised, although {source} is running");
        }
        write!(f, "synchronised by {source}")?;
        if let Some(reference) = self.reference() {
            write!(f, " with {reference}")?;
        }
        if let (Some(offset), Some(error)) = (self.offset(), self.error()) {
            let micros = |duration: Duration| duration.nanos() as f64 / 1e3;
            write!(
                f,
                ", {:.1} µs off, error at most {:.1} µs",
                micros(offset),
                micros(error)
            )?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_text_names_the_program_and_its_accuracy() {
        let text = include_str!("../tests/data/chrony_tracking.csv");
        let chrony = HostClock {
            discipline: Discipline::Chrony(ChronyTracking::parse(text)),
            ..HostClock::default()
        };
        assert_eq!(
            chrony.to_string(),
            "synchronised by chrony with 127.0.0.1 (stratum 9), 1.5 µs off, error at most 5.3 µs"
        );
        assert_eq!(chrony.advice(), None);
        let undisciplined = HostClock::default();
        assert_eq!(
            undisciplined.to_string(),
            "not synchronised by a known program"
        );
        assert!(undisciplined.advice().is_some());
        let silent = HostClock {
            discipline: Discipline::Ptp(None),
            ..HostClock::default()
        };
        assert_eq!(
            silent.to_string(),
            "not synchronised, although ptp4l is running"
        );
        assert!(silent.advice().unwrap().contains("sudo pmc"));
    }

    #[test]
    fn a_kernel_that_does_not_know_tai_is_advised_with_ptp() {
        let text = include_str!("../tests/data/pmc_slave.txt");
        let mut status = PtpStatus::parse(text).unwrap();
        status.port_state = "SLAVE".to_owned();
        status.utc_offset_s = Some(37);
        let mut clock = HostClock {
            discipline: Discipline::Ptp(Some(status)),
            ..HostClock::default()
        };
        assert!(clock.advice().unwrap().contains("37 s"));
        clock.tai_offset_s = 37;
        assert_eq!(clock.advice(), None);
    }
}
