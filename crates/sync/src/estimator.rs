//! The interface of all estimators.

use std::fmt;

use timeloom_time::{Duration, Steady, Time};

use crate::device_time::DeviceTime;
use crate::event::Reason;
use crate::limits::Limits;
use crate::sample::{ActiveSample, PassiveSample};

/// The result of feeding a sample to an estimator.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Outcome {
    /// It counts.
    Used,
    /// It was left out by the estimator's rules (too soon, too slow, an unsupported kind).
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

/// The progress of an estimator since its start.
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

/// The control that a [`SensorClock`](crate::SensorClock) has over an estimator.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum Vetting {
    /// Impossible samples are withheld, jumps of a clock restart it, and results are kept within the bounds.
    #[default]
    Full,
    /// It gets every sample and its results are unchanged, as in a program without such checks.
    None,
}

/// The state that a device reports.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum DeviceStatus {
    /// No problem reported.
    #[default]
    Normal,
    /// Settings have just changed, or the rotation is unstable (bits 1 and 3 of the R2000).
    Unsettled,
}

/// An estimator of host times from samples: pure, deterministic, with bounded memory.
///
/// Samples come in the order of their arrival and have passed [`Sample::check`](crate::Sample::check).
/// [`SensorClock`](crate::SensorClock) adds epochs, bounds and monotony.
/// The suite in `conformance` (feature of that name) checks the contract.
pub trait Estimator: fmt::Debug + Send {
    /// The name, as in `--estimator NAME`.
    fn name(&self) -> &'static str;

    /// Takes an unsolicited packet.
    fn passive(&mut self, sample: &PassiveSample) -> Outcome;

    /// Takes a question and its answer.
    fn active(&mut self, sample: &ActiveSample) -> Outcome;

    /// Takes the state that the device reports, before the sample that carries it.
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

    /// The rate of the host's clock against the device's, in ppm above one; none before the first sample.
    fn skew_ppm(&self) -> Option<f64>;

    /// The standard deviation of [`skew_ppm`](Self::skew_ppm); zero if it is not known.
    fn skew_sigma_ppm(&self) -> f64 {
        0.0
    }

    /// The usual upper limit of the lateness of packets; later ones show a stall, a step or a longer path.
    fn usual_lateness(&self) -> Duration {
        Duration::MAX
    }

    /// The estimated extra delay of the path compared with its best.
    fn extra_delay(&self) -> Duration {
        Duration::ZERO
    }

    /// Takes raised limits after the clocks exceeded the earlier ones.
    fn set_limits(&mut self, limits: &Limits) {
        let _: &Limits = limits;
    }

    /// The progress since the start.
    fn maturity(&self) -> Maturity;

    /// An upper limit of the memory it holds now, in bytes.
    fn memory(&self) -> usize;
}
