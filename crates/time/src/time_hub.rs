use std::fmt;
use std::sync::{Arc, OnceLock, Weak};

use crate::clock::Clock;
use crate::clock_core::ClockCore;
use crate::clock_state::Operation;
use crate::duration::Duration;
use crate::hub_state::{HubState, Sample};
use crate::kind::{Ros, SimAware, SourceState};
use crate::reporter::{ClockWarning, Reporter};
use crate::sync::{Condvar, Mutex, MutexGuard, ThreadId, current, lock, wait_timeout};
use crate::time::Time;
use crate::time_base::TimeBase;
use crate::time_source::{ClockSink, SourceId, TimeSource};

/// Steers many clocks from one time source: what ROS calls a `TimeSource` with its attached clocks.
///
/// Clocks that are attached show the machine's time until [`activate`](Self::activate) (`use_sim_time`), and
/// from then on what the source sends. Each sample is written to every clock on the thread that brings it:
/// no executor, no queue, no thread per node.
///
/// There is one hub for the process, [`process`](Self::process), and as many others as are wanted: a clock
/// belongs to the one it was attached to last. A source that was [set](Self::set_source) is stopped with the
/// last handle of its hub; sinks and clocks keep working.
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
pub struct TimeHub {
    hub: Arc<Hub>,
    running: Arc<RunningSource>,
}

/// The source that was [set](TimeHub::set_source); stopped with the last handle of the hub. Not part of what
/// sinks share, or a source that keeps its sink would keep itself.
#[derive(Default)]
struct RunningSource(Mutex<Option<Box<dyn TimeSource>>>);

pub(crate) struct Hub {
    base: TimeBase,
    shared: Mutex<Shared>,
    /// Signalled when a delivery ends.
    delivered: Condvar,
    reporter: Reporter,
}

struct Shared {
    state: HubState,
    clocks: Arc<[Weak<ClockCore>]>,
    /// The thread that writes to the clocks at the moment.
    delivering: Option<ThreadId>,
    /// Counts deliveries.
    delivery: u64,
    /// What that thread's own jump handlers asked for.
    deferred: Vec<Change>,
}

#[derive(Clone)]
pub(crate) enum Change {
    Sample { source: SourceId, sample: Sample },
    Activate,
    Deactivate,
    Attach(Weak<ClockCore>),
    Detach(Weak<ClockCore>),
}

/// How two sources at a time are dealt with; either way it is reported.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum TwoSources {
    /// Follow both, as ROS does: clocks jump between them.
    #[default]
    FollowBoth,
    /// Follow the first as long as it sends.
    FollowFirst,
}

/// How to make a [`TimeHub`].
#[derive(Clone, Copy, Debug, Default)]
pub struct TimeHubOptions {
    /// Whether clocks run on between samples; off unless set, as the ROS design asks.
    ///
    /// The error is at most the time between two samples; time stops by itself when samples stop.
    pub extrapolate: bool,
    /// How two sources at a time are dealt with.
    pub two_sources: TwoSources,
}

impl TimeHub {
    /// A hub of its own.
    pub fn new(base: &TimeBase) -> Self {
        Self::with_options(base, TimeHubOptions::default())
    }

    /// A hub of its own, with options.
    pub fn with_options(base: &TimeBase, options: TimeHubOptions) -> Self {
        Self {
            hub: Arc::new(Hub {
                base: base.clone(),
                shared: Mutex::new(Shared {
                    state: HubState::new(options),
                    clocks: Arc::new([]),
                    delivering: None,
                    delivery: 0,
                    deferred: Vec::new(),
                }),
                delivered: Condvar::new(),
                reporter: Reporter::default(),
            }),
            running: Arc::default(),
        }
    }

    /// The process's hub, on the machine's time, without extrapolation.
    pub fn process() -> &'static Self {
        static PROCESS: OnceLock<TimeHub> = OnceLock::new();
        PROCESS.get_or_init(|| Self::new(&TimeBase::machine()))
    }

    /// A new ROS clock, attached.
    pub fn clock(&self) -> Clock<Ros> {
        let clock = Clock::on(&self.hub.base);
        self.attach(&clock);
        clock
    }

    /// Steers a clock from now on; it leaves the hub it had. What the source sent before counts.
    pub fn attach<K: SimAware>(&self, clock: &Clock<K>) {
        let core = clock.core();
        let before = core.set_hub(Arc::downgrade(&self.hub));
        if let Some(before) = before.upgrade()
            && !Arc::ptr_eq(&before, &self.hub)
        {
            before.deliver(Change::Detach(Arc::downgrade(core)));
        }
        self.hub.deliver(Change::Attach(Arc::downgrade(core)));
    }

    /// Lets go of a clock: it shows the machine's time again. No effect on a clock that is not attached.
    pub fn detach<K: SimAware>(&self, clock: &Clock<K>) {
        self.hub
            .deliver(Change::Detach(Arc::downgrade(clock.core())));
    }

    /// Clocks follow the source from now on (`use_sim_time = true`); they show zero until it has sent
    /// something. All clocks have changed, and their handlers were called, when this returns.
    pub fn activate(&self) {
        self.hub.deliver(Change::Activate);
    }

    /// Clocks show the machine's time from now on (`use_sim_time = false`).
    pub fn deactivate(&self) {
        self.hub.deliver(Change::Deactivate);
    }

    /// Whether clocks follow the source.
    pub fn source_state(&self) -> SourceState {
        lock(&self.hub.shared).state.source_state()
    }

    /// The rate of the source against steady time, as far as two samples and extrapolation tell.
    pub fn source_rate(&self) -> Option<f64> {
        lock(&self.hub.shared).state.rate()
    }

    /// Whether the next sample is late by more than usual; `None` without extrapolation or samples.
    pub fn is_overdue(&self) -> Option<bool> {
        lock(&self.hub.shared)
            .state
            .is_overdue(self.hub.base.steady())
    }

    /// Where a source puts its time.
    pub fn sink(&self, source: SourceId) -> ClockSink {
        ClockSink::new(Arc::clone(&self.hub), source)
    }

    /// Runs a source on this hub; the one before is stopped and dropped.
    ///
    /// # Errors
    /// What the source says when it cannot start; then there is none.
    pub fn set_source(&self, mut source: Box<dyn TimeSource>) -> std::io::Result<()> {
        self.remove_source();
        source.start(self.sink(source.id()))?;
        *lock(&self.running.0) = Some(source);
        Ok(())
    }

    /// Stops the source that was [set](Self::set_source), if any.
    pub fn remove_source(&self) {
        self.running.stop();
    }

    /// Where this hub's warnings go; nowhere unless set.
    pub fn set_reporter(&self, report: impl Fn(&ClockWarning) + Send + Sync + 'static) {
        self.hub.reporter.set(Arc::new(report));
    }
}

impl Shared {
    /// How long a delivery may take: as long as the most patient clock lets its handlers.
    fn patience(&self) -> std::time::Duration {
        let clocks = self.clocks.iter().filter_map(Weak::upgrade);
        clocks
            .map(|core| core.patience())
            .max()
            .unwrap_or(std::time::Duration::from_secs(1))
    }
}

impl Hub {
    pub(crate) fn tick(&self, source: &SourceId, time: Time<Ros>, sequence: Option<u64>) {
        let steady = self.base.steady();
        let sample = Sample {
            steady,
            time: time.nanos(),
            sequence,
        };
        self.deliver(Change::Sample {
            source: source.clone(),
            sample,
        });
    }

    /// Makes a change on all clocks, one change at a time. Inside a jump handler that a delivery runs, the
    /// change is made when that delivery is over.
    pub(crate) fn deliver(&self, change: Change) {
        let me = current().id();
        let mut shared = lock(&self.shared);
        while let Some(thread) = shared.delivering {
            if thread == me {
                shared.deferred.push(change);
                return;
            }
            let (seen, patience) = (shared.delivery, shared.patience());
            let (guard, timed_out) = wait_timeout(&self.delivered, shared, patience);
            shared = guard;
            if timed_out && shared.delivery == seen {
                // A jump handler hangs; its clock gives up on it now, and so does the hub.
                break;
            }
        }
        shared.delivering = Some(me);
        shared.delivery += 1;
        shared = self.deliver_one(shared, change);
        while !shared.deferred.is_empty() && shared.delivering == Some(me) {
            let deferred = shared.deferred.remove(0);
            shared = self.deliver_one(shared, deferred);
        }
        if shared.delivering == Some(me) {
            shared.delivering = None;
        }
        drop(shared);
        self.delivered.notify_all();
    }

    fn deliver_one<'a>(
        &'a self,
        mut shared: MutexGuard<'a, Shared>,
        change: Change,
    ) -> MutexGuard<'a, Shared> {
        match change {
            Change::Sample { source, sample } => {
                let (operation, warning) = shared.state.sample(&source, sample);
                self.write(shared, operation.as_slice(), warning.as_ref())
            }
            Change::Activate => {
                shared.state.set_source_state(SourceState::Active);
                self.write(shared, &[Operation::Activate], None)
            }
            Change::Deactivate => {
                shared.state.set_source_state(SourceState::Inactive);
                let operations: Vec<_> = [Some(Operation::Deactivate), shared.state.current()]
                    .into_iter()
                    .flatten()
                    .collect();
                self.write(shared, &operations, None)
            }
            Change::Attach(core) => self.attach_one(shared, &core),
            Change::Detach(core) => self.detach_one(shared, &core),
        }
    }

    /// Does the operations on every clock, with no lock held.
    fn write<'a>(
        &'a self,
        shared: MutexGuard<'a, Shared>,
        operations: &[Operation],
        warning: Option<&ClockWarning>,
    ) -> MutexGuard<'a, Shared> {
        let clocks = Arc::clone(&shared.clocks);
        drop(shared);
        if let Some(warning) = warning {
            self.reporter.report(warning);
        }
        for core in clocks.iter().filter_map(Weak::upgrade) {
            for operation in operations {
                core.apply(*operation);
            }
        }
        lock(&self.shared)
    }

    fn attach_one<'a>(
        &'a self,
        mut shared: MutexGuard<'a, Shared>,
        core: &Weak<ClockCore>,
    ) -> MutexGuard<'a, Shared> {
        let mut clocks: Vec<_> = shared
            .clocks
            .iter()
            .filter(|clock| clock.strong_count() > 0)
            .cloned()
            .collect();
        // A thread that attached the clock elsewhere meanwhile has the last word.
        let elsewhere = core.upgrade().is_none_or(|core| !core.is_on_hub(self));
        if elsewhere || clocks.iter().any(|clock| clock.ptr_eq(core)) {
            return shared;
        }
        clocks.push(core.clone());
        shared.clocks = clocks.into();
        let current = shared.state.current();
        let active = shared.state.source_state() == SourceState::Active;
        drop(shared);
        if let Some(core) = core.upgrade() {
            let activate = active.then_some(Operation::Activate);
            for operation in [current, activate].into_iter().flatten() {
                core.apply(operation);
            }
        }
        lock(&self.shared)
    }

    fn detach_one<'a>(
        &'a self,
        mut shared: MutexGuard<'a, Shared>,
        core: &Weak<ClockCore>,
    ) -> MutexGuard<'a, Shared> {
        let before = shared.clocks.len();
        let clocks: Vec<_> = shared
            .clocks
            .iter()
            .filter(|clock| !clock.ptr_eq(core))
            .cloned()
            .collect();
        let was_attached = clocks.len() < before;
        shared.clocks = clocks.into();
        drop(shared);
        if was_attached && let Some(core) = core.upgrade() {
            core.apply(Operation::Deactivate);
        }
        lock(&self.shared)
    }
}

impl RunningSource {
    fn stop(&self) {
        let running = lock(&self.0).take();
        if let Some(mut source) = running {
            source.stop();
        }
    }
}

impl Drop for RunningSource {
    fn drop(&mut self) {
        self.stop();
    }
}

impl fmt::Debug for TimeHub {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let shared = lock(&self.hub.shared);
        f.debug_struct("TimeHub")
            .field("source_state", &shared.state.source_state())
            .field("clocks", &shared.clocks.len())
            .finish_non_exhaustive()
    }
}

/// How long a source may be silent before it counts as gone.
pub(crate) const SOURCE_SILENCE: Duration = Duration::from_secs(2);
