use crate::clock::Clock;
use crate::kind::Ros;
use crate::playback_rate::PlaybackRate;
use crate::player_clock::{ControlRefused, PlayerClock};
use crate::reporter::ClockWarning;
use crate::time::Time;
use crate::time_hub::TimeHub;

/// A player's clock that an external source drives: a simulator, or another player's `/clock`.
///
/// It refuses every control, and reports the refusal. With a hub that extrapolates, time runs on
/// between the source's samples, at most one sample ahead.
///
/// ```
/// use timeloom_time::{ExternalClock, PlayerClock, SourceId, Time, TimeBase, TimeHub};
/// let hub = TimeHub::new(&TimeBase::machine());
/// let clock = ExternalClock::new(&hub);
/// hub.sink(SourceId::named("/clock")).tick(Time::from_nanos(5));
/// assert_eq!(clock.now().nanos(), 5);
/// assert_eq!(
///     clock.pause().unwrap_err().to_string(),
///     "can't pause: this clock follows an external time source; control that source instead",
/// );
/// ```
#[derive(Clone, Debug)]
pub struct ExternalClock {
    hub: TimeHub,
    clock: Clock<Ros>,
}

impl ExternalClock {
    /// A clock that follows the hub's source; the hub is activated.
    pub fn new(hub: &TimeHub) -> Self {
        let clock = hub.clock();
        hub.activate();
        Self {
            hub: hub.clone(),
            clock,
        }
    }

    fn refuse(&self, action: &'static str) -> Result<(), ControlRefused> {
        self.clock
            .core()
            .reporter
            .report(&ClockWarning::ControlRefused { action });
        Err(ControlRefused { action })
    }
}

impl PlayerClock for ExternalClock {
    fn clock(&self) -> &Clock<Ros> {
        &self.clock
    }

    fn pause(&self) -> Result<(), ControlRefused> {
        self.refuse("pause")
    }

    fn resume(&self) -> Result<(), ControlRefused> {
        self.refuse("resume")
    }

    fn is_paused(&self) -> bool {
        self.hub.is_overdue().unwrap_or(false) || self.rate() == Some(0.0)
    }

    fn set_rate(&self, _rate: PlaybackRate) -> Result<(), ControlRefused> {
        self.refuse("set the rate")
    }

    fn rate(&self) -> Option<f64> {
        self.hub.source_rate()
    }

    fn jump(&self, _time: Time<Ros>) -> Result<(), ControlRefused> {
        self.refuse("jump")
    }

    fn set_ceiling(&self, _ceiling: Option<Time<Ros>>) -> Result<(), ControlRefused> {
        self.refuse("hold time back")
    }
}
