use std::fmt;
use std::sync::{Arc, OnceLock};

use crate::clock::Clock;
use crate::duration::Duration;
use crate::hub::{Change, Handlers, Hub};
use crate::hub_state::HubState;
use crate::kind::{Ros, SimAware, SourceState};
use crate::reporter::ClockWarning;
use crate::sync::{Mutex, lock};
use crate::time_base::TimeBase;
use crate::time_source::{ClockSink, SourceId, TimeSource};

/// Drives many clocks from one time source: the `TimeSource` of ROS with its attached clocks.
///
/// Attached clocks show the machine's time until [`activate`](Self::activate) (`use_sim_time`), and from then on the
/// samples of the source. Each sample is written to every clock on the thread that brings it: no executor, no queue, no
/// thread per node. Only jump handlers run on threads of this crate (on [virtual time](crate::VirtualTime): on the
/// thread that brings the sample), so that a handler that hangs blocks neither the source nor other clocks.
///
/// There is one hub for the process, [`process`](Self::process), and any number of others: a clock belongs to the one
/// it was attached to last. With the last handle of a hub, the source that was [set](Self::set_source) is stopped, and
/// its clocks show the machine's time again.
///
/// ```
/// use timeloom_time::{Clock, Ros, SourceId, Time, TimeBase, TimeHub};
/// let hub = TimeHub::new(&TimeBase::machine());
/// let clock = Clock::<Ros>::new();
/// hub.attach(&clock);
/// let sink = hub.sink(SourceId::named("simulator"));
/// hub.activate();
/// assert!(!clock.started());
/// sink.tick(Time::from_nanos(1_000));
/// assert_eq!(clock.now().nanos(), 1_000);
/// ```
#[derive(Clone)]
pub struct TimeHub(Arc<Owner>);

/// The part of a hub that its handles share, dropped with the last of them. Sinks do not share it, or a source that
/// keeps its sink would keep itself alive.
struct Owner {
    hub: Arc<Hub>,
    /// The source that was [set](TimeHub::set_source).
    source: Mutex<Option<Box<dyn TimeSource>>>,
}

/// The policy for two sources at a time; both are reported.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum TwoSources {
    /// Follow both, as ROS does: clocks jump between them.
    #[default]
    FollowBoth,
    /// Follow the first as long as it sends.
    FollowFirst,
}

/// The options of a [`TimeHub`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TimeHubOptions {
    /// Whether clocks run on between samples; off by default, as in the ROS design.
    ///
    /// The error is at most the time between two samples; time stops by itself when samples stop.
    pub extrapolate: bool,
    /// The policy for two sources at a time.
    pub two_sources: TwoSources,
}

impl TimeHub {
    /// A new hub.
    pub fn new(base: &TimeBase) -> Self {
        Self::with_options(base, TimeHubOptions::default())
    }

    /// A new hub with options.
    pub fn with_options(base: &TimeBase, options: TimeHubOptions) -> Self {
        let hub = Arc::new(Hub::new(base, options));
        let source = Mutex::new(None);
        Self(Arc::new(Owner { hub, source }))
    }

    fn hub(&self) -> &Arc<Hub> {
        &self.0.hub
    }

    /// The process's hub, on the machine's time, without extrapolation: a source that is [set](Self::set_source) here
    /// is the default of the process for nodes with simulated time.
    pub fn process() -> &'static Self {
        static PROCESS: OnceLock<TimeHub> = OnceLock::new();
        PROCESS.get_or_init(|| Self::new(&TimeBase::machine()))
    }

    /// A new ROS clock, attached.
    pub fn clock(&self) -> Clock<Ros> {
        let clock = Clock::on(&self.hub().base);
        self.attach(&clock);
        clock
    }

    /// Attaches a clock, which leaves its former hub and shows the last sample of the source. The clock of a
    /// [`ControlledClock`](crate::ControlledClock) is not attached, and [reports](Clock::set_reporter) that.
    pub fn attach<K: SimAware>(&self, clock: &Clock<K>) {
        let core = clock.core();
        if core.is_controlled() {
            return core.reporter.report(&ClockWarning::SourceRefused);
        }
        let before = core.set_hub(Arc::downgrade(self.hub()));
        if let Some(before) = before.upgrade()
            && !Arc::ptr_eq(&before, self.hub())
        {
            before.deliver(Change::Detach(Arc::downgrade(core)), Handlers::Awaited);
        }
        self.deliver(Change::Attach(Arc::downgrade(core)));
    }

    /// Detaches a clock: it shows the machine's time again. No effect on a clock that is not attached.
    pub fn detach<K: SimAware>(&self, clock: &Clock<K>) {
        self.deliver(Change::Detach(Arc::downgrade(clock.core())));
    }

    fn deliver(&self, change: Change) {
        self.hub().deliver(change, Handlers::Awaited);
    }

    /// Clocks follow the source from now on (`use_sim_time = true`); they show zero until its first sample. All clocks
    /// have changed, and their handlers were called, when this returns; a handler that hangs is abandoned after the
    /// clock's [patience](Clock::set_handler_patience).
    pub fn activate(&self) {
        self.deliver(Change::Activate);
    }

    /// Clocks show the machine's time from now on (`use_sim_time = false`).
    pub fn deactivate(&self) {
        self.deliver(Change::Deactivate);
    }

    /// Whether clocks follow the source.
    pub fn source_state(&self) -> SourceState {
        self.hub().read(HubState::source_state)
    }

    /// Changes the policy for two sources at a time, from the next sample on.
    pub fn set_two_sources(&self, policy: TwoSources) {
        self.hub().set_two_sources(policy);
    }

    /// The rate of the source relative to steady time; `None` without extrapolation or before two samples.
    pub fn source_rate(&self) -> Option<f64> {
        self.hub().read(HubState::rate)
    }

    /// Whether the next sample is late by more than usual; `None` without extrapolation or samples.
    pub fn is_overdue(&self) -> Option<bool> {
        let now = self.hub().base.steady();
        self.hub().read(|state| state.is_overdue(now))
    }

    /// The sink for the samples of a source.
    pub fn sink(&self, source: SourceId) -> ClockSink {
        ClockSink::new(Arc::clone(self.hub()), source)
    }

    /// Runs a source on this hub; the one before is stopped and dropped. If several threads set sources at the same
    /// time, the one that starts last is kept.
    ///
    /// # Errors
    /// The error of the source if it cannot start; the hub then has no source.
    pub fn set_source(&self, mut source: Box<dyn TimeSource>) -> std::io::Result<()> {
        self.remove_source();
        source.start(self.sink(source.id()))?;
        // Not started under the lock: a source may send time at once, and handlers may set sources.
        let before = lock(&self.0.source).replace(source);
        stop(before);
        Ok(())
    }

    /// Whether a source was [set](Self::set_source).
    pub fn has_source(&self) -> bool {
        lock(&self.0.source).is_some()
    }

    /// Stops the source that was [set](Self::set_source), if any.
    pub fn remove_source(&self) {
        let source = lock(&self.0.source).take();
        stop(source);
    }

    /// Sets the callback for warnings; there is none by default.
    pub fn set_reporter(&self, report: impl Fn(&ClockWarning) + Send + Sync + 'static) {
        self.hub().reporter.set(Arc::new(report));
    }
}

fn stop(source: Option<Box<dyn TimeSource>>) {
    if let Some(mut source) = source {
        source.stop();
    }
}

impl Drop for Owner {
    fn drop(&mut self) {
        stop(lock(&self.source).take());
        self.hub.deliver(Change::Close, Handlers::Awaited);
    }
}

impl fmt::Debug for TimeHub {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("TimeHub")
            .field("source_state", &self.source_state())
            .field("clocks", &self.hub().clocks())
            .finish_non_exhaustive()
    }
}

/// The silence after which a source counts as gone.
pub(crate) const SOURCE_SILENCE: Duration = Duration::from_secs(2);
