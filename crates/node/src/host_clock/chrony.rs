use timeloom_time::Duration;

/// The output of `chronyc -c tracking`: fourteen values, separated by commas.
#[derive(Debug, Clone, PartialEq)]
pub struct ChronyTracking {
    /// The identity of the reference in hexadecimal digits, all zero without one.
    pub reference_id: String,
    /// Its name or address; empty for the clock of the host itself.
    pub name: String,
    /// Number of clocks between the reference and a true one.
    pub stratum: u32,
    /// System time minus reference time.
    pub offset: Duration,
    /// The same at the last measurement.
    pub last_offset: Duration,
    /// The frequency error of the system clock without correction, in ppm.
    pub frequency_ppm: f64,
    /// The uncertainty of the frequency, in ppm.
    pub skew_ppm: f64,
    /// The round trip to the reference.
    pub root_delay: Duration,
    /// The uncertainty besides the round trip.
    pub root_dispersion: Duration,
    /// `Normal`, `Not synchronised`, `Insert second`, `Delete second`.
    pub leap_status: String,
}

impl ChronyTracking {
    /// Reads the line; `None` if it has another format.
    pub fn parse(text: &str) -> Option<Self> {
        let values: Vec<&str> = text.trim().split(',').collect();
        let &[
            id,
            name,
            stratum,
            _reference_time,
            correction,
            last_offset,
            _rms_offset,
            frequency,
            _residual,
            skew,
            root_delay,
            root_dispersion,
            _interval,
            leap_status,
        ] = values.as_slice()
        else {
            return None;
        };
        let seconds = |text: &str| Duration::try_from_secs_f64(text.parse().ok()?);
        let number = |text: &str| text.parse::<f64>().ok().filter(|number| number.is_finite());
        Some(Self {
            reference_id: id.to_owned(),
            name: name.to_owned(),
            stratum: stratum.parse().ok()?,
            // The correction is what the system clock lacks.
            offset: -seconds(correction)?,
            last_offset: seconds(last_offset)?,
            frequency_ppm: number(frequency)?,
            skew_ppm: number(skew)?,
            root_delay: seconds(root_delay)?,
            root_dispersion: seconds(root_dispersion)?,
            leap_status: leap_status.to_owned(),
        })
    }

    /// Whether the clock follows another one.
    pub fn is_synchronised(&self) -> bool {
        self.leap_status != "Not synchronised" && self.stratum > 0
    }

    /// The reference for people.
    pub fn reference(&self) -> String {
        let name = if self.name.is_empty() {
            "its own clock"
        } else {
            &self.name
        };
        format!("{name} (stratum {})", self.stratum)
    }

    /// A bound of the error: the offset, half the round trip and the dispersion, as in chrony's documentation.
    pub fn error(&self) -> Duration {
        let nanos =
            self.offset.nanos().abs() + self.root_delay.nanos() / 2 + self.root_dispersion.nanos();
        Duration::from_nanos(nanos)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_captured_line_is_read() {
        let text = include_str!("../../tests/data/chrony_tracking.csv");
        let tracking = ChronyTracking::parse(text).unwrap();
        assert_eq!(tracking.name, "127.0.0.1");
        assert_eq!(tracking.stratum, 9);
        // `chronyc tracking` printed at the same moment: 0.000001476 seconds fast of NTP time.
        assert_eq!(tracking.offset, Duration::from_nanos(1_476));
        assert_eq!(tracking.root_delay, Duration::from_nanos(4_218));
        assert_eq!(
            tracking.error(),
            Duration::from_nanos(1_476 + 2_109 + 1_702)
        );
        assert!(tracking.is_synchronised());
    }

    #[test]
    fn a_clock_without_a_source_is_not_synchronised() {
        let text = include_str!("../../tests/data/chrony_unsynchronised.csv");
        let tracking = ChronyTracking::parse(text).unwrap();
        assert!(!tracking.is_synchronised());
        assert_eq!(tracking.reference(), "its own clock (stratum 0)");
    }

    #[test]
    fn other_text_is_not_a_tracking_line() {
        for text in [
            "",
            "506 Cannot talk to daemon",
            "a,b,c,d,e,f,g,h,i,j,k,l,m,n",
            "7F000001,x,9,1,nan,1,1,1,1,1,1,1,1,Normal",
        ] {
            assert_eq!(ChronyTracking::parse(text), None, "{text}");
        }
    }
}
