use std::fmt;
use std::sync::{Arc, Weak};

use crate::cancel::CancelToken;
use crate::clock::Clock;
use crate::duration::Duration;
use crate::error::TimeError;
use crate::follow::Follow;
use crate::into_duration::IntoDuration;
use crate::jump::{ClockChange, JumpThreshold, TimeJump};
use crate::kind::{Kind, Ros};
use crate::raw_jump::RawJump;
use crate::schedule::{MissedTick, Schedule, Tick};
use crate::sync::{Mutex, lock};
use crate::time::Time;
use crate::timer_tick::TimerTick;
use crate::wait::{OnJump, RawWoke, WaitOptions, Woke};

/// Ticks of a clock at a fixed period, on a grid that overruns do not shift.
///
/// When the clock jumps back to before the last tick, a new grid starts, once; when its source changes, the time left
/// to the next tick stays the same; a jump forward makes the tick due. A wait continues then, unless its options have
/// [`OnJump::Return`].
///
/// ```
/// use timeloom_time::{Clock, Duration, Steady, Timer, VirtualTime};
/// let world = VirtualTime::new();
/// let clock = Clock::<Steady>::on(&world.base());
/// let timer = Timer::builder(&clock, Duration::from_millis(10)).build()?;
/// let ticks = world.spawn("ticks", move || (0..3).map(|_| timer.wait().unwrap().missed).sum::<u64>());
/// assert_eq!(ticks.join().unwrap(), 0);
/// # Ok::<_, timeloom_time::TimeError>(())
/// ```
pub struct Timer<K: Kind = Ros> {
    clock: Clock<K>,
    shared: Arc<Shared<K>>,
}

struct Shared<K: Kind> {
    schedule: Mutex<Schedule<K>>,
    /// Cancelled and replaced when the schedule changes under a wait.
    changed: Mutex<CancelToken>,
    /// The waits that end at jumps.
    listeners: Mutex<Vec<Weak<JumpListener>>>,
    on_reset: Mutex<OnReset>,
}

#[derive(Default)]
struct OnReset {
    callback: Option<Arc<dyn Fn(u64) + Send + Sync>>,
    /// Resets that were not reported yet.
    unreported: u64,
}

/// One wait for a tick, blocking or not.
pub(crate) struct TickWait {
    options: WaitOptions,
    /// Base steady time at which the wait times out.
    give_up: Option<i64>,
    /// For a wait that ends at jumps.
    jump: Option<Arc<JumpListener>>,
}

/// Records the first jump that counts. Not left to the sleep: the schedule moves with the clock, which ends the sleep
/// before it is notified of the jump.
struct JumpListener {
    threshold: JumpThreshold,
    first: Mutex<Option<RawJump>>,
}

/// The next step of a wait for a tick.
pub(crate) enum Step<K: Kind> {
    Due(Tick<K>),
    Wait {
        until: Time<K>,
        changed: CancelToken,
    },
}

/// Builds a [`Timer`].
#[derive(Debug, Clone)]
pub struct TimerBuilder<K: Kind = Ros> {
    clock: Clock<K>,
    period: Duration,
    policy: MissedTick,
    first: First<K>,
    once: bool,
    autostart: bool,
}

#[derive(Debug, Clone, Copy)]
enum First<K: Kind> {
    AfterPeriod,
    At(Time<K>),
    After(Duration),
}

impl<K: Kind> TimerBuilder<K> {
    /// Sets the policy for missed ticks; [`MissedTick::Skip`] by default.
    #[must_use]
    pub fn missed_tick(mut self, policy: MissedTick) -> Self {
        self.policy = policy;
        self
    }

    /// The first tick is at this time; the grid counts from there.
    #[must_use]
    pub fn first_at(mut self, first: Time<K>) -> Self {
        self.first = First::At(first);
        self
    }

    /// The first tick is this long from now.
    #[must_use]
    pub fn first_after(mut self, delay: impl IntoDuration) -> Self {
        self.first = First::After(delay.into_duration());
        self
    }

    /// One tick only.
    #[must_use]
    pub fn oneshot(mut self) -> Self {
        self.once = true;
        self
    }

    /// Creates the timer cancelled; [`Timer::reset`] starts it.
    #[must_use]
    pub fn stopped(mut self) -> Self {
        self.autostart = false;
        self
    }

    /// Creates the timer.
    ///
    /// # Errors
    /// [`TimeError::NegativePeriod`]. A period of zero is always due.
    pub fn build(self) -> Result<Timer<K>, TimeError> {
        Timer::new(&self.clock, |now| {
            let mut schedule = Schedule::new(now, self.period, self.policy)?;
            schedule = match self.first {
                First::AfterPeriod => schedule,
                First::At(first) => schedule.with_first_at(first),
                First::After(delay) => schedule.with_first_after(delay),
            };
            if self.once {
                schedule = schedule.once();
            }
            if !self.autostart {
                schedule.cancel();
            }
            Ok(schedule)
        })
    }
}

impl<K: Kind> Follow for Shared<K> {
    fn jumped(&self, jump: &RawJump) {
        lock(&self.listeners).retain(|listener| {
            let listener = listener.upgrade();
            listener.inspect(|listener| listener.note(jump)).is_some()
        });
        let mut schedule = lock(&self.schedule);
        let TimeJump { old, new, .. } = jump.typed();
        match jump.change {
            ClockChange::NoChange => schedule.on_jump(new),
            _ => schedule.on_clock_change(old, new),
        }
    }

    fn wake(&self) {
        let old = std::mem::take(&mut *lock(&self.changed));
        old.cancel();
    }
}

impl JumpListener {
    fn note(&self, jump: &RawJump) {
        if jump.counts(self.threshold) {
            lock(&self.first).get_or_insert(*jump);
        }
    }
}

impl<K: Kind> Timer<K> {
    /// A timer on `clock` with this period; see the builder for its options.
    pub fn builder(clock: &Clock<K>, period: impl IntoDuration) -> TimerBuilder<K> {
        TimerBuilder {
            clock: clock.clone(),
            period: period.into_duration(),
            policy: MissedTick::default(),
            first: First::AfterPeriod,
            once: false,
            autostart: true,
        }
    }

    pub(crate) fn new(
        clock: &Clock<K>,
        make: impl FnOnce(Time<K>) -> Result<Schedule<K>, TimeError>,
    ) -> Result<Self, TimeError> {
        let shared = clock.core().add_follower(|now| {
            Ok(Shared {
                schedule: Mutex::new(make(Time::from_nanos(now))?),
                changed: Mutex::new(CancelToken::new()),
                listeners: Mutex::new(Vec::new()),
                on_reset: Mutex::new(OnReset::default()),
            })
        })?;
        Ok(Self {
            clock: clock.clone(),
            shared,
        })
    }

    /// The schedule and the time that belongs to it.
    fn with_schedule<T>(&self, act: impl FnOnce(&mut Schedule<K>, Time<K>) -> T) -> T {
        self.clock.core().with_now(|now| {
            let mut schedule = lock(&self.shared.schedule);
            act(&mut schedule, Time::from_nanos(now))
        })
    }

    /// Blocks until the next tick; jumps of the clock do not end the wait.
    ///
    /// # Errors
    /// The reason why there is none: [`Woke::Cancelled`] when the timer is cancelled or has had its one tick,
    /// [`Woke::ShutDown`], also when a tick is due, or [`Woke::Jumped`] inside a jump handler of its clock.
    pub fn wait(&self) -> Result<Tick<K>, Woke<K>> {
        self.wait_with(&WaitOptions::default())
    }

    /// Like [`wait`](Self::wait), with a timeout, a token, a precision, and a policy for jumps: with [`OnJump::Return`]
    /// the wait ends at a jump that meets the threshold, otherwise it continues.
    ///
    /// ```
    /// use timeloom_time::{Clock, Duration, OnJump, Time, Timer, VirtualTime, WaitOptions, Woke};
    /// let world = VirtualTime::manual();
    /// let clock: Clock = Clock::on(&world.base());
    /// clock.set_override(Time::from_secs(10));
    /// clock.activate_override();
    /// let timer = Timer::builder(&clock, Duration::from_secs(1)).build()?;
    /// let options = WaitOptions::new().on_jump(OnJump::Return);
    /// let waiting = world.spawn("waits", move || timer.wait_with(&options));
    /// world.settle();
    /// clock.set_override(Time::from_secs(3));
    /// assert!(matches!(waiting.join().unwrap(), Err(Woke::Jumped(jump)) if jump.new == Time::from_secs(3)));
    /// # Ok::<_, timeloom_time::TimeError>(())
    /// ```
    ///
    /// # Errors
    /// The reason why there is none.
    pub fn wait_with(&self, options: &WaitOptions) -> Result<Tick<K>, Woke<K>> {
        let wait = self.begin(options);
        loop {
            match self.step(&wait)? {
                Step::Due(tick) => return Ok(tick),
                Step::Wait { until, changed } => {
                    let options = self.sleep_options(&wait, &changed);
                    let woke = self.clock.sleep_until_with(until, &options);
                    self.check(woke, &changed)?;
                }
            }
        }
    }

    /// The next tick as a future; the same outcomes as [`wait`](Self::wait).
    pub fn tick(&self) -> TimerTick<'_, K> {
        self.tick_with(&WaitOptions::default())
    }

    /// Like [`tick`](Self::tick), with options; the same outcomes as [`wait_with`](Self::wait_with).
    pub fn tick_with(&self, options: &WaitOptions) -> TimerTick<'_, K> {
        TimerTick::new(self, self.begin(options))
    }

    /// Calls `callback` at every tick, on this thread, until the timer is cancelled, has had its one tick, or its clock
    /// is shut down; returns the reason.
    pub fn run(&self, callback: impl FnMut(Tick<K>)) -> Woke<K> {
        self.run_with(&WaitOptions::default(), callback)
    }

    /// Like [`run`](Self::run), with options, which apply to each wait.
    pub fn run_with(&self, options: &WaitOptions, mut callback: impl FnMut(Tick<K>)) -> Woke<K> {
        loop {
            match self.wait_with(options) {
                Ok(tick) => callback(tick),
                Err(woke) => return woke,
            }
        }
    }

    /// Takes the tick if one is due, without waiting.
    pub fn try_tick(&self) -> Option<Tick<K>> {
        self.with_schedule(Schedule::call)
    }

    pub(crate) fn begin(&self, options: &WaitOptions) -> TickWait {
        TickWait {
            options: options.clone(),
            give_up: options
                .real_timeout
                .map(|timeout| self.steady().saturating_add(timeout.nanos())),
            jump: (options.on_jump == Some(OnJump::Return)).then(|| self.listen(options)),
        }
    }

    fn listen(&self, options: &WaitOptions) -> Arc<JumpListener> {
        let listener = Arc::new(JumpListener {
            threshold: options.threshold.unwrap_or(JumpThreshold::DISRUPTIVE),
            first: Mutex::new(None),
        });
        lock(&self.shared.listeners).push(Arc::downgrade(&listener));
        listener
    }

    /// Checks everything that can end the wait: this also applies to a timer that is always late.
    pub(crate) fn step(&self, wait: &TickWait) -> Result<Step<K>, Woke<K>> {
        if self.clock.core().is_shut_down() {
            return Err(Woke::ShutDown);
        }
        if wait.options.is_cancelled() {
            return Err(Woke::Cancelled);
        }
        let jump = wait.jump.as_ref().and_then(|jump| *lock(&jump.first));
        if let Some(jump) = jump {
            return Err(RawWoke::Jumped(jump).typed());
        }
        let changed = lock(&self.shared.changed).clone();
        let (tick, next) =
            self.with_schedule(|schedule, now| (schedule.call(now), schedule.next()));
        match (tick, next) {
            (Some(tick), _) => Ok(Step::Due(tick)),
            (None, Some(until)) => Ok(Step::Wait { until, changed }),
            (None, None) => Err(Woke::Cancelled),
        }
    }

    pub(crate) fn sleep_options(&self, wait: &TickWait, changed: &CancelToken) -> WaitOptions {
        let mut options = wait.options.clone();
        if let Some(give_up) = wait.give_up {
            let left = give_up.saturating_sub(self.steady());
            options = options.real_timeout(Duration::from_nanos(left));
        }
        options.on_jump(OnJump::Return).cancel(changed)
    }

    /// Whether a wait that ended this way is to be resumed.
    pub(crate) fn check(&self, woke: Woke<K>, changed: &CancelToken) -> Result<(), Woke<K>> {
        match woke {
            Woke::Jumped(_) | Woke::SourceChanged(_) if self.clock.core().in_handler() => Err(woke),
            Woke::Reached | Woke::Jumped(_) | Woke::SourceChanged(_) => Ok(()),
            Woke::Cancelled if changed.is_cancelled() => Ok(()),
            woke => Err(woke),
        }
    }

    pub(crate) fn clock(&self) -> &Clock<K> {
        &self.clock
    }

    fn steady(&self) -> i64 {
        self.clock.base().steady()
    }

    /// Whether a tick is due.
    pub fn is_ready(&self) -> bool {
        self.with_schedule(|schedule, now| schedule.is_ready(now))
    }

    /// The time to the next tick, negative if overdue; `None` if there will be none.
    pub fn time_until_next(&self) -> Option<Duration> {
        self.with_schedule(|schedule, now| schedule.time_until_next(now))
    }

    /// The time since the last tick was taken (or the timer was created).
    pub fn time_since_last(&self) -> Duration {
        self.with_schedule(|schedule, now| schedule.time_since_last_call(now))
    }

    /// The period.
    pub fn period(&self) -> Duration {
        lock(&self.shared.schedule).period()
    }

    /// Replaces the period and returns the old one; the next tick does not move.
    ///
    /// # Errors
    /// [`TimeError::NegativePeriod`].
    pub fn exchange_period(&self, period: Duration) -> Result<Duration, TimeError> {
        lock(&self.shared.schedule).exchange_period(period)
    }

    /// Whether it was cancelled and not reset since.
    pub fn is_cancelled(&self) -> bool {
        lock(&self.shared.schedule).is_cancelled()
    }

    /// No more ticks until [`reset`](Self::reset); a wait in progress returns.
    pub fn cancel(&self) {
        lock(&self.shared.schedule).cancel();
        self.shared.wake();
    }

    /// Starts a new grid: the next tick is one period from now, also if it was cancelled.
    pub fn reset(&self) {
        self.with_schedule(Schedule::reset);
        self.shared.wake();
        let mut on_reset = lock(&self.shared.on_reset);
        on_reset.unreported += 1;
        drop(on_reset);
        self.tell_resets();
    }

    /// Calls back at every reset with the number of resets since the last call; at once if there were some already.
    pub fn on_reset(&self, callback: impl Fn(u64) + Send + Sync + 'static) {
        lock(&self.shared.on_reset).callback = Some(Arc::new(callback));
        self.tell_resets();
    }

    fn tell_resets(&self) {
        let mut on_reset = lock(&self.shared.on_reset);
        if on_reset.unreported > 0
            && let Some(callback) = on_reset.callback.clone()
        {
            let unreported = std::mem::take(&mut on_reset.unreported);
            drop(on_reset);
            callback(unreported);
        }
    }
}

impl<K: Kind> fmt::Debug for Timer<K> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Timer")
            .field(&*lock(&self.shared.schedule))
            .finish()
    }
}
