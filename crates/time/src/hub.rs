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

/// The part of a [`TimeHub`](crate::TimeHub) that its handles and sinks share.
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
    /// The delivery in progress.
    delivering: Option<Delivery>,
    /// Machine steady time at which another thread first found this delivery in progress.
    contended: Option<i64>,
    /// Counts the changes that were begun.
    changes: u64,
    /// Changes that arrived during the delivery, from jump handlers or from a thread that does not wait.
    deferred: VecDeque<Change>,
}

/// A thread that makes changes on the clocks.
#[derive(Clone, Copy)]
struct Delivery {
    thread: ThreadId,
    /// The number of the change that it makes.
    change: u64,
    phase: Phase,
}

/// The phase of a change.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Phase {
    /// Clocks get it one after the other. No other thread may begin a change: clocks would get the two in different
    /// orders.
    Posting,
    /// All clocks have it; the thread waits for their jump handlers.
    Waiting,
}

/// Whether a change waits for the jump handlers that it triggers.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Handlers {
    Awaited,
    NotAwaited,
}

/// More changes accumulate only behind a handler that hangs.
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
    /// Defers a change until after the delivery in progress.
    fn defer(&mut self, change: Change) {
        // While a handler hangs, later samples replace earlier ones.
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

    /// Whether the delivery in progress takes longer than the patience with handlers.
    fn is_stuck(&mut self) -> bool {
        let patience = i64::try_from(self.patience().as_nanos()).unwrap_or(i64::MAX);
        let now = machine::steady();
        // Not recorded by the delivery itself: a clock read is a large part of the cost of a tick.
        let since = *self.contended.get_or_insert(now);
        now.saturating_sub(since) > patience
    }

    /// Begins the next change on this thread.
    fn begin(&mut self, thread: ThreadId) -> u64 {
        self.changes += 1;
        self.contended = None;
        self.delivering = Some(Delivery {
            thread,
            change: self.changes,
            phase: Phase::Posting,
        });
        self.changes
    }

    /// Whether no other thread took over since this change was begun.
    fn is_current(&self, change: u64) -> bool {
        self.delivering
            .is_some_and(|delivery| delivery.change == change)
    }

    /// The longest time for a delivery: the patience of the most patient clock.
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
                changes: 0,
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

    /// Number of attached clocks.
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
            let mine = busy.thread == me;
            if handlers == Handlers::NotAwaited
                && !mine
                && self.may_take_over(busy)
                && shared.is_stuck()
            {
                break;
            }
            if handlers == Handlers::NotAwaited || mine || shared.in_handler() {
                return shared.defer(change);
            }
            let (seen, patience) = (shared.changes, shared.patience());
            let (guard, timed_out) = wait_timeout(&self.delivered, shared, patience);
            shared = guard;
            if timed_out
                && shared.changes == seen
                && shared
                    .delivering
                    .is_none_or(|busy| self.may_take_over(busy))
            {
                // A jump handler hangs; its clock stops waiting for it now, and so does the hub.
                break;
            }
        }
        let mut next = Some(change);
        while let Some(change) = next {
            let number = shared.begin(me);
            shared = self.deliver_one(shared, change, handlers);
            if !shared.is_current(number) {
                // Another thread took over, with the deferred changes.
                return;
            }
            next = shared.deferred.pop_front();
        }
        shared.delivering = None;
        drop(shared);
        self.delivered.notify_all();
    }

    /// Whether a thread may abandon this delivery. Virtual time has no threads for handlers: they run while the change
    /// is posted.
    fn may_take_over(&self, delivery: Delivery) -> bool {
        delivery.phase == Phase::Waiting || self.base.is_virtual()
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

    /// Applies the operations to every clock, with no lock held.
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
        self.post(&clocks, operations, handlers)
    }

    /// Posts the operations to the clocks in their order, then waits for the jump handlers, if they are awaited.
    fn post(
        &self,
        clocks: &[Weak<ClockCore>],
        operations: &[Operation],
        handlers: Handlers,
    ) -> MutexGuard<'_, Shared> {
        let mut jumping = Vec::new();
        for core in clocks.iter().filter_map(Weak::upgrade) {
            let mut pending = false;
            for operation in operations {
                pending |= core.post(*operation) == Posted::Pending;
            }
            if pending && handlers == Handlers::Awaited {
                jumping.push(core);
            }
        }
        let mut shared = lock(&self.shared);
        if jumping.is_empty() {
            return shared;
        }
        if let Some(delivery) = shared.delivering.as_mut() {
            delivery.phase = Phase::Waiting;
        }
        drop(shared);
        for core in jumping {
            core.wait_until_settled();
        }
        lock(&self.shared)
    }

    /// Detaches all clocks.
    fn close<'a>(
        &'a self,
        mut shared: MutexGuard<'a, Shared>,
        handlers: Handlers,
    ) -> MutexGuard<'a, Shared> {
        let clocks = std::mem::replace(&mut shared.clocks, Arc::new([]));
        drop(shared);
        for core in clocks.iter().filter_map(Weak::upgrade) {
            core.leave_hub(self);
        }
        self.post(&clocks, &[Operation::Deactivate], handlers)
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
        // Another thread may have attached the clock to another hub meanwhile.
        let elsewhere = core.upgrade().is_none_or(|core| !core.is_on_hub(self));
        if elsewhere || clocks.iter().any(|clock| clock.ptr_eq(core)) {
            return shared;
        }
        clocks.push(core.clone());
        shared.clocks = clocks.into();
        let current = shared.state.current();
        let active = shared.state.source_state() == SourceState::Active;
        drop(shared);
        let activate = active.then_some(Operation::Activate);
        let operations: Vec<_> = [current, activate].into_iter().flatten().collect();
        self.post(std::slice::from_ref(core), &operations, handlers)
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
        if !was_attached {
            return shared;
        }
        drop(shared);
        if let Some(core) = core.upgrade() {
            core.leave_hub(self);
        }
        self.post(
            std::slice::from_ref(core),
            &[Operation::Deactivate],
            handlers,
        )
    }
}
