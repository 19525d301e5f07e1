use std::sync::{Arc, Mutex, MutexGuard};

use timeloom_msg::Distro;
use timeloom_time::{
    Clock, ControlledClock, Duration, PlaybackRate, PlayerClock, Ros, Time, TimeBase,
};
use timeloom_wire::backend::lock;

use super::clock_output::ClockOutput;
use super::clock_publisher::{ClockPublisher, period_of};
use super::clock_watch::ClockWatch;
use super::control::{Answer, Control, Refusal};
use super::mailbox::Reply;
use super::notice::Reporter;
use super::rate::sane_rate;
use super::services::{Controllable, Services};
use crate::{Result, RosNode};

/// The options of a [`ClockOwner`].
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ClockOwnerOptions {
    /// The first time.
    pub start: Time<Ros>,
    /// The rate.
    pub rate: PlaybackRate,
    /// The period of `/clock`, in steady time.
    pub period: Duration,
    /// Whether to start paused.
    pub start_paused: bool,
}

/// Publishes `/clock` without playing a bag. It can be paused, moved and scaled, by call and by the services of a player
/// that control time. Dropping it ends it.
pub struct ClockOwner {
    core: Arc<Core>,
    _services: Services,
    _watch: ClockWatch,
}

struct Core {
    clock: Arc<ControlledClock>,
    output: Mutex<ClockOutput>,
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
    /// Starts publishing `/clock`; other publishers are reported.
    ///
    /// # Errors
    /// When the middleware fails, or a thread cannot be started.
    pub fn start(
        node: &RosNode,
        options: &ClockOwnerOptions,
        distro: Distro,
        reporter: Reporter,
    ) -> Result<Self> {
        let base: TimeBase = node.participant().time_base();
        let clock = Arc::new(ControlledClock::new(&base, options.start));
        // A controlled clock accepts every control.
        let _set = clock.set_rate(options.rate);
        let shared: Arc<dyn PlayerClock> = Arc::clone(&clock) as _;
        let mut output = ClockOutput::new(node, &shared, None, &reporter);
        output.open(Some(options.period))?;
        let watch = ClockWatch::start(node, reporter)?;
        // The first sample is the start exactly: time does not run yet.
        output.start()?;
        if !options.start_paused {
            let _runs = clock.resume();
        }
        let core = Arc::new(Core {
            clock,
            output: Mutex::new(output),
        });
        let takes = |name: &str| SERVICES.contains(&name);
        let services = Services::start_some(node, Arc::clone(&core), distro, takes)?;
        Ok(Self {
            core,
            _services: services,
            _watch: watch,
        })
    }

    /// Pauses, resumes, moves or scales time; the change is published at once.
    ///
    /// # Errors
    /// [`Refusal`] has the reason: a clock has no messages to play.
    pub fn control(&self, control: &Control) -> std::result::Result<Answer, Refusal> {
        self.core.control(control)
    }

    /// The clock, to read.
    pub fn clock(&self) -> &Clock<Ros> {
        self.core.clock.clock()
    }

    /// Whether time is paused.
    pub fn is_paused(&self) -> bool {
        self.core.clock.is_paused()
    }

    /// The rate, also while paused.
    pub fn rate(&self) -> f64 {
        self.core.clock.rate().unwrap_or(1.0)
    }

    /// Frequency of `/clock` in hertz; 0 if it is off.
    pub fn clock_frequency(&self) -> f64 {
        self.core.output().frequency()
    }
}

impl std::fmt::Debug for ClockOwner {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "ClockOwner({:?})", self.clock().now())
    }
}

impl Core {
    fn output(&self) -> MutexGuard<'_, ClockOutput> {
        lock(&self.output)
    }

    /// The publisher, while `/clock` is published. Used without the lock: jump handlers may control this clock.
    fn publisher(&self) -> Option<Arc<ClockPublisher>> {
        self.output().running().cloned()
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

    /// Publishes a change at once, if `/clock` is on.
    fn publish(&self) {
        if let Some(publisher) = self.publisher() {
            publisher.publish();
        }
    }

    fn set_frequency(&self, hertz: f64) -> std::result::Result<Answer, Refusal> {
        let period = period_of(hertz)?;
        let mut output = self.output();
        let changed = output.set_period(period).and_then(|()| output.start());
        let refused = |_| Refusal::ClockFrequency { hertz };
        changed.map(|()| Answer::Done).map_err(refused)
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
        let jump = || {
            // A controlled clock accepts every control.
            let _moved = self.clock.jump(time);
        };
        match self.publisher() {
            Some(publisher) => publisher.around_jump(time, jump),
            None => jump(),
        }
        Answer::At(time)
    }
}

impl Controllable for Arc<Core> {
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
        self.output().frequency()
    }
}
