//! Timers of a node: ticks on its clock, callbacks on its thread.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Mutex};

use timeloom_time::{
    BaseThread, CancelToken, Duration, Event, IntoDuration, Ros, Tick, TimeBase, TimeError, Timer,
    WaitOptions, Woke,
};
use timeloom_wire::backend::lock;

use super::RosNode;
use super::executor::JobQueue;
use super::rosout::{Logger, Severity};
use crate::{Error, Result};

/// A timer of a node, created by [`RosNode::create_timer`]; it ends when this is dropped, or with its node.
///
/// No callback begins after the drop. The drop waits for one in progress, except on the node's own thread.
#[must_use = "the timer ends when this is dropped"]
pub struct NodeTimer {
    timer: Arc<Timer<Ros>>,
    stop: CancelToken,
    /// Set when the timer was reset.
    again: Event,
    jobs: JobQueue,
    thread: Option<BaseThread<()>>,
}

type Callback = Arc<Mutex<dyn FnMut(Tick<Ros>) + Send>>;

/// The state of the timer's thread.
struct TimerThread {
    timer: Arc<Timer<Ros>>,
    stop: CancelToken,
    again: Event,
    jobs: JobQueue,
    logger: Logger,
    base: TimeBase,
    callback: Callback,
}

impl RosNode {
    /// Calls back every `period` of the node's clock, which may be simulated time.
    ///
    /// Callbacks run on the node's own thread, as those of its services do, one after the other; ticks during a
    /// callback are counted in [`Tick::missed`].
    ///
    /// ```
    /// use std::sync::atomic::{AtomicU32, Ordering};
    /// use std::sync::Arc;
    /// use timeloom_node::{NodeOptions, RosNode};
    /// use timeloom_time::{Duration, VirtualTime};
    /// use timeloom_wire::loopback::LoopbackNetwork;
    ///
    /// let world = VirtualTime::new();
    /// let _here = world.enter();
    /// let network = LoopbackNetwork::new(&world.base());
    /// let node = RosNode::new(network.participant("me")?, NodeOptions::new("blinker"))?;
    /// let ticks = Arc::new(AtomicU32::new(0));
    /// let count = Arc::clone(&ticks);
    /// let timer = node.create_timer(Duration::from_millis(100), move |_tick| {
    ///     count.fetch_add(1, Ordering::SeqCst);
    /// })?;
    /// let _slept = node.clock().sleep_for(Duration::from_millis(1_050));
    /// drop(timer);
    /// assert_eq!(ticks.load(Ordering::SeqCst), 10);
    /// # Ok::<_, Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// When the period is not above zero, or a thread cannot be started.
    pub fn create_timer(
        &self,
        period: impl IntoDuration,
        callback: impl FnMut(Tick<Ros>) + Send + 'static,
    ) -> Result<NodeTimer> {
        let period = period.into_duration();
        if period <= Duration::ZERO {
            let nanoseconds = period.nanos();
            return Err(wrong_period(TimeError::PeriodNotPositive { nanoseconds }));
        }
        let timer = Timer::builder(&self.clock(), period).build();
        let timer = timer.map_err(wrong_period)?;
        NodeTimer::start(self, Arc::new(timer), Arc::new(Mutex::new(callback)))
    }
}

fn wrong_period(error: TimeError) -> Error {
    Error::Option {
        option: "timer",
        reason: error.to_string(),
    }
}

impl NodeTimer {
    fn start(node: &RosNode, timer: Arc<Timer<Ros>>, callback: Callback) -> Result<Self> {
        let base = node.participant().time_base();
        let jobs = node.0.executor.queue().clone();
        let mut made = Self {
            timer,
            stop: CancelToken::new(),
            again: Event::new(&base),
            jobs: jobs.clone(),
            thread: None,
        };
        let ticking = TimerThread {
            timer: Arc::clone(&made.timer),
            stop: made.stop.clone(),
            again: made.again.clone(),
            jobs,
            logger: node.0.logger.clone(),
            base: base.clone(),
            callback,
        };
        let name = format!("timer of {}", node.name().name());
        let thread = base.spawn(&name, move || ticking.run());
        made.thread = Some(thread.map_err(Error::Thread)?);
        Ok(made)
    }

    /// No more callbacks until [`reset`](Self::reset).
    pub fn cancel(&self) {
        self.timer.cancel();
    }

    /// Restarts the timer: the next callback is one period from now, also if it was cancelled.
    pub fn reset(&self) {
        self.timer.reset();
        self.again.set();
    }

    /// Whether it was cancelled and not reset since.
    pub fn is_cancelled(&self) -> bool {
        self.timer.is_cancelled()
    }

    /// The time to the next tick, negative if it is overdue; `None` while cancelled.
    pub fn time_until_next(&self) -> Option<Duration> {
        self.timer.time_until_next()
    }

    /// The period.
    pub fn period(&self) -> Duration {
        self.timer.period()
    }
}

impl Drop for NodeTimer {
    fn drop(&mut self) {
        self.stop.cancel();
        self.again.set();
        // A callback that waits behind the one that drops this cannot be awaited.
        if let Some(thread) = self.thread.take()
            && !self.jobs.is_own_thread()
        {
            let _panicked = thread.join();
        }
    }
}

impl TimerThread {
    fn run(&self) {
        let options = WaitOptions::new().cancel(&self.stop);
        loop {
            match self.timer.wait_with(&options) {
                Ok(tick) => {
                    if !self.call(tick) {
                        return;
                    }
                }
                Err(Woke::Cancelled) if !self.stop.is_cancelled() => {
                    // Until it is reset; a timer that was reset meanwhile is not cancelled.
                    self.again.clear();
                    if self.timer.is_cancelled() && !self.stop.is_cancelled() {
                        self.again.wait();
                    }
                }
                Err(_) => return,
            }
        }
    }

    /// Runs the callback on the node's thread, and waits for it; false when that thread has ended.
    fn call(&self, tick: Tick<Ros>) -> bool {
        let done = Event::new(&self.base);
        let (end, stop) = (done.clone(), self.stop.clone());
        let (callback, logger) = (Arc::clone(&self.callback), self.logger.clone());
        let queued = self.jobs.submit(move || {
            if !stop.is_cancelled() {
                let mut callback = lock(&callback);
                let called = catch_unwind(AssertUnwindSafe(|| callback(tick)));
                drop(callback);
                if called.is_err() {
                    logger.log(Severity::Error, "the callback of a timer panicked");
                }
            }
            end.set();
        });
        if queued {
            done.wait();
        }
        queued || !self.jobs.is_stopped()
    }
}

impl std::fmt::Debug for NodeTimer {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("NodeTimer").field(&self.timer).finish()
    }
}
