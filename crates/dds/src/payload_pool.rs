//! Memory of large payloads that is used again.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, OnceLock, Weak};

use bytes::Bytes;
use timeloom_time::{Clock, Duration, Steady};
use timeloom_wire::backend::lock;

use crate::dispatcher::{Dispatch, Task};
use crate::sys::ReceiveBuffers;

/// Smaller payloads come from the allocator, which keeps their memory.
const LEAST: usize = 64 << 10;
/// The most that is kept while no payload is in it.
const MOST_KEPT: usize = 32 << 20;
/// Memory that no payload needed for this long is given back.
const QUIET: Duration = Duration::from_secs(2);

/// Keeps the memory of large payloads that were dropped for those that arrive next: the operating system would take it
/// back and give it again one page at a time, which costs more than receiving what is in it.
pub(crate) struct PayloadPool {
    this: Weak<Self>,
    free: Mutex<Free>,
    dispatch: Dispatch,
    clock: Clock<Steady>,
    /// Whether a trim is planned.
    planned: AtomicBool,
    receive_buffers: OnceLock<ReceiveBuffers>,
}

/// The memory that no payload is in.
#[derive(Default)]
struct Free {
    /// The one that was used last is the last.
    buffers: Vec<Vec<u8>>,
    /// Capacity of all of them.
    bytes: usize,
    /// The least number of them since the last trim: as many are not needed.
    least: usize,
}

impl PayloadPool {
    pub(crate) fn new(dispatch: &Dispatch) -> Arc<Self> {
        Arc::new_cyclic(|this| Self {
            this: Weak::clone(this),
            free: Mutex::default(),
            dispatch: dispatch.clone(),
            clock: Clock::new(),
            planned: AtomicBool::new(false),
            receive_buffers: OnceLock::new(),
        })
    }

    /// Trims these as well.
    pub(crate) fn watch(&self, receive_buffers: ReceiveBuffers) {
        self.receive_buffers.get_or_init(|| receive_buffers);
    }

    /// Empty memory for `size` bytes.
    pub(crate) fn memory(&self, size: usize) -> Vec<u8> {
        if size < LEAST {
            return Vec::with_capacity(size);
        }
        // A bit more, because the next payload may be a bit larger; the operating system gives only what is written to.
        let kept = lock(&self.free).take(size);
        kept.unwrap_or_else(|| Vec::with_capacity(size + size / 8))
    }

    /// A payload whose memory comes back here when it is dropped.
    pub(crate) fn payload(&self, bytes: Vec<u8>) -> Bytes {
        if bytes.capacity() < LEAST {
            return bytes.into();
        }
        Bytes::from_owner(Pooled {
            bytes,
            pool: Weak::clone(&self.this),
        })
    }

    fn put(&self, bytes: Vec<u8>) {
        let kept = lock(&self.free).put(bytes);
        if kept {
            self.plan();
        }
    }

    fn plan(&self) {
        if !self.planned.swap(true, Ordering::AcqRel)
            && let Some(this) = self.this.upgrade()
        {
            let due = self.clock.now().saturating_add(QUIET);
            self.dispatch.schedule_at(due, this);
        }
    }
}

impl Free {
    /// The smallest that fits and does not waste much; the one that was used last among equals: it is in the cache.
    fn take(&mut self, size: usize) -> Option<Vec<u8>> {
        let most = size + size / 4;
        let fitting = (self.buffers.iter().enumerate().rev())
            .filter(|(_, bytes)| (size..=most).contains(&bytes.capacity()));
        let (at, _) = fitting.min_by_key(|(_, bytes)| bytes.capacity())?;
        let mut bytes = self.buffers.remove(at);
        self.bytes -= bytes.capacity();
        self.least = self.least.min(self.buffers.len());
        bytes.clear();
        Some(bytes)
    }

    /// Keeps it, or drops it if there is enough already; returns whether it is kept.
    fn put(&mut self, bytes: Vec<u8>) -> bool {
        let fits = self.bytes + bytes.capacity() <= MOST_KEPT;
        if fits {
            self.bytes += bytes.capacity();
            self.buffers.push(bytes);
        }
        fits
    }

    /// Takes out what was not needed since the last trim, the one that was used first first.
    fn trim(&mut self) -> Vec<Vec<u8>> {
        let surplus: Vec<_> = self.buffers.drain(..self.least).collect();
        self.bytes -= surplus.iter().map(Vec::capacity).sum::<usize>();
        self.least = self.buffers.len();
        surplus
    }
}

impl Task for PayloadPool {
    fn scheduled(&self) -> &AtomicBool {
        &self.planned
    }

    fn run(&self) {
        // Before the work, so that memory that comes back meanwhile plans the next one.
        self.planned.store(false, Ordering::Release);
        let (surplus, is_empty) = {
            let mut free = lock(&self.free);
            (free.trim(), free.buffers.is_empty())
        };
        drop(surplus);
        let all_trimmed = self.receive_buffers.get().is_none_or(ReceiveBuffers::trim);
        if !(is_empty && all_trimmed) {
            self.plan();
        }
    }
}

/// The memory of a payload.
struct Pooled {
    bytes: Vec<u8>,
    pool: Weak<PayloadPool>,
}

impl AsRef<[u8]> for Pooled {
    fn as_ref(&self) -> &[u8] {
        &self.bytes
    }
}

impl Drop for Pooled {
    fn drop(&mut self) {
        if let Some(pool) = self.pool.upgrade() {
            pool.put(std::mem::take(&mut self.bytes));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dispatcher::Dispatcher;
    use timeloom_wire::backend::Notes;

    /// A pool whose dispatcher has ended: the test trims it.
    fn pool() -> Arc<PayloadPool> {
        let dispatcher = Dispatcher::start(&Arc::new(Notes::new(None))).unwrap();
        PayloadPool::new(dispatcher.dispatch())
    }

    fn payload(pool: &PayloadPool, size: usize, value: u8) -> Bytes {
        let mut bytes = pool.memory(size);
        assert!(bytes.is_empty() && bytes.capacity() >= size);
        bytes.resize(size, value);
        pool.payload(bytes)
    }

    fn kept(pool: &PayloadPool) -> usize {
        let free = lock(&pool.free);
        let sum = free.buffers.iter().map(Vec::capacity).sum::<usize>();
        assert_eq!(sum, free.bytes);
        sum
    }

    #[test]
    fn memory_is_used_again_once_all_of_its_payload_is_dropped() {
        let pool = pool();
        let first = payload(&pool, 1_000_000, 1);
        let part = first.slice(5..10);
        let address = first.as_ptr();
        drop(first);
        assert_ne!(payload(&pool, 1_000_000, 2).as_ptr(), address);
        assert_eq!(part, [1; 5][..]);
        drop(part);
        let third = payload(&pool, 1_000_000, 3);
        assert_eq!(third.as_ptr(), address);
        assert_eq!(third, vec![3; 1_000_000]);
    }

    #[test]
    fn payloads_of_about_the_same_size_share_memory_and_others_do_not() {
        let pool = pool();
        let address = payload(&pool, 1_000_000, 1).as_ptr();
        assert_eq!(payload(&pool, 1_100_000, 2).as_ptr(), address);
        assert_eq!(payload(&pool, 950_000, 2).as_ptr(), address);
        let small = payload(&pool, 500_000, 3);
        assert_ne!(small.as_ptr(), address, "half of it would be wasted");
        assert_ne!(payload(&pool, 2_000_000, 4).as_ptr(), address);
    }

    #[test]
    fn small_payloads_are_not_kept() {
        let pool = pool();
        drop(payload(&pool, LEAST - 1, 1));
        assert_eq!(kept(&pool), 0);
    }

    #[test]
    fn no_more_than_the_limit_is_kept() {
        let pool = pool();
        let many: Vec<_> = (0..100).map(|_| payload(&pool, 1 << 20, 1)).collect();
        drop(many);
        assert!((MOST_KEPT - (2 << 20)..=MOST_KEPT).contains(&kept(&pool)));
    }

    #[test]
    fn what_is_not_needed_between_two_trims_is_given_back() {
        let pool = pool();
        drop([1, 2, 3].map(|value| payload(&pool, 100_000, value)));
        pool.run();
        let three = kept(&pool);
        // One of three is used.
        drop(payload(&pool, 100_000, 4));
        pool.run();
        assert_eq!(kept(&pool), three / 3);
        pool.run();
        assert_eq!(kept(&pool), 0);
    }

    #[test]
    fn memory_that_comes_back_plans_a_trim_until_nothing_is_kept() {
        let pool = pool();
        drop(payload(&pool, 100_000, 1));
        assert!(pool.planned.load(Ordering::Acquire));
        pool.run();
        assert!(pool.planned.load(Ordering::Acquire));
        pool.run();
        assert!(!pool.planned.load(Ordering::Acquire));
    }

    #[test]
    fn a_payload_may_outlive_the_pool() {
        let pool = pool();
        let payload = payload(&pool, 100_000, 7);
        drop(pool);
        assert_eq!(payload, vec![7; 100_000]);
    }
}
