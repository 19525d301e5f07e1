use std::sync::Arc;

use atomic_waker::AtomicWaker;
use rustix::fd::OwnedFd;

use crate::sync::{AtomicU32, Ordering};
#[cfg(loom)]
use crate::sync::{Condvar, Mutex, lock};
use crate::virtual_time::VirtualState;

/// The signal of one waiting party: a thread, a task or a file descriptor.
///
/// A signal carries no reason: the party checks the clock, the token and the deadline itself. Signals are sticky until
/// [`take`](Self::take), so that one before the wait is not lost.
pub(crate) struct WaitCell {
    /// 1 once signalled; the futex word of a waiting thread.
    signalled: AtomicU32,
    party: Party,
    /// Parked parties of a virtual time base count there, so that time waits for them.
    virtual_time: Option<Arc<VirtualState>>,
    #[cfg(loom)]
    model: (Mutex<()>, Condvar),
}

pub(crate) enum Party {
    Thread,
    Task(AtomicWaker),
    /// An event file descriptor that becomes readable.
    Descriptor(OwnedFd),
}

const QUIET: u32 = 0;
const SIGNALLED: u32 = 1;

impl WaitCell {
    pub(crate) fn new(party: Party, virtual_time: Option<Arc<VirtualState>>) -> Arc<Self> {
        Arc::new(Self {
            signalled: AtomicU32::new(QUIET),
            party,
            virtual_time,
            #[cfg(loom)]
            model: (Mutex::new(()), Condvar::new()),
        })
    }

    pub(crate) fn party(&self) -> &Party {
        &self.party
    }

    /// Signals the party to check again. Cheap if it is signalled already.
    pub(crate) fn signal(&self) {
        match &self.virtual_time {
            Some(state) => state.signal(self),
            None => self.raise(),
        }
    }

    /// Sets the flag and wakes, without the book-keeping of a virtual base.
    pub(crate) fn raise(&self) {
        #[cfg(loom)]
        let guard = lock(&self.model.0);
        if self.signalled.swap(SIGNALLED, Ordering::AcqRel) == SIGNALLED {
            return;
        }
        match &self.party {
            #[cfg(loom)]
            Party::Thread => {
                drop(guard);
                self.model.1.notify_one();
            }
            #[cfg(not(loom))]
            Party::Thread => crate::machine::wake(&self.signalled),
            Party::Task(waker) => waker.wake(),
            Party::Descriptor(descriptor) => crate::machine::raise_event(descriptor),
        }
    }

    /// Wakes the thread like a late wake-up: with no signal to take.
    #[cfg(all(test, not(loom)))]
    pub(crate) fn wake_without_signal(&self) {
        crate::machine::wake(&self.signalled);
    }

    /// Consumes a signal; true if there was one.
    pub(crate) fn take(&self) -> bool {
        self.signalled.swap(QUIET, Ordering::AcqRel) == SIGNALLED
    }

    /// Whether a signal is pending.
    pub(crate) fn is_signalled(&self) -> bool {
        self.signalled.load(Ordering::Acquire) == SIGNALLED
    }

    /// Blocks this thread until signalled or until steady time `until`; the caller takes the signal.
    #[cfg(not(loom))]
    pub(crate) fn park(&self, until: Option<i64>) {
        crate::machine::park(&self.signalled, QUIET, until);
    }

    /// Under loom there is no time: only a signal ends the wait.
    #[cfg(loom)]
    pub(crate) fn park(&self, _until: Option<i64>) {
        let mut guard = lock(&self.model.0);
        while !self.is_signalled() {
            guard = self.model.1.wait(guard).unwrap();
        }
    }
}
