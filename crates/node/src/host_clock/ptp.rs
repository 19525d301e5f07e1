use timeloom_time::Duration;

/// The output of `pmc` about ptp4l: the answers to `GET TIME_STATUS_NP`, `GET PORT_DATA_SET`, `GET CURRENT_DATA_SET`
/// and `GET TIME_PROPERTIES_DATA_SET`.
#[derive(Debug, Clone, PartialEq)]
pub struct PtpStatus {
    /// Whether there is a grandmaster.
    pub grandmaster_present: bool,
    /// Its identity.
    pub grandmaster: Option<String>,
    /// The state of the port that follows, else of the first one: `SLAVE` if all is well.
    pub port_state: String,
    /// This clock minus the grandmaster's, at the last measurement.
    pub offset: Duration,
    /// The time of a message from the grandmaster.
    pub path_delay: Duration,
    /// TAI minus UTC as the grandmaster announces it; `None` if it does not, or does not use TAI.
    pub utc_offset_s: Option<i64>,
}

impl PtpStatus {
    /// Reads the answers; `None` without a `TIME_STATUS_NP`.
    pub fn parse(text: &str) -> Option<Self> {
        let value = |name: &'static str| values(text, name).next();
        let nanos = |name: &'static str| -> Option<Duration> {
            let number: f64 = value(name)?.parse().ok()?;
            Duration::try_from_secs_f64(number * 1e-9)
        };
        let present = value("gmPresent")? == "true";
        let states: Vec<&str> = values(text, "portState").collect();
        let follows = states.iter().find(|state| **state == "SLAVE");
        let state = follows.or(states.first()).copied().unwrap_or("unknown");
        let tai = value("ptpTimescale") == Some("1");
        let utc_offset = value("currentUtcOffset").and_then(|text| text.parse().ok());
        Some(Self {
            grandmaster_present: present,
            grandmaster: value("gmIdentity").map(str::to_owned).filter(|_| present),
            port_state: state.to_owned(),
            offset: nanos("master_offset")?,
            path_delay: nanos("meanPathDelay").unwrap_or_default(),
            utc_offset_s: utc_offset.filter(|_| tai),
        })
    }

    /// Whether the clock follows a grandmaster.
    pub fn is_synchronised(&self) -> bool {
        self.grandmaster_present && self.port_state == "SLAVE"
    }

    /// Whether the grandmaster uses TAI.
    pub const fn is_tai(&self) -> bool {
        self.utc_offset_s.is_some()
    }

    /// A bound of the error: the offset and the whole path delay, as if all of it were asymmetric.
    pub fn error(&self) -> Duration {
        Duration::from_nanos(self.offset.nanos().abs() + self.path_delay.nanos().abs())
    }
}

/// The values of a name, in their order.
fn values<'a>(text: &'a str, name: &'static str) -> impl Iterator<Item = &'a str> {
    text.lines().filter_map(move |line| {
        let mut words = line.split_whitespace();
        (words.next() == Some(name)).then(|| words.next())?
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn captured_answers_are_read() {
        let text = include_str!("../../tests/data/pmc_slave.txt");
        let status = PtpStatus::parse(text).unwrap();
        assert_eq!(status.offset, Duration::from_nanos(-191));
        assert_eq!(status.path_delay, Duration::from_nanos(1_844));
        assert_eq!(status.grandmaster.as_deref(), Some("02a22c.fffe.bd1ba4"));
        assert_eq!(status.utc_offset_s, None, "its time scale is not TAI");
        assert_eq!(status.error(), Duration::from_nanos(2_035));
        // It was run without steering the clock, and stays in this state.
        assert_eq!(status.port_state, "UNCALIBRATED");
        assert!(!status.is_synchronised());
        let follows = text.replace("UNCALIBRATED", "SLAVE");
        assert!(PtpStatus::parse(&follows).unwrap().is_synchronised());
    }

    #[test]
    fn without_a_grandmaster_it_is_not_synchronised() {
        let text = include_str!("../../tests/data/pmc_alone.txt");
        let status = PtpStatus::parse(text).unwrap();
        assert_eq!(status.port_state, "LISTENING");
        assert_eq!(status.grandmaster, None);
        assert!(!status.is_synchronised());
    }

    #[test]
    fn other_text_is_not_a_status() {
        for text in ["", "uds: bind failed: Permission denied", "gmPresent true"] {
            assert_eq!(PtpStatus::parse(text), None, "{text}");
        }
    }
}
