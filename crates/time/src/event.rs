use std::sync::Arc;

use crate::duration::Duration;
use crate::sync::{AtomicBool, Mutex, Ordering, lock};
use crate::time_base::TimeBase;
use crate::wait_cell::{Party, WaitCell};

/// A flag to wait for, like a condition variable, on any time base.
///
/// Threads that hand work to each other through it run unchanged on virtual time. Clones are the same event.
/// It stays set until [`clear`](Self::clear) or [`take`](Self::take).
///
/// ```
/// use timeloom_time::{Duration, Event, TimeBase};
/// let ready = Event::new(&TimeBase::machine());
/// let setter = ready.clone();
/// std::thread::spawn(move || setter.set());
/// ready.wait();
/// ready.clear();
/// assert!(!ready.wait_for(Duration::from_millis(1)));
/// ```
#[derive(Clone)]
pub struct Event(Arc<Inner>);

struct Inner {
    base: TimeBase,
    set: AtomicBool,
    waiting: Mutex<Vec<Arc<WaitCell>>>,
}

impl Event {
    /// An event that is not set.
    pub fn new(base: &TimeBase) -> Self {
        Self(Arc::new(Inner {
            base: base.clone(),
            set: AtomicBool::new(false),
            waiting: Mutex::new(Vec::new()),
        }))
    }

    /// Sets it and wakes all waiters. Never blocks for long.
    ///
    /// Writes before this call are visible to the thread that clears or takes it afterwards.
    pub fn set(&self) {
        // Every change is a swap: it reads the change before it, and with it all that was done before that. With a
        // store, loom finds a `clear` that comes after a `set` and still does not see the work that it announced.
        self.0.set.swap(true, Ordering::SeqCst);
        let waiting = std::mem::take(&mut *lock(&self.0.waiting));
        for cell in waiting {
            cell.signal();
        }
    }

    /// Whether it is set.
    pub fn is_set(&self) -> bool {
        self.0.set.load(Ordering::SeqCst)
    }

    /// Unsets it.
    pub fn clear(&self) {
        self.0.set.swap(false, Ordering::SeqCst);
    }

    /// Unsets it and returns whether it was set: of many threads, one gets `true`.
    pub fn take(&self) -> bool {
        self.0.set.swap(false, Ordering::SeqCst)
    }

    /// Blocks until it is set.
    pub fn wait(&self) {
        while !self.wait_until(None) {}
    }

    /// Blocks until it is set or `timeout` of steady time has passed; true if it is set.
    pub fn wait_for(&self, timeout: Duration) -> bool {
        self.wait_until(Some(self.0.base.steady().saturating_add(timeout.nanos())))
    }

    fn wait_until(&self, until: Option<i64>) -> bool {
        let cell = self.0.base.new_cell(Party::Thread);
        loop {
            lock(&self.0.waiting).push(Arc::clone(&cell));
            if self.is_set() {
                self.forget(&cell);
                return true;
            }
            if until.is_some_and(|until| until <= self.0.base.steady()) {
                self.forget(&cell);
                return false;
            }
            self.0.base.park(&cell, until);
            self.forget(&cell);
        }
    }

    fn forget(&self, cell: &Arc<WaitCell>) {
        lock(&self.0.waiting).retain(|waiting| !Arc::ptr_eq(waiting, cell));
    }
}

impl std::fmt::Debug for Event {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Event(set: {})", self.is_set())
    }
}
