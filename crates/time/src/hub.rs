use std::collections::VecDeque;
use std::sync::{Arc, Weak};

use crate::clock_core::{ClockCore, Posted};
use crate::clock_state::Operation;
use crate::hub_state::{HubState, Sample};
use crate::kind::{Ros, SourceState};
use crate::machine;
use crate::reporter::{ClockWarning, Reporter};
use crate::sync::{Condvar, Mutex, MutexGuard, ThreadId, current, lock, wait_timeout};
use crate::time::Time;
use crate::time_base::TimeBase;
use crate::time_hub::{TimeHubOptions, TwoSources};
use crate::time_source::SourceId;

/// What the handles and the sinks of a [`TimeHub`](crate::TimeHub) share.
pub(crate) struct Hub {
    pub(crate) base: TimeBase,
    shared: Mutex<Shared>,
    /// Signalled when a delivery ends.
    delivered: Condvar,
    pub(crate) reporter: Reporter,
}

struct Shared {
    state: HubState,
    clocks: Arc<[Weak<ClockCore>]>,
    /// Who writes to the clocks at the moment.
    delivering: Option<ThreadId>,
    /// Machine steady time at which somebody first found a delivery in progress.
    contended: Option<i64>,
    /// Counts deliveries.
    delivery: u64,
    /// What came meanwhile, from jump handlers or from a thread that does not wait.
    deferred: VecDeque<Change>,
}

/// Whether a change waits for the jump handlers that it calls.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Handlers {
    Awaited,
    NotAwaited,
}

/// More changes wait only behind a handler that hangs.
const MOST_DEFERRED: usize = 1_000;

#[derive(Clone)]
pub(crate) enum Change {
    Sample {
        source: SourceId,
        sample: Sample,
    },
    Activate,
    Deactivate,
    Attach(Weak<ClockCore>),
    Detach(Weak<ClockCore>),
    /// The last handle is gone.
    Close,
}

impl Shared {
    /// Has a change made after the delivery in progress.
    fn defer(&mut self, change: Change) {
        // A source that sends on while a handler hangs: the last sample says all.
        if self.deferred.len() >= MOST_DEFERRED
            && let (Some(last @ Change::Sample { .. }), Change::Sample { .. }) =
                (self.deferred.back_mut(), &change)
        {
            *last = change;
        } else {
            self.deferred.push_back(change);
        }
    }

    /// Whether this thread is inside a jump handler of one of the clocks.
    fn in_handler(&self) -> bool {
        let mut clocks = self.clocks.iter().filter_map(Weak::upgrade);
        clocks.any(|core| core.in_handler())
    }

    /// Whether the delivery in progress takes longer than any handler may.
    fn is_stuck(&mut self) -> bool {
        let patience = i64::try_from(self.patience().as_nanos()).unwrap_or(i64::MAX);
        let now = machine::steady();
        // Not noted by the delivery itself: a clock read is a large part of what a tick costs.
        let since = *self.contended.get_or_insert(now);
        now.saturating_sub(since) > patience
    }

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
    pub(crate) fn new(base: &TimeBase, options: TimeHubOptions) -> Self {
        Self {
            base: base.clone(),
            shared: Mutex::new(Shared {
                state: HubState::new(options),
                clocks: Arc::new([]),
                delivering: None,
                contended: None,
                delivery: 0,
                deferred: VecDeque::new(),
            }),
            delivered: Condvar::new(),
            reporter: Reporter::default(),
        }
    }

    pub(crate) fn read<T>(&self, read: impl FnOnce(&HubState) -> T) -> T {
        read(&lock(&self.shared).state)
    }

    pub(crate) fn set_two_sources(&self, policy: TwoSources) {
        lock(&self.shared).state.set_two_sources(policy);
    }

    /// How many clocks are attached.
    pub(crate) fn clocks(&self) -> usize {
        lock(&self.shared).clocks.len()
    }

    pub(crate) fn tick(
        &self,
        source: &SourceId,
        time: Time<Ros>,
        sequence: Option<u64>,
        handlers: Handlers,
    ) {
        let steady = self.base.steady();
        let sample = Sample {
            steady,
            time: time.nanos(),
            sequence,
        };
        let source = source.clone();
        self.deliver(Change::Sample { source, sample }, handlers);
    }

    /// Makes a change on all clocks, one change at a time. Inside a jump handler that a delivery calls, and for a
    /// thread that does not wait, the change is made when the delivery in progress is over.
    pub(crate) fn deliver(&self, change: Change, handlers: Handlers) {
        let mut shared = lock(&self.shared);
        let me = current().id();
        while let Some(busy) = shared.delivering {
            if handlers == Handlers::NotAwaited && busy != me && shared.is_stuck() {
                break;
            }
            if handlers == Handlers::NotAwaited || busy == me || shared.in_handler() {
                return shared.defer(change);
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
        shared.contended = None;
        shared.delivery += 1;
        shared = self.deliver_one(shared, change, handlers);
        while shared.delivering == Some(me)
            && let Some(deferred) = shared.deferred.pop_front()
        {
            shared = self.deliver_one(shared, deferred, handlers);
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
        handlers: Handlers,
    ) -> MutexGuard<'a, Shared> {
        match change {
            Change::Sample { source, sample } => {
                let (operation, warning) = shared.state.sample(&source, sample);
                self.write(shared, operation.as_slice(), warning.as_ref(), handlers)
            }
            Change::Activate => {
                shared.state.set_source_state(SourceState::Active);
                self.write(shared, &[Operation::Activate], None, handlers)
            }
            Change::Deactivate => {
                shared.state.set_source_state(SourceState::Inactive);
                let operations: Vec<_> = [Some(Operation::Deactivate), shared.state.current()]
                    .into_iter()
                    .flatten()
                    .collect();
                self.write(shared, &operations, None, handlers)
            }
            Change::Attach(core) => self.attach_one(shared, &core, handlers),
            Change::Detach(core) => self.detach_one(shared, &core, handlers),
            Change::Close => self.close(shared, handlers),
        }
    }

    /// Does the operations on every clock, with no lock held.
    fn write<'a>(
        &'a self,
        shared: MutexGuard<'a, Shared>,
        operations: &[Operation],
        warning: Option<&ClockWarning>,
        handlers: Handlers,
    ) -> MutexGuard<'a, Shared> {
        let clocks = Arc::clone(&shared.clocks);
        drop(shared);
        if let Some(warning) = warning {
            self.reporter.report(warning);
        }
        for core in clocks.iter().filter_map(Weak::upgrade) {
            write_one(&core, operations, handlers);
        }
        lock(&self.shared)
    }

    /// Lets go of all clocks.
    fn close<'a>(
        &'a self,
        mut shared: MutexGuard<'a, Shared>,
        handlers: Handlers,
    ) -> MutexGuard<'a, Shared> {
        let clocks = std::mem::replace(&mut shared.clocks, Arc::new([]));
        drop(shared);
        for core in clocks.iter().filter_map(Weak::upgrade) {
            core.leave_hub(self);
            write_one(&core, &[Operation::Deactivate], handlers);
        }
        lock(&self.shared)
    }

    fn attach_one<'a>(
        &'a self,
        mut shared: MutexGuard<'a, Shared>,
        core: &Weak<ClockCore>,
        handlers: Handlers,
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
            let operations: Vec<_> = [current, activate].into_iter().flatten().collect();
            write_one(&core, &operations, handlers);
        }
        lock(&self.shared)
    }

    fn detach_one<'a>(
        &'a self,
        mut shared: MutexGuard<'a, Shared>,
        core: &Weak<ClockCore>,
        handlers: Handlers,
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
            core.leave_hub(self);
            write_one(&core, &[Operation::Deactivate], handlers);
        }
        lock(&self.shared)
    }
}

/// Does the operations on one clock, in their order.
fn write_one(core: &ClockCore, operations: &[Operation], handlers: Handlers) {
    for operation in operations {
        if core.post(*operation) == Posted::Pending && handlers == Handlers::Awaited {
            core.wait_until_settled();
        }
    }
}
