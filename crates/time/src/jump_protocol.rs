//! The protocol of a jump, for readers and writers of a clock.
//!
//! 1. Take the turn; compute the new state; select the handlers whose threshold the jump meets.
//! 2. If the jump goes back and a handler has a `before` callback: flag the snapshot, so that readers block.
//! 3. Run the callbacks for before, with no lock held.
//! 4. Commit: publish the new state, release the readers.
//! 5. Run the callbacks for after. 6. Notify the waits. 7. Release the turn.
//!
//! A callback that hangs must not stop time: a thread that waits for the turn longer than the clock's patience commits
//! the jump, notifies the waits and takes the turn. The thread that hung finds that its generation is over. Steps 3 to
//! 7 are executed by the thread that changes the clock, or, if that must not wait, by one of `handler_threads.rs`.

use std::sync::Arc;
use std::task::Waker;

use crate::clock_core::{Applied, ClockCore, Control, Generation, Runner, Turn, signal_all};
use crate::clock_state::{ClockState, Operation};
use crate::follow::Follow;
use crate::handler_threads::HandlerThreads;
use crate::jump::JumpCause;
use crate::jump_handler::Registered;
use crate::machine;
use crate::raw_jump::RawJump;
use crate::reporter::ClockWarning;
use crate::snapshot_cell::WriteWindow;
use crate::sync::{MutexGuard, current, lock, wait_timeout};
use crate::wait_cell::WaitCell;

impl ClockCore {
    /// Waits until no jump is in progress. `None` inside a handler of this clock: the operation is then applied after
    /// the jump.
    pub(crate) fn take_turn(&self, operation: Operation) -> Option<MutexGuard<'_, Control>> {
        let mut control = lock(&self.control);
        while let Some(turn) = &control.turn {
            if turn.is_mine() {
                control.deferred.push_back(operation);
                return None;
            }
            control = self.wait_for_turn(control);
        }
        Some(control)
    }

    /// Waits until the jump in progress and the operations deferred behind it are over; a handler that hangs is
    /// abandoned. Returns at once inside a handler of this clock.
    pub(crate) fn wait_until_settled(&self) {
        let mut control = lock(&self.control);
        loop {
            match &control.turn {
                Some(turn) if turn.is_mine() => return,
                Some(_) => control = self.wait_for_turn(control),
                None if control.deferred.is_empty() => return,
                // The thread that ended the jump applies the deferred operations.
                None => control = wait_timeout(&self.turned, control, LOOK_AGAIN).0,
            }
        }
    }

    /// Waits for progress of the jump; ends it when the patience is over.
    fn wait_for_turn<'a>(&'a self, control: MutexGuard<'a, Control>) -> MutexGuard<'a, Control> {
        let Some(turn) = &control.turn else {
            return control;
        };
        let left = turn.patience_left();
        if left <= 0 {
            return self.give_up(control);
        }
        let left = std::time::Duration::from_nanos(left.unsigned_abs());
        wait_timeout(&self.turned, control, left).0
    }

    /// Ends a jump whose handler hangs, and applies the operations deferred behind it.
    pub(crate) fn give_up<'a>(
        &'a self,
        mut control: MutexGuard<'a, Control>,
    ) -> MutexGuard<'a, Control> {
        let committed = self.commit(&mut control);
        let Some(turn) = control.turn.take() else {
            return control;
        };
        if let Some(handler) = &turn.running {
            handler.give_up();
        }
        let cells = self.notify_waits(&control, &turn.jump);
        drop(control);
        committed.notify();
        signal_all(&cells);
        self.turned.notify_all();
        if let Some(handler) = &turn.running {
            self.reporter.report(&ClockWarning::HandlerHangs {
                handler: handler.name.clone(),
            });
        }
        self.apply_deferred(Runner::Elsewhere);
        lock(&self.control)
    }

    /// Ends the jump in progress if its handlers are overdue, for a wait that would be notified after them; true if it
    /// did.
    pub(crate) fn rescue(&self) -> bool {
        let control = lock(&self.control);
        let overdue = control.is_overdue();
        if overdue {
            drop(self.give_up(control));
        }
        overdue
    }

    /// Ends this jump if its handlers are overdue; `None` if it is over, otherwise the time of the next check.
    pub(crate) fn rescue_at(&self, generation: Generation) -> Option<i64> {
        let mut control = lock(&self.control);
        let at = control.turn_of(generation)?.give_up_at();
        if control.is_overdue() {
            drop(self.give_up(control));
            return None;
        }
        Some(at)
    }

    /// Whether this thread runs a jump handler of this clock.
    pub(crate) fn in_handler(&self) -> bool {
        let control = lock(&self.control);
        control.turn.as_ref().is_some_and(Turn::is_mine)
    }

    /// Machine steady time until which a wait must not end the jump in progress.
    pub(crate) fn jump_deadline(&self) -> Option<i64> {
        let control = lock(&self.control);
        control.turn.as_ref().map(Turn::give_up_at)
    }

    /// The slow path of `now`: during a jump back, the jumping thread gets the old time and others wait.
    pub(crate) fn now_after_jump(&self) -> i64 {
        let mut control = lock(&self.control);
        loop {
            match &control.turn {
                Some(turn) if turn.pending.is_some() => {
                    if turn.is_mine() {
                        return turn.jump.old;
                    }
                    control = self.wait_for_turn(control);
                }
                // With the lock held there is no writer: the state can be read directly.
                _ => return control.state.now(self.base_now()),
            }
        }
    }

    /// Registers a task to be woken when the jump in progress is committed; returns when the patience with it ends, or
    /// `None` if there is no jump.
    pub(crate) fn wait_for_commit(&self, waker: &Waker) -> Option<i64> {
        let mut control = lock(&self.control);
        let turn = control.turn.as_ref()?;
        let deadline = turn.pending.is_some().then(|| turn.give_up_at())?;
        control.blocked.push(waker.clone());
        Some(deadline)
    }

    /// Executes a jump: completely, or, when the handlers are called on another thread, up to them.
    pub(crate) fn jump(
        &self,
        mut control: MutexGuard<'_, Control>,
        window: WriteWindow<'_>,
        state: ClockState,
        jump: RawJump,
        runner: Runner,
    ) -> Applied {
        let handlers: Vec<_> = control
            .handlers
            .iter()
            .filter(|handler| handler.threshold.matches_raw(&jump))
            .cloned()
            .collect();
        if handlers.is_empty() {
            control.state = state;
            window.commit(&state, false);
            let followers = control.move_followers(&jump);
            let cells = self.notify_waits(&control, &jump);
            drop(control);
            wake_all(&followers);
            signal_all(&cells);
            return Applied::Jumped;
        }
        // While time is held, the old time cannot overtake the new. A change of source may also take time back.
        let goes_back = jump.shift() < 0 || jump.cause == JumpCause::Control;
        let hold = goes_back && handlers.iter().any(|handler| handler.wants_before());
        window.commit(&control.state, hold);
        let calls = HandlerCalls {
            generation: control.begin(state, jump),
            handlers,
            jump,
        };
        drop(control);
        // Patience is machine time: on virtual time no thread would give up on another.
        let elsewhere = runner == Runner::Elsewhere && !self.base.is_virtual();
        let Some(core) = self.this.upgrade().filter(|_| elsewhere) else {
            self.call_handlers(&calls);
            return Applied::Jumped;
        };
        HandlerThreads::global().run(move || {
            core.call_handlers(&calls);
            core.apply_deferred(Runner::Here);
        });
        Applied::Jumping
    }

    /// Steps 3 to 7.
    fn call_handlers(&self, calls: &HandlerCalls) {
        let (handlers, generation, jump) = (&calls.handlers, calls.generation, &calls.jump);
        let mut control = lock(&self.control);
        let patience = control.patience.nanos();
        if let Some(turn) = control.turn_of(generation) {
            // The patience covers the handlers, not the start of their thread by the scheduler.
            turn.deadline = machine::steady().saturating_add(patience);
            turn.thread = Some(current().id());
        }
        drop(control);
        self.run_handlers(handlers, generation, jump, Registered::call_before);
        self.commit_if_mine(generation);
        self.run_handlers(handlers, generation, jump, Registered::call_after);
        self.finish(generation, jump);
    }

    fn run_handlers(
        &self,
        handlers: &[Arc<Registered>],
        generation: Generation,
        jump: &RawJump,
        call: impl Fn(&Registered, &RawJump) -> Result<(), String>,
    ) {
        for handler in handlers {
            if let Some(turn) = lock(&self.control).turn_of(generation) {
                turn.running = Some(Arc::clone(handler));
            }
            if let Err(message) = call(handler, jump) {
                let handler = handler.name.clone();
                self.reporter
                    .report(&ClockWarning::HandlerPanicked { handler, message });
            }
        }
    }

    fn commit_if_mine(&self, generation: Generation) {
        let mut control = lock(&self.control);
        if control.turn_of(generation).is_some() {
            let committed = self.commit(&mut control);
            drop(control);
            committed.notify();
        }
    }

    /// Publishes the state of the jump in progress, unless it is published.
    fn commit(&self, control: &mut Control) -> Committed {
        let mut followers = Vec::new();
        if let Some(turn) = control.turn.as_mut()
            && let Some(mut state) = turn.pending.take()
        {
            let window = self.snapshot.write();
            if turn.jump.cause == JumpCause::Control {
                // The time jumped to is the first time shown, however long the handlers took.
                state.segment = state.segment.anchored_at(self.base.steady());
            }
            let jump = turn.jump;
            control.state = state;
            window.commit(&state, false);
            followers = control.move_followers(&jump);
            self.turned.notify_all();
        }
        Committed {
            blocked: std::mem::take(&mut control.blocked),
            followers,
        }
    }

    fn finish(&self, generation: Generation, jump: &RawJump) {
        let mut control = lock(&self.control);
        let cells = if control.turn_of(generation).is_some() {
            control.turn = None;
            self.notify_waits(&control, jump)
        } else {
            Vec::new()
        };
        drop(control);
        signal_all(&cells);
        self.turned.notify_all();
    }

    /// Notifies the waits of a jump; returns the cells to signal once no lock is held.
    ///
    /// Under the control lock, so that no wait misses a jump or gets two in the wrong order.
    fn notify_waits(&self, _control: &Control, jump: &RawJump) -> Vec<Arc<WaitCell>> {
        let base = self.base_now();
        let mut queue = lock(&self.queue);
        let cells = queue.deliver(jump, base);
        self.queue_changed(&queue);
        cells
    }

    pub(crate) fn patience(&self) -> std::time::Duration {
        let patience = lock(&self.control).patience.nanos();
        std::time::Duration::from_nanos(u64::try_from(patience).unwrap_or(0))
    }

    /// Appends a handler to the list.
    pub(crate) fn add_handler(&self, handler: Arc<Registered>) {
        self.watch_system_steps();
        self.edit_handlers(|handlers| handlers.push(handler));
    }

    pub(crate) fn remove_handler(&self, handler: &Arc<Registered>) {
        self.edit_handlers(|handlers| handlers.retain(|other| !Arc::ptr_eq(other, handler)));
    }

    /// A jump in progress keeps the list it began with.
    fn edit_handlers(&self, edit: impl FnOnce(&mut Vec<Arc<Registered>>)) {
        let mut control = lock(&self.control);
        let mut handlers = control.handlers.to_vec();
        edit(&mut handlers);
        control.handler_forward = handlers
            .iter()
            .map(|handler| handler.threshold.forward_interest())
            .min()
            .unwrap_or(i64::MAX);
        control.handlers = handlers.into();
    }
}

impl Control {
    /// Takes the turn for a jump to `state`.
    fn begin(&mut self, state: ClockState, jump: RawJump) -> Generation {
        self.generation += 1;
        self.turn = Some(Turn {
            generation: self.generation,
            thread: None,
            jump,
            pending: Some(state),
            deadline: machine::steady().saturating_add(self.patience.nanos()),
            running: None,
            watched: false,
        });
        self.generation
    }

    /// The jump in progress, if it is still this one.
    fn turn_of(&mut self, generation: Generation) -> Option<&mut Turn> {
        self.turn
            .as_mut()
            .filter(|turn| turn.generation == generation)
    }

    /// Whether the patience with the handlers of the jump in progress is over.
    pub(crate) fn is_overdue(&self) -> bool {
        let turn = self.turn.as_ref();
        turn.is_some_and(|turn| turn.patience_left() <= 0)
    }

    /// Marks the jump in progress as watched; returns its number the first time.
    pub(crate) fn watch(&mut self) -> Option<Generation> {
        let turn = self.turn.as_mut()?;
        let first = !std::mem::replace(&mut turn.watched, true);
        first.then_some(turn.generation)
    }

    /// Defers an operation until after the jump in progress.
    pub(crate) fn defer(&mut self, operation: Operation) {
        // A source that sends while a handler hangs: of several ticks forward, the last one suffices.
        if self.deferred.len() >= MOST_DEFERRED
            && let (Some(Operation::Tick(last)), Operation::Tick(time)) =
                (self.deferred.back_mut(), operation)
            && *last <= time
        {
            *last = time;
        } else {
            self.deferred.push_back(operation);
        }
    }
}

impl Turn {
    /// Nanoseconds until the patience with the handlers is over; positive before they are called.
    fn patience_left(&self) -> i64 {
        let left = self.deadline.saturating_sub(machine::steady());
        if self.thread.is_none() {
            left.max(BEFORE_CALLS)
        } else {
            left
        }
    }

    /// The machine's steady time at which the patience is over, or of the next check.
    fn give_up_at(&self) -> i64 {
        machine::steady().saturating_add(self.patience_left())
    }

    /// Whether this thread calls the handlers.
    pub(crate) fn is_mine(&self) -> bool {
        self.thread == Some(current().id())
    }
}

/// The callbacks to call for a jump.
struct HandlerCalls {
    handlers: Vec<Arc<Registered>>,
    generation: Generation,
    jump: RawJump,
}

/// Interval of the checks for deferred operations; the thread that applies them also notifies.
const LOOK_AGAIN: std::time::Duration = std::time::Duration::from_millis(100);
/// The shortest wait, in nanoseconds, for a thread that has not started to call handlers.
const BEFORE_CALLS: i64 = 1_000_000;
/// More operations accumulate only behind a handler that hangs.
const MOST_DEFERRED: usize = 1_000;

/// The parties to notify of a committed jump, once no lock is held.
struct Committed {
    blocked: Vec<Waker>,
    followers: Vec<Arc<dyn Follow>>,
}

impl Committed {
    fn notify(self) {
        wake_all(&self.followers);
        for waker in self.blocked {
            waker.wake();
        }
    }
}

fn wake_all(followers: &[Arc<dyn Follow>]) {
    for follower in followers {
        follower.wake();
    }
}
