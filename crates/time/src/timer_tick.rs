use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use crate::cancel::CancelToken;
use crate::kind::Kind;
use crate::schedule::Tick;
use crate::sleep::Sleep;
use crate::timer::{Step, Timer};
use crate::wait::{WaitOptions, Woke};

/// The next tick of a [`Timer`] as a future; see [`Timer::tick`]. Dropping it takes no tick.
#[must_use = "futures do nothing unless awaited"]
pub struct TimerTick<'a, K: Kind> {
    timer: &'a Timer<K>,
    sleep: Option<(Sleep<K>, CancelToken)>,
}

impl<'a, K: Kind> TimerTick<'a, K> {
    pub(crate) fn new(timer: &'a Timer<K>) -> Self {
        Self { timer, sleep: None }
    }
}

impl<K: Kind> Future for TimerTick<'_, K> {
    type Output = Result<Tick<K>, Woke<K>>;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        let this = &mut *self;
        loop {
            if let Some((sleep, changed)) = &mut this.sleep {
                let woke = ready!(Pin::new(sleep).poll(context));
                let checked = this.timer.check(woke, changed);
                this.sleep = None;
                if let Err(woke) = checked {
                    return Poll::Ready(Err(woke));
                }
            }
            match this.timer.step() {
                Step::Due(tick) => return Poll::Ready(Ok(tick)),
                Step::Stopped => return Poll::Ready(Err(Woke::Cancelled)),
                Step::Wait { until, changed } => {
                    let options = Timer::<K>::options(&WaitOptions::default(), &changed);
                    let sleep = this.timer.clock().sleep_until_async(until, &options);
                    this.sleep = Some((sleep, changed));
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
