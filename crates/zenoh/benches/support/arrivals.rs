//! Counts samples on the receiving side, and wakes the waiting thread.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Condvar, Mutex, PoisonError};

use timeloom_wire::{Receiver, Sample};

#[derive(Default)]
pub(crate) struct Arrivals {
    count: AtomicU64,
    bytes: AtomicU64,
    wanted: AtomicU64,
    lock: Mutex<()>,
    reached: Condvar,
}

impl Arrivals {
    pub(crate) fn sample(&self, length: usize) {
        self.count.fetch_add(1, Ordering::Relaxed);
        self.bytes.fetch_add(length as u64, Ordering::Relaxed);
    }

    pub(crate) fn count(&self) -> u64 {
        self.count.load(Ordering::Acquire)
    }

    pub(crate) fn pause(&self) {
        if self.count.load(Ordering::Acquire) >= self.wanted.load(Ordering::Acquire) {
            drop(self.lock.lock().unwrap_or_else(PoisonError::into_inner));
            self.reached.notify_all();
        }
    }

    /// Sends `burst` samples and waits until they have arrived.
    pub(crate) fn after(&self, burst: u64, send: impl Fn()) {
        let wanted = self.count.load(Ordering::Acquire) + burst;
        self.wanted.store(wanted, Ordering::Release);
        for _ in 0..burst {
            send();
        }
        let mut lock = self.lock.lock().unwrap_or_else(PoisonError::into_inner);
        while self.count.load(Ordering::Acquire) < wanted {
            lock = self
                .reached
                .wait(lock)
                .unwrap_or_else(PoisonError::into_inner);
        }
    }
}

impl Receiver for Arrivals {
    fn sample(&self, sample: Sample) {
        Self::sample(self, sample.payload.len());
    }

    fn pause(&self) {
        Self::pause(self);
    }
}
