use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll};

use crate::clock::Clock;
use crate::into_duration::IntoDuration;
use crate::kind::{Kind, Ros};
use crate::sleep::Sleep;
use crate::wait::Woke;

/// Limits a future to `duration` of a clock's time: on a paused or simulated clock, the timeout is paused or simulated,
/// too.
///
/// Needs no particular runtime. When the clock jumps, the remaining time stays the same.
///
/// ```
/// use timeloom_time::{Clock, Duration, Steady, VirtualTime, Woke, timeout};
/// let world = VirtualTime::new();
/// let clock = Clock::<Steady>::on(&world.base());
/// world.block_on(async {
///     assert_eq!(timeout(&clock, Duration::SECOND, async { 42 }).await, Ok(42));
///     let never = std::future::pending::<()>();
///     assert_eq!(timeout(&clock, Duration::SECOND, never).await, Err(Woke::Reached));
/// });
/// ```
pub fn timeout<K: Kind, F: Future>(
    clock: &Clock<K>,
    duration: impl IntoDuration,
    future: F,
) -> Timeout<F, K> {
    Timeout {
        future: Box::pin(future),
        sleep: clock.sleep_for_async(duration),
    }
}

/// A future with a limit; see [`timeout`]. Its error is the reason why the limit ended it: [`Woke::Reached`], or
/// [`Woke::ShutDown`] of the clock.
#[must_use = "futures do nothing unless awaited"]
pub struct Timeout<F, K: Kind = Ros> {
    future: Pin<Box<F>>,
    sleep: Sleep<K>,
}

impl<F: Future, K: Kind> Future for Timeout<F, K> {
    type Output = Result<F::Output, Woke<K>>;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        let this = &mut *self;
        // The future first: one that is ready in time is never too late.
        if let Poll::Ready(output) = this.future.as_mut().poll(context) {
            return Poll::Ready(Ok(output));
        }
        Pin::new(&mut this.sleep).poll(context).map(Err)
    }
}

impl<F, K: Kind> fmt::Debug for Timeout<F, K> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Timeout")
            .field("sleep", &self.sleep)
            .finish_non_exhaustive()
    }
}
