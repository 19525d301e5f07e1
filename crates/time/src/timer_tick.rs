use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use crate::cancel::CancelToken;
use crate::kind::{Kind, Ros};
use crate::schedule::Tick;
use crate::sleep::Sleep;
use crate::timer::{Step, TickWait, Timer};
use crate::wait::Woke;

/// The next tick of a [`Timer`] as a future; see [`Timer::tick`]. Dropping it takes no tick.
#[must_use = "futures do nothing unless awaited"]
pub struct TimerTick<'a, K: Kind = Ros> {
    timer: &'a Timer<K>,
    wait: TickWait,
    armed: ArmedSleep<K>,
}

impl<'a, K: Kind> TimerTick<'a, K> {
    pub(crate) fn new(timer: &'a Timer<K>, wait: TickWait) -> Self {
        Self {
            timer,
            wait,
            armed: ArmedSleep::default(),
        }
    }
}

impl<K: Kind> Future for TimerTick<'_, K> {
    type Output = Result<Tick<K>, Woke<K>>;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        let this = &mut *self;
        this.armed.poll(this.timer, &this.wait, context)
    }
}

/// The sleep that a task waits in for a tick, if any, and the token that ends it when the schedule changes.
pub(crate) struct ArmedSleep<K: Kind>(Option<(Sleep<K>, CancelToken)>);

impl<K: Kind> Default for ArmedSleep<K> {
    fn default() -> Self {
        Self(None)
    }
}

impl<K: Kind> ArmedSleep<K> {
    pub(crate) fn poll(
        &mut self,
        timer: &Timer<K>,
        wait: &TickWait,
        context: &mut Context<'_>,
    ) -> Poll<Result<Tick<K>, Woke<K>>> {
        loop {
            if let Some((sleep, changed)) = &mut self.0 {
                let woke = ready!(Pin::new(sleep).poll(context));
                let checked = timer.check(woke, changed);
                self.0 = None;
                if let Err(woke) = checked {
                    return Poll::Ready(Err(woke));
                }
            }
            match timer.step(wait) {
                Err(woke) => return Poll::Ready(Err(woke)),
                Ok(Step::Due(tick)) => return Poll::Ready(Ok(tick)),
                Ok(Step::Wait { until, changed }) => {
                    let options = timer.sleep_options(wait, &changed);
                    let sleep = timer.clock().sleep_until_async_with(until, &options);
                    self.0 = Some((sleep, changed));
                }
            }
        }
    }
}

impl<K: Kind> fmt::Debug for TimerTick<'_, K> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("TimerTick")
            .field("timer", self.timer)
            .finish_non_exhaustive()
    }
}
