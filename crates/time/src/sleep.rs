use std::future::Future;
use std::marker::PhantomData;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use atomic_waker::AtomicWaker;

use crate::clock_core::ClockCore;
use crate::kind::{Kind, Ros};
use crate::scheduled::Scheduled;
use crate::wait::{RawWoke, WaitOptions, Woke};
use crate::wait_cell::Party;
use crate::wait_state::{Goal, Plan, Wait};

/// A wait on a clock as a future; see [`Clock::sleep_until_async`](crate::Clock::sleep_until_async).
///
/// Needs no particular runtime: one thread of this process serves the deadlines of all such waits. Dropping
/// it ends the wait.
#[must_use = "futures do nothing unless awaited"]
pub struct Sleep<K: Kind = Ros> {
    wait: Wait,
    timer: Scheduled,
    done: Option<RawWoke>,
    kind: PhantomData<fn() -> K>,
}

impl<K: Kind> Sleep<K> {
    pub(crate) fn new(core: &Arc<ClockCore>, goal: Goal, options: &WaitOptions) -> Self {
        let wait = Wait::new(core, goal, options, Party::Task(AtomicWaker::new()));
        Self {
            wait,
            timer: Scheduled::default(),
            done: None,
            kind: PhantomData,
        }
    }
}

impl<K: Kind> Future for Sleep<K> {
    type Output = Woke<K>;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Woke<K>> {
        let this = &mut *self;
        if let Some(woke) = this.done {
            return Poll::Ready(woke.typed());
        }
        if let Party::Task(waker) = this.wait.cell().party() {
            waker.register(context.waker());
        }
        loop {
            this.wait.cell().take();
            match this.wait.plan() {
                Plan::Done(woke) => {
                    this.timer.clear(&this.wait);
                    this.done = Some(woke);
                    return Poll::Ready(woke.typed());
                }
                Plan::Park(until) => this.timer.set(&this.wait, until),
            }
            if !this.wait.cell().is_signalled() {
                return Poll::Pending;
            }
        }
    }
}

impl<K: Kind> Drop for Sleep<K> {
    fn drop(&mut self) {
        self.timer.clear(&self.wait);
    }
}

impl<K: Kind> std::fmt::Debug for Sleep<K> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Sleep(done: {:?})", self.done)
    }
}
