//! The history of the recording host's clock, as `record` writes it into the custom data of a bag.

/// The key of the history in the custom data.
pub const HOST_CLOCK_KEY: &str = "timeloom.host_clock";

/// The state of the clock of the recording host at one time.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct HostClockRecord {
    /// The time, in nanoseconds of the system clock.
    pub system_ns: i64,
    /// The same moment by the steady clock of the host, which starts at boot; it identifies the host.
    pub steady_ns: Option<i64>,
    /// `start`, `minute` or `step`.
    pub reason: String,
    /// The change of the clock, for a step.
    pub step_ns: Option<i64>,
    /// The program that disciplines the clock: `chrony`, `ptp4l`, …, or `none`.
    pub source: String,
    /// Whether the clock was synchronised.
    pub synchronised: bool,
    /// The reference, as the program names it.
    pub reference: Option<String>,
    /// System time minus reference time.
    pub offset_ns: Option<i64>,
    /// Upper bound of the error of the system clock.
    pub error_ns: Option<i64>,
    /// TAI minus UTC in the kernel, in seconds.
    pub tai_s: Option<i64>,
}

impl HostClockRecord {
    /// System time at which the steady clock of the host was zero: it differs from host to host and from boot to boot.
    pub fn boot_ns(&self) -> Option<i64> {
        self.system_ns.checked_sub(self.steady_ns?)
    }

    /// The history in the custom data of a bag's metadata; empty if it has none.
    pub fn history(custom_data: &[(String, String)]) -> Vec<Self> {
        let history = custom_data.iter().find(|(key, _)| key == HOST_CLOCK_KEY);
        history.map_or_else(Vec::new, |(_, text)| Self::parse_all(text))
    }

    /// Parses the value of [`HOST_CLOCK_KEY`]; lines without a time are skipped.
    pub fn parse_all(text: &str) -> Vec<Self> {
        text.lines().filter_map(Self::parse).collect()
    }

    fn parse(line: &str) -> Option<Self> {
        let mut record = Self::default();
        let mut has_time = false;
        for (key, value) in line.split(' ').filter_map(|word| word.split_once('=')) {
            let number = value.parse::<i64>().ok();
            match key {
                "system_ns" => {
                    record.system_ns = number?;
                    has_time = true;
                }
                "steady_ns" => record.steady_ns = number,
                "reason" => value.clone_into(&mut record.reason),
                "step_ns" => record.step_ns = number,
                "source" => value.clone_into(&mut record.source),
                "synchronised" => record.synchronised = value == "true",
                "reference" => record.reference = Some(value.replace('_', " ")),
                "offset_ns" => record.offset_ns = number,
                "error_ns" => record.error_ns = number,
                "tai_s" => record.tai_s = number,
                _ => {}
            }
        }
        has_time.then_some(record)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_without_a_time_are_skipped() {
        let text = "nothing=here\n\nsystem_ns=x\nsystem_ns=5 source=chrony synchronised=true";
        let data = [(HOST_CLOCK_KEY.to_owned(), text.to_owned())];
        let expected = HostClockRecord {
            system_ns: 5,
            source: "chrony".to_owned(),
            synchronised: true,
            ..HostClockRecord::default()
        };
        assert_eq!(HostClockRecord::history(&data), [expected]);
        assert_eq!(HostClockRecord::history(&[]), []);
    }
}
