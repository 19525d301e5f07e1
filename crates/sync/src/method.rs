//! Estimators by name.

use std::fmt;
use std::str::FromStr;

use timeloom_time::Duration;

use crate::anchor::{Anchor, AnchorConfig, Averaging};
use crate::delay_envelope::{DelayEnvelope, Refinement};
use crate::error::{Error, Result};
use crate::estimator::Estimator;
use crate::limits::Limits;
use crate::sensor_clock::SensorClock;
use crate::switching_hull::SwitchingHull;

/// A way of estimating, by name: what `--estimator` takes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum Method {
    /// The default: [`DelayEnvelope`] with a curve.
    #[default]
    Envelope,
    /// [`DelayEnvelope`] with the bare hull.
    Psle,
    /// [`SwitchingHull`] of 60 s.
    Hull,
    /// [`Anchor`] with its mean over 10 s.
    Mean,
    /// [`Anchor`] with its regression over 10 s.
    Regression,
}

impl Method {
    /// All methods, the default first.
    pub const ALL: [Self; 5] = [
        Self::Envelope,
        Self::Psle,
        Self::Hull,
        Self::Mean,
        Self::Regression,
    ];

    /// The name.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Envelope => "envelope",
            Self::Psle => "psle",
            Self::Hull => "hull",
            Self::Mean => "mean",
            Self::Regression => "regression",
        }
    }

    /// An estimator of this kind without samples.
    pub fn estimator(self, limits: &Limits) -> Box<dyn Estimator> {
        let anchor = |averaging| AnchorConfig {
            averaging,
            slowest_request: limits.slowest_request,
            ..AnchorConfig::default()
        };
        match self {
            Self::Envelope => Box::new(DelayEnvelope::new(limits, Refinement::Curve)),
            Self::Psle => Box::new(DelayEnvelope::new(limits, Refinement::Hull)),
            Self::Hull => Box::new(SwitchingHull::new(Duration::from_secs(60))),
            Self::Mean => Box::new(Anchor::new(anchor(Averaging::Mean))),
            Self::Regression => Box::new(Anchor::new(anchor(Averaging::Regression))),
        }
    }

    /// A sensor clock with an estimator of this kind.
    pub fn clock(self, limits: Limits) -> SensorClock {
        SensorClock::new(self.estimator(&limits), limits)
    }
}

impl fmt::Display for Method {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

impl FromStr for Method {
    type Err = Error;
    fn from_str(text: &str) -> Result<Self> {
        let found = Self::ALL.into_iter().find(|method| method.name() == text);
        found.ok_or_else(|| Error::UnknownEstimator {
            name: text.to_owned(),
            known: Self::ALL.map(Self::name).join(", "),
        })
    }
}
