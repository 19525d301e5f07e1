use crate::clock::Clock;
use crate::clock_core::{ClockCore, Steering};
use crate::clock_state::{ClockState, Mode, Operation};
use crate::kind::Ros;
use crate::playback_rate::PlaybackRate;
use crate::player_clock::{ControlRefused, PlayerClock};
use crate::segment::Segment;
use crate::sync::lock;
use crate::time::Time;
use crate::time_base::{Passthrough, TimeBase};

/// A clock under control: pause, resume, rate, jump, exact to the nanosecond.
///
/// Time is the straight line from the last reference pair (see [`Segment`]); every control takes a new pair,
/// so pausing and resuming lose nothing. Clones are the same clock.
///
/// Controls block while another thread's jump handlers run; inside a handler of this clock they take effect
/// when the jump is over.
///
/// ```
/// use timeloom_time::{ControlledClock, Duration, PlaybackRate, PlayerClock, Time, VirtualTime};
/// let world = VirtualTime::manual();
/// let clock = ControlledClock::new(&world.base(), Time::from_nanos(1_000_000_000));
/// clock.set_rate(PlaybackRate::new(2.0)?)?;
/// clock.resume()?;
/// world.advance(Duration::from_secs(3));
/// assert_eq!(clock.now(), Time::from_nanos(7_000_000_000));
/// clock.pause()?;
/// world.advance(Duration::from_secs(3));
/// assert_eq!(clock.now(), Time::from_nanos(7_000_000_000));
/// # Ok::<_, Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct ControlledClock(Clock<Ros>);

/// The pair of times from which a controlled clock counts; see `spec/playback_time.md`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ReferencePair {
    /// Clock time at the last control.
    pub ros: Time<Ros>,
    /// Steady time of the same instant.
    pub steady: Time<crate::kind::Steady>,
    /// The rate since then, or the rate to resume with.
    pub rate: PlaybackRate,
    /// Whether time is stopped.
    pub paused: bool,
}

impl ControlledClock {
    /// A clock that is paused at `start`, at real-time rate; [`resume`](PlayerClock::resume) starts it.
    pub fn new(base: &TimeBase, start: Time<Ros>) -> Self {
        let state = ClockState {
            mode: Mode::Steered,
            segment: Segment::fixed(start.nanos()).anchored_at(base.steady()),
            paused: true,
            started: true,
            ..ClockState::passthrough()
        };
        Self(Clock::of(ClockCore::new(
            base.clone(),
            Passthrough::System,
            state,
            Steering::Calls,
        )))
    }

    /// The current reference pair.
    pub fn reference(&self) -> ReferencePair {
        let state = self.state();
        ReferencePair {
            ros: Time::from_nanos(state.segment.ros_ref),
            steady: Time::from_nanos(state.segment.steady_ref),
            rate: state.rate,
            paused: state.paused,
        }
    }

    fn state(&self) -> ClockState {
        lock(&self.0.core().control).state
    }

    fn apply(&self, operation: Operation) {
        self.0.core().apply(operation);
    }
}

impl PlayerClock for ControlledClock {
    fn clock(&self) -> &Clock<Ros> {
        &self.0
    }

    fn pause(&self) -> Result<(), ControlRefused> {
        self.apply(Operation::Pause);
        Ok(())
    }

    fn resume(&self) -> Result<(), ControlRefused> {
        self.apply(Operation::Resume);
        Ok(())
    }

    fn is_paused(&self) -> bool {
        self.state().paused
    }

    fn set_rate(&self, rate: PlaybackRate) -> Result<(), ControlRefused> {
        self.apply(Operation::SetRate(rate));
        Ok(())
    }

    fn rate(&self) -> Option<f64> {
        Some(self.state().rate.get())
    }

    fn jump(&self, time: Time<Ros>) -> Result<(), ControlRefused> {
        self.apply(Operation::JumpTo(time.nanos()));
        Ok(())
    }

    fn set_ceiling(&self, ceiling: Option<Time<Ros>>) -> Result<(), ControlRefused> {
        let ceiling = ceiling.map_or(i64::MAX, Time::nanos);
        self.apply(Operation::SetCeiling(ceiling));
        Ok(())
    }
}
