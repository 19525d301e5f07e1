//! How a clock jumps, and what readers and writers do meanwhile.
//!
//! 1. Take the turn; work out the new state; pick the handlers whose threshold the jump meets.
//! 2. If the jump goes back and somebody wants to know before: flag the snapshot, so that readers block.
//! 3. Run the callbacks for before, with no lock held.
//! 4. Commit: publish the new state, let readers go.
//! 5. Run the callbacks for after. 6. Tell the waits. 7. Give the turn back.
//!
//! A callback that hangs must not stop time: whoever waits for the turn longer than the clock's patience
//! commits the jump, tells the waits and takes the turn. The thread that hung finds its generation gone.

use std::sync::Arc;
use std::task::Waker;

use crate::clock_core::{ClockCore, Control, Turn, signal_all};
use crate::clock_state::{ClockState, Operation};
use crate::follow::Follow;
use crate::jump::JumpCause;
use crate::jump_handler::Registered;
use crate::machine;
use crate::raw_jump::RawJump;
use crate::reporter::ClockWarning;
use crate::snapshot_cell::WriteWindow;
use crate::sync::{MutexGuard, current, lock, wait_timeout};
use crate::wait_cell::WaitCell;

impl ClockCore {
    /// Waits until no jump is in progress. `None` inside a handler of this clock: the operation is then
    /// done after the jump.
    pub(crate) fn take_turn(&self, operation: Operation) -> Option<MutexGuard<'_, Control>> {
        let mut control = lock(&self.control);
        while let Some(turn) = &control.turn {
            if turn.thread == current().id() {
                control.deferred.push_back(operation);
                return None;
            }
            control = self.wait_for_turn(control);
        }
        Some(control)
    }

    /// Waits for the jump in progress to get further; ends it when patience does.
    fn wait_for_turn<'a>(&'a self, control: MutexGuard<'a, Control>) -> MutexGuard<'a, Control> {
        let Some(turn) = &control.turn else {
            return control;
        };
        let left = turn.deadline.saturating_sub(machine::steady());
        if left <= 0 {
            return self.give_up(control);
        }
        let left = std::time::Duration::from_nanos(left.unsigned_abs());
        wait_timeout(&self.turned, control, left).0
    }

    /// Ends a jump whose handler hangs.
    fn give_up<'a>(&'a self, mut control: MutexGuard<'a, Control>) -> MutexGuard<'a, Control> {
        let committed = self.commit(&mut control);
        let Some(turn) = control.turn.take() else {
            return control;
        };
        let cells = self.tell_waits(&control, &turn.jump);
        drop(control);
        committed.tell();
        signal_all(&cells);
        self.turned.notify_all();
        if let Some(handler) = &turn.running {
            self.reporter.report(&ClockWarning::HandlerHangs {
                handler: handler.name.clone(),
            });
        }
        lock(&self.control)
    }

    /// Ends the jump in progress if its handlers are overdue, for a wait that would be told after them;
    /// true if it did.
    pub(crate) fn rescue(&self) -> bool {
        let control = lock(&self.control);
        let overdue = control
            .turn
            .as_ref()
            .is_some_and(|turn| turn.deadline <= machine::steady());
        if overdue {
            drop(self.give_up(control));
        }
        overdue
    }

    /// Whether this thread runs a jump handler of this clock.
    pub(crate) fn in_handler(&self) -> bool {
        let me = current().id();
        let control = lock(&self.control);
        control.turn.as_ref().is_some_and(|turn| turn.thread == me)
    }

    /// Machine steady time until which a wait must leave the jump in progress alone.
    pub(crate) fn jump_deadline(&self) -> Option<i64> {
        lock(&self.control).turn.as_ref().map(|turn| turn.deadline)
    }

    /// The slow path of `now`: during a jump back, the old time for the jumping thread and a wait for others.
    pub(crate) fn now_after_jump(&self) -> i64 {
        let mut control = lock(&self.control);
        loop {
            match &control.turn {
                Some(turn) if turn.pending.is_some() => {
                    if turn.thread == current().id() {
                        return turn.jump.old;
                    }
                    control = self.wait_for_turn(control);
                }
                // With the lock held nobody writes, so the state may be read as it is.
                _ => return control.state.now(self.base_now()),
            }
        }
    }

    /// Registers a task to be woken when the jump in progress is committed, and says when patience with it
    /// ends; `None` if there is no jump.
    pub(crate) fn wait_for_commit(&self, waker: &Waker) -> Option<i64> {
        let mut control = lock(&self.control);
        let turn = control.turn.as_ref()?;
        let deadline = turn.pending.is_some().then_some(turn.deadline)?;
        control.blocked.push(waker.clone());
        Some(deadline)
    }

    /// Runs a jump from start to end.
    pub(crate) fn jump(
        &self,
        mut control: MutexGuard<'_, Control>,
        window: WriteWindow<'_>,
        state: ClockState,
        jump: RawJump,
    ) {
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
            let cells = self.tell_waits(&control, &jump);
            drop(control);
            tell_all(&followers);
            return signal_all(&cells);
        }
        // While time is held, the old time cannot overtake the new.
        let goes_back = jump.delta() < 0 || jump.cause == JumpCause::Control;
        let hold = goes_back && handlers.iter().any(|handler| handler.wants_before());
        window.commit(&control.state, hold);
        let generation = control.begin(state, jump);
        drop(control);
        self.run_handlers(&handlers, generation, &jump, Registered::call_before);
        self.commit_if_mine(generation);
        self.run_handlers(&handlers, generation, &jump, Registered::call_after);
        self.finish(generation, &jump);
    }

    fn run_handlers(
        &self,
        handlers: &[Arc<Registered>],
        generation: u64,
        jump: &RawJump,
        call: impl Fn(&Registered, &RawJump) -> Result<(), String>,
    ) {
        for handler in handlers {
            if let Some(turn) = lock(&self.control).turn.as_mut()
                && turn.generation == generation
            {
                turn.running = Some(Arc::clone(handler));
            }
            if let Err(message) = call(handler, jump) {
                let handler = handler.name.clone();
                self.reporter
                    .report(&ClockWarning::HandlerPanicked { handler, message });
            }
        }
    }

    fn commit_if_mine(&self, generation: u64) {
        let mut control = lock(&self.control);
        if control
            .turn
            .as_ref()
            .is_some_and(|turn| turn.generation == generation)
        {
            let committed = self.commit(&mut control);
            drop(control);
            committed.tell();
        }
    }

    /// Publishes what the jump in progress leads to, if it is not out yet.
    fn commit(&self, control: &mut Control) -> Committed {
        let mut followers = Vec::new();
        if let Some(turn) = control.turn.as_mut()
            && let Some(mut state) = turn.pending.take()
        {
            let window = self.snapshot.write();
            if turn.jump.cause == JumpCause::Control {
                // The time jumped to is the time shown first, however long the handlers took.
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

    fn finish(&self, generation: u64, jump: &RawJump) {
        let mut control = lock(&self.control);
        let mine = control
            .turn
            .as_ref()
            .is_some_and(|turn| turn.generation == generation);
        let cells = if mine {
            control.turn = None;
            self.tell_waits(&control, jump)
        } else {
            Vec::new()
        };
        drop(control);
        signal_all(&cells);
        self.turned.notify_all();
    }

    /// Tells the waits about a jump; gives the cells to signal once no lock is held.
    ///
    /// Under the control lock, so that no wait misses a jump or hears of two in the wrong order.
    fn tell_waits(&self, _control: &Control, jump: &RawJump) -> Vec<Arc<WaitCell>> {
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

    /// Puts a handler at the end of the list.
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
    fn begin(&mut self, state: ClockState, jump: RawJump) -> u64 {
        self.generation += 1;
        self.turn = Some(Turn {
            generation: self.generation,
            thread: current().id(),
            jump,
            pending: Some(state),
            deadline: machine::steady().saturating_add(self.patience.nanos()),
            running: None,
        });
        self.generation
    }
}

/// Who is to be told of a jump that is out, once no lock is held.
struct Committed {
    blocked: Vec<Waker>,
    followers: Vec<Arc<dyn Follow>>,
}

impl Committed {
    fn tell(self) {
        tell_all(&self.followers);
        for waker in self.blocked {
            waker.wake();
        }
    }
}

fn tell_all(followers: &[Arc<dyn Follow>]) {
    for follower in followers {
        follower.tell();
    }
}
