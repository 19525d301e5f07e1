use std::fmt;

use crate::clock::Clock;
use crate::duration::Duration;
use crate::jump_handler::{JumpHandle, JumpHandler};
use crate::kind::Ros;
use crate::playback_rate::PlaybackRate;
use crate::time::Time;
use crate::wait::{WaitOptions, Woke};

/// The clock of a player of recorded messages: controlled, or driven by an external source.
pub trait PlayerClock: Send + Sync {
    /// The clock itself, for waits, futures and handlers.
    fn clock(&self) -> &Clock<Ros>;

    /// Stops time. Stopping a stopped clock changes nothing.
    ///
    /// # Errors
    /// [`ControlRefused`] if an external source drives the clock.
    fn pause(&self) -> Result<(), ControlRefused>;

    /// Resumes time. No effect if it is not paused.
    ///
    /// # Errors
    /// [`ControlRefused`] if an external source drives the clock.
    fn resume(&self) -> Result<(), ControlRefused>;

    /// Whether time is stopped: paused, or an external source sends nothing new.
    fn is_paused(&self) -> bool;

    /// Changes the rate; while paused, the rate to resume with.
    ///
    /// # Errors
    /// [`ControlRefused`] if an external source drives the clock.
    fn set_rate(&self, rate: PlaybackRate) -> Result<(), ControlRefused>;

    /// The rate, also while paused; for an external source the measured rate, if it is known.
    fn rate(&self) -> Option<f64>;

    /// Jumps to another time; jump handlers are called, waits return [`Woke::Jumped`].
    ///
    /// # Errors
    /// [`ControlRefused`] if an external source drives the clock.
    fn jump(&self, time: Time<Ros>) -> Result<(), ControlRefused>;

    /// Stops time at this ceiling until it is raised; `None` for no limit. Time that was stopped there continues from
    /// there: the lost time is not made up for.
    ///
    /// # Errors
    /// [`ControlRefused`] if an external source drives the clock.
    fn set_ceiling(&self, ceiling: Option<Time<Ros>>) -> Result<(), ControlRefused>;

    /// The current player time.
    fn now(&self) -> Time<Ros> {
        self.clock().now()
    }

    /// Blocks until `until`, or a jump, or for `real_time_timeout` of steady time at most (time may be paused).
    fn sleep_until(&self, until: Time<Ros>, real_time_timeout: Duration) -> Woke<Ros> {
        self.clock()
            .sleep_until_with(until, &WaitOptions::new().real_timeout(real_time_timeout))
    }

    /// Calls back around jumps.
    fn add_jump_handler(&self, handler: JumpHandler<Ros>) -> JumpHandle {
        self.clock().add_jump_handler(handler)
    }
}

/// The clock is driven by an external source and refuses controls.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ControlRefused {
    /// The refused control.
    pub action: &'static str,
}

impl fmt::Display for ControlRefused {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "can't {}: this clock follows an external time source; control that source instead",
            self.action
        )
    }
}

impl std::error::Error for ControlRefused {}
