use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use timeloom_bag::UnknownMessages;
use timeloom_time::{Clock, Ros};
use timeloom_wire::{EndpointEvent, Gid, Receiver, Sample};

use super::drop_policy::DropPolicy;
use super::entry::Entry;
use super::moment::Trigger;
use super::queue::Queue;
use super::ring::Ring;
use super::status::SkippedMessages;
use super::throttle::Throttle;
use super::transport_account::{Asked, End, TransportAccount};

/// What all topics of a recording share on the way in.
pub(super) struct Gate {
    pub(super) queue: Queue,
    /// With it, messages wait here until a snapshot is asked for.
    pub(super) ring: Option<Mutex<Ring>>,
    pub(super) paused: AtomicBool,
    /// When the pause ends by itself.
    pub(super) resume_at: Mutex<Option<Trigger>>,
    /// Gives log times instead of the time of arrival: the simulation's.
    pub(super) log_clock: Option<Clock<Ros>>,
}

impl Gate {
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
}

/// The way in of one topic: counts, leaves out what is not wanted, and puts the rest into the queue.
pub(super) struct Intake {
    pub(super) name: String,
    pub(super) type_name: String,
    topic: u32,
    policy: DropPolicy,
    gate: Arc<Gate>,
    /// Which topics fell out of the ring is counted there.
    all: Arc<Intakes>,
    account: Mutex<Account>,
    overwritten: AtomicU64,
    lost_in_queue: AtomicU64,
    /// Came and were to be recorded.
    received: AtomicU64,
    /// How many subscriptions there have been.
    subscriptions: AtomicU64,
}

#[derive(Default)]
struct Account {
    transport: TransportAccount,
    paused: u64,
    throttled: u64,
    throttle: Option<Throttle>,
}

/// What a topic has counted so far.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct IntakeCounts {
    pub(super) received: u64,
    pub(super) lost_in_transport: u64,
    pub(super) lost_in_queue: u64,
    pub(super) skipped: SkippedMessages,
    pub(super) unknown: UnknownMessages,
}

/// All topics by their place.
#[derive(Default)]
pub(super) struct Intakes(Mutex<Vec<Arc<Intake>>>);

/// How a topic comes in.
pub(super) struct IntakeOptions {
    pub(super) name: String,
    pub(super) type_name: String,
    pub(super) policy: DropPolicy,
    pub(super) throttle: Option<Throttle>,
}

impl Intakes {
    fn lock(&self) -> MutexGuard<'_, Vec<Arc<Intake>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Adds a topic at the end; none beyond the 32 bits of its place.
    pub(super) fn add(
        self: &Arc<Self>,
        gate: &Arc<Gate>,
        options: IntakeOptions,
    ) -> Option<Arc<Intake>> {
        let mut all = self.lock();
        let intake = Arc::new(Intake {
            name: options.name,
            type_name: options.type_name,
            topic: u32::try_from(all.len()).ok()?,
            policy: options.policy,
            gate: Arc::clone(gate),
            all: Arc::clone(self),
            account: Mutex::new(Account {
                throttle: options.throttle,
                ..Account::default()
            }),
            overwritten: AtomicU64::new(0),
            lost_in_queue: AtomicU64::new(0),
            received: AtomicU64::new(0),
            subscriptions: AtomicU64::new(0),
        });
        all.push(Arc::clone(&intake));
        Some(intake)
    }

    pub(super) fn all(&self) -> Vec<Arc<Intake>> {
        self.lock().clone()
    }

    fn overwritten(&self, topic: u32) {
        let index = usize::try_from(topic).unwrap_or(usize::MAX);
        if let Some(intake) = self.lock().get(index) {
            intake.overwritten.fetch_add(1, Ordering::Relaxed);
        }
    }
}

impl Intake {
    pub(super) fn topic(&self) -> u32 {
        self.topic
    }

    /// A receiver for the next subscription to this topic.
    pub(super) fn receiver(self: &Arc<Self>) -> Arc<dyn Receiver> {
        self.subscriptions.fetch_add(1, Ordering::Relaxed);
        Arc::new(Subscribed(Arc::clone(self)))
    }

    pub(super) fn counts(&self) -> IntakeCounts {
        let account = self.account();
        IntakeCounts {
            received: self.received.load(Ordering::Acquire),
            lost_in_transport: account.transport.lost(),
            lost_in_queue: self.lost_in_queue.load(Ordering::Acquire),
            skipped: SkippedMessages {
                paused: account.paused,
                throttled: account.throttled,
                overwritten: self.overwritten.load(Ordering::Acquire),
            },
            unknown: account.transport.unknown(),
        }
    }

    fn account(&self) -> MutexGuard<'_, Account> {
        self.account.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn asked(&self) -> Asked {
        if self.gate.paused.load(Ordering::Acquire) {
            Asked::No
        } else {
            Asked::Yes
        }
    }

    fn sample(&self, sample: Sample) {
        let log_time_ns = match &self.gate.log_clock {
            Some(clock) => clock.now().nanos(),
            None => sample.receive_time.nanos(),
        };
        let publish_time_ns = sample
            .source_time
            .map_or(log_time_ns, timeloom_time::Time::nanos);
        let mut asked = self.asked();
        if asked == Asked::No {
            let topic = self.topic;
            let begins = self
                .gate
                .resume_if(|moment| moment.is_reached_by(topic, log_time_ns, publish_time_ns));
            asked = if begins { Asked::Yes } else { Asked::No };
        }
        if !self.wants(&sample, asked, log_time_ns) {
            return;
        }
        self.received.fetch_add(1, Ordering::AcqRel);
        self.keep(Entry {
            topic: self.topic,
            log_time_ns,
            publish_time_ns,
            sequence: sequence(sample.sequence),
            payload: sample.payload,
        });
    }

    fn wants(&self, sample: &Sample, asked: Asked, log_time_ns: i64) -> bool {
        let mut account = self.account();
        let fresh = account
            .transport
            .sample(sample.writer, sample.sequence, asked);
        if !fresh {
            return false;
        }
        if asked == Asked::No {
            account.paused += 1;
            return false;
        }
        let passes = account
            .throttle
            .as_mut()
            .is_none_or(|throttle| throttle.passes(log_time_ns));
        account.throttled += u64::from(!passes);
        passes
    }

    fn keep(&self, entry: Entry) {
        let Some(mut ring) = self.gate.ring() else {
            let lost = self.gate.queue.push(entry, self.policy);
            if lost > 0 {
                self.lost_in_queue.fetch_add(lost, Ordering::AcqRel);
            }
            return;
        };
        let elsewhere = self.gate.queue.used();
        ring.push(entry, elsewhere, |topic| self.all.overwritten(topic));
    }

    /// The publishers with the highest number that came of each.
    pub(super) fn last_seen(&self) -> Vec<(Gid, u64)> {
        self.account().transport.last_seen()
    }

    /// The highest number that came of a publisher.
    pub(super) fn last_seen_of(&self, gid: &Gid) -> Option<u64> {
        self.account().transport.last_seen_of(gid)
    }

    /// These publishers are here, for the first time or again.
    pub(super) fn came(&self, gids: &[Gid]) {
        let mut account = self.account();
        for gid in gids {
            account.transport.came(gid);
        }
    }

    /// Takes in the last number that a publisher has told, and what is known of its end.
    pub(super) fn settle(&self, gid: Gid, told: Option<u64>, end: End) {
        let asked = self.asked();
        let mut account = self.account();
        if let Some(told) = told {
            account.transport.last_told(&gid, told, asked);
        }
        account.transport.settle(&gid, end);
    }

    /// Counts messages that were taken after the recording's end as left out.
    pub(super) fn leave_out(&self, messages: u64) {
        self.account().paused += messages;
        self.received.fetch_sub(messages, Ordering::AcqRel);
    }
}

/// The number that fits into a bag: its lower 32 bits.
fn sequence(number: Option<u64>) -> u32 {
    let low = number.unwrap_or(0) & u64::from(u32::MAX);
    u32::try_from(low).unwrap_or(0)
}

/// One subscription's receiver.
struct Subscribed(Arc<Intake>);

impl Receiver for Subscribed {
    fn sample(&self, sample: Sample) {
        self.0.sample(sample);
    }

    fn event(&self, event: EndpointEvent) {
        let intake = &self.0;
        // What one of several subscriptions lost, another may have received: then only the numbers tell.
        let only = intake.subscriptions.load(Ordering::Relaxed) == 1;
        if let (
            EndpointEvent::Lost {
                writer,
                change,
                how,
            },
            true,
        ) = (event, only)
        {
            let asked = intake.asked();
            intake.account().transport.told(writer, change, how, asked);
        }
    }
}
