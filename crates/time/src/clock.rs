use std::fmt;
use std::marker::PhantomData;
use std::sync::Arc;

use crate::clock_core::{ClockCore, Steering};
use crate::clock_state::{ClockState, Operation};
use crate::into_duration::IntoDuration;
use crate::jump_handler::{JumpHandle, JumpHandler};
use crate::kind::{Kind, KindId, Ros, SimAware, SourceState};
use crate::now_future::NowFuture;
use crate::reporter::ClockWarning;
use crate::sleep::Sleep;
use crate::sleep_descriptor::SleepDescriptor;
use crate::snapshot_cell::Contended;
use crate::sync::lock;
use crate::time::Time;
use crate::time_base::{Passthrough, TimeBase};
use crate::wait::{WaitOptions, Woke};
use crate::wait_cell::Party;
use crate::wait_state::{Goal, Wait};

/// A clock of one kind: [`System`](crate::System), [`Steady`](crate::Steady), [`Ros`](crate::Ros) or
/// [`RosSteady`](crate::RosSteady).
///
/// Clones are the same clock. Reading takes no lock. A ROS clock, the default, shows system time until a
/// [`TimeHub`](crate::TimeHub) with an active source steers it.
///
/// ```
/// use timeloom_time::{Clock, Time};
/// let clock: Clock = Clock::new();
/// let stamp: Time = clock.now();
/// assert!(stamp <= clock.now());
/// ```
///
/// ```
/// use timeloom_time::{Clock, Duration, Steady};
/// let clock = Clock::<Steady>::new();
/// let begin = clock.now();
/// assert!(clock.sleep_for(Duration::from_millis(2)).is_reached());
/// assert!(clock.now() - begin >= Duration::from_millis(2), "never early");
/// ```
pub struct Clock<K: Kind = Ros> {
    core: Arc<ClockCore>,
    kind: PhantomData<fn() -> K>,
}

/// The reason why a clock has no time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum NoTime {
    /// The handlers of a backward jump are running; the new time is not published yet.
    JumpInProgress,
    /// The clock's time source is active but has sent nothing yet: time is uninitialised.
    NotStarted,
}

impl fmt::Display for NoTime {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::JumpInProgress => "the clock is about to jump back",
            Self::NotStarted => "the clock's time source has sent nothing yet",
        })
    }
}

impl std::error::Error for NoTime {}

impl<K: Kind> Clock<K> {
    /// A clock on the machine's time.
    pub fn new() -> Self {
        Self::on(&TimeBase::machine())
    }

    /// A clock on the given base, for example [virtual time](crate::VirtualTime).
    pub fn on(base: &TimeBase) -> Self {
        let passthrough = match K::ID {
            KindId::Ros | KindId::System => Passthrough::System,
            KindId::Steady | KindId::RosSteady => Passthrough::Steady,
        };
        let state = ClockState::passthrough();
        Self::of(ClockCore::new(
            base.clone(),
            passthrough,
            state,
            Steering::Source,
        ))
    }

    pub(crate) fn of(core: Arc<ClockCore>) -> Self {
        Self {
            core,
            kind: PhantomData,
        }
    }

    pub(crate) fn core(&self) -> &Arc<ClockCore> {
        &self.core
    }

    /// The base this clock runs on.
    pub fn base(&self) -> &TimeBase {
        &self.core.base
    }

    /// The current time; zero while an active source has sent nothing yet.
    ///
    /// Blocks only while the handlers of a *backward* jump run on another thread; inside such a handler it
    /// gives the old time.
    #[inline]
    pub fn now(&self) -> Time<K> {
        Time::from_nanos(self.core.now())
    }

    /// The current time, without ever blocking.
    ///
    /// # Errors
    /// [`NoTime`] during a backward jump and before time has started.
    pub fn try_now(&self) -> Result<Time<K>, NoTime> {
        loop {
            match self.core.try_now() {
                Ok(0) if !self.core.is_started() => return Err(NoTime::NotStarted),
                Ok(now) => return Ok(Time::from_nanos(now)),
                Err(Contended::Jumping) => return Err(NoTime::JumpInProgress),
                Err(Contended::Writing) => crate::sync::spin(),
            }
        }
    }

    /// The current time; during a backward jump the task waits and the thread does not.
    pub fn now_async(&self) -> NowFuture<K> {
        NowFuture::new(self.clone())
    }

    /// Whether the clock has a time: false while an active source has sent nothing, or only zero, which means "not
    /// initialised". A source that returns to zero later, such as a simulator that is reset, has not stopped.
    pub fn started(&self) -> bool {
        self.core.is_started()
    }

    /// The number of jumps and changes of the source. Times of one epoch are comparable; ticks of a source do not start
    /// another one.
    pub fn epoch(&self) -> u64 {
        lock(&self.core.control).state.epoch
    }

    /// Blocks until the clock has [started](Self::started); jumps do not end the wait, unless
    /// [requested](WaitOptions::on_jump).
    pub fn wait_until_started(&self, options: &WaitOptions) -> Woke<K> {
        self.block(Goal::Start, options)
    }

    /// Blocks until the clock shows `until` or later; returns when it jumps
    /// ([`OnJump::Return`](crate::OnJump::Return)).
    ///
    /// A sleep that begins before time has [started](Self::started) continues when it does, as in rclcpp, unless the
    /// options define what to do at jumps.
    ///
    /// A paused clock, or one whose source sends nothing, may never reach it: set a
    /// [`real_timeout`](WaitOptions::real_timeout) with [`sleep_until_with`](Self::sleep_until_with).
    pub fn sleep_until(&self, until: Time<K>) -> Woke<K> {
        self.sleep_until_with(until, &WaitOptions::default())
    }

    /// Like [`sleep_until`](Self::sleep_until), with options.
    pub fn sleep_until_with(&self, until: Time<K>, options: &WaitOptions) -> Woke<K> {
        self.block(Goal::At(until.nanos()), options)
    }

    /// Blocks until `duration` has passed on this clock; when it jumps, the rest is slept on the new time
    /// ([`OnJump::Rebase`](crate::OnJump::Rebase)).
    ///
    /// ```
    /// use timeloom_time::{Clock, Duration, Steady};
    /// let clock = Clock::<Steady>::new();
    /// assert!(clock.sleep_for(Duration::from_millis(1)).is_reached());
    /// assert!(clock.sleep_for(std::time::Duration::from_millis(1)).is_reached());
    /// ```
    pub fn sleep_for(&self, duration: impl IntoDuration) -> Woke<K> {
        self.sleep_for_with(duration, &WaitOptions::default())
    }

    /// Like [`sleep_for`](Self::sleep_for), with options.
    pub fn sleep_for_with(&self, duration: impl IntoDuration, options: &WaitOptions) -> Woke<K> {
        self.block(Goal::After(duration.into_duration().nanos()), options)
    }

    /// A future that is ready when the clock shows `until`, or when the wait ends otherwise. Works in any
    /// runtime; the wait begins with the call.
    ///
    /// ```
    /// use timeloom_time::{Clock, Duration, Steady, VirtualTime};
    /// let world = VirtualTime::new();
    /// let clock = Clock::<Steady>::on(&world.base());
    /// assert!(world.block_on(clock.sleep_for_async(Duration::from_secs(60))).is_reached());
    /// ```
    pub fn sleep_until_async(&self, until: Time<K>) -> Sleep<K> {
        self.sleep_until_async_with(until, &WaitOptions::default())
    }

    /// Like [`sleep_until_async`](Self::sleep_until_async), with options.
    pub fn sleep_until_async_with(&self, until: Time<K>, options: &WaitOptions) -> Sleep<K> {
        Sleep::new(&self.core, Goal::At(until.nanos()), options)
    }

    /// The same for a duration: when the clock jumps, the rest is slept on the new time.
    pub fn sleep_for_async(&self, duration: impl IntoDuration) -> Sleep<K> {
        self.sleep_for_async_with(duration, &WaitOptions::default())
    }

    /// Like [`sleep_for_async`](Self::sleep_for_async), with options.
    pub fn sleep_for_async_with(
        &self,
        duration: impl IntoDuration,
        options: &WaitOptions,
    ) -> Sleep<K> {
        Sleep::new(
            &self.core,
            Goal::After(duration.into_duration().nanos()),
            options,
        )
    }

    /// A file descriptor that becomes readable when the wait is over, for `epoll` and the like.
    ///
    /// # Errors
    /// When the process has no descriptor left.
    pub fn sleep_until_descriptor(
        &self,
        until: Time<K>,
        options: &WaitOptions,
    ) -> std::io::Result<SleepDescriptor<K>> {
        SleepDescriptor::new(&self.core, Goal::At(until.nanos()), options)
    }

    fn block(&self, goal: Goal, options: &WaitOptions) -> Woke<K> {
        Wait::new(&self.core, goal, options, Party::Thread)
            .block()
            .typed()
    }

    /// Calls back around jumps that meet the handler's threshold; in the order in which handlers were added.
    ///
    /// A handler that is added during a jump is first called at the next.
    pub fn add_jump_handler(&self, handler: JumpHandler<K>) -> JumpHandle {
        let registered = Arc::new(handler.erase());
        self.core.add_handler(Arc::clone(&registered));
        JumpHandle::new(&self.core, registered)
    }

    /// Sets how long the handlers of a jump may take before it happens without them; one second by default.
    pub fn set_handler_patience(&self, patience: impl IntoDuration) {
        lock(&self.core.control).patience = patience.into_duration();
    }

    /// Sets the callback for warnings; there is none by default.
    pub fn set_reporter(&self, report: impl Fn(&ClockWarning) + Send + Sync + 'static) {
        self.core.reporter.set(Arc::new(report));
    }

    /// Ends every wait on this clock, now and later, with [`Woke::ShutDown`]. Reading still works.
    pub fn shut_down(&self) {
        self.core.shut_down();
    }
}

impl<K: SimAware> Clock<K> {
    /// Whether a time source steers this clock (`use_sim_time`).
    pub fn source_state(&self) -> SourceState {
        if self.core.is_steered() {
            SourceState::Active
        } else {
            SourceState::Inactive
        }
    }

    /// Activates an override of this clock by hand, without a [`TimeHub`](crate::TimeHub).
    ///
    /// Handlers and waits are notified of the change before this returns. No effect if already active. A clock that is
    /// attached to a hub stays with it: this and the two calls below then only [report](Self::set_reporter)
    /// [`ClockWarning::OverrideRefused`].
    pub fn activate_override(&self) {
        self.override_by(Operation::Activate);
    }

    /// Returns to the machine's clock. No effect if not active. The value set before is discarded.
    pub fn deactivate_override(&self) {
        self.override_by(Operation::Deactivate);
    }

    /// Sets the time of the clock while the override is active.
    ///
    /// Blocks while another thread's jump handlers run. Inside a handler of this clock it takes effect when the jump is
    /// over.
    pub fn set_override(&self, time: Time<K>) {
        self.override_by(Operation::Tick(time.nanos()));
    }

    fn override_by(&self, operation: Operation) {
        if self.core.has_hub() {
            return self.core.reporter.report(&ClockWarning::OverrideRefused);
        }
        self.core.apply(operation);
    }
}

impl<K: Kind> Clone for Clock<K> {
    fn clone(&self) -> Self {
        Self::of(Arc::clone(&self.core))
    }
}

impl<K: Kind> Default for Clock<K> {
    fn default() -> Self {
        Self::new()
    }
}

impl<K: Kind> fmt::Debug for Clock<K> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Clock")
            .field("kind", &K::NAME)
            .field("base", &self.core.base)
            .field("state", &lock(&self.core.control).state)
            .finish()
    }
}
