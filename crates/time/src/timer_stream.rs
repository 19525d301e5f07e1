use std::fmt;
use std::pin::Pin;
use std::task::{Context, Poll};

use futures_core::Stream;

use crate::kind::{Kind, Ros};
use crate::schedule::Tick;
use crate::timer::{TickWait, Timer};
use crate::timer_tick::ArmedSleep;
use crate::wait::{WaitOptions, Woke};

/// The ticks of a [`Timer`] as a stream; see [`Timer::into_stream`].
#[must_use = "streams do nothing unless polled"]
pub struct TimerStream<K: Kind = Ros> {
    timer: Timer<K>,
    options: WaitOptions,
    wait: Option<TickWait>,
    armed: ArmedSleep<K>,
    ended: Option<Woke<K>>,
}

impl<K: Kind> Timer<K> {
    /// The ticks as a stream (feature `stream`), until the timer is cancelled, has had its one tick, or its clock is
    /// shut down.
    ///
    /// ```
    /// use std::pin::pin;
    /// use futures_core::Stream;
    /// use timeloom_time::{Clock, Duration, Steady, Timer, VirtualTime};
    /// let world = VirtualTime::new();
    /// let clock = Clock::<Steady>::on(&world.base());
    /// let begin = clock.now();
    /// let mut ticks = Timer::builder(&clock, Duration::from_millis(10)).build()?.into_stream();
    /// for number in 1..=3 {
    ///     let next = std::future::poll_fn(|context| pin!(&mut ticks).poll_next(context));
    ///     let tick = world.block_on(next).expect("the timer is not cancelled");
    ///     assert_eq!(tick.expected - begin, Duration::from_millis(10) * number);
    /// }
    /// # Ok::<_, timeloom_time::TimeError>(())
    /// ```
    pub fn into_stream(self) -> TimerStream<K> {
        self.into_stream_with(&WaitOptions::default())
    }

    /// Like [`into_stream`](Self::into_stream), with options, which apply to each tick; the stream ends with the first
    /// wait that ends without a tick.
    pub fn into_stream_with(self, options: &WaitOptions) -> TimerStream<K> {
        TimerStream {
            timer: self,
            options: options.clone(),
            wait: None,
            armed: ArmedSleep::default(),
            ended: None,
        }
    }
}

impl<K: Kind> TimerStream<K> {
    /// The timer, to cancel or reset it.
    pub fn timer(&self) -> &Timer<K> {
        &self.timer
    }

    /// The reason why the stream ended; `None` while it has not.
    pub fn ended(&self) -> Option<Woke<K>> {
        self.ended
    }
}

impl<K: Kind> Stream for TimerStream<K> {
    type Item = Tick<K>;

    fn poll_next(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Tick<K>>> {
        let this = &mut *self;
        if this.ended.is_some() {
            return Poll::Ready(None);
        }
        let wait = this
            .wait
            .get_or_insert_with(|| this.timer.begin(&this.options));
        match this.armed.poll(&this.timer, wait, context) {
            Poll::Pending => Poll::Pending,
            Poll::Ready(Ok(tick)) => {
                this.wait = None;
                Poll::Ready(Some(tick))
            }
            Poll::Ready(Err(woke)) => {
                this.ended = Some(woke);
                Poll::Ready(None)
            }
        }
    }
}

impl<K: Kind> fmt::Debug for TimerStream<K> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("TimerStream")
            .field("timer", &self.timer)
            .field("ended", &self.ended)
            .finish_non_exhaustive()
    }
}
