use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, Weak};

use timeloom_bag::{LeftOut, LeftOutCause, LossCause, MissingCause, TopicStatistics};
use timeloom_wire::{Gid, Receiver, Sample};

use super::drop_policy::DropPolicy;
use super::ledger::{Ledger, LedgerChanges};
use super::publisher_runs::PublisherRuns;
use super::queued_message::QueuedMessage;
use super::shared_input::SharedInput;
use super::throttle::Throttle;
use super::transport_account::{End, Missing, TransportAccount, Wanted};
use super::trigger_gate::{Exits, TriggerGate};
use timeloom_wire::backend::lock;

/// Receives the messages of one topic: counts them, leaves out those that are not wanted, and queues the rest.
pub(super) struct TopicInput {
    pub(super) name: String,
    pub(super) type_name: String,
    topic: u32,
    policy: DropPolicy,
    shared_input: Arc<SharedInput>,
    /// Counts messages of other topics that this one overwrites in the ring.
    all: Arc<TopicInputs>,
    account: Mutex<Account>,
    /// Messages that arrived and are wanted.
    received: AtomicU64,
    /// The input of the recorded type, if this one only counts messages of another type.
    main: Option<Weak<Self>>,
    /// The inputs of this topic that count messages of other types.
    conflicts: Mutex<Vec<Arc<Self>>>,
}

#[derive(Default)]
struct Account {
    transport: TransportAccount,
    /// The part of `transport` that is in the ledger.
    entered: Missing,
    ledger: Ledger,
    throttle: Option<Throttle>,
    publishers: PublisherRuns,
    /// Messages of another type that arrived.
    conflicting: u64,
    entered_conflicting: u64,
}

/// The counts of a topic so far.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct InputCounts {
    pub(super) received: u64,
    /// Missing and unknown messages.
    pub(super) missing: TopicStatistics,
}

const PAUSED: MissingCause = MissingCause::LeftOut(LeftOutCause::Paused);
const THROTTLED: MissingCause = MissingCause::LeftOut(LeftOutCause::Throttled);
const OVERWRITTEN: MissingCause = MissingCause::LeftOut(LeftOutCause::Overwritten);
const CONFLICT: MissingCause = MissingCause::LeftOut(LeftOutCause::TypeConflict);
const QUEUE: MissingCause = MissingCause::Recorder(LossCause::Queue);
const BACKPRESSURE: MissingCause = MissingCause::Recorder(LossCause::Backpressure);

impl InputCounts {
    /// The account of the bag with the newest counts, which the writer may not have yet.
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

    /// Messages that arrived and are neither in the bag nor missing.
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

/// All topics by their index.
#[derive(Default)]
pub(super) struct TopicInputs(Mutex<Vec<Arc<TopicInput>>>);

/// The options of a [`TopicInput`].
pub(super) struct TopicInputOptions {
    pub(super) name: String,
    pub(super) type_name: String,
    pub(super) policy: DropPolicy,
    pub(super) throttle: Option<Throttle>,
}

impl TopicInputs {
    fn lock(&self) -> MutexGuard<'_, Vec<Arc<TopicInput>>> {
        lock(&self.0)
    }

    /// Adds a topic; `None` if there are too many for an index of 32 bits.
    pub(super) fn add(
        self: &Arc<Self>,
        shared_input: &Arc<SharedInput>,
        options: TopicInputOptions,
    ) -> Option<Arc<TopicInput>> {
        let mut all = self.lock();
        let input = Arc::new(TopicInput {
            name: options.name,
            type_name: options.type_name,
            topic: u32::try_from(all.len()).ok()?,
            policy: options.policy,
            shared_input: Arc::clone(shared_input),
            all: Arc::clone(self),
            account: Mutex::new(Account {
                throttle: options.throttle,
                ..Account::default()
            }),
            received: AtomicU64::new(0),
            main: None,
            conflicts: Mutex::default(),
        });
        all.push(Arc::clone(&input));
        Some(input)
    }

    pub(super) fn all(&self) -> Vec<Arc<TopicInput>> {
        self.lock().clone()
    }

    /// Counts messages that were overwritten in the ring, or that no snapshot and no trigger asked for.
    pub(super) fn overwritten(&self, topic: u32, messages: u64, when_ns: i64) {
        self.miss(topic, OVERWRITTEN, messages, when_ns);
    }

    /// Counts messages that a trigger asked for and that the ring had no room for.
    pub(super) fn lost_in_ring(&self, topic: u32, messages: u64, when_ns: i64) {
        self.miss(topic, QUEUE, messages, when_ns);
    }

    fn miss(&self, topic: u32, cause: MissingCause, messages: u64, when_ns: i64) {
        let index = usize::try_from(topic).unwrap_or(usize::MAX);
        if let Some(input) = self.lock().get(index) {
            input.account().ledger.miss(cause, messages, when_ns);
        }
    }
}

impl TopicInput {
    pub(super) fn topic(&self) -> u32 {
        self.topic
    }

    /// Adds an input that counts messages of another type.
    pub(super) fn conflict(self: &Arc<Self>, type_name: &str) -> Arc<Self> {
        let conflict = Arc::new(Self {
            name: self.name.clone(),
            type_name: type_name.to_owned(),
            topic: self.topic,
            policy: self.policy,
            shared_input: Arc::clone(&self.shared_input),
            all: Arc::clone(&self.all),
            account: Mutex::default(),
            received: AtomicU64::new(0),
            main: Some(Arc::downgrade(self)),
            conflicts: Mutex::default(),
        });
        self.conflicts().push(Arc::clone(&conflict));
        conflict
    }

    fn conflicts(&self) -> MutexGuard<'_, Vec<Arc<Self>>> {
        lock(&self.conflicts)
    }

    pub(super) fn counts(&self) -> InputCounts {
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
        InputCounts {
            received: self.received.load(Ordering::Acquire),
            missing,
        }
    }

    /// Takes the changes that the bag's account does not have yet.
    pub(super) fn take_changes(&self) -> LedgerChanges {
        self.account().ledger.take_changes()
    }

    /// Takes the changes of the publisher since the last call.
    pub(super) fn take_publishers(&self) -> Vec<(i64, Option<Gid>)> {
        self.account().publishers.take()
    }

    fn account(&self) -> MutexGuard<'_, Account> {
        lock(&self.account)
    }

    fn receive(&self, sample: Sample) {
        let log_time_ns = self.shared_input.log_time_ns(sample.receive_time);
        if self.main.is_some() {
            return self.count_conflicting(&sample, log_time_ns);
        }
        let publish_time_ns = sample
            .source_time
            .map_or(log_time_ns, timeloom_time::Time::nanos);
        let mut wanted = self.shared_input.wanted();
        if wanted == Wanted::No {
            let topic = self.topic;
            let begins = self
                .shared_input
                .resume_if(|moment| moment.is_reached_by(topic, log_time_ns, publish_time_ns));
            wanted = if begins { Wanted::Yes } else { Wanted::No };
        }
        if !self.accepts(&sample, wanted, log_time_ns) {
            return;
        }
        self.received.fetch_add(1, Ordering::AcqRel);
        self.keep(QueuedMessage {
            sequence: sequence(sample.sequence),
            ..QueuedMessage::new(self.topic, log_time_ns, publish_time_ns, sample.payload)
        });
    }

    /// Counts a message of another type.
    fn count_conflicting(&self, sample: &Sample, log_time_ns: i64) {
        let mut account = self.account();
        let fresh = account
            .transport
            .sample(sample.writer, sample.sequence, Wanted::No);
        account.conflicting += u64::from(fresh);
        self.enter(&mut account, log_time_ns);
    }

    /// Enters the changes of the transport's account into the ledger.
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

    /// Counts a message; true if it goes to the queue.
    fn accepts(&self, sample: &Sample, wanted: Wanted, log_time_ns: i64) -> bool {
        let mut account = self.account();
        let fresh = account
            .transport
            .sample(sample.writer, sample.sequence, wanted);
        self.enter(&mut account, log_time_ns);
        if !fresh {
            return false;
        }
        if wanted == Wanted::No {
            account.ledger.miss(PAUSED, 1, log_time_ns);
            return false;
        }
        let passes = account
            .throttle
            .as_mut()
            .is_none_or(|throttle| throttle.passes(log_time_ns));
        if passes {
            account.publishers.message(log_time_ns, sample.writer);
        } else {
            account.ledger.miss(THROTTLED, 1, log_time_ns);
        }
        passes
    }

    fn keep(&self, message: QueuedMessage) {
        if let Some(gate) = self.shared_input.gate() {
            return self.pass(gate, message);
        }
        let Some(mut ring) = self.shared_input.ring() else {
            return self.queue(message);
        };
        let elsewhere = self.shared_input.queue.used();
        ring.push(message, elsewhere, |gone, _| {
            self.all.overwritten(gone.topic, 1, gone.log_time_ns);
        });
    }

    /// Lets the triggers see a message; it is queued if it is in a window.
    fn pass(&self, mut gate: MutexGuard<'_, TriggerGate>, message: QueuedMessage) {
        let exits = Exits::new(&self.shared_input.queue, &self.all);
        let Some(message) = gate.message(message, &exits) else {
            return;
        };
        // A push that blocks must not hold the gate: the writer needs it to make room.
        let gate = (self.policy != DropPolicy::Block).then_some(gate);
        self.queue(message);
        drop(gate);
    }

    fn queue(&self, message: QueuedMessage) {
        let log_time_ns = message.log_time_ns;
        let lost = self.shared_input.push(message, self.policy);
        if lost > 0 {
            self.account().ledger.miss(QUEUE, lost, log_time_ns);
        }
    }

    /// The highest sequence number received from each publisher.
    pub(super) fn last_seen(&self) -> Vec<(Gid, u64)> {
        self.account().transport.last_seen()
    }

    /// The highest sequence number received from a publisher.
    pub(super) fn last_seen_of(&self, gid: &Gid) -> Option<u64> {
        self.account().transport.last_seen_of(gid)
    }

    /// These publishers appeared, for the first time or again.
    pub(super) fn came(&self, gids: &[Gid]) {
        let mut account = self.account();
        for gid in gids {
            account.transport.came(gid);
        }
    }

    /// Enters the last number that a publisher has announced, and whether its end is known.
    pub(super) fn settle(&self, gid: Gid, last: Option<u64>, end: End) {
        let (wanted, now_ns) = (self.shared_input.wanted(), self.shared_input.now_ns());
        let mut account = self.account();
        if let Some(last) = last {
            account.transport.last_announced(&gid, last, wanted);
        }
        account.transport.settle(&gid, end);
        self.enter(&mut account, now_ns);
    }

    /// Counts a message that was queued when a limit ended the recording as left out.
    pub(super) fn leave_out(&self, message: &QueuedMessage) {
        self.account().ledger.miss(PAUSED, 1, message.log_time_ns);
        self.received.fetch_sub(1, Ordering::AcqRel);
    }
}

/// The lower 32 bits of a sequence number: a bag has no more.
fn sequence(number: Option<u64>) -> u32 {
    let low = number.unwrap_or(0) & u64::from(u32::MAX);
    u32::try_from(low).unwrap_or(0)
}

impl Receiver for TopicInput {
    fn sample(&self, sample: Sample) {
        self.receive(sample);
    }
}
