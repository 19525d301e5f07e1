use std::sync::Arc;

use timeloom_msg::Distro;
use timeloom_time::{
    Clock, ControlledClock, Duration, PlaybackRate, PlayerClock, Ros, Time, TimeBase,
};

use super::clock_publisher::{ClockPublisher, Ticker};
use super::clock_watch::ClockWatch;
use super::control::{Answer, Control, Refusal};
use super::mailbox::Reply;
use super::notice::Reporter;
use super::rate::sane_rate;
use super::services::{Obeys, Services};
use crate::{Error, Result, RosNode};

/// How to make a [`ClockOwner`].
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ClockOwnerOptions {
    /// The first time.
    pub start: Time<Ros>,
    /// How fast time goes.
    pub rate: PlaybackRate,
    /// How often it is told, by the machine's clock.
    pub period: Duration,
    /// Whether time stands at first.
    pub start_paused: bool,
}

/// A source of `/clock` and nothing else: it can be paused, moved and scaled, by call and by the services of a player
/// that are about time. Dropping it ends it.
pub struct ClockOwner {
    core: Arc<Core>,
    _ticker: Ticker,
    _services: Services,
    _watch: ClockWatch,
}

struct Core {
    clock: Arc<ControlledClock>,
    publisher: Arc<ClockPublisher>,
}

/// The services of a clock: those of a player that are not about messages.
const SERVICES: [&str; 7] = [
    "Pause",
    "Resume",
    "TogglePaused",
    "IsPaused",
    "GetRate",
    "SetRate",
    "Seek",
];

impl ClockOwner {
    /// Begins to publish `/clock`; other owners are reported.
    ///
    /// # Errors
    /// When the middleware refuses something, or there is no thread to have.
    pub fn start(
        node: &RosNode,
        options: &ClockOwnerOptions,
        distro: Distro,
        reporter: Reporter,
    ) -> Result<Self> {
        let base: TimeBase = node.participant().time_base();
        let clock = Arc::new(ControlledClock::new(&base, options.start));
        // A controlled clock takes every order.
        let _set = clock.set_rate(options.rate);
        if !options.start_paused {
            let _runs = clock.resume();
        }
        let shared: Arc<dyn PlayerClock> = Arc::clone(&clock) as _;
        let publisher = Arc::new(ClockPublisher::new(node, &shared, None)?);
        let core = Arc::new(Core {
            clock,
            publisher: Arc::clone(&publisher),
        });
        let takes = |name: &str| SERVICES.contains(&name);
        let services = Services::start_some(node, Arc::clone(&core), distro, takes)?;
        let watch = ClockWatch::start(node, reporter)?;
        Ok(Self {
            core,
            _ticker: Ticker::start(&publisher, options.period).map_err(Error::Thread)?,
            _services: services,
            _watch: watch,
        })
    }

    /// Pauses, resumes, moves or scales time; `/clock` tells it at once.
    ///
    /// # Errors
    /// [`Refusal`] says why it was not done: a clock has no messages to play.
    pub fn control(&self, control: &Control) -> std::result::Result<Answer, Refusal> {
        self.core.control(control)
    }

    /// The clock, to read.
    pub fn clock(&self) -> &Clock<Ros> {
        self.core.clock.clock()
    }

    /// Whether time stands.
    pub fn is_paused(&self) -> bool {
        self.core.clock.is_paused()
    }

    /// How fast time goes, or will go when resumed.
    pub fn rate(&self) -> f64 {
        self.core.clock.rate().unwrap_or(1.0)
    }
}

impl std::fmt::Debug for ClockOwner {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "ClockOwner({:?})", self.clock().now())
    }
}

impl Core {
    fn control(&self, control: &Control) -> std::result::Result<Answer, Refusal> {
        let clock = &*self.clock;
        let answer = match control {
            Control::Pause => self.set_paused(true),
            Control::Resume => self.set_paused(false),
            Control::TogglePaused => self.set_paused(!clock.is_paused()),
            Control::SetRate(rate) => {
                clock.set_rate(sane_rate(*rate)?)?;
                Ok(Answer::Rate(*rate))
            }
            Control::Seek(time) => self.jump(*time),
            Control::SeekBy(step) => self.jump(clock.now().saturating_add(*step)),
            _ => Err(Refusal::NoMessages),
        }?;
        self.publisher.publish();
        Ok(answer)
    }

    fn set_paused(&self, paused: bool) -> std::result::Result<Answer, Refusal> {
        if paused {
            self.clock.pause()?;
        } else {
            self.clock.resume()?;
        }
        Ok(Answer::Paused(paused))
    }

    fn jump(&self, time: Time<Ros>) -> std::result::Result<Answer, Refusal> {
        self.clock.jump(time)?;
        Ok(Answer::At(time))
    }
}

impl Obeys for Arc<Core> {
    fn control_then(&self, control: Control, reply: Reply) {
        reply(self.control(&control));
    }

    fn is_paused(&self) -> bool {
        self.clock.is_paused()
    }

    fn rate(&self) -> Option<f64> {
        self.clock.rate()
    }
}
