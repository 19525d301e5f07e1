use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError, Weak};

use rustix::fd::OwnedFd;
use rustix::time::{
    Itimerspec, TimerfdClockId, TimerfdFlags, TimerfdTimerFlags, timerfd_create, timerfd_settime,
};

use crate::clock_core::ClockCore;
use crate::clock_state::Operation;
use crate::machine;
use crate::time_base::TimerKey;
use crate::wait_cell::WaitCell;

/// Timed signals on the machine's clock, for tasks and file descriptors: one thread per process, started with the first
/// of them. Blocking sleeps time themselves and are not entered here.
pub(crate) struct MachineTimers {
    entries: Mutex<Entries>,
    /// Futex word of the timer thread: incremented when an earlier entry arrives.
    changed: AtomicU32,
    thread: OnceLock<bool>,
    watched: Mutex<Vec<Weak<ClockCore>>>,
    watcher: OnceLock<bool>,
}

#[derive(Default)]
struct Entries {
    cells: BTreeMap<TimerKey, Arc<WaitCell>>,
    sequence: u64,
}

static GLOBAL: MachineTimers = MachineTimers {
    entries: Mutex::new(Entries {
        cells: BTreeMap::new(),
        sequence: 0,
    }),
    changed: AtomicU32::new(0),
    thread: OnceLock::new(),
    watched: Mutex::new(Vec::new()),
    watcher: OnceLock::new(),
};

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

fn spawn(name: &str, run: impl FnOnce() + Send + 'static) -> bool {
    std::thread::Builder::new()
        .name(name.into())
        .spawn(run)
        .is_ok()
}

impl MachineTimers {
    pub(crate) fn global() -> &'static Self {
        &GLOBAL
    }

    pub(crate) fn schedule(&'static self, cell: &Arc<WaitCell>, at: i64) -> TimerKey {
        let (key, first) = {
            let mut entries = lock(&self.entries);
            entries.sequence += 1;
            let key = TimerKey {
                at,
                sequence: entries.sequence,
            };
            entries.cells.insert(key, Arc::clone(cell));
            (key, entries.cells.keys().next() == Some(&key))
        };
        if !*self.thread.get_or_init(|| {
            spawn("timeloom-timers", || {
                self.run();
            })
        }) {
            // No thread available: the party checks again at once and so on, slowly but correctly.
            cell.signal();
        } else if first {
            self.changed.fetch_add(1, Ordering::Release);
            machine::wake(&self.changed);
        }
        key
    }

    pub(crate) fn unschedule(&self, key: TimerKey) {
        lock(&self.entries).cells.remove(&key);
    }

    fn run(&self) -> ! {
        loop {
            let seen = self.changed.load(Ordering::Acquire);
            let (due, next) = {
                let mut entries = lock(&self.entries);
                let later = TimerKey {
                    at: machine::steady().saturating_add(1),
                    sequence: 0,
                };
                let waiting = entries.cells.split_off(&later);
                let due = std::mem::replace(&mut entries.cells, waiting);
                (due, entries.cells.keys().next().map(|key| key.at))
            };
            for cell in due.values() {
                cell.signal();
            }
            if due.is_empty() {
                machine::park(&self.changed, seen, next);
            }
        }
    }

    /// Notifies `core` whenever the system clock is set.
    pub(crate) fn watch_steps(&'static self, core: Weak<ClockCore>) {
        let mut watched = lock(&self.watched);
        watched.retain(|core| core.strong_count() > 0);
        watched.push(core);
        drop(watched);
        // Without a descriptor or a thread for it, steps go unnoticed.
        self.watcher.get_or_init(|| match step_timer() {
            Ok(timer) => spawn("timeloom-clock-steps", move || self.watch(&timer)),
            Err(_) => false,
        });
    }

    fn watch(&self, timer: &OwnedFd) {
        let offset = || machine::system().wrapping_sub(machine::steady());
        let mut before = offset();
        loop {
            // A read of this timer ends only when the clock is set, or in many years.
            let set = machine::drain(timer).is_err();
            if arm(timer).is_err() {
                return;
            }
            let now = offset();
            if set {
                self.stepped(now.wrapping_sub(before));
            }
            before = now;
        }
    }

    fn stepped(&self, delta: i64) {
        let watched: Vec<_> = lock(&self.watched)
            .iter()
            .filter_map(Weak::upgrade)
            .collect();
        for core in watched {
            core.apply(Operation::SystemStepped(delta));
        }
    }
}

fn step_timer() -> rustix::io::Result<OwnedFd> {
    let timer = timerfd_create(TimerfdClockId::Realtime, TimerfdFlags::CLOEXEC)?;
    arm(&timer)?;
    Ok(timer)
}

/// Sets the timer to the far future, to be cancelled when the system clock is set.
fn arm(timer: &OwnedFd) -> rustix::io::Result<()> {
    let never = Itimerspec {
        it_interval: machine::timespec(0),
        it_value: machine::timespec(i64::MAX),
    };
    let flags = TimerfdTimerFlags::ABSTIME | TimerfdTimerFlags::CANCEL_ON_SET;
    timerfd_settime(timer, flags, &never).map(drop)
}
