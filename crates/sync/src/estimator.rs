//! The trait behind which every way of estimating stands.

use std::fmt;

use timeloom_time::{Duration, Steady, Time};

use crate::device_time::DeviceTime;
use crate::event::Reason;
use crate::limits::Limits;
use crate::sample::{ActiveSample, PassiveSample};

/// What an estimator did with a sample.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Outcome {
    /// It counts.
    Used,
    /// It was left out, as the estimator's rules say (too soon, too slow, a kind it does not know).
    Ignored,
    /// Everything before was dropped, and the sample counts.
    Restarted(Reason),
    /// It counts, and showed that the path is longer than at its best by so much.
    PathShift(Duration),
    /// It counts, and showed that the rate of the clocks changed at once.
    RateChange,
    /// It counts, and showed that the rate changes faster than the limit.
    DriftExceeded,
    /// It was left out, as the request took so long.
    TooSlow(Duration),
}

/// How far an estimator has come since it was started.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Maturity {
    /// No sample.
    Empty,
    /// Too few samples, or too short a time, for a rate.
    Settling,
    /// Settled, but the newest samples do not fit.
    Doubtful,
    /// Settled.
    Settled,
}

/// An estimated host time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Estimate {
    /// The host time.
    pub host: Time<Steady>,
    /// Its standard deviation, apart from a constant smallest delay.
    pub sigma: Duration,
}

/// How far a [`SensorClock`](crate::SensorClock) may interfere with an estimator.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum Vetting {
    /// Impossible samples are withheld, jumps of a clock restart it, and results are kept within the bounds.
    #[default]
    Full,
    /// It gets every sample and its results are left alone: it stands for a program that has none of this.
    None,
}

/// Which state a device reports about itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum DeviceStatus {
    /// All is well.
    #[default]
    Normal,
    /// Settings have just changed, or the rotation is unstable (bits 1 and 3 of the R2000).
    Unsettled,
}

/// A way of estimating host times from samples: pure, deterministic, of bounded memory.
///
/// Samples come in the order of their arrival and have passed [`Sample::check`](crate::Sample::check).
/// Estimators know nothing of epochs, bounds and monotony: [`SensorClock`](crate::SensorClock) adds these.
/// The suite in `conformance` (feature of that name) says what each must do.
pub trait Estimator: fmt::Debug + Send {
    /// The name, as in `--estimator NAME`.
    fn name(&self) -> &'static str;

    /// Takes a packet that the device sent by itself.
    fn passive(&mut self, sample: &PassiveSample) -> Outcome;

    /// Takes a question and its answer.
    fn active(&mut self, sample: &ActiveSample) -> Outcome;

    /// Takes what the device says about itself, before the sample that says so.
    ///
    /// Clocks run on through a change of settings, so an estimator need not care; the anchor's do.
    fn status(&mut self, status: DeviceStatus) -> Outcome {
        let _: DeviceStatus = status;
        Outcome::Ignored
    }

    /// Whether a sensor clock may withhold samples and correct results.
    fn vetting(&self) -> Vetting {
        Vetting::Full
    }

    /// Forgets everything.
    fn restart(&mut self);

    /// The host time of `device`; none before the first sample.
    fn estimate(&self, device: DeviceTime) -> Option<Estimate>;

    /// How fast the host's clock runs against the device's, in ppm above one; none before the first sample.
    fn skew_ppm(&self) -> Option<f64>;

    /// The standard deviation of [`skew_ppm`](Self::skew_ppm); zero if it is not known.
    fn skew_sigma_ppm(&self) -> f64 {
        0.0
    }

    /// How much later than the estimate packets usually are at most; later ones show a stall, a step or a longer path.
    fn usual_lateness(&self) -> Duration {
        Duration::MAX
    }

    /// How much longer than at its best the path is taken to be.
    fn extra_delay(&self) -> Duration {
        Duration::ZERO
    }

    /// Takes limits that were raised, because the clocks do not keep to those before.
    fn set_limits(&mut self, limits: &Limits) {
        let _: &Limits = limits;
    }

    /// How far it has come.
    fn maturity(&self) -> Maturity;

    /// An upper limit of the memory it holds now, in bytes.
    fn memory(&self) -> usize;
}
