//! One thread for work that must not run on a middleware's receive thread.

use std::collections::VecDeque;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, OnceLock};
use std::thread::ThreadId;

use timeloom_time::{BaseThread, Duration, Event, TimeBase};
use timeloom_wire::backend::lock;

use crate::{Error, Result};

/// Number of queued jobs; only a flood has more.
const LIMIT: usize = 1024;

type Job = Box<dyn FnOnce() + Send>;

/// Accepts jobs; keeps nothing alive but itself.
#[derive(Clone)]
pub(super) struct JobQueue(Arc<Shared>);

struct Shared {
    jobs: Mutex<VecDeque<Job>>,
    wake: Event,
    stop: AtomicBool,
    /// The thread's own id, once it runs.
    thread: OnceLock<ThreadId>,
}

/// The thread that runs the jobs; ends when dropped, after the queued jobs.
pub(super) struct Executor {
    queue: JobQueue,
    base: TimeBase,
    thread: Option<BaseThread<()>>,
}

impl JobQueue {
    /// Queues a job; false if the queue is full, and the job is dropped.
    pub(super) fn submit(&self, job: impl FnOnce() + Send + 'static) -> bool {
        {
            let mut jobs = lock(&self.0.jobs);
            if jobs.len() >= LIMIT || self.0.stop.load(Ordering::SeqCst) {
                return false;
            }
            jobs.push_back(Box::new(job));
        }
        self.0.wake.set();
        true
    }

    /// Whether it accepts no more jobs.
    pub(super) fn is_stopped(&self) -> bool {
        self.0.stop.load(Ordering::SeqCst)
    }

    /// Whether this is the thread that runs the jobs.
    pub(super) fn is_own_thread(&self) -> bool {
        self.0.thread.get() == Some(&std::thread::current().id())
    }

    fn next(&self) -> Option<Job> {
        let mut jobs = lock(&self.0.jobs);
        jobs.pop_front()
    }

    fn run(&self) {
        loop {
            self.0.wake.wait();
            self.0.wake.clear();
            // Checked before the queue: jobs that were submitted before the stop are run.
            let stop = self.0.stop.load(Ordering::SeqCst);
            while let Some(job) = self.next() {
                // Jobs report their own panics; this thread outlives them.
                let _panicked = catch_unwind(AssertUnwindSafe(job));
            }
            if stop {
                return;
            }
        }
    }
}

impl Executor {
    pub(super) fn start(base: &TimeBase, name: &str) -> Result<Self> {
        let queue = JobQueue(Arc::new(Shared {
            jobs: Mutex::default(),
            wake: Event::new(base),
            stop: AtomicBool::new(false),
            thread: OnceLock::new(),
        }));
        let running = queue.clone();
        let body = move || {
            running.0.thread.get_or_init(|| std::thread::current().id());
            running.run();
        };
        let thread = base.spawn(name, body).map_err(Error::Thread)?;
        Ok(Self {
            queue,
            base: base.clone(),
            thread: Some(thread),
        })
    }

    pub(super) fn queue(&self) -> &JobQueue {
        &self.queue
    }

    /// Blocks until the queued jobs are done, for a second at most; returns at once inside one of them.
    pub(super) fn finish_queued(&self) {
        if self.queue.is_own_thread() {
            return;
        }
        let done = Event::new(&self.base);
        let signal = done.clone();
        if self.queue.submit(move || signal.set()) {
            done.wait_for(Duration::from_secs(1));
        }
    }
}

impl Drop for Executor {
    fn drop(&mut self) {
        self.queue.0.stop.store(true, Ordering::SeqCst);
        self.queue.0.wake.set();
        // The last handle of a node may be dropped inside one of its own jobs.
        let inside = self.queue.is_own_thread();
        if let Some(thread) = self.thread.take().filter(|_| !inside) {
            let _panicked = thread.join();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use timeloom_time::VirtualTime;

    #[test]
    fn jobs_run_in_order_survive_a_panic_and_end_with_the_executor() {
        let world = VirtualTime::new();
        let _here = world.enter();
        let executor = Executor::start(&world.base(), "test").unwrap();
        let seen = Arc::new(Mutex::new(Vec::new()));
        for n in 0..10 {
            let seen = Arc::clone(&seen);
            let queued = executor.queue().submit(move || {
                assert!(n != 3, "a panic on purpose");
                seen.lock().unwrap().push(n);
            });
            assert!(queued);
        }
        let late = executor.queue().clone();
        drop(executor);
        assert_eq!(*seen.lock().unwrap(), [0, 1, 2, 4, 5, 6, 7, 8, 9]);
        assert!(!late.submit(|| {}));
    }

    #[test]
    fn the_queue_has_a_limit() {
        let world = VirtualTime::new();
        let _here = world.enter();
        let executor = Executor::start(&world.base(), "test").unwrap();
        let gate = Event::new(&world.base());
        let (inside, entered) = (gate.clone(), Event::new(&world.base()));
        let started = entered.clone();
        assert!(executor.queue().submit(move || {
            started.set();
            inside.wait();
        }));
        entered.wait();
        let taken = (0..LIMIT + 5)
            .filter(|_| executor.queue().submit(|| {}))
            .count();
        assert_eq!(taken, LIMIT);
        gate.set();
    }
}
