use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll, Waker};

use atomic_waker::AtomicWaker;

use crate::clock::{Clock, NoTime};
use crate::kind::{Kind, Ros};
use crate::time::Time;
use crate::time_base::{TimeBase, TimerKey};
use crate::wait_cell::{Party, WaitCell};

/// The current time as a future; see [`Clock::now_async`].
#[must_use = "futures do nothing unless awaited"]
pub struct NowFuture<K: Kind = Ros> {
    clock: Clock<K>,
    watchdog: Watchdog,
}

/// Wakes the task when the patience with the handlers of the jump is over.
#[derive(Default)]
struct Watchdog(Option<TimerKey>);

impl<K: Kind> NowFuture<K> {
    pub(crate) fn new(clock: Clock<K>) -> Self {
        Self {
            clock,
            watchdog: Watchdog::default(),
        }
    }
}

impl<K: Kind> Future for NowFuture<K> {
    type Output = Time<K>;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Time<K>> {
        let this = &mut *self;
        loop {
            match this.clock.try_now() {
                Ok(now) => return Poll::Ready(now),
                Err(NoTime::NotStarted) => return Poll::Ready(Time::ZERO),
                Err(NoTime::JumpInProgress) if this.clock.core().rescue() => {}
                Err(NoTime::JumpInProgress) => {
                    if let Some(deadline) = this.clock.core().wait_for_commit(context.waker()) {
                        this.watchdog.set(context.waker(), deadline);
                        return Poll::Pending;
                    }
                }
            }
        }
    }
}

impl Watchdog {
    /// Patience is measured on the machine's clock, whatever base the clock is on.
    fn set(&mut self, waker: &Waker, at: i64) {
        self.clear();
        let task = AtomicWaker::new();
        task.register(waker);
        let cell = WaitCell::new(Party::Task(task), None);
        self.0 = Some(TimeBase::machine().schedule(&cell, at));
    }

    fn clear(&mut self) {
        if let Some(key) = self.0.take() {
            TimeBase::machine().unschedule(key);
        }
    }
}

impl Drop for Watchdog {
    fn drop(&mut self) {
        self.clear();
    }
}

impl<K: Kind> fmt::Debug for NowFuture<K> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("NowFuture").field(&self.clock).finish()
    }
}
