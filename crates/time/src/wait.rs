use std::fmt;

use crate::cancel::CancelToken;
use crate::duration::Duration;
use crate::into_duration::IntoDuration;
use crate::jump::{ClockChange, JumpThreshold, TimeJump};
use crate::kind::{Kind, Ros};
use crate::raw_jump::RawJump;

/// The reaction of a wait to a jump or a change of source of its clock.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum OnJump {
    /// Return at once with the jump. The default of waits for a point in time.
    #[default]
    Return,
    /// Keep waiting for the same point in time, wherever the clock is now.
    Ignore,
    /// Keep waiting for the same remaining duration. The default of waits for a duration.
    Rebase,
}

/// The precision of a blocking wait.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Precision {
    /// As close as the kernel's timers come without busy waiting: some 50 µs.
    #[default]
    Normal,
    /// Busy waits the last 50 µs: about 1 µs, at a few per cent of a core for a thousand waits a second.
    Precise,
}

/// The options of a wait.
///
/// ```
/// use timeloom_time::{Duration, OnJump, WaitOptions};
/// let options = WaitOptions::new()
///     .on_jump(OnJump::Ignore)
///     .real_timeout(Duration::from_secs(5));
/// # let _ = options;
/// ```
#[derive(Clone, Debug, Default)]
pub struct WaitOptions {
    pub(crate) on_jump: Option<OnJump>,
    pub(crate) threshold: Option<JumpThreshold>,
    pub(crate) real_timeout: Option<Duration>,
    pub(crate) stall: Option<Duration>,
    pub(crate) cancel: Vec<CancelToken>,
    pub(crate) precision: Precision,
}

impl WaitOptions {
    /// The defaults: no timeout, and [`OnJump`] as each call documents.
    pub fn new() -> Self {
        Self::default()
    }

    /// Sets the reaction to jumps.
    #[must_use]
    pub fn on_jump(mut self, on_jump: OnJump) -> Self {
        self.on_jump = Some(on_jump);
        self
    }

    /// Sets the jumps of a time source that count; [`JumpThreshold::DISRUPTIVE`] by default.
    ///
    /// A source sends its time in steps. With [`OnJump::Rebase`], a step forward counts only if it is more than eight
    /// times the step before: otherwise time has passed, and a threshold below the usual step would keep the wait
    /// from ever ending.
    ///
    /// A jump by a call (a seek) and a step of the system clock always count.
    #[must_use]
    pub fn jump_threshold(mut self, threshold: JumpThreshold) -> Self {
        self.threshold = Some(threshold);
        self
    }

    /// Times out after this much steady time, whatever the clock does (a paused clock makes no progress).
    #[must_use]
    pub fn real_timeout(mut self, timeout: impl IntoDuration) -> Self {
        self.real_timeout = Some(timeout.into_duration());
        self
    }

    /// Ends when the clock's time source sends nothing for this much steady time.
    ///
    /// Detected after one to two times this duration. Has no effect while no source steers the clock.
    #[must_use]
    pub fn stall_after(mut self, silence: impl IntoDuration) -> Self {
        self.stall = Some(silence.into_duration());
        self
    }

    /// Ends when the token is cancelled; several tokens may be given.
    #[must_use]
    pub fn cancel(mut self, token: &CancelToken) -> Self {
        self.cancel.push(token.clone());
        self
    }

    /// Whether one of the tokens is cancelled.
    pub(crate) fn is_cancelled(&self) -> bool {
        self.cancel.iter().any(CancelToken::is_cancelled)
    }

    /// Sets the precision. Only blocking waits can be precise.
    #[must_use]
    pub fn precision(mut self, precision: Precision) -> Self {
        self.precision = precision;
        self
    }
}

/// The reason why a wait ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[must_use = "a wait may end for other reasons than its time having come"]
#[non_exhaustive]
pub enum Woke<K: Kind = Ros> {
    /// The time was reached.
    Reached,
    /// The clock jumped; see [`OnJump::Return`].
    Jumped(TimeJump<K>),
    /// The clock's time source was activated, was deactivated, or sent its first sample.
    SourceChanged(TimeJump<K>),
    /// The wait's token was cancelled.
    Cancelled,
    /// The clock was shut down.
    ShutDown,
    /// The real-time timeout ran out first.
    TimedOut,
    /// The clock's time source fell silent.
    Stalled,
}

impl<K: Kind> Woke<K> {
    /// Whether the awaited time was reached.
    pub const fn is_reached(&self) -> bool {
        matches!(self, Self::Reached)
    }
}

impl<K: Kind> fmt::Display for Woke<K> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Reached => f.write_str("the time has come"),
            Self::Jumped(jump) | Self::SourceChanged(jump) => jump.fmt(f),
            Self::Cancelled => f.write_str("the wait was cancelled"),
            Self::ShutDown => f.write_str("the clock was shut down"),
            Self::TimedOut => f.write_str("the real-time timeout ran out"),
            Self::Stalled => f.write_str("the clock's time source fell silent"),
        }
    }
}

/// [`Woke`] without its clock's kind.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum RawWoke {
    Reached,
    Jumped(RawJump),
    Cancelled,
    ShutDown,
    TimedOut,
    Stalled,
}

impl RawWoke {
    pub(crate) fn typed<K: Kind>(self) -> Woke<K> {
        match self {
            Self::Reached => Woke::Reached,
            Self::Jumped(jump) if jump.change == ClockChange::NoChange => {
                Woke::Jumped(jump.typed())
            }
            Self::Jumped(jump) => Woke::SourceChanged(jump.typed()),
            Self::Cancelled => Woke::Cancelled,
            Self::ShutDown => Woke::ShutDown,
            Self::TimedOut => Woke::TimedOut,
            Self::Stalled => Woke::Stalled,
        }
    }
}
