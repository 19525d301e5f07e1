use std::collections::VecDeque;
use std::sync::{Arc, Weak};
use std::task::Waker;

use crate::clock_state::{BaseNow, ClockState, Mode, Operation};
use crate::duration::Duration;
use crate::follow::Follow;
use crate::hub::Hub;
use crate::jump_handler::Registered;
use crate::raw_jump::RawJump;
use crate::reporter::{ClockWarning, Reporter};
use crate::rescue::Rescue;
use crate::snapshot_cell::{Contended, Snapshot, SnapshotCell};
use crate::sync::{
    AtomicBool, AtomicI64, AtomicU64, Condvar, Mutex, MutexGuard, Ordering, ThreadId, lock, spin,
};
use crate::time_base::{Passthrough, TimeBase};
use crate::wait_cell::WaitCell;
use crate::wait_queue::WaitQueue;

/// A clock without its kind: the shared state behind every [`Clock`](crate::Clock).
///
/// Readers touch only `snapshot`. Everything that changes the clock is an
/// [`Operation`] and goes through [`apply`](Self::apply); jumps follow the protocol in `jump_protocol.rs`.
/// Lock order: `control`, then `queue` or a follower's own, then a wait cell's own. No lock is held during
/// callbacks.
pub(crate) struct ClockCore {
    pub(crate) snapshot: SnapshotCell,
    pub(crate) base: TimeBase,
    pub(crate) passthrough: Passthrough,
    steering: Steering,
    pub(crate) control: Mutex<Control>,
    /// Signalled when a turn ends or a jump is committed.
    pub(crate) turned: Condvar,
    pub(crate) queue: Mutex<WaitQueue>,
    /// The earliest deadline of all waits, so that most ticks need not lock the queue.
    next: AtomicI64,
    /// The smallest step forward that counts as a jump for a wait.
    wait_forward: AtomicI64,
    /// Counts the samples of sources, for the detection of stalls.
    updates: AtomicU64,
    shut_down: AtomicBool,
    watching_steps: AtomicBool,
    pub(crate) reporter: Reporter,
    /// The hub that steers this clock, if any.
    hub: Mutex<Weak<Hub>>,
    pub(crate) this: Weak<Self>,
}

/// The state that writers share.
pub(crate) struct Control {
    pub(crate) state: ClockState,
    pub(crate) handlers: Arc<[Arc<Registered>]>,
    pub(crate) followers: Vec<Weak<dyn Follow>>,
    /// The smallest step forward that counts as a jump for a handler.
    pub(crate) handler_forward: i64,
    /// The jump whose handlers are running.
    pub(crate) turn: Option<Turn>,
    /// Operations that arrived during a jump, from its handlers or from a thread that does not wait; applied when it is
    /// over.
    pub(crate) deferred: VecDeque<Operation>,
    /// Tasks that wait for the end of a blocking jump.
    pub(crate) blocked: Vec<Waker>,
    pub(crate) generation: Generation,
    /// The longest time for the handlers of a jump; then it happens without them.
    pub(crate) patience: Duration,
}

/// A jump in progress.
pub(crate) struct Turn {
    pub(crate) generation: Generation,
    /// The thread that calls the handlers; `None` before it has started.
    pub(crate) thread: Option<ThreadId>,
    pub(crate) jump: RawJump,
    /// The state to publish; `None` once it is published.
    pub(crate) pending: Option<ClockState>,
    /// Machine steady time at which the patience with the handlers ends.
    pub(crate) deadline: i64,
    /// The handler that is running.
    pub(crate) running: Option<Arc<Registered>>,
    /// Whether a [`Rescue`] watches it.
    pub(crate) watched: bool,
}

const SPINS: u32 = 100;
const DEFAULT_PATIENCE: Duration = Duration::SECOND;

impl ClockCore {
    pub(crate) fn new(
        base: TimeBase,
        passthrough: Passthrough,
        state: ClockState,
        steering: Steering,
    ) -> Arc<Self> {
        Arc::new_cyclic(|this| Self {
            steering,
            snapshot: SnapshotCell::new(&state),
            base,
            passthrough,
            control: Mutex::new(Control {
                state,
                handlers: Arc::new([]),
                followers: Vec::new(),
                handler_forward: i64::MAX,
                patience: DEFAULT_PATIENCE,
                turn: None,
                deferred: VecDeque::new(),
                blocked: Vec::new(),
                generation: 0,
            }),
            turned: Condvar::new(),
            queue: Mutex::new(WaitQueue::default()),
            next: AtomicI64::new(i64::MAX),
            wait_forward: AtomicI64::new(i64::MAX),
            updates: AtomicU64::new(0),
            shut_down: AtomicBool::new(false),
            watching_steps: AtomicBool::new(false),
            reporter: Reporter::default(),
            hub: Mutex::new(Weak::new()),
            this: this.clone(),
        })
    }

    /// The time of the clock. Blocks only while the handlers of a backward jump run.
    #[inline]
    pub(crate) fn now(&self) -> i64 {
        match self.snapshot.fixed() {
            Some(now) => now,
            None => self.now_moving(),
        }
    }

    /// The same for a clock that moves; a separate function, so that the short read above is inlined everywhere.
    #[inline(never)]
    fn now_moving(&self) -> i64 {
        self.snapshot
            .now(|| self.base.steady(), || self.base.read(self.passthrough))
            .unwrap_or_else(|_| self.now_slow())
    }

    /// The time of the clock, unless it is about to jump back.
    pub(crate) fn try_now(&self) -> Result<i64, Contended> {
        self.snapshot
            .now(|| self.base.steady(), || self.base.read(self.passthrough))
    }

    #[cold]
    fn now_slow(&self) -> i64 {
        for _ in 0..SPINS {
            match self.try_now() {
                Ok(now) => return now,
                Err(Contended::Writing) => spin(),
                Err(Contended::Jumping) => break,
            }
        }
        self.now_after_jump()
    }

    /// The whole snapshot; spins past writers but returns `None` during a jump.
    pub(crate) fn load(&self) -> Option<Snapshot> {
        loop {
            match self.snapshot.load() {
                Ok(snapshot) => return Some(snapshot),
                Err(Contended::Writing) => spin(),
                Err(Contended::Jumping) => return None,
            }
        }
    }

    /// The time of a snapshot now.
    pub(crate) fn eval(&self, snapshot: &Snapshot) -> i64 {
        match snapshot.mode {
            Mode::Passthrough => self.base.read(self.passthrough),
            Mode::Steered => snapshot.segment.eval(self.base.steady()),
        }
    }

    /// The steady time at which a snapshot reaches `target`, if it does without a change.
    pub(crate) fn reach(&self, snapshot: &Snapshot, target: i64) -> Option<i64> {
        match (snapshot.mode, self.passthrough) {
            (Mode::Steered, _) => snapshot.segment.reach(target),
            (Mode::Passthrough, Passthrough::Steady) => Some(target),
            (Mode::Passthrough, Passthrough::System) => {
                let ahead = target.saturating_sub(self.base.system());
                Some(self.base.steady().saturating_add(ahead))
            }
        }
    }

    pub(crate) fn base_now(&self) -> BaseNow {
        BaseNow {
            steady: self.base.steady(),
            passthrough: self.base.read(self.passthrough),
        }
    }

    /// Changes the clock, with its handlers called on this thread. Blocks while another thread's jump handlers run;
    /// inside a handler of this clock the change is deferred until the jump is over.
    pub(crate) fn apply(&self, operation: Operation) {
        if self.refuses(operation) {
            return;
        }
        let Some(mut control) = self.take_turn(operation) else {
            return;
        };
        if !control.deferred.is_empty() {
            control.deferred.push_back(operation);
            drop(control);
            self.apply_deferred(Runner::Here);
            return self.wait_until_settled();
        }
        if self.apply_one(control, operation, Runner::Here) != Applied::Smoothly {
            self.apply_deferred(Runner::Here);
        }
    }

    /// Changes the clock, with its handlers called on a thread of their own. Never blocks: while a jump is in
    /// progress, the change is deferred until it is over.
    pub(crate) fn post(&self, operation: Operation) -> Posted {
        if self.refuses(operation) {
            return Posted::Done;
        }
        let mut control = lock(&self.control);
        if control.is_overdue() {
            control = self.give_up(control);
        }
        if control.turn.is_some() || !control.deferred.is_empty() {
            control.defer(operation);
            let unwatched = control.watch();
            drop(control);
            if let Some(generation) = unwatched.filter(|_| !self.base.is_virtual()) {
                Rescue::begin(&self.this, generation);
            }
            self.apply_deferred(Runner::Elsewhere);
            return Posted::Pending;
        }
        match self.apply_one(control, operation, Runner::Elsewhere) {
            Applied::Smoothly => Posted::Done,
            Applied::Jumped => {
                self.apply_deferred(Runner::Elsewhere);
                Posted::Done
            }
            Applied::Jumping => Posted::Pending,
        }
    }

    fn refuses(&self, operation: Operation) -> bool {
        if self.steering == Steering::Calls && operation.is_of_source() {
            self.reporter.report(&ClockWarning::SourceRefused);
            return true;
        }
        // A source that takes over has its full patience from then on.
        if matches!(
            operation,
            Operation::Tick(_) | Operation::Steer { .. } | Operation::Activate
        ) {
            self.updates.fetch_add(1, Ordering::Relaxed);
        }
        false
    }

    /// Applies the deferred operations in order, unless a jump is in progress: the thread that ends the jump applies them.
    pub(crate) fn apply_deferred(&self, runner: Runner) {
        loop {
            let mut control = lock(&self.control);
            if control.turn.is_some() {
                return;
            }
            let Some(operation) = control.deferred.pop_front() else {
                drop(control);
                return self.turned.notify_all();
            };
            self.apply_one(control, operation, runner);
        }
    }

    fn apply_one(
        &self,
        mut control: MutexGuard<'_, Control>,
        operation: Operation,
        runner: Runner,
    ) -> Applied {
        let window = self.snapshot.write();
        let base = if control.state.is_fixed() && matches!(operation, Operation::Tick(_)) {
            // From one fixed time to the next no clock has to be read.
            BaseNow {
                steady: 0,
                passthrough: 0,
            }
        } else {
            self.base_now()
        };
        let mut transition = control.state.apply(operation, base);
        if let Some(mut jump) = transition.jump
            && self.is_jump(&control, &jump)
        {
            // A tick that is a jump for one of them is delivered to all, in the order of the jumps.
            transition.state.revision = control.state.revision + 1;
            jump.revision = transition.state.revision;
            return self.jump(control, window, transition.state, jump, runner);
        }
        control.state = transition.state;
        window.commit(&transition.state, false);
        drop(control);
        self.signal_due(transition.state.horizon());
        Applied::Smoothly
    }

    /// Whether this is a jump for a handler or wait; most ticks forward are not.
    fn is_jump(&self, control: &Control, jump: &RawJump) -> bool {
        let delta = jump.delta();
        jump.revision > control.state.revision
            || delta >= self.wait_forward.load(Ordering::Acquire)
            || delta >= control.handler_forward
    }

    /// Signals the waits that may be due when the clock can reach `horizon` by itself.
    fn signal_due(&self, horizon: i64) {
        // A wait files its deadline under the control lock: either it saw the new time, or this sees its deadline.
        if self.next.load(Ordering::Acquire) <= horizon {
            let due = lock(&self.queue).up_to(horizon);
            // Outside the lock: the waker of a task may run any code.
            signal_all(&due);
        }
    }

    /// Publishes the figures that writers read without the queue's lock.
    pub(crate) fn queue_changed(&self, queue: &WaitQueue) {
        self.next.store(queue.next(), Ordering::Release);
        self.wait_forward
            .store(queue.forward_interest(), Ordering::Release);
    }

    /// Number of samples of sources so far.
    pub(crate) fn updates(&self) -> u64 {
        self.updates.load(Ordering::Relaxed)
    }

    /// Whether a time source determines the time at the moment.
    pub(crate) fn is_sourced(&self) -> bool {
        self.steering == Steering::Source && self.is_steered()
    }

    /// Whether the clock has a time.
    pub(crate) fn is_started(&self) -> bool {
        lock(&self.control).state.is_started()
    }

    /// Whether the time is determined by something other than the machine's clock.
    pub(crate) fn is_steered(&self) -> bool {
        lock(&self.control).state.mode == Mode::Steered
    }

    /// Ends all waits, now and later.
    pub(crate) fn shut_down(&self) {
        self.shut_down.store(true, Ordering::SeqCst);
        let all = lock(&self.queue).up_to(i64::MAX);
        signal_all(&all);
    }

    pub(crate) fn is_shut_down(&self) -> bool {
        self.shut_down.load(Ordering::SeqCst)
    }

    /// Sets the hub that steers this clock; returns the previous one.
    pub(crate) fn set_hub(&self, hub: Weak<Hub>) -> Weak<Hub> {
        std::mem::replace(&mut *lock(&self.hub), hub)
    }

    pub(crate) fn is_on_hub(&self, hub: &Hub) -> bool {
        std::ptr::eq(lock(&self.hub).as_ptr(), hub)
    }

    /// Whether the clock is steered by calls.
    pub(crate) fn is_controlled(&self) -> bool {
        self.steering == Steering::Calls
    }

    /// Whether a hub steers this clock.
    pub(crate) fn has_hub(&self) -> bool {
        lock(&self.hub).strong_count() > 0
    }

    /// Records that a hub has detached this clock; no effect if it has another one by now.
    pub(crate) fn leave_hub(&self, hub: &Hub) {
        let mut own = lock(&self.hub);
        if std::ptr::eq(own.as_ptr(), hub) {
            *own = Weak::new();
        }
    }

    /// Watches for steps of the system clock from now on, if this clock shows it.
    pub(crate) fn watch_system_steps(&self) {
        if self.passthrough == Passthrough::System
            && !self.watching_steps.swap(true, Ordering::AcqRel)
        {
            self.base.watch_system_steps(self.this.clone());
        }
    }
}

/// The steering of a clock.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Steering {
    /// A time source, when one is active.
    Source,
    /// Calls: a controlled clock.
    Calls,
}

/// The result of an operation.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Applied {
    Smoothly,
    /// The clock jumped; all handlers were called.
    Jumped,
    /// The clock jumps; its handlers are being called on another thread.
    Jumping,
}

/// The result of an operation that does not wait.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Posted {
    Done,
    /// Handlers are being called; it is done when [`settled`](ClockCore::wait_until_settled).
    Pending,
}

/// The thread that calls the handlers of a jump.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Runner {
    /// The one that changes the clock.
    Here,
    /// One of [`HandlerThreads`](crate::handler_threads): the thread that changes the clock must not wait.
    Elsewhere,
}

/// Numbers the jumps of a clock that had handlers to call.
pub(crate) type Generation = u64;

pub(crate) fn signal_all(cells: &[Arc<WaitCell>]) {
    for cell in cells {
        cell.signal();
    }
}
