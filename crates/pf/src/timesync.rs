use std::fmt;
use std::str::FromStr;

use timeloom_sync::{
    Anchor, AnchorConfig, Averaging, DeviceClock, HostStamps, Limits, Method, SensorClock,
};
use timeloom_time::Duration;

use crate::error::{Error, Result};

/// Method of stamping scans (`timesync_method`).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum TimesyncMethod {
    /// Reception of the first packet of a scan.
    Off,
    /// The same, minus the time that its points took: "no averaging".
    Simple,
    /// The driver's average over packets (`timesync_period`).
    Average(Averaging),
    /// The driver's average over requests (`timesync_interval`, `timesync_period`).
    Requests(Averaging),
    /// One of Timeloom's own estimators, over packets and requests.
    Estimator(Method),
}

impl Default for TimesyncMethod {
    fn default() -> Self {
        Self::Estimator(Method::Envelope)
    }
}

impl TimesyncMethod {
    /// The method of this name; `averaging` is for those that average.
    ///
    /// # Errors
    ///
    /// [`Error::UnknownName`].
    pub fn named(name: &str, averaging: Averaging) -> Result<Self> {
        match name {
            "off" | "none" => Ok(Self::Off),
            "simple" => Ok(Self::Simple),
            "average" => Ok(Self::Average(averaging)),
            "requests" => Ok(Self::Requests(averaging)),
            "mean" => Ok(Self::Average(Averaging::Mean)),
            "regression" => Ok(Self::Average(Averaging::Regression)),
            other => Method::from_str(other)
                .map(Self::Estimator)
                .map_err(|_unknown| Error::UnknownName {
                    what: "timesync_method",
                    name: other.to_owned(),
                    known: "envelope, psle, hull, mean, regression, average, requests, simple, off",
                }),
        }
    }

    /// The name.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Off => "off",
            Self::Simple => "simple",
            Self::Average(_) => "average",
            Self::Requests(_) => "requests",
            Self::Estimator(method) => method.name(),
        }
    }

    /// Whether packets are samples.
    pub const fn uses_packets(self) -> bool {
        !matches!(self, Self::Requests(_))
    }

    /// Whether requests are samples.
    pub(crate) const fn uses_requests(self) -> bool {
        matches!(self, Self::Requests(_) | Self::Estimator(_))
    }
}

impl fmt::Display for TimesyncMethod {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

/// Settings of the relation between the device's and the host's clock.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct TimesyncSettings {
    /// The method.
    pub method: TimesyncMethod,
    /// From one request for the device's time to the next (`timesync_interval`); zero makes none.
    pub interval: Duration,
    /// Window of the vendor's averages (`timesync_period`).
    pub period: Duration,
    /// Added to every stamp (`timesync_offset_usec`), for a delay that is known from elsewhere.
    pub offset: Duration,
    /// Whether `iq_timestamp_raw` is used as the send time. More exact if it is, which is not confirmed by the vendor.
    pub send_stamps: bool,
    /// Limits of clocks and delays.
    pub limits: Limits,
}

impl Default for TimesyncSettings {
    /// Timeloom's best estimator, with four requests a second for the lower bound.
    fn default() -> Self {
        Self {
            method: TimesyncMethod::default(),
            interval: Duration::from_millis(250),
            period: Duration::from_secs(10),
            offset: Duration::ZERO,
            send_stamps: false,
            limits: Limits::default(),
        }
    }
}

impl TimesyncSettings {
    /// Whether requests for the device's time are sent.
    pub fn asks(&self) -> bool {
        self.method.uses_requests() && !self.interval.is_zero()
    }

    /// Checks that the settings make sense together.
    ///
    /// # Errors
    ///
    /// [`Error::ImpossibleSetting`], with what would be possible.
    pub fn check(&self) -> Result<()> {
        let millis = |duration: Duration| format!("{} ms", duration.nanos() / 1_000_000);
        let impossible = |name, value, why| Err(Error::ImpossibleSetting { name, value, why });
        if self.interval.is_negative() {
            return impossible(
                "timesync_interval",
                millis(self.interval),
                "must be 0 or more",
            );
        }
        if matches!(self.method, TimesyncMethod::Requests(_)) {
            if self.interval.is_zero() {
                return impossible(
                    "timesync_interval",
                    millis(self.interval),
                    "the method requests needs requests",
                );
            }
            if self.period <= self.interval {
                return impossible(
                    "timesync_period",
                    millis(self.period),
                    "it must be longer than timesync_interval",
                );
            }
        }
        AnchorConfig::new(Averaging::Mean, self.period)?;
        Ok(())
    }

    /// The clock with these settings.
    ///
    /// # Errors
    ///
    /// As [`check`](Self::check).
    pub fn clock(&self) -> Result<SensorClock> {
        self.check()?;
        let anchor = |averaging| -> Result<SensorClock> {
            let config = AnchorConfig::new(averaging, self.period)?;
            Ok(SensorClock::new(Box::new(Anchor::new(config)), self.limits))
        };
        let mut clock = match self.method {
            TimesyncMethod::Average(averaging) | TimesyncMethod::Requests(averaging) => {
                anchor(averaging)?
            }
            TimesyncMethod::Off | TimesyncMethod::Simple => Method::default().clock(self.limits),
            TimesyncMethod::Estimator(method) => method.clock(self.limits),
        };
        clock.set_host_stamps(HostStamps::Steady);
        clock.set_device_clock(DeviceClock::Counter);
        Ok(clock)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn methods_have_the_names_of_the_driver_and_of_the_estimators() {
        let mean = Averaging::Mean;
        for name in [
            "off", "simple", "average", "requests", "envelope", "psle", "hull",
        ] {
            assert_eq!(TimesyncMethod::named(name, mean).unwrap().name(), name);
        }
        let regression = TimesyncMethod::named("regression", mean).unwrap();
        assert_eq!(regression, TimesyncMethod::Average(Averaging::Regression));
        let error = TimesyncMethod::named("best", mean).unwrap_err().to_string();
        assert!(
            error.starts_with("unknown timesync_method \"best\""),
            "{error}"
        );
    }

    #[test]
    fn settings_that_cannot_be_are_refused() {
        let mut settings = TimesyncSettings {
            method: TimesyncMethod::Requests(Averaging::Mean),
            interval: Duration::ZERO,
            ..TimesyncSettings::default()
        };
        assert!(settings.check().is_err());
        settings.interval = Duration::from_secs(20);
        let error = settings.check().unwrap_err().to_string();
        assert_eq!(
            error,
            "invalid timesync_period = 10000 ms: it must be longer than timesync_interval"
        );
        settings.interval = Duration::from_millis(250);
        assert!(settings.clock().is_ok());
        settings.period = Duration::from_secs(-1);
        assert!(settings.clock().is_err());
    }
}
