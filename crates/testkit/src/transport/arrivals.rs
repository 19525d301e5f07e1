use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Condvar, Mutex, PoisonError};

use crate::locking::lock;
use timeloom_wire::{Receiver, Sample};

/// Counts samples on the receiving side of a benchmark, and wakes the waiting thread.
#[derive(Debug, Default)]
pub struct Arrivals {
    count: AtomicU64,
    bytes: AtomicU64,
    wanted: AtomicU64,
    lock: Mutex<()>,
    reached: Condvar,
}

impl Arrivals {
    /// Counts a sample.
    pub fn sample(&self, length: usize) {
        self.count.fetch_add(1, Ordering::Relaxed);
        self.bytes.fetch_add(length as u64, Ordering::Relaxed);
    }

    /// Number of samples so far.
    pub fn count(&self) -> u64 {
        self.count.load(Ordering::Acquire)
    }

    /// Wakes the waiting thread if all samples have arrived.
    pub fn pause(&self) {
        if self.count() >= self.wanted.load(Ordering::Acquire) {
            drop(lock(&self.lock));
            self.reached.notify_all();
        }
    }

    /// Sends `burst` samples and waits until they have arrived.
    pub fn after(&self, burst: u64, send: impl Fn()) {
        let wanted = self.count() + burst;
        self.wanted.store(wanted, Ordering::Release);
        for _ in 0..burst {
            send();
        }
        let mut guard = lock(&self.lock);
        while self.count() < wanted {
            guard = self
                .reached
                .wait(guard)
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
