//! The estimators of `pf_lidar_ros2_driver`, with the same rules, for users who come from there.

use std::collections::VecDeque;

use timeloom_time::{Duration, Steady, Time};

use crate::device_time::DeviceTime;
use crate::error::{Error, Result};
use crate::estimator::{DeviceStatus, Estimate, Estimator, Maturity, Outcome, Vetting};
use crate::event::Reason;
use crate::sample::{ActiveSample, PassiveSample};

/// The averaging method of the driver (`timesync_regression`, `timesync_averaging`).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum Averaging {
    /// The mean offset, and the slope from the first to the last sample.
    #[default]
    Mean,
    /// A least-squares line.
    Regression,
}

/// The driver's parameters and limits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct AnchorConfig {
    /// The averaging method.
    pub averaging: Averaging,
    /// Retention of samples (`timesync_period`); zero keeps one sample.
    pub period: Duration,
    /// The least distance of two samples by the device's clock; the driver has `period / 200`.
    pub interval: Duration,
    /// Slower requests are left out.
    pub slowest_request: Duration,
    /// A larger jump of host stamps restarts the average.
    pub host_jump: Duration,
    /// A larger jump of device stamps restarts the average.
    pub device_jump: Duration,
}

impl AnchorConfig {
    /// The driver's defaults for a period: `period / 200` apart, requests of 50 ms, jumps of 15 s and 1 s.
    ///
    /// # Errors
    ///
    /// [`Error::ImpossibleSetting`] for a period that is negative or longer than a day.
    pub fn new(averaging: Averaging, period: Duration) -> Result<Self> {
        if period.is_negative() || period > Duration::from_secs(86_400) {
            return Err(Error::ImpossibleSetting {
                name: "timesync_period",
                value: format!("{} ms", period.nanos() / 1_000_000),
                why: "must be 0 ms to one day",
            });
        }
        let interval = Duration::from_nanos(period.nanos() / 200);
        Ok(Self {
            averaging,
            period,
            interval,
            slowest_request: Duration::from_millis(50),
            host_jump: Duration::from_secs(15),
            device_jump: Duration::SECOND,
        })
    }
}

impl Default for AnchorConfig {
    /// The mean over 10 s.
    fn default() -> Self {
        Self {
            averaging: Averaging::Mean,
            period: Duration::from_secs(10),
            interval: Duration::from_millis(50),
            slowest_request: Duration::from_millis(50),
            host_jump: Duration::from_secs(15),
            device_jump: Duration::SECOND,
        }
    }
}

/// The driver's `TimeSync`: mean or regression over the last seconds, with its limits, resets and errors.
///
/// It is here so that users can move over and see what changes; do not choose it for new work.
/// Requests count as if the device read its clock when they were sent, as the driver does it.
#[derive(Debug, Clone)]
pub struct Anchor {
    config: AnchorConfig,
    samples: VecDeque<(i64, i64)>,
    /// Mean distance from the newest sample, in nanoseconds, and slope minus one.
    base: f64,
    scale: f64,
    /// Deviation of the samples from the line, in nanoseconds.
    spread: f64,
}

/// The side that determines the times of samples.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Pace {
    /// The device, with its packets.
    OfDevice,
    /// The host, with its requests.
    OfHost,
}

/// Upper limit of `period / interval`, so that memory is bounded for any setting.
const MOST_SAMPLES: usize = 4_096;
/// A newest sample that is off by so many deviations of all does not fit.
const FAR_OFF: f64 = 3.0;
/// Deviations below this are rounding, in nanoseconds.
const ROUNDING: f64 = 1e3;

impl Anchor {
    /// An estimator without samples.
    pub const fn new(config: AnchorConfig) -> Self {
        Self {
            config,
            samples: VecDeque::new(),
            base: 0.0,
            scale: 0.0,
            spread: 0.0,
        }
    }

    /// Whether the clocks jumped since the sample before.
    ///
    /// Packets that stop for a while are a jump, as the driver has it. Requests come as seldom as they are sent, so
    /// that only a difference of the two clocks is one.
    fn jumped(&self, device_step: i64, host_step: i64, pace: Pace) -> bool {
        let beyond =
            |step: i64, limit: Duration| step.unsigned_abs() > limit.nanos().unsigned_abs();
        match pace {
            Pace::OfDevice => {
                beyond(host_step, self.config.host_jump)
                    || beyond(device_step, self.config.device_jump)
            }
            Pace::OfHost => beyond(
                device_step.saturating_sub(host_step),
                self.config.device_jump,
            ),
        }
    }

    fn update(&mut self, device: i64, host: i64, pace: Pace) -> Outcome {
        let mut outcome = Outcome::Used;
        if let Some(&(last_device, last_host)) = self.samples.back() {
            let device_step = device - last_device;
            if self.jumped(device_step, host - last_host, pace) {
                self.restart();
                outcome = Outcome::Restarted(Reason::EstimatorLimit);
            } else if device_step < self.config.interval.nanos() {
                return Outcome::Ignored;
            }
        }
        let period = self.config.period.nanos();
        let too_old = |&(first, _): &(i64, i64)| device - first > period;
        while self.samples.front().is_some_and(too_old) || self.samples.len() >= MOST_SAMPLES {
            self.samples.pop_front();
        }
        self.samples.push_back((device, host));
        self.fit();
        outcome
    }

    fn fit(&mut self) {
        let Some(&newest) = self.samples.back() else {
            return;
        };
        let points = self.samples.iter().map(|sample| relative(*sample, newest));
        let count = self.samples.len() as f64;
        let slope = match self.config.averaging {
            Averaging::Mean => {
                let mean = points.clone().map(|(u, v)| v - u).sum::<f64>() / count;
                self.base = mean;
                self.slope_of_ends(newest)
            }
            Averaging::Regression => {
                let mut sums = [0.0; 4];
                for (u, v) in points.clone() {
                    sums[0] += u;
                    sums[1] += u * u;
                    sums[2] += v;
                    sums[3] += u * v;
                }
                let [u, uu, v, uv] = sums;
                let denominator = count * uu - u * u;
                let slope = if denominator == 0.0 {
                    1.0
                } else {
                    (count * uv - u * v) / denominator
                };
                self.base = (v - slope * u) / count;
                slope
            }
        };
        self.scale = slope - 1.0;
        let squares = points.map(|(u, v)| (v - self.base - slope * u).powi(2));
        self.spread = (squares.sum::<f64>() / count).sqrt();
    }

    fn slope_of_ends(&self, newest: (i64, i64)) -> f64 {
        let ends = self.samples.front().map(|first| relative(*first, newest));
        match ends {
            Some((device, host)) if host < 0.0 && device < 0.0 => host / device,
            _ => 1.0,
        }
    }
}

/// A sample seen from another one, in nanoseconds.
fn relative(sample: (i64, i64), from: (i64, i64)) -> (f64, f64) {
    ((sample.0 - from.0) as f64, (sample.1 - from.1) as f64)
}

impl Estimator for Anchor {
    fn name(&self) -> &'static str {
        match self.config.averaging {
            Averaging::Mean => "mean",
            Averaging::Regression => "regression",
        }
    }

    fn passive(&mut self, sample: &PassiveSample) -> Outcome {
        let (device, host) = (sample.device_event.nanos(), sample.host_rx.nanos());
        self.update(device, host, Pace::OfDevice)
    }

    fn active(&mut self, sample: &ActiveSample) -> Outcome {
        if sample.round_trip() > self.config.slowest_request {
            return Outcome::TooSlow(sample.round_trip());
        }
        let (device, host) = (sample.device.nanos(), sample.host_tx.nanos());
        self.update(device, host, Pace::OfHost)
    }

    fn status(&mut self, status: DeviceStatus) -> Outcome {
        match status {
            DeviceStatus::Normal => Outcome::Ignored,
            DeviceStatus::Unsettled => {
                self.restart();
                Outcome::Restarted(Reason::DeviceStatus)
            }
        }
    }

    fn vetting(&self) -> Vetting {
        Vetting::None
    }

    fn restart(&mut self) {
        self.samples.clear();
        (self.base, self.scale, self.spread) = (0.0, 0.0, 0.0);
    }

    fn estimate(&self, device: DeviceTime) -> Option<Estimate> {
        let &(newest_device, newest_host) = self.samples.back()?;
        let ahead = device.nanos().saturating_sub(newest_device);
        let correction = self.base + self.scale * ahead as f64;
        let host = newest_host
            .saturating_add(ahead)
            .saturating_add(whole_nanos(correction));
        Some(Estimate {
            host: Time::<Steady>::from_nanos(host),
            sigma: Duration::from_nanos(whole_nanos(self.spread)),
        })
    }

    fn skew_ppm(&self) -> Option<f64> {
        (!self.samples.is_empty()).then_some(self.scale * 1e6)
    }

    fn maturity(&self) -> Maturity {
        let span = match (self.samples.front(), self.samples.back()) {
            (Some(first), Some(last)) => last.0 - first.0,
            _ => return Maturity::Empty,
        };
        if span < self.config.period.nanos() / 2 {
            Maturity::Settling
        } else if self.base.abs() > FAR_OFF * self.spread + ROUNDING {
            Maturity::Doubtful
        } else {
            Maturity::Settled
        }
    }

    fn memory(&self) -> usize {
        size_of::<Self>() + self.samples.capacity() * size_of::<(i64, i64)>()
    }
}

/// The nearest whole number; not-a-number counts as zero, and the rest saturates.
///
/// As `nanos.round() as i64` gives it, which is a call of a library on most machines.
#[expect(
    clippy::cast_possible_truncation,
    reason = "a float to integer cast saturates"
)]
#[inline]
pub(crate) fn whole_nanos(nanos: f64) -> i64 {
    let whole = nanos as i64;
    // Exact: a number with a fraction is below 2⁵², and so is what is cut off.
    let rest = nanos - whole as f64;
    if rest >= 0.5 {
        whole.saturating_add(1)
    } else if rest <= -0.5 {
        whole.saturating_sub(1)
    } else {
        whole
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[expect(clippy::cast_possible_truncation, reason = "what it must equal")]
    fn check(nanos: f64) {
        assert_eq!(whole_nanos(nanos), nanos.round() as i64, "{nanos:e}");
    }

    #[test]
    fn whole_nanoseconds_are_those_of_rounding() {
        let big = 2_f64.powi(52);
        for nanos in [
            0.0,
            0.5,
            0.499_999_999_999_999_94,
            1.5,
            2.5,
            big - 0.5,
            big + 1.0,
            2.0 * big + 2.0,
            9.2e18,
            9.3e18,
            1e300,
            f64::INFINITY,
            f64::NAN,
            f64::MIN_POSITIVE,
        ] {
            check(nanos);
            check(-nanos);
        }
    }

    proptest! {
        #[test]
        fn whole_nanoseconds_of_any_number(bits in any::<u64>(), small in -1e9_f64..1e9) {
            check(f64::from_bits(bits));
            check(small);
            check((small * 2.0).trunc() / 2.0);
        }
    }
}
