use std::fmt;

use crate::any_time::AnyTime;
use crate::clock::{Clock, NoTime};
use crate::error::TimeError;
use crate::into_duration::IntoDuration;
use crate::kind::{Kind, KindId, Ros, RosSteady, SourceState, Steady, System};
use crate::time::Time;
use crate::time_base::TimeBase;
use crate::wait::{WaitOptions, Woke};

/// A clock whose kind is known only at run time, for dynamic code such as bindings; its times are [`AnyTime`]s.
///
/// ```
/// use timeloom_time::{AnyClock, Clock, Duration, KindId, Ros, TimeBase};
/// let clock = AnyClock::new(KindId::Steady, &TimeBase::machine());
/// let begin = clock.now();
/// assert!(clock.sleep_for(Duration::from_millis(1)).is_reached());
/// assert!(clock.now().try_since(begin)? >= Duration::from_millis(1));
/// let ros = AnyClock::from(Clock::<Ros>::new());
/// assert!(clock.sleep_until(ros.now()).is_err(), "a time of another clock");
/// # Ok::<_, timeloom_time::TimeError>(())
/// ```
#[derive(Clone, Debug)]
pub enum AnyClock {
    /// A clock of ROS time.
    Ros(Clock<Ros>),
    /// A clock of system time.
    System(Clock<System>),
    /// A clock of steady time.
    Steady(Clock<Steady>),
    /// A clock of simulation-aware steady time.
    RosSteady(Clock<RosSteady>),
}

/// The reason why a wait of an [`AnyClock`] ended: a [`Woke`] without the jump.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[must_use = "a wait may end for other reasons than its time having come"]
#[non_exhaustive]
pub enum AnyWoke {
    /// The time was reached.
    Reached,
    /// The clock jumped.
    Jumped,
    /// The clock's time source was activated, was deactivated, or sent its first sample.
    SourceChanged,
    /// The wait's token was cancelled.
    Cancelled,
    /// The clock was shut down.
    ShutDown,
    /// The real-time timeout ran out first.
    TimedOut,
    /// The clock's time source fell silent.
    Stalled,
}

impl AnyWoke {
    /// Whether the awaited time was reached.
    pub const fn is_reached(self) -> bool {
        matches!(self, Self::Reached)
    }
}

impl<K: Kind> From<Woke<K>> for AnyWoke {
    fn from(woke: Woke<K>) -> Self {
        match woke {
            Woke::Reached => Self::Reached,
            Woke::Jumped(_) => Self::Jumped,
            Woke::SourceChanged(_) => Self::SourceChanged,
            Woke::Cancelled => Self::Cancelled,
            Woke::ShutDown => Self::ShutDown,
            Woke::TimedOut => Self::TimedOut,
            Woke::Stalled => Self::Stalled,
        }
    }
}

/// Calls the same for the clock of any kind.
macro_rules! each {
    ($any:expr, $clock:ident => $do:expr) => {
        match $any {
            AnyClock::Ros($clock) => $do,
            AnyClock::System($clock) => $do,
            AnyClock::Steady($clock) => $do,
            AnyClock::RosSteady($clock) => $do,
        }
    };
}

impl AnyClock {
    /// A clock of the given kind on the given base.
    pub fn new(kind: KindId, base: &TimeBase) -> Self {
        match kind {
            KindId::Ros => Self::Ros(Clock::on(base)),
            KindId::System => Self::System(Clock::on(base)),
            KindId::Steady => Self::Steady(Clock::on(base)),
            KindId::RosSteady => Self::RosSteady(Clock::on(base)),
        }
    }

    /// Its kind.
    pub fn kind(&self) -> KindId {
        match self {
            Self::Ros(_) => KindId::Ros,
            Self::System(_) => KindId::System,
            Self::Steady(_) => KindId::Steady,
            Self::RosSteady(_) => KindId::RosSteady,
        }
    }

    /// The current time; see [`Clock::now`] for when it blocks.
    pub fn now(&self) -> AnyTime {
        each!(self, clock => clock.now().into())
    }

    /// The current time, without ever blocking.
    ///
    /// # Errors
    /// [`NoTime`] during a backward jump and before time has started.
    pub fn try_now(&self) -> Result<AnyTime, NoTime> {
        each!(self, clock => clock.try_now().map(AnyTime::from))
    }

    /// Whether the clock has a time.
    pub fn started(&self) -> bool {
        each!(self, clock => clock.started())
    }

    /// Whether a time source steers this clock; never for system and steady time.
    pub fn source_state(&self) -> SourceState {
        match self {
            Self::Ros(clock) => clock.source_state(),
            Self::RosSteady(clock) => clock.source_state(),
            Self::System(_) | Self::Steady(_) => SourceState::Inactive,
        }
    }

    /// Blocks until `duration` has passed on this clock; see [`Clock::sleep_for`].
    pub fn sleep_for(&self, duration: impl IntoDuration) -> AnyWoke {
        self.sleep_for_with(duration, &WaitOptions::default())
    }

    /// Like [`sleep_for`](Self::sleep_for), with options.
    pub fn sleep_for_with(&self, duration: impl IntoDuration, options: &WaitOptions) -> AnyWoke {
        each!(self, clock => clock.sleep_for_with(duration, options).into())
    }

    /// Blocks until the clock shows `until` or later; see [`Clock::sleep_until`].
    ///
    /// # Errors
    /// [`TimeError::KindMismatch`] for a time of another kind of clock.
    pub fn sleep_until(&self, until: AnyTime) -> Result<AnyWoke, TimeError> {
        self.sleep_until_with(until, &WaitOptions::default())
    }

    /// Like [`sleep_until`](Self::sleep_until), with options.
    ///
    /// # Errors
    /// [`TimeError::KindMismatch`] for a time of another kind of clock.
    pub fn sleep_until_with(
        &self,
        until: AnyTime,
        options: &WaitOptions,
    ) -> Result<AnyWoke, TimeError> {
        each!(self, clock => {
            let until = Time::try_from(until)?;
            Ok(clock.sleep_until_with(until, options).into())
        })
    }

    /// Ends every wait on this clock, now and later.
    pub fn shut_down(&self) {
        each!(self, clock => clock.shut_down());
    }
}

macro_rules! from_clock {
    ($($kind:ident)*) => {
        $(impl From<Clock<$kind>> for AnyClock {
            fn from(clock: Clock<$kind>) -> Self {
                Self::$kind(clock)
            }
        })*
    };
}

from_clock!(Ros System Steady RosSteady);

impl fmt::Display for AnyWoke {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Reached => "the time has come",
            Self::Jumped => "the clock jumped",
            Self::SourceChanged => "the clock's time source changed",
            Self::Cancelled => "the wait was cancelled",
            Self::ShutDown => "the clock was shut down",
            Self::TimedOut => "the real-time timeout ran out",
            Self::Stalled => "the clock's time source fell silent",
        })
    }
}
