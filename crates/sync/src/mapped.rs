//! The result of a conversion.

use std::fmt;
use std::str::FromStr;

use timeloom_time::{Duration, Steady, Time};

/// The quality of a conversion.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum Health {
    /// No sample has been seen in this epoch: there is nothing to convert with.
    #[default]
    Unsynced,
    /// The first seconds of an epoch: usable, and getting better quickly.
    Converging,
    /// As good as it gets.
    Locked,
    /// The device time lies far beyond the newest sample: the error grows with the distance.
    Holdover,
    /// Samples contradict the estimate, or the error is large: look at `sigma`.
    Degraded,
}

impl Health {
    /// All values, from nothing to trouble.
    pub const ALL: [Self; 5] = [
        Self::Unsynced,
        Self::Converging,
        Self::Locked,
        Self::Holdover,
        Self::Degraded,
    ];

    /// The lower-case name, as in tables and diagnostics.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Unsynced => "unsynced",
            Self::Converging => "converging",
            Self::Locked => "locked",
            Self::Holdover => "holdover",
            Self::Degraded => "degraded",
        }
    }
}

impl fmt::Display for Health {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

impl FromStr for Health {
    type Err = ();
    fn from_str(text: &str) -> Result<Self, ()> {
        let known = Self::ALL.into_iter().find(|health| health.name() == text);
        known.ok_or(())
    }
}

/// Hard limits of a host time: the truth lies between them as long as the clocks keep to [`Limits`](crate::Limits).
///
/// Packets alone bound from above (nothing arrives before it happens); only requests bound from below.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Bounds {
    /// The truth is not earlier.
    pub lower: Option<Time<Steady>>,
    /// The truth is not later.
    pub upper: Option<Time<Steady>>,
}

impl Bounds {
    /// The distance of the two limits, if there are two.
    pub fn width(&self) -> Option<Duration> {
        Some(self.upper? - self.lower?)
    }

    /// The bounds, loosened as far as needed to contain `time`.
    #[must_use]
    pub fn widened_to(self, time: Time<Steady>) -> Self {
        Self {
            lower: self.lower.map(|lower| lower.min(time)),
            upper: self.upper.map(|upper| upper.max(time)),
        }
    }

    /// The bounds, each `by` farther off, but no looser than `others`.
    pub(crate) fn loosened(self, by: Duration, others: &Self) -> Self {
        let loose = Self {
            lower: self.lower.map(|lower| lower.saturating_sub(by)),
            upper: self.upper.map(|upper| upper.saturating_add(by)),
        };
        loose.intersection(others)
    }

    /// The times that both contain.
    pub(crate) fn intersection(self, others: &Self) -> Self {
        Self {
            lower: self.lower.max(others.lower),
            upper: self.upper.into_iter().chain(others.upper).min(),
        }
    }

    /// Whether `time` is possible.
    pub fn contain(&self, time: Time<Steady>) -> bool {
        self.lower.is_none_or(|lower| lower <= time) && self.upper.is_none_or(|upper| time <= upper)
    }
}

/// A device time on the host's steady clock.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Mapped {
    /// The host time.
    pub host: Time<Steady>,
    /// The standard deviation of `host`, apart from the constant smallest delay, which one-way packets cannot show.
    pub sigma: Duration,
    /// Hard bounds, where samples provide them.
    pub bounds: Bounds,
    /// The quality of the conversion.
    pub health: Health,
    /// Host times of one epoch never go backwards with device time; a jump begins a new epoch.
    pub epoch: u32,
}
