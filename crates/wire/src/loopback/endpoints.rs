use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::sync::Arc;

use bytes::Bytes;
use timeloom_msg::QosProfile;
use timeloom_msg::qos::{Durability, History, Liveliness, Reliability};
use timeloom_time::{Event, System, Time};

use crate::endpoint::EndpointInfo;
use crate::event::{EventObserver, QosPolicy};
use crate::gid::Gid;
use crate::queue::{Bounded, Overflow, PayloadSize, QueueLimits};
use crate::sample::Sample;
use crate::service::{ReplyReceiver, RequestHandler};
use crate::subscription::Receiver;

/// A sample as its writer sent it.
#[derive(Clone, Debug)]
pub(super) struct Stored {
    pub(super) payload: Bytes,
    pub(super) source_time: Time<System>,
    pub(super) sequence: u64,
    /// Steady time at which it expires.
    pub(super) expires: Option<i64>,
}

impl Stored {
    pub(super) fn is_expired(&self, now: i64) -> bool {
        self.expires.is_some_and(|expires| expires <= now)
    }
}

impl PayloadSize for Stored {
    fn bytes(&self) -> usize {
        self.payload.len()
    }
}

/// A sample that arrived and waits for the receiver.
#[derive(Debug)]
pub(super) struct Arrived {
    pub(super) sample: Sample,
    pub(super) expires: Option<i64>,
}

impl PayloadSize for Arrived {
    fn bytes(&self) -> usize {
        self.sample.payload.len()
    }
}

/// A deadline of the `QoS`, and how often it was missed.
#[derive(Debug)]
pub(super) struct Deadline {
    pub(super) period: i64,
    /// Time of the last sample or of the last miss; `None` before the first sample.
    pub(super) since: Option<i64>,
    pub(super) missed: u64,
    /// The miss is reported, or queued to be.
    pub(super) reported: bool,
}

pub(super) struct Writer {
    pub(super) info: EndpointInfo,
    pub(super) observer: EventObserver,
    pub(super) sequence: u64,
    /// Samples for late joiners.
    pub(super) history: Option<Bounded<Stored>>,
    pub(super) batch: Vec<Stored>,
    pub(super) batch_bytes: usize,
    pub(super) readers: BTreeSet<Gid>,
    pub(super) incompatible: BTreeMap<QosPolicy, u64>,
    pub(super) deadline: Option<Deadline>,
    pub(super) lease: Option<Lease>,
    /// Signalled when samples are acknowledged or a reader has room.
    pub(super) waiting: Vec<Event>,
}

/// A writer whose application must assert its liveliness.
#[derive(Debug)]
pub(super) struct Lease {
    pub(super) duration: i64,
    pub(super) asserted: i64,
    pub(super) alive: bool,
}

pub(super) struct Reader {
    pub(super) info: EndpointInfo,
    pub(super) receiver: Arc<dyn Receiver>,
    pub(super) queue: Bounded<Arrived>,
    pub(super) overflow: Overflow,
    /// Number of samples on their way to it.
    pub(super) in_flight: usize,
    pub(super) in_flight_bytes: usize,
    /// Its writers, and whether they are alive.
    pub(super) writers: BTreeMap<Gid, bool>,
    pub(super) incompatible: BTreeMap<QosPolicy, u64>,
    pub(super) deadline: Option<Deadline>,
    /// End of the time for which a slow receiver is busy.
    pub(super) busy_until: i64,
    /// Whether it is in its thread's list of tasks.
    pub(super) listed: bool,
}

pub(super) struct Server {
    pub(super) info: EndpointInfo,
    pub(super) handler: Arc<dyn RequestHandler>,
    pub(super) clients: BTreeSet<Gid>,
}

pub(super) struct Client {
    pub(super) info: EndpointInfo,
    pub(super) receiver: Arc<dyn ReplyReceiver>,
    pub(super) sequence: i64,
    pub(super) servers: BTreeSet<Gid>,
}

impl Writer {
    pub(super) fn new(
        info: EndpointInfo,
        observer: EventObserver,
        limits: QueueLimits,
        now: i64,
    ) -> Self {
        let qos = info.qos;
        let latched = is_latched(&qos);
        Self {
            info,
            observer,
            sequence: 0,
            history: latched.then(|| Bounded::new(depth_limits(&qos, limits))),
            batch: Vec::new(),
            batch_bytes: 0,
            readers: BTreeSet::new(),
            incompatible: BTreeMap::new(),
            deadline: Deadline::of(&qos),
            lease: Lease::of(&qos, now),
            waiting: Vec::new(),
        }
    }

    /// Keeps a sample for late joiners.
    pub(super) fn keep(&mut self, sample: &Stored) {
        if let Some(history) = &mut self.history {
            // An overwritten sample is not a loss: the readers at that time got it.
            history.push(sample.clone(), Overflow::DropOldest, |_| {});
        }
    }

    /// The last samples that have not expired, up to the history depth of a late joiner.
    pub(super) fn kept_for(&self, requested: &QosProfile, now: i64) -> Vec<Stored> {
        let Some(history) = &self.history else {
            return Vec::new();
        };
        let most = depth(requested).unwrap_or(usize::MAX);
        let valid: Vec<_> = history
            .iter()
            .filter(|sample| !sample.is_expired(now))
            .cloned()
            .collect();
        let skipped = valid.len().saturating_sub(most);
        valid.into_iter().skip(skipped).collect()
    }

    pub(super) fn wake(&mut self) {
        for event in self.waiting.drain(..) {
            event.set();
        }
    }
}

impl Reader {
    pub(super) fn new(
        info: EndpointInfo,
        receiver: Arc<dyn Receiver>,
        limits: QueueLimits,
    ) -> Self {
        let qos = info.qos;
        Self {
            info,
            receiver,
            queue: Bounded::new(depth_limits(&qos, limits)),
            overflow: match depth(&qos) {
                Some(_) => Overflow::DropOldest,
                None => Overflow::DropNewest,
            },
            in_flight: 0,
            in_flight_bytes: 0,
            writers: BTreeMap::new(),
            incompatible: BTreeMap::new(),
            deadline: Deadline::of(&qos),
            busy_until: i64::MIN,
            listed: false,
        }
    }

    /// Number of its writers that are alive, and of those that are not.
    pub(super) fn liveliness(&self) -> (usize, usize) {
        let alive = self.writers.values().filter(|alive| **alive).count();
        (alive, self.writers.len() - alive)
    }
}

impl Deadline {
    fn of(qos: &QosProfile) -> Option<Self> {
        Some(Self {
            period: nanos(qos.deadline.limit()?),
            since: None,
            missed: 0,
            reported: true,
        })
    }
}

impl Lease {
    fn of(qos: &QosProfile, now: i64) -> Option<Self> {
        let manual = qos.liveliness == Liveliness::ManualByTopic;
        let duration = qos.liveliness_lease_duration.limit().filter(|_| manual)?;
        Some(Self {
            duration: nanos(duration),
            asserted: now,
            alive: true,
        })
    }
}

/// Depth of a history; `None` if it keeps all.
pub(super) fn depth(qos: &QosProfile) -> Option<usize> {
    (qos.history != History::KeepAll)
        .then(|| usize::try_from(qos.depth).unwrap_or(usize::MAX).max(1))
}

pub(super) fn is_reliable(qos: &QosProfile) -> bool {
    qos.reliability != Reliability::BestEffort
}

/// Whether old samples are kept, or requested.
pub(super) fn is_latched(qos: &QosProfile) -> bool {
    matches!(
        qos.durability,
        Durability::TransientLocal | Durability::BestAvailable
    )
}

fn depth_limits(qos: &QosProfile, limits: QueueLimits) -> QueueLimits {
    QueueLimits {
        messages: depth(qos).unwrap_or(usize::MAX).min(limits.messages),
        bytes: limits.bytes,
    }
}

/// A duration of a policy; never zero, so that no event repeats without time passing.
pub(super) fn nanos(limit: u64) -> i64 {
    i64::try_from(limit).unwrap_or(i64::MAX).max(1)
}

/// Drops the oldest samples held for a writer with a limited history; returns their number.
pub(super) fn overwrite<T>(held: &mut VecDeque<T>, qos: &QosProfile) -> u64 {
    let most = depth(qos).unwrap_or(usize::MAX);
    let over = held.len().saturating_sub(most);
    held.drain(..over);
    over as u64
}
