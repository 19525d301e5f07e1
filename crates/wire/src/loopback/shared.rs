use std::any::Any;
use std::cell::Cell;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::{Arc, Mutex, MutexGuard};

use timeloom_time::{Clock, Event, Steady, System, TimeBase};

use super::alarm::{Alarm, AlarmWait};
use super::calls::Call;
use super::member::Target;
use super::options::LoopbackOptions;
use super::state::State;
use super::transmit::Now;
use crate::backend::lock;
use crate::error::{Error, Result};

thread_local! {
    /// The participant that this thread belongs to; 0 if none.
    static THREAD_OF: Cell<u32> = const { Cell::new(0) };
}

/// The shared state of a network behind its lock, and the clocks.
pub(super) struct Shared {
    pub(super) base: TimeBase,
    steady: Clock<Steady>,
    system: Clock<System>,
    state: Mutex<State>,
}

/// The next step of a participant's thread.
enum Step {
    Call(Call),
    Wait(AlarmWait),
    End,
}

impl Shared {
    pub(super) fn new(base: &TimeBase, options: LoopbackOptions) -> Arc<Self> {
        Arc::new(Self {
            base: base.clone(),
            steady: Clock::on(base),
            system: Clock::on(base),
            state: Mutex::new(State::new(options)),
        })
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        lock(&self.state)
    }

    fn now(&self) -> Now {
        Now {
            steady: self.steady.now().nanos(),
            system: self.system.now(),
        }
    }

    /// Changes the state, then wakes the threads that have work because of it.
    pub(super) fn with<T>(&self, act: impl FnOnce(&mut State, Now) -> T) -> T {
        let mut state = self.lock();
        let now = self.now();
        let result = act(&mut state, now);
        state.wake_threads(now.steady);
        let dropped_later = std::mem::take(&mut state.dropped_later);
        drop(state);
        drop(dropped_later);
        result
    }

    /// Starts a participant with its thread.
    pub(super) fn join(self: &Arc<Self>, label: &str) -> Result<u32> {
        let alarm = Alarm::new(&self.base, &self.steady);
        let id = self.with(|state, _| state.join(label, alarm));
        let shared = Arc::clone(self);
        let spawned = self
            .base
            .spawn(&format!("loopback {label}"), move || shared.serve(id));
        match spawned {
            Ok(_detached) => Ok(id),
            Err(error) => {
                self.with(|state, _| state.remove_member(id));
                Err(Error::Refused {
                    transport: "loopback",
                    action: format!("make participant `{label}`"),
                    reason: error.to_string(),
                })
            }
        }
    }

    /// A participant's thread.
    fn serve(self: Arc<Self>, id: u32) {
        THREAD_OF.set(id);
        loop {
            match self.with(|state, now| state.step(id, now)) {
                Step::End => return,
                Step::Wait(alarm) => alarm.wait(),
                Step::Call(call) => self.call(id, call),
            }
        }
    }

    fn call(self: &Arc<Self>, id: u32, call: Call) {
        if let Err(panic) = catch_unwind(AssertUnwindSafe(|| call.run(self))) {
            // Another thread may wait for this call to end.
            self.with(|state, _| {
                state.returned(id);
                state.remove_member(id);
            });
            resume_unwind(panic);
        }
    }

    /// Removes something from the state; no call of it is running when this returns.
    ///
    /// On a participant's own thread it does not wait: the calls of a thread do not overlap anyway, and two threads
    /// that wait for each other would deadlock.
    pub(super) fn end<T>(
        &self,
        target: Target,
        member: u32,
        take_out: impl FnOnce(&mut State, Now) -> Option<T>,
    ) {
        let waits = THREAD_OF.get() == 0 && !std::thread::panicking();
        let (taken, running) = self.with(|state, now| {
            let taken = (!state.is_silent(member))
                .then(|| take_out(state, now))
                .flatten();
            let event = || Event::new(&self.base);
            let running = waits
                .then(|| state.running(target, member, event))
                .flatten();
            (taken, running)
        });
        // With no lock held: the drop may run user code.
        drop(taken);
        if let Some(running) = running {
            running.wait();
        }
    }

    /// Whether this is the thread of that participant.
    pub(super) fn is_thread_of(member: u32) -> bool {
        THREAD_OF.get() == member
    }
}

impl State {
    /// The next step of a member's thread. On virtual time it makes one call per ring of its alarm, so that threads
    /// woken by that call run first.
    fn step(&mut self, id: u32, now: Now) -> Step {
        self.returned(id);
        let due = self
            .members
            .get_mut(&id)
            .is_some_and(|member| member.alarm.is_due(now.steady));
        if due {
            self.advance(id, now);
            if let Some(call) = self.next_call(id, now.steady) {
                return Step::Call(call);
            }
        }
        let Some(member) = self.members.get_mut(&id) else {
            return Step::End;
        };
        if member.is_over() {
            self.remove_member(id);
            return Step::End;
        }
        let next = member.next(now.steady);
        Step::Wait(member.alarm.prepare(next, now.steady))
    }

    /// Removes a member for good.
    fn remove_member(&mut self, id: u32) {
        if let Some(member) = self.members.remove(&id) {
            let observers: Vec<_> = member.watchers.into_values().collect();
            self.dropped_later
                .push(Box::new(observers) as Box<dyn Any + Send>);
        }
    }
}
