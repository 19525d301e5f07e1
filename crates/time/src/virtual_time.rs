use std::collections::BTreeMap;
use std::future::Future;
use std::pin::pin;
use std::sync::atomic::{AtomicI64, AtomicU64, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError, Weak};
use std::task::{Context, Poll, Wake, Waker};

use crate::clock_core::ClockCore;
use crate::clock_state::Operation;
use crate::duration::Duration;
use crate::participant::{self, BaseThread, Participant};
use crate::time_base::{TimeBase, TimerKey};
use crate::wait_cell::{Party, WaitCell};

/// Time that passes only when every participating thread waits.
///
/// Threads take part through [`spawn`](Self::spawn) or [`enter`](Self::enter). When all of them wait, time advances to
/// the earliest deadline and wakes its owner; equal deadlines are served one after the other, in the order in which the
/// waits began. A test that sleeps for a day takes microseconds and does the same every time.
///
/// Waits on clocks of this base and on [`Event`](crate::Event)s count as waiting. A thread blocked in anything else (a
/// channel, a socket) counts as busy, and time does not advance until it is done.
///
/// ```
/// use timeloom_time::{Clock, Duration, Steady, VirtualTime};
/// let world = VirtualTime::new();
/// let clock = Clock::<Steady>::on(&world.base());
/// let begin = clock.now();
/// let sleeper = {
///     let clock = clock.clone();
///     world.spawn("sleeper", move || clock.sleep_for(Duration::from_secs(86_400)))
/// };
/// assert!(sleeper.join().unwrap().is_reached());
/// assert_eq!(clock.now() - begin, Duration::from_secs(86_400));
/// ```
#[derive(Clone)]
pub struct VirtualTime(Arc<VirtualState>);

/// The state that [`VirtualTime`] and its waits share.
pub(crate) struct VirtualState {
    steady: AtomicI64,
    system_offset: AtomicI64,
    world: Mutex<World>,
    /// Signalled when a busy participant starts to wait.
    idle: Condvar,
    id: u64,
}

#[derive(Default)]
struct World {
    /// Waiting parties, by deadline.
    waiting: BTreeMap<TimerKey, Waiting>,
    busy: usize,
    participants: usize,
    sequence: u64,
    manual: bool,
    watched: Vec<Weak<ClockCore>>,
}

struct Waiting {
    cell: Arc<WaitCell>,
    kind: WaitingKind,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum WaitingKind {
    /// A participant that blocks: busy again when signalled.
    Participant,
    /// Another thread that blocks.
    Bystander,
    /// A timed signal for a task or a descriptor.
    Timer,
}

/// The first second of virtual steady time, so that zero keeps meaning "uninitialised".
const FIRST_STEADY: i64 = 1_000_000_000;
/// Virtual system time begins with the year 2020.
const FIRST_SYSTEM: i64 = 1_577_836_800_000_000_000;

impl Default for VirtualTime {
    fn default() -> Self {
        Self::new()
    }
}

impl VirtualTime {
    /// A world in which time advances by itself when all participants wait.
    pub fn new() -> Self {
        static IDS: AtomicU64 = AtomicU64::new(1);
        Self(Arc::new(VirtualState {
            steady: AtomicI64::new(FIRST_STEADY),
            system_offset: AtomicI64::new(FIRST_SYSTEM - FIRST_STEADY),
            world: Mutex::default(),
            idle: Condvar::new(),
            id: IDS.fetch_add(1, Ordering::Relaxed),
        }))
    }

    /// A world in which time advances only by [`advance`](Self::advance).
    pub fn manual() -> Self {
        let world = Self::new();
        world.0.lock().manual = true;
        world
    }

    /// The base for clocks.
    pub fn base(&self) -> TimeBase {
        TimeBase::of_virtual(Arc::clone(&self.0))
    }

    /// Starts a thread that takes part; see [`TimeBase::spawn`].
    ///
    /// # Panics
    /// When the operating system cannot start a thread.
    pub fn spawn<T: Send + 'static>(
        &self,
        name: &str,
        run: impl FnOnce() -> T + Send + 'static,
    ) -> BaseThread<T> {
        self.base().spawn(name, run).unwrap_or_else(|error| {
            panic!("can't start thread `{name}` of a virtual world: {error}")
        })
    }

    /// Makes the current thread take part until the guard is dropped.
    pub fn enter(&self) -> Participant {
        Participant::new(&self.0)
    }

    /// Advances time by `duration`, serving every deadline on the way, and waits until all participants wait.
    pub fn advance(&self, duration: Duration) {
        let target = self.0.steady().saturating_add(duration.nanos());
        while let Some(cell) = self.0.next_due(target) {
            cell.raise();
        }
    }

    /// Waits until all participants wait.
    pub fn settle(&self) {
        drop(self.0.lock_idle());
    }

    /// Sets the virtual system clock forward or back, as an administrator or NTP would.
    pub fn step_system_clock(&self, step: Duration) {
        self.0
            .system_offset
            .fetch_add(step.nanos(), Ordering::AcqRel);
        let watched: Vec<_> = self
            .0
            .lock()
            .watched
            .iter()
            .filter_map(Weak::upgrade)
            .collect();
        for core in watched {
            core.apply(Operation::SystemStepped(step.nanos()));
        }
    }

    /// Runs a future to its end on this thread, which takes part meanwhile.
    pub fn block_on<F: Future>(&self, future: F) -> F::Output {
        let _participant = self.enter();
        let base = self.base();
        let cell = base.new_cell(Party::Thread);
        let waker = Waker::from(Arc::new(CellWaker(Arc::clone(&cell))));
        let mut context = Context::from_waker(&waker);
        let mut future = pin!(future);
        loop {
            match future.as_mut().poll(&mut context) {
                Poll::Ready(output) => return output,
                Poll::Pending => base.park(&cell, None),
            }
        }
    }
}

struct CellWaker(Arc<WaitCell>);

impl Wake for CellWaker {
    fn wake(self: Arc<Self>) {
        self.0.signal();
    }
}

impl VirtualState {
    #[inline]
    pub(crate) fn steady(&self) -> i64 {
        self.steady.load(Ordering::Acquire)
    }

    #[inline]
    pub(crate) fn system(&self) -> i64 {
        self.steady()
            .wrapping_add(self.system_offset.load(Ordering::Acquire))
    }

    pub(crate) fn id(&self) -> u64 {
        self.id
    }

    fn lock(&self) -> MutexGuard<'_, World> {
        self.world.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The state once only the caller is busy.
    fn lock_idle(&self) -> MutexGuard<'_, World> {
        let own = usize::from(participant::takes_part(self.id));
        let mut world = self.lock();
        while world.busy > own {
            world = self
                .idle
                .wait(world)
                .unwrap_or_else(PoisonError::into_inner);
        }
        world
    }

    /// Blocks until the cell is signalled or its time is reached; both raise the cell.
    pub(crate) fn park(&self, cell: &Arc<WaitCell>, until: Option<i64>) {
        let takes_part = participant::takes_part(self.id);
        let mut world = self.lock();
        if cell.is_signalled() || until.is_some_and(|until| until <= self.steady()) {
            return;
        }
        let kind = if takes_part {
            WaitingKind::Participant
        } else {
            WaitingKind::Bystander
        };
        let key = world.add(cell, until.unwrap_or(i64::MAX), kind);
        if takes_part {
            world.busy -= 1;
        }
        self.rest(world);
        // A waiting thread is filed and counted until its cell is raised: a late wake-up of its last wait must not make
        // it file itself a second time.
        while !cell.is_signalled() {
            cell.park(None);
        }
        // Cells are raised outside the lock. A signal for the last wait that was overtaken by another raises the cell
        // in the middle of this wait: this thread is not counted as busy then.
        let mut world = self.lock();
        if world.waiting.remove(&key).is_some() {
            world.busy += usize::from(takes_part);
        }
    }

    pub(crate) fn schedule(&self, cell: &Arc<WaitCell>, at: i64) -> TimerKey {
        let mut world = self.lock();
        let key = world.add(cell, at, WaitingKind::Timer);
        self.rest(world);
        key
    }

    pub(crate) fn unschedule(&self, key: TimerKey) {
        self.lock().waiting.remove(&key);
    }

    pub(crate) fn watch_steps(&self, core: Weak<ClockCore>) {
        self.lock().watched.push(core);
    }

    /// Signals a cell; a participant that waits on it is busy from this moment, before it runs.
    pub(crate) fn signal(&self, cell: &WaitCell) {
        let mut world = self.lock();
        let key = world
            .waiting
            .iter()
            .find(|(_, waiting)| {
                waiting.kind != WaitingKind::Timer && std::ptr::eq(Arc::as_ptr(&waiting.cell), cell)
            })
            .map(|(key, _)| *key);
        if let Some(waiting) = key.and_then(|key| world.waiting.remove(&key)) {
            world.busy += usize::from(waiting.kind == WaitingKind::Participant);
        }
        drop(world);
        cell.raise();
    }

    pub(crate) fn join(&self) {
        let mut world = self.lock();
        world.participants += 1;
        world.busy += 1;
    }

    pub(crate) fn leave(&self) {
        let mut world = self.lock();
        world.participants -= 1;
        world.busy -= 1;
        self.rest(world);
    }

    /// Advances time if every thread waits, one deadline at a time.
    fn rest<'a>(&'a self, mut world: MutexGuard<'a, World>) {
        // Also while a thread is busy: it may be the one that waits for all others.
        self.idle.notify_all();
        while world.busy == 0 {
            if world.manual || world.participants == 0 {
                return;
            }
            let Some(cell) = self.pop_first(&mut world, i64::MAX - 1) else {
                return;
            };
            // Outside the lock: the waker of a task may run any code. Busy meanwhile, so that no other thread advances
            // time before the woken one counts.
            world.busy += 1;
            drop(world);
            cell.raise();
            world = self.lock();
            world.busy -= 1;
            self.idle.notify_all();
        }
    }

    /// The next cell due up to `target`, with time advanced to its deadline; to `target` if there is none.
    fn next_due(&self, target: i64) -> Option<Arc<WaitCell>> {
        let mut world = self.lock_idle();
        let due = self.pop_first(&mut world, target);
        if due.is_none() {
            // With the lock held, so that no wait begins for a time that is skipped.
            self.steady.fetch_max(target, Ordering::AcqRel);
        }
        due
    }

    fn pop_first(&self, world: &mut World, target: i64) -> Option<Arc<WaitCell>> {
        let entry = world
            .waiting
            .first_entry()
            .filter(|entry| entry.key().at <= target)?;
        let (key, waiting) = entry.remove_entry();
        world.busy += usize::from(waiting.kind == WaitingKind::Participant);
        self.steady.fetch_max(key.at, Ordering::AcqRel);
        Some(waiting.cell)
    }
}

impl World {
    fn add(&mut self, cell: &Arc<WaitCell>, at: i64, kind: WaitingKind) -> TimerKey {
        self.sequence += 1;
        let key = TimerKey {
            at,
            sequence: self.sequence,
        };
        self.waiting.insert(
            key,
            Waiting {
                cell: Arc::clone(cell),
                kind,
            },
        );
        key
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    #[test]
    fn a_late_signal_leaves_every_thread_counted() {
        let world = VirtualTime::manual();
        let base = world.base();
        let cell = base.new_cell(Party::Thread);
        let parked = Arc::clone(&cell);
        let waiting = world.spawn("waits", move || base.park(&parked, None));
        world.settle();
        // As if an overtaken thread raised it now: the waiter is not found, and is counted.
        cell.raise();
        waiting.join().unwrap();
        let state = world.0.lock();
        assert!(state.waiting.is_empty());
        assert_eq!((state.participants, state.busy), (0, 0));
    }

    #[test]
    fn a_late_wake_up_of_the_last_wait_does_not_end_the_next() {
        let world = VirtualTime::manual();
        let base = world.base();
        let cell = base.new_cell(Party::Thread);
        let until = world.0.steady() + 1_000;
        let (parked, state) = (Arc::clone(&cell), Arc::clone(&world.0));
        let waiting = world.spawn("waits", move || {
            base.park(&parked, Some(until));
            state.steady()
        });
        world.settle();
        for _ in 0..100 {
            cell.wake_without_signal();
            std::thread::yield_now();
        }
        assert!(!waiting.is_finished());
        world.advance(Duration::from_nanos(1_000));
        assert_eq!(waiting.join().unwrap(), until);
    }
}
