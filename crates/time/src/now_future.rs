use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll};

use crate::clock::{Clock, NoTime};
use crate::kind::Kind;
use crate::time::Time;

/// The current time as a future; see [`Clock::now_async`].
#[must_use = "futures do nothing unless awaited"]
#[derive(Debug)]
pub struct NowFuture<K: Kind>(Clock<K>);

impl<K: Kind> NowFuture<K> {
    pub(crate) fn new(clock: Clock<K>) -> Self {
        Self(clock)
    }
}

impl<K: Kind> Future for NowFuture<K> {
    type Output = Time<K>;

    fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Time<K>> {
        loop {
            match self.0.try_now() {
                Ok(now) => return Poll::Ready(now),
                Err(NoTime::NotStarted) => return Poll::Ready(Time::ZERO),
                Err(NoTime::JumpInProgress) => {
                    if self.0.core().wait_for_commit(context.waker()) {
                        return Poll::Pending;
                    }
                }
            }
        }
    }
}
