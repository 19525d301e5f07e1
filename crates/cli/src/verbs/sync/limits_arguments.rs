//! Assumptions about the clocks: flags of every verb that estimates.

use clap::Args;
use timeloom_sync::{GrainSource, Limits, Method};
use timeloom_time::Duration;

/// The estimator and what it may rely on.
#[derive(Debug, Args)]
#[command(next_help_heading = "Estimate")]
pub(crate) struct LimitsArguments {
    /// Estimator: envelope, psle, hull, mean or regression
    #[arg(long, value_name = "NAME", default_value_t, value_parser = method)]
    pub(crate) estimator: Method,
    /// The clocks never differ by more than this
    #[arg(long, value_name = "PPM", default_value_t = Limits::default().skew_ppm, value_parser = positive)]
    max_skew: f64,
    /// The rate of the clocks never changes faster than this, in ppm per minute
    #[arg(long, value_name = "PPM", default_value_t = Limits::default().drift_ppm_per_minute, value_parser = positive)]
    max_drift: f64,
    /// Least delay of a packet in microseconds; it is subtracted from all results
    #[arg(long, value_name = "MICROSECONDS", default_value_t = 0.0, value_parser = not_negative)]
    least_delay: f64,
    /// Device stamps are truncated by up to this many microseconds, such as 1000 for a counter of milliseconds [default:
    /// what the stamps show, at least 5]
    #[arg(long, value_name = "MICROSECONDS", value_parser = not_negative)]
    grain: Option<f64>,
    /// mean and regression ignore requests that take longer than this many milliseconds
    #[arg(long, value_name = "MILLISECONDS", default_value_t = 50.0, value_parser = positive)]
    max_request: f64,
}

impl LimitsArguments {
    pub(crate) fn limits(&self) -> Limits {
        let micros = |micros: f64| Duration::try_from_secs_f64(micros * 1e-6).unwrap_or_default();
        let usual = Limits::default();
        Limits {
            skew_ppm: self.max_skew,
            drift_ppm_per_minute: self.max_drift,
            least_delay: micros(self.least_delay),
            stamp_grain: self.grain.map_or(usual.stamp_grain, micros),
            grain_source: match self.grain {
                Some(_) => GrainSource::Given,
                None => GrainSource::Found,
            },
            slowest_request: micros(self.max_request * 1e3),
        }
    }
}

fn method(text: &str) -> Result<Method, String> {
    text.parse()
        .map_err(|error: timeloom_sync::Error| error.to_string())
}

/// A number above zero.
pub(crate) fn positive(text: &str) -> Result<f64, String> {
    not_negative(text).and_then(|number| match number {
        0.0 => Err("expected a number above 0".into()),
        number => Ok(number),
    })
}

fn not_negative(text: &str) -> Result<f64, String> {
    let number: f64 = text
        .parse()
        .map_err(|error| format!("expected a number: {error}"))?;
    if (0.0..=1e6).contains(&number) {
        Ok(number)
    } else {
        Err("expected a number from 0 to 1000000".into())
    }
}
