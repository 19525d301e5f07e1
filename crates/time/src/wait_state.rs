use std::sync::Arc;

use crate::clock_core::ClockCore;
use crate::jump::JumpThreshold;
use crate::sync::lock;
use crate::wait::{OnJump, Precision, RawWoke, WaitOptions};
use crate::wait_cell::{Party, WaitCell};
use crate::wait_queue::{AtStart, WaitEntry, WaitId};

/// The goal of a wait, in nanoseconds.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Goal {
    At(i64),
    After(i64),
    /// The first sample of the clock's source.
    Start,
}

/// One wait: by a thread in [`block`](Self::block), a task or an event descriptor, which returns to
/// [`plan`](Self::plan) whenever its cell is signalled.
pub(crate) struct Wait {
    core: Arc<ClockCore>,
    cell: Arc<WaitCell>,
    options: WaitOptions,
    id: Option<WaitId>,
    /// The outcome, if known before the wait began.
    at_once: Option<RawWoke>,
    timeout_at: Option<i64>,
    stall: Option<Stall>,
}

struct Stall {
    patience: i64,
    check_at: i64,
    updates: u64,
}

/// The next step of a wait.
pub(crate) enum Plan {
    Done(RawWoke),
    /// Return when signalled, or at this steady time.
    Park(Option<i64>),
}

/// The time before its end at which a precise wait stops sleeping and starts to spin: more than the usual latency of a
/// wake-up, at a few per cent of a core for a thousand waits a second.
const SPIN_NANOS: i64 = 50_000;

impl Wait {
    /// Begins a wait. Takes short locks, never blocks for long.
    pub(crate) fn new(
        core: &Arc<ClockCore>,
        goal: Goal,
        options: &WaitOptions,
        party: Party,
    ) -> Self {
        core.watch_system_steps();
        let cell = core.base.new_cell(party);
        let timed = options.real_timeout.is_some() || options.stall.is_some();
        let steady = if timed { core.base.steady() } else { 0 };
        let mut wait = Self {
            core: Arc::clone(core),
            cell,
            id: None,
            at_once: None,
            timeout_at: options
                .real_timeout
                .map(|timeout| steady.saturating_add(timeout.nanos())),
            stall: options.stall.map(|patience| Stall {
                patience: patience.nanos().max(1),
                check_at: steady.saturating_add(patience.nanos().max(1)),
                updates: core.updates(),
            }),
            options: options.clone(),
        };
        for token in &wait.options.cancel {
            token.attach(&wait.cell);
        }
        wait.enter(goal);
        wait
    }

    /// Files the wait with its clock; from here on it misses no tick and no jump.
    fn enter(&mut self, goal: Goal) {
        let control = lock(&self.core.control);
        if let Some(turn) = &control.turn
            && turn.is_mine()
        {
            // Inside a jump handler time cannot continue before the handler returns.
            self.at_once = Some(RawWoke::Jumped(turn.jump));
            return;
        }
        let base = self.core.base_now();
        let now = control.state.now(base);
        let asked = self.options.on_jump.is_some() || self.options.threshold.is_some();
        let (target, on_jump, at_start) = match goal {
            Goal::At(target) if asked => (target, OnJump::Return, AtStart::Jump),
            Goal::At(target) => (target, OnJump::Return, AtStart::GoOn),
            Goal::After(duration) => {
                let target = now.saturating_add(duration);
                (target, OnJump::Rebase, AtStart::Jump)
            }
            Goal::Start if control.state.is_started() => (now, OnJump::Ignore, AtStart::Reach),
            // The time before the start is zero.
            Goal::Start => (now.saturating_add(1), OnJump::Ignore, AtStart::Reach),
        };
        if target <= now {
            self.at_once = Some(RawWoke::Reached);
            return;
        }
        let mut queue = lock(&self.core.queue);
        self.id = Some(queue.insert(
            target,
            WaitEntry {
                cell: Arc::clone(&self.cell),
                on_jump: self.options.on_jump.unwrap_or(on_jump),
                threshold: self.options.threshold.unwrap_or(JumpThreshold::DISRUPTIVE),
                revision: control.state.revision,
                at_start,
                base,
                jump: None,
            },
        ));
        self.core.queue_changed(&queue);
        // The control lock is held to here: a tick is completely before (and was seen) or after (and sees this).
        drop((queue, control));
    }

    /// Checks everything that can end the wait.
    pub(crate) fn plan(&mut self) -> Plan {
        if self.core.is_shut_down() {
            return Plan::Done(RawWoke::ShutDown);
        }
        if self.options.is_cancelled() {
            return Plan::Done(RawWoke::Cancelled);
        }
        if let Some(woke) = self.at_once {
            return Plan::Done(woke);
        }
        match self.look_at_clock() {
            Look::Done(woke) => Plan::Done(woke),
            Look::At(until) => self.plan_until(until),
            Look::JumpInProgress if self.core.rescue() => self.plan(),
            Look::JumpInProgress => {
                let until = self
                    .core
                    .jump_deadline()
                    .filter(|_| !self.core.base.is_virtual());
                self.plan_until(until)
            }
        }
    }

    fn plan_until(&mut self, until: Option<i64>) -> Plan {
        if self.timeout_at.is_none() && self.stall.is_none() {
            return Plan::Park(until);
        }
        let steady = self.core.base.steady();
        if self.timeout_at.is_some_and(|at| at <= steady) {
            return Plan::Done(RawWoke::TimedOut);
        }
        if let Some(stall) = &mut self.stall
            && stall.check_at <= steady
        {
            let updates = self.core.updates();
            if updates == stall.updates && self.core.is_sourced() {
                return Plan::Done(RawWoke::Stalled);
            }
            stall.updates = updates;
            stall.check_at = steady.saturating_add(stall.patience);
        }
        let checks = [
            until,
            self.timeout_at,
            self.stall.as_ref().map(|stall| stall.check_at),
        ];
        Plan::Park(checks.into_iter().flatten().min())
    }

    fn look_at_clock(&self) -> Look {
        let Some(id) = self.id else {
            return Look::Done(RawWoke::Reached);
        };
        let queue = lock(&self.core.queue);
        let Some((target, entry)) = queue.get(id) else {
            return Look::Done(RawWoke::Reached);
        };
        if let Some(jump) = entry.jump {
            return Look::Done(RawWoke::Jumped(jump));
        }
        match self.core.load() {
            // The jump's handlers come first; then this wait is notified.
            Some(snapshot) if snapshot.revision == entry.revision => {
                if self.core.eval(&snapshot) >= target {
                    Look::Done(RawWoke::Reached)
                } else {
                    Look::At(self.core.reach(&snapshot, target))
                }
            }
            _ => Look::JumpInProgress,
        }
    }

    /// Blocks this thread until the wait is over.
    pub(crate) fn block(mut self) -> RawWoke {
        let precise = self.options.precision == Precision::Precise && !self.core.base.is_virtual();
        loop {
            match self.plan() {
                Plan::Done(woke) => return woke,
                Plan::Park(Some(until)) if precise => self.park_precisely(until),
                Plan::Park(until) => self.core.base.park(&self.cell, until),
            }
        }
    }

    fn park_precisely(&self, until: i64) {
        let sleep_until = until.saturating_sub(SPIN_NANOS);
        if self.core.base.steady() < sleep_until {
            self.core.base.park(&self.cell, Some(sleep_until));
            return;
        }
        while !self.cell.is_signalled() && self.core.base.steady() < until {
            std::hint::spin_loop();
        }
        self.cell.take();
    }

    pub(crate) fn core(&self) -> &Arc<ClockCore> {
        &self.core
    }

    pub(crate) fn cell(&self) -> &Arc<WaitCell> {
        &self.cell
    }
}

enum Look {
    Done(RawWoke),
    At(Option<i64>),
    JumpInProgress,
}

impl Drop for Wait {
    fn drop(&mut self) {
        if let Some(id) = self.id {
            let mut queue = lock(&self.core.queue);
            drop(queue.remove(id));
            self.core.queue_changed(&queue);
        }
        for token in &self.options.cancel {
            token.detach(&self.cell);
        }
    }
}
