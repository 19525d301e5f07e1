//! A Kalman filter over offset and skew, as `cuckoo_time_translator` has it by default: for comparison only.

use timeloom_sync::{
    ActiveSample, DeviceTime, Estimate, Estimator, Maturity, Outcome, PassiveSample,
};
use timeloom_time::{Duration, Time};

/// Seconds between two updates.
const COOLDOWN: f64 = 0.5;
/// The variance of an offset, in square seconds, and of the skew's change, per second.
const OFFSET_VARIANCE: f64 = 4e-6;
const SKEW_VARIANCE: f64 = 4e-12;
/// The variance of the skew at the start.
const FIRST_SKEW_VARIANCE: f64 = 1e-6;

/// Offset and skew, in seconds relative to the first sample.
#[derive(Debug, Default)]
pub(crate) struct Kalman {
    origin: Option<(i64, i64)>,
    at: f64,
    state: (f64, f64),
    variance: (f64, f64, f64),
}

impl Kalman {
    fn start(&mut self, device: i64, host: i64) {
        self.origin = Some((device, host));
        (self.at, self.state) = (0.0, (0.0, 0.0));
        self.variance = (OFFSET_VARIANCE, 0.0, FIRST_SKEW_VARIANCE);
    }

    fn update(&mut self, at: f64, offset: f64) {
        let step = at - self.at;
        if step < COOLDOWN {
            return;
        }
        self.at = at;
        self.state.0 += step * self.state.1;
        let (a, b, c) = self.variance;
        let (a, b, c) = (
            a + 2.0 * step * b + step * step * c,
            b + step * c,
            c + step * SKEW_VARIANCE,
        );
        let all = a + OFFSET_VARIANCE;
        let residual = offset - self.state.0;
        if residual * residual > all {
            self.variance = (a, b, c);
            return;
        }
        let gain = (a / all, b / all);
        self.state.0 += gain.0 * residual;
        self.state.1 += gain.1 * residual;
        self.variance = ((1.0 - gain.0) * a, (1.0 - gain.0) * b, c - gain.1 * b);
    }
}

impl Estimator for Kalman {
    fn name(&self) -> &'static str {
        "kalman"
    }

    fn passive(&mut self, sample: &PassiveSample) -> Outcome {
        let (device, host) = (sample.device_event.nanos(), sample.host_rx.nanos());
        let Some((first_device, first_host)) = self.origin else {
            self.start(device, host);
            return Outcome::Used;
        };
        let at = (device - first_device) as f64 * 1e-9;
        if at < self.at - 1.0 {
            self.start(device, host);
            return Outcome::Used;
        }
        self.update(at, (host - first_host) as f64 * 1e-9 - at);
        Outcome::Used
    }

    fn active(&mut self, _: &ActiveSample) -> Outcome {
        Outcome::Ignored
    }

    fn restart(&mut self) {
        *self = Self::default();
    }

    #[expect(clippy::cast_possible_truncation, reason = "simulated times are small")]
    fn estimate(&self, device: DeviceTime) -> Option<Estimate> {
        let (first_device, first_host) = self.origin?;
        let ahead = device.nanos() - first_device;
        let at = ahead as f64 * 1e-9;
        let offset = self.state.0 + (at - self.at) * self.state.1;
        Some(Estimate {
            host: Time::from_nanos(first_host + ahead + (offset * 1e9).round() as i64),
            sigma: Duration::try_from_secs_f64(self.variance.0.max(0.0).sqrt()).unwrap_or_default(),
        })
    }

    fn skew_ppm(&self) -> Option<f64> {
        self.origin.map(|_| self.state.1 * 1e6)
    }

    fn maturity(&self) -> Maturity {
        match self.origin {
            None => Maturity::Empty,
            Some(_) if self.at < 5.0 => Maturity::Settling,
            Some(_) => Maturity::Settled,
        }
    }

    fn memory(&self) -> usize {
        size_of::<Self>()
    }
}
