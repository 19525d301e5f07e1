use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use timeloom_time::{Clock, Ros, Steady, System, Time, TimeBase};

use super::drop_policy::DropPolicy;
use super::entry::Entry;
use super::moment::Trigger;
use super::options::Options;
use super::pressure::Pressure;
use super::queue::Queue;
use super::ring::Ring;
use super::transport_account::Asked;

/// What all topics of a recording share on the way in.
pub(super) struct Gate {
    pub(super) queue: Queue,
    /// With it, messages wait here until a snapshot is asked for.
    ring: Option<Mutex<Ring>>,
    pub(super) paused: AtomicBool,
    /// When the pause ends by itself.
    resume_at: Mutex<Option<Trigger>>,
    /// Gives log times instead of the time of arrival: the simulation's.
    log_clock: Option<Clock<Ros>>,
    pressure: Pressure,
    steady: Clock<Steady>,
    system: Clock<System>,
}

impl Gate {
    pub(super) fn new(base: &TimeBase, options: &Options) -> Self {
        let span = options.max_cache_duration;
        let ring = options
            .snapshot_mode
            .then(|| Mutex::new(Ring::new(options.max_cache_bytes, span.nanos())));
        Self {
            queue: Queue::new(base, options.max_cache_bytes, span),
            ring,
            paused: AtomicBool::new(options.start_paused),
            resume_at: Mutex::default(),
            log_clock: options.log_clock.clone(),
            pressure: Pressure::default(),
            steady: Clock::on(base),
            system: Clock::on(base),
        }
    }

    pub(super) fn ring(&self) -> Option<MutexGuard<'_, Ring>> {
        let ring = self.ring.as_ref()?;
        Some(ring.lock().unwrap_or_else(PoisonError::into_inner))
    }

    pub(super) fn set_paused(&self, paused: bool, resume_at: Option<Trigger>) {
        let mut planned = self.planned();
        *planned = resume_at;
        self.paused.store(paused, Ordering::Release);
    }

    fn planned(&self) -> MutexGuard<'_, Option<Trigger>> {
        self.resume_at
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
    }

    /// Ends the pause if its end has come.
    pub(super) fn resume_if(&self, reached: impl Fn(&Trigger) -> bool) -> bool {
        let mut planned = self.planned();
        let now = planned.as_ref().is_some_and(reached);
        if now {
            *planned = None;
            self.paused.store(false, Ordering::Release);
        }
        now
    }

    /// Whether what comes now is wanted.
    pub(super) fn asked(&self) -> Asked {
        if self.paused.load(Ordering::Acquire) {
            Asked::No
        } else if self.pressure.is_on(|| self.steady.now()) {
            Asked::UnderPressure
        } else {
            Asked::Yes
        }
    }

    /// The log time of a message that arrived at that time.
    pub(super) fn log_time_ns(&self, arrived: Time<System>) -> i64 {
        match &self.log_clock {
            Some(clock) => clock.now().nanos(),
            None => arrived.nanos(),
        }
    }

    /// The log time of what happens now.
    pub(super) fn now_ns(&self) -> i64 {
        self.log_time_ns(self.system.now())
    }

    /// Puts a message into the queue; gives how many of its topic are lost for it.
    pub(super) fn push(&self, entry: Entry, policy: DropPolicy) -> u64 {
        if policy != DropPolicy::Block {
            return self.queue.push(entry, policy);
        }
        let from = self.steady.now();
        let lost = self.queue.push(entry, policy);
        self.pressure.waited(from, self.steady.now());
        lost
    }
}
