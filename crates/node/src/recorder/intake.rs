use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};

use timeloom_bag::{LeftOut, LeftOutCause, LossCause, MissingCause, TopicStatistics};
use timeloom_wire::{EndpointEvent, Gid, Receiver, Sample};

use super::drop_policy::DropPolicy;
use super::entry::Entry;
use super::gate::Gate;
use super::ledger::{Ledger, News};
use super::throttle::Throttle;
use super::transport_account::{Asked, End, Missing, TransportAccount};

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
    /// Came and were to be recorded.
    received: AtomicU64,
    /// How many subscriptions there have been.
    subscriptions: AtomicU64,
    /// Whose messages of another type are only counted here.
    main: Option<Weak<Self>>,
    /// The messages of this topic that have another type.
    conflicts: Mutex<Vec<Arc<Self>>>,
}

#[derive(Default)]
struct Account {
    transport: TransportAccount,
    /// What of `transport` the ledger has.
    entered: Missing,
    ledger: Ledger,
    throttle: Option<Throttle>,
    /// Samples that were counted and not kept, with what was missing between them.
    conflicting: u64,
    entered_conflicting: u64,
}

/// What a topic has counted so far.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct IntakeCounts {
    pub(super) received: u64,
    /// What is missing and what is not known.
    pub(super) missing: TopicStatistics,
}

const PAUSED: MissingCause = MissingCause::LeftOut(LeftOutCause::Paused);
const THROTTLED: MissingCause = MissingCause::LeftOut(LeftOutCause::Throttled);
const OVERWRITTEN: MissingCause = MissingCause::LeftOut(LeftOutCause::Overwritten);
const CONFLICT: MissingCause = MissingCause::LeftOut(LeftOutCause::TypeConflict);
const QUEUE: MissingCause = MissingCause::Recorder(LossCause::Queue);
const BACKPRESSURE: MissingCause = MissingCause::Recorder(LossCause::Backpressure);

impl IntakeCounts {
    /// The account of the bag with the newest counts, whatever the writer has heard of them yet.
    pub(super) fn complete(&self, written: &TopicStatistics) -> TopicStatistics {
        let mut statistics = *written;
        let missing = &self.missing;
        statistics.messages_lost_in_transport = missing.messages_lost_in_transport;
        statistics.lost_in_recorder.queue = missing.lost_in_recorder.queue;
        statistics.lost_in_recorder.backpressure = missing.lost_in_recorder.backpressure;
        statistics.left_out = LeftOut {
            deleted: written.left_out.deleted,
            ..missing.left_out
        };
        statistics.unknown = missing.unknown;
        statistics
    }

    /// Messages that were received and are neither in the bag nor missing.
    pub(super) fn in_flight(&self, statistics: &TopicStatistics, repeated: u64) -> u64 {
        let lost = &statistics.lost_in_recorder;
        let left_out = &statistics.left_out;
        let written = statistics.messages_recorded + left_out.deleted;
        let settled = written.saturating_sub(repeated)
            + lost.queue
            + lost.compression
            + lost.storage
            + left_out.overwritten;
        self.received.saturating_sub(settled)
    }
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
            received: AtomicU64::new(0),
            subscriptions: AtomicU64::new(0),
            main: None,
            conflicts: Mutex::default(),
        });
        all.push(Arc::clone(&intake));
        Some(intake)
    }

    pub(super) fn all(&self) -> Vec<Arc<Intake>> {
        self.lock().clone()
    }

    /// Counts a message that fell out of the ring, or was never asked for.
    pub(super) fn overwritten(&self, entry: &Entry) {
        if let Some(intake) = self.lock().get(entry.index()) {
            let mut account = intake.account();
            account.ledger.miss(OVERWRITTEN, 1, entry.log_time_ns);
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

    /// Counts the messages of another type, for this topic.
    pub(super) fn conflict(self: &Arc<Self>, type_name: &str) -> Arc<Self> {
        let conflict = Arc::new(Self {
            name: self.name.clone(),
            type_name: type_name.to_owned(),
            topic: self.topic,
            policy: self.policy,
            gate: Arc::clone(&self.gate),
            all: Arc::clone(&self.all),
            account: Mutex::default(),
            received: AtomicU64::new(0),
            subscriptions: AtomicU64::new(0),
            main: Some(Arc::downgrade(self)),
            conflicts: Mutex::default(),
        });
        self.conflicts().push(Arc::clone(&conflict));
        conflict
    }

    fn conflicts(&self) -> MutexGuard<'_, Vec<Arc<Self>>> {
        self.conflicts
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn counts(&self) -> IntakeCounts {
        let mut missing = {
            let account = self.account();
            TopicStatistics {
                unknown: account.transport.unknown(),
                ..*account.ledger.statistics()
            }
        };
        for conflict in self.conflicts().iter() {
            let unknown = conflict.account().transport.unknown();
            missing.unknown.merge(&unknown);
        }
        IntakeCounts {
            received: self.received.load(Ordering::Acquire),
            missing,
        }
    }

    /// Changes that the bag's account does not have yet.
    pub(super) fn take_news(&self) -> News {
        self.account().ledger.take_news()
    }

    fn account(&self) -> MutexGuard<'_, Account> {
        self.account.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn sample(&self, sample: Sample) {
        let log_time_ns = self.gate.log_time_ns(sample.receive_time);
        if self.main.is_some() {
            return self.count(&sample, log_time_ns);
        }
        let publish_time_ns = sample
            .source_time
            .map_or(log_time_ns, timeloom_time::Time::nanos);
        let mut asked = self.gate.asked();
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

    /// Counts a sample that is of another type than the topic.
    fn count(&self, sample: &Sample, log_time_ns: i64) {
        let mut account = self.account();
        let fresh = account
            .transport
            .sample(sample.writer, sample.sequence, Asked::No);
        account.conflicting += u64::from(fresh);
        self.enter(&mut account, log_time_ns);
    }

    /// Brings the ledger up to what the transport's account knows.
    fn enter(&self, account: &mut Account, when_ns: i64) {
        let now = account.transport.missing();
        if let Some(main) = &self.main {
            let before = account.entered_conflicting;
            let now = account.conflicting.saturating_add(now.paused);
            account.entered_conflicting = now.max(before);
            if let Some(main) = main.upgrade() {
                let mut account = main.account();
                let more = now.saturating_sub(before);
                account.ledger.miss(CONFLICT, more, when_ns);
            }
            return;
        }
        if now == account.entered {
            return;
        }
        let before = std::mem::replace(&mut account.entered, now);
        let ledger = &mut account.ledger;
        let transport = MissingCause::Transport;
        ledger.follow(transport, before.transport, now.transport, when_ns);
        ledger.follow(BACKPRESSURE, before.backpressure, now.backpressure, when_ns);
        ledger.follow(PAUSED, before.paused, now.paused, when_ns);
    }

    fn wants(&self, sample: &Sample, asked: Asked, log_time_ns: i64) -> bool {
        let mut account = self.account();
        let fresh = account
            .transport
            .sample(sample.writer, sample.sequence, asked);
        self.enter(&mut account, log_time_ns);
        if !fresh {
            return false;
        }
        if asked == Asked::No {
            account.ledger.miss(PAUSED, 1, log_time_ns);
            return false;
        }
        let passes = account
            .throttle
            .as_mut()
            .is_none_or(|throttle| throttle.passes(log_time_ns));
        if !passes {
            account.ledger.miss(THROTTLED, 1, log_time_ns);
        }
        passes
    }

    fn keep(&self, entry: Entry) {
        let log_time_ns = entry.log_time_ns;
        let Some(mut ring) = self.gate.ring() else {
            let lost = self.gate.push(entry, self.policy);
            if lost > 0 {
                self.account().ledger.miss(QUEUE, lost, log_time_ns);
            }
            return;
        };
        let elsewhere = self.gate.queue.used();
        ring.push(entry, elsewhere, |entry| self.all.overwritten(entry));
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
        let (asked, now_ns) = (self.gate.asked(), self.gate.now_ns());
        let mut account = self.account();
        if let Some(told) = told {
            account.transport.last_told(&gid, told, asked);
        }
        account.transport.settle(&gid, end);
        self.enter(&mut account, now_ns);
    }

    /// Counts a message that was taken after the recording's end as left out.
    pub(super) fn leave_out(&self, entry: &Entry) {
        self.account().ledger.miss(PAUSED, 1, entry.log_time_ns);
        self.received.fetch_sub(1, Ordering::AcqRel);
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
            let (asked, now_ns) = (intake.gate.asked(), intake.gate.now_ns());
            let mut account = intake.account();
            account.transport.told(writer, change, how, asked);
            intake.enter(&mut account, now_ns);
        }
    }
}
