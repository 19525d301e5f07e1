//! Who disciplines the clock of this host, and how well.

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

/// What keeps the system clock right.
#[derive(Debug, Clone, PartialEq, Default)]
pub enum Discipline {
    /// Nothing that is known.
    #[default]
    None,
    /// chrony, and what it says of itself; none if it does not answer.
    Chrony(Option<ChronyTracking>),
    /// ptp4l, and what it says of itself; none if it does not answer, which may need root.
    Ptp(Option<PtpStatus>),
    /// systemd-timesyncd, which has set the clock.
    Timesyncd,
    /// Another program of this name, which is not asked.
    Other(String),
}

/// The clock of this host at a moment.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct HostClock {
    /// What keeps it right.
    pub discipline: Discipline,
    /// How far TAI is ahead of UTC as the kernel knows it, in seconds; 0 if nobody has told it.
    pub tai_offset_s: i64,
    /// The names of the network cards' own clocks (`/sys/class/ptp`): with one, stamps can be made in hardware.
    pub hardware_clocks: Vec<String>,
}

impl HostClock {
    /// The program that keeps the clock right.
    pub fn source(&self) -> &str {
        match &self.discipline {
            Discipline::None => "none",
            Discipline::Chrony(_) => "chrony",
            Discipline::Ptp(_) => "ptp4l",
            Discipline::Timesyncd => "systemd-timesyncd",
            Discipline::Other(name) => name,
        }
    }

    /// What the clock is compared with, as the program names it.
    pub fn reference(&self) -> Option<String> {
        match &self.discipline {
            Discipline::Chrony(Some(tracking)) => Some(tracking.reference()),
            Discipline::Ptp(Some(status)) => status.grandmaster.clone(),
            _ => None,
        }
    }

    /// Whether it is right now compared with something.
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

    /// How far the clock can be off, as far as the program knows; none if nobody does.
    ///
    /// Of chrony it is a bound: the offset, half the way to the reference and the dispersion. Of PTP it is the offset and
    /// the path's delay, which no asymmetry can exceed.
    pub fn error(&self) -> Option<Duration> {
        match &self.discipline {
            Discipline::Chrony(Some(tracking)) if tracking.is_synchronised() => {
                Some(tracking.error())
            }
            Discipline::Ptp(Some(status)) if status.is_synchronised() => Some(status.error()),
            _ => None,
        }
    }

    /// What is wrong with it, in words, and what to do; none if all is well.
    pub fn advice(&self) -> Option<String> {
        match &self.discipline {
            Discipline::None | Discipline::Other(_) => Some(
                "nothing here says that the clock is synchronised: stamps of two machines can be compared only with \
                 chrony, systemd-timesyncd or PTP on both"
                    .to_owned(),
            ),
            Discipline::Chrony(None) => {
                Some("chronyd runs and does not answer: try `chronyc tracking`".to_owned())
            }
            Discipline::Chrony(Some(tracking)) if !tracking.is_synchronised() => Some(
                "chrony has no source to follow: `chronyc sources` shows which it tries".to_owned(),
            ),
            Discipline::Ptp(None) => Some(
                "ptp4l runs and does not answer: `sudo pmc -u -b 0 'GET TIME_STATUS_NP'` shows what it knows, and \
                 its socket may need root"
                    .to_owned(),
            ),
            Discipline::Ptp(Some(status)) if !status.is_synchronised() => Some(format!(
                "ptp4l follows no grandmaster (its port is {}): is one in the network, and does the switch pass PTP?",
                status.port_state
            )),
            Discipline::Ptp(Some(status)) if status.is_tai() && self.tai_offset_s == 0 => Some(
                "PTP counts TAI and the kernel was never told the 37 s to UTC: devices that stamp with PTP time look 37 s \
                 ahead; `phc2sys -w` or chrony's `leapsectz` tell it"
                    .to_owned(),
            ),
            _ => None,
        }
    }
}

impl fmt::Display for HostClock {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.discipline == Discipline::None {
            return f.write_str("synchronised by nobody that is known");
        }
        let source = self.source();
        if !self.is_synchronised() {
            return write!(f, "not synchronised, though {source} runs");
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
    fn words_say_who_and_how_well() {
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
        let nobody = HostClock::default();
        assert_eq!(nobody.to_string(), "synchronised by nobody that is known");
        assert!(nobody.advice().is_some());
        let silent = HostClock {
            discipline: Discipline::Ptp(None),
            ..HostClock::default()
        };
        assert_eq!(silent.to_string(), "not synchronised, though ptp4l runs");
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
