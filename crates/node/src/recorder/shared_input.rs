use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard};

use timeloom_time::{Clock, Duration, Ros, Steady, System, Time, TimeBase};

use super::drop_policy::DropPolicy;
use super::moment::Trigger;
use super::options::Options;
use super::pressure::Pressure;
use super::queue::Queue;
use super::queued_message::QueuedMessage;
use super::ring::Ring;
use super::transport_account::Wanted;
use super::trigger_gate::TriggerGate;
use timeloom_wire::backend::lock;

/// The state that the inputs of all topics share: pause, queue, ring and clocks.
pub(super) struct SharedInput {
    pub(super) queue: Queue,
    /// In snapshot mode, messages wait here for a snapshot.
    ring: Option<Mutex<Ring>>,
    /// With triggers, messages wait here for a window.
    gate: Option<Mutex<TriggerGate>>,
    paused: AtomicBool,
    /// The planned end of the pause.
    resume_at: Mutex<Option<Trigger>>,
    /// Log times come from this clock, in simulated time, instead of the time of arrival.
    log_clock: Option<Clock<Ros>>,
    pressure: Pressure,
    steady: Clock<Steady>,
    system: Clock<System>,
}

impl SharedInput {
    pub(super) fn new(base: &TimeBase, options: &Options) -> Self {
        let span = options.max_cache_duration;
        let ring = options
            .has_plain_ring()
            .then(|| Mutex::new(Ring::new(options.max_cache_bytes, span.nanos())));
        // The span of messages that wait for a trigger is the trigger's.
        let gate = TriggerGate::new(options);
        let queue_span = if gate.is_some() { Duration::ZERO } else { span };
        Self {
            queue: Queue::new(base, options.max_cache_bytes, queue_span),
            ring,
            gate: gate.map(Mutex::new),
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
        Some(lock(ring))
    }

    pub(super) fn gate(&self) -> Option<MutexGuard<'_, TriggerGate>> {
        let gate = self.gate.as_ref()?;
        Some(lock(gate))
    }

    /// Keeps the last messages of a latched topic, for snapshots and windows.
    pub(super) fn repeat(&self, topic: u32, depth: usize) {
        if let Some(mut ring) = self.ring() {
            ring.repeat(topic, depth);
        }
        if let Some(mut gate) = self.gate() {
            gate.ring().repeat(topic, depth);
        }
    }

    pub(super) fn set_paused(&self, paused: bool, resume_at: Option<Trigger>) {
        let mut planned = self.planned();
        *planned = resume_at;
        self.paused.store(paused, Ordering::Release);
    }

    fn planned(&self) -> MutexGuard<'_, Option<Trigger>> {
        lock(&self.resume_at)
    }

    pub(super) fn is_paused(&self) -> bool {
        self.paused.load(Ordering::Acquire)
    }

    /// Ends the pause if its planned end is reached; true if it did.
    pub(super) fn resume_if(&self, reached: impl Fn(&Trigger) -> bool) -> bool {
        let mut planned = self.planned();
        let now = planned.as_ref().is_some_and(reached);
        if now {
            *planned = None;
            self.paused.store(false, Ordering::Release);
        }
        now
    }

    /// Whether messages that arrive now are wanted.
    pub(super) fn wanted(&self) -> Wanted {
        if self.is_paused() {
            Wanted::No
        } else if self.pressure.is_on(|| self.steady.now()) {
            Wanted::UnderPressure
        } else {
            Wanted::Yes
        }
    }

    /// The log time of a message that arrived at that time.
    pub(super) fn log_time_ns(&self, arrived: Time<System>) -> i64 {
        match &self.log_clock {
            Some(clock) => clock.now().nanos(),
            None => arrived.nanos(),
        }
    }

    /// The log time of an event now.
    pub(super) fn now_ns(&self) -> i64 {
        self.log_time_ns(self.system.now())
    }

    /// Queues a message; returns how many messages of its topic were dropped.
    pub(super) fn push(&self, message: QueuedMessage, policy: DropPolicy) -> u64 {
        if policy != DropPolicy::Block {
            return self.queue.push(message, policy);
        }
        let from = self.steady.now();
        let lost = self.queue.push(message, policy);
        self.pressure.waited(from, self.steady.now());
        lost
    }
}
