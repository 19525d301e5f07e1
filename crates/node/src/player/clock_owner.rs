use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use timeloom_msg::Distro;
use timeloom_time::{
    Clock, ControlledClock, Duration, PlaybackRate, PlayerClock, Ros, Time, TimeBase,
};

use super::clock_publisher::{ClockPublisher, Ticker, hertz_of, period_of};
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
    _services: Services,
    _watch: ClockWatch,
}

struct Core {
    clock: Arc<ControlledClock>,
    node: RosNode,
    reporter: Reporter,
    output: Mutex<Output>,
}

/// How time goes out.
struct Output {
    publisher: Arc<ClockPublisher>,
    period: Option<Duration>,
    ticker: Option<Ticker>,
}

/// The services of a clock: those of a player that are not about messages.
const SERVICES: [&str; 9] = [
    "~/pause",
    "~/resume",
    "~/toggle_paused",
    "~/is_paused",
    "~/get_rate",
    "~/set_rate",
    "~/seek",
    "~/get_clock_publish_frequency",
    "~/set_clock_publish_frequency",
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
        let shared: Arc<dyn PlayerClock> = Arc::clone(&clock) as _;
        let period = Some(options.period);
        let publisher = Arc::new(ClockPublisher::new(node, &shared, None, period, &reporter)?);
        let watch = ClockWatch::start(node, reporter.clone())?;
        // The first sample is the start exactly: time does not run yet.
        let ticker = Ticker::start(&publisher, options.period).map_err(Error::Thread)?;
        if !options.start_paused {
            let _runs = clock.resume();
        }
        let core = Arc::new(Core {
            clock,
            node: node.clone(),
            reporter,
            output: Mutex::new(Output {
                publisher,
                period,
                ticker: Some(ticker),
            }),
        });
        let takes = |name: &str| SERVICES.contains(&name);
        let services = Services::start_some(node, Arc::clone(&core), distro, takes)?;
        Ok(Self {
            core,
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

    /// How often per second `/clock` is published; 0 for not at all.
    pub fn clock_frequency(&self) -> f64 {
        hertz_of(self.core.output().period)
    }
}

impl std::fmt::Debug for ClockOwner {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "ClockOwner({:?})", self.clock().now())
    }
}

impl Core {
    fn output(&self) -> MutexGuard<'_, Output> {
        self.output.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn publisher(&self) -> Arc<ClockPublisher> {
        Arc::clone(&self.output().publisher)
    }

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
            Control::Seek(time) => Ok(self.jump(*time)),
            Control::SeekBy(step) => Ok(self.jump(clock.now().saturating_add(*step))),
            Control::SetClockFrequency(hertz) => return self.set_frequency(*hertz),
            _ => Err(Refusal::NoMessages),
        }?;
        self.publish();
        Ok(answer)
    }

    /// Tells a change at once, if `/clock` is published.
    fn publish(&self) {
        let publisher = self.publisher();
        if self.output().ticker.is_some() {
            publisher.publish();
        }
    }

    fn set_frequency(&self, hertz: f64) -> std::result::Result<Answer, Refusal> {
        let refused = Refusal::ClockFrequency { hertz };
        let period = period_of(hertz)?;
        let mut output = self.output();
        output.ticker = None;
        output.period = period;
        let Some(period) = period else {
            return Ok(Answer::Done);
        };
        if !output.publisher.keeps_deadline(period) {
            let clock: Arc<dyn PlayerClock> = Arc::clone(&self.clock) as _;
            let made = ClockPublisher::new(&self.node, &clock, None, Some(period), &self.reporter);
            output.publisher = Arc::new(made.map_err(|_reason| refused)?);
        }
        let ticker = Ticker::start(&output.publisher, period);
        output.ticker = Some(ticker.map_err(|_reason| refused)?);
        Ok(Answer::Done)
    }

    fn set_paused(&self, paused: bool) -> std::result::Result<Answer, Refusal> {
        if paused {
            self.clock.pause()?;
        } else {
            self.clock.resume()?;
        }
        Ok(Answer::Paused(paused))
    }

    fn jump(&self, time: Time<Ros>) -> Answer {
        let publisher = self.publisher();
        let jump = || {
            // A controlled clock takes every order.
            let _moved = self.clock.jump(time);
        };
        if self.output().ticker.is_some() {
            publisher.around_jump(time, jump);
        } else {
            jump();
        }
        Answer::At(time)
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

    fn clock_frequency(&self) -> f64 {
        hertz_of(self.output().period)
    }
}
