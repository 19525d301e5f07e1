use std::collections::VecDeque;
use std::sync::{Arc, Mutex, Weak};
use std::time::Duration as StdDuration;

use timeloom_msg::QosProfile;
use timeloom_msg::qos::{Durability, Reliability};
use timeloom_time::{Clock, System, Time};
use timeloom_wire::{
    EndpointEvent, EndpointKind, Gid, Receiver, Result, Sample, Subscription, TopicSpec,
};
use zenoh::pubsub::Subscriber;
use zenoh::query::{ConsolidationMode, QueryTarget, Reply, ReplyKeyExpr};
use zenoh::sample::{Sample as ZenohSample, SampleKind};
use zenoh::{Session, Wait as _};
use zenoh_ext::{
    AdvancedSubscriber, AdvancedSubscriberBuilderExt as _, HistoryConfig, RecoveryConfig,
};

use crate::attachment::Attachment;
use crate::dispatcher::Dispatch;
use crate::latched_history::{Admission, LatchedHistory};
use crate::node::{AnnouncedEndpoint, NodeCore, topic_route};
use crate::payload::{ENCAPSULATION, contiguous};
use crate::roster::Roster;
use crate::session_call::{call, callback, is_inside_call};
use crate::shared::{Shared, refused};
use timeloom_wire::backend::{NoteKind, Notes, ReceiverCalls, lock};

pub(crate) struct ZenohSubscription {
    // Dropped first: peers see the endpoint leave before it stops.
    announced: Option<AnnouncedEndpoint>,
    reader: Option<Reader>,
    core: Arc<Core>,
}

/// Plain for volatile, with queries for missed samples for transient local.
enum Reader {
    Plain {
        _subscriber: Subscriber<()>,
    },
    Latched {
        _subscriber: Box<AdvancedSubscriber<()>>,
    },
}

/// Calls the receiver where samples arrive, on Zenoh's threads.
///
/// Samples of our own session arrive inside a call of ours, with the caller's locks held: the participant's thread
/// delivers those.
struct Core {
    topic: String,
    receiver: Arc<dyn Receiver>,
    clock: Clock<System>,
    notes: Arc<Notes>,
    roster: Arc<Roster>,
    dispatch: Dispatch,
    /// Samples of our own session on their way to the participant's thread.
    own: Mutex<VecDeque<Sample>>,
    /// For transient local: the samples published before.
    latched: Option<Latched>,
    calls: ReceiverCalls,
}

/// Queries to the writers of a latched topic for earlier samples.
struct Latched {
    history: LatchedHistory,
    /// Their caches, and the number of samples requested from each.
    selector: String,
    shared: Weak<Shared>,
}

/// A query to a writer; its held samples pass when this is dropped, after the last reply or without any.
struct HistoryQuery {
    core: Arc<Core>,
    writer: Gid,
}

/// Limit of the waiting samples of our own session: the oldest is dropped, and shows as a gap.
const MOST_OWN: usize = 10_000;
/// The longest wait for the earlier samples of a writer; then the received samples pass.
const ANSWER: StdDuration = StdDuration::from_secs(2);
/// As long as `rmw_zenoh` waits for missed samples.
const FOR_EVER: StdDuration = StdDuration::from_millis(u64::MAX);

impl ZenohSubscription {
    pub(crate) fn new(
        node: &Arc<NodeCore>,
        topic: &TopicSpec,
        receiver: Arc<dyn Receiver>,
    ) -> Result<Self> {
        let plan = node.plan(EndpointKind::Subscription, topic_route(topic)?, &topic.qos);
        let failed = |error| refused(format!("subscribe to `{}`", topic.name), error);
        let shared = &node.shared;
        // Without a hash of ours, any hash is accepted.
        let any_hash = topic.type_hash.is_none();
        let key = if any_hash {
            plan.end.route.any_hash(shared.domain)
        } else {
            plan.end.route.key(shared.domain)
        };
        let latched = (plan.end.qos.durability == Durability::TransientLocal).then(|| Latched {
            history: LatchedHistory::default(),
            selector: format!("{key}/@adv/**?_max={}", depth(&plan.end.qos)),
            shared: Arc::downgrade(shared),
        });
        let core = Arc::new(Core {
            topic: topic.name.clone(),
            receiver,
            clock: shared.clock.clone(),
            notes: Arc::clone(&shared.notes),
            roster: Arc::clone(&shared.roster),
            dispatch: shared.dispatch().clone(),
            own: Mutex::default(),
            latched,
            calls: ReceiverCalls::default(),
        });
        let reader =
            call(|| Reader::new(shared.session(), key, &plan.end.qos, &core)).map_err(failed)?;
        let observer = Arc::clone(&core);
        let announced = plan.announce(
            any_hash,
            Arc::new(move |event| observer.handle_event(event)),
        );
        Ok(Self {
            announced: Some(announced.map_err(failed)?),
            reader: Some(reader),
            core,
        })
    }
}

impl Subscription for ZenohSubscription {
    fn gid(&self) -> Gid {
        self.announced
            .as_ref()
            .map_or(Gid::UNKNOWN, AnnouncedEndpoint::gid)
    }

    fn matched(&self) -> usize {
        self.announced
            .as_ref()
            .map_or(0, AnnouncedEndpoint::matched)
    }

    fn is_local(&self, writer: &Gid) -> bool {
        self.core.roster.is_ours(writer)
    }
}

impl Drop for ZenohSubscription {
    fn drop(&mut self) {
        self.core.calls.stop();
        self.announced.take();
        call(|| drop(self.reader.take()));
        self.core.calls.end();
    }
}

impl Reader {
    fn new(
        session: &Session,
        key: String,
        qos: &QosProfile,
        core: &Arc<Core>,
    ) -> zenoh::Result<Self> {
        let core = Arc::clone(core);
        let builder = session
            .declare_subscriber(key)
            .callback(move |sample| callback(|| core.arrived(&sample)));
        if qos.durability != Durability::TransientLocal {
            return Ok(Self::Plain {
                _subscriber: builder.wait()?,
            });
        }
        let mut builder = builder
            .history(
                HistoryConfig::default()
                    .detect_late_publishers()
                    .max_samples(depth(qos)),
            )
            .query_timeout(FOR_EVER)
            .subscriber_detection();
        if qos.reliability == Reliability::Reliable {
            builder = builder.recovery(RecoveryConfig::default().heartbeat());
        }
        Ok(Self::Latched {
            _subscriber: Box::new(builder.wait()?),
        })
    }
}

impl Core {
    fn arrived(self: &Arc<Self>, sample: &ZenohSample) {
        if self.calls.has_ended() || sample.kind() != SampleKind::Put {
            return;
        }
        let sample = match self.read(sample) {
            Ok(sample) => sample,
            Err(reason) => {
                let text = format!("`{}`: {reason}", self.topic);
                return self.notes.add(NoteKind::MalformedSample, &text);
            }
        };
        let writer = sample.writer;
        let admission = match &self.latched {
            Some(latched) => latched.history.admit(sample),
            None => Admission::Pass(sample),
        };
        let sample = match admission {
            Admission::Pass(sample) => sample,
            Admission::Keep => return,
            Admission::Ask => return self.ask(writer),
        };
        if is_inside_call() {
            self.keep_own(sample);
        } else {
            self.deliver([sample]);
        }
    }

    /// Queries a writer for earlier samples; not here, where Zenoh holds its locks.
    fn ask(self: &Arc<Self>, writer: Gid) {
        let asked = HistoryQuery {
            core: Arc::clone(self),
            writer,
        };
        self.dispatch.give(move || asked.send());
    }

    fn read(&self, sample: &ZenohSample) -> std::result::Result<Sample, String> {
        let attachment = sample.attachment().ok_or("it has no attachment")?;
        let attachment = Attachment::decode(&attachment.to_bytes())?;
        let length = sample.payload().len();
        if length < ENCAPSULATION {
            return Err(format!(
                "{length} bytes from {} have no encapsulation header",
                attachment.gid
            ));
        }
        Ok(Sample {
            payload: contiguous(sample.payload()),
            source_time: (attachment.source_time != 0)
                .then(|| Time::from_nanos(attachment.source_time)),
            receive_time: self.clock.now(),
            writer: attachment.gid,
            sequence: u64::try_from(attachment.sequence).ok(),
        })
    }

    fn keep_own(self: &Arc<Self>, sample: Sample) {
        let mut own = lock(&self.own);
        if own.len() >= MOST_OWN {
            own.pop_front();
        }
        own.push_back(sample);
        if own.len() == 1 {
            let core = Arc::clone(self);
            self.dispatch.give(move || {
                let samples = std::mem::take(&mut *lock(&core.own));
                core.deliver(samples);
            });
        }
    }

    /// Calls the receiver with samples that arrived together.
    fn deliver(&self, samples: impl IntoIterator<Item = Sample>) {
        self.calls.run(|| {
            self.notes.catch(|| {
                for sample in samples {
                    if self.calls.has_ended() {
                        return;
                    }
                    self.receiver.sample(sample);
                }
                if !self.calls.has_ended() {
                    self.receiver.pause();
                }
            });
        });
    }

    fn handle_event(&self, event: EndpointEvent) {
        self.calls.run(|| self.receiver.event(event));
    }
}

impl HistoryQuery {
    fn send(self) {
        let Some(latched) = &self.core.latched else {
            return;
        };
        let Some(shared) = latched.shared.upgrade() else {
            return;
        };
        let query = shared.session().get(latched.selector.clone());
        // A query that cannot be sent is handled like one without a reply.
        let _asked = call(|| {
            query
                .callback(move |reply| callback(|| self.handle_reply(&reply)))
                .consolidation(ConsolidationMode::None)
                .accept_replies(ReplyKeyExpr::Any)
                .target(QueryTarget::All)
                .timeout(ANSWER)
                .wait()
        });
    }

    fn handle_reply(&self, reply: &Reply) {
        let (Some(latched), Ok(sample)) = (&self.core.latched, reply.result()) else {
            return;
        };
        if let Ok(sample) = self.core.read(sample)
            && sample.writer == self.writer
        {
            latched.history.answer(sample);
        }
    }
}

impl Drop for HistoryQuery {
    fn drop(&mut self) {
        let (core, writer) = (Arc::clone(&self.core), self.writer);
        self.core.dispatch.give(move || {
            let Some(latched) = &core.latched else {
                return;
            };
            loop {
                let samples = latched.history.release(writer);
                if samples.is_empty() {
                    break;
                }
                core.deliver(samples);
            }
        });
    }
}

/// Depth of the history.
fn depth(qos: &QosProfile) -> usize {
    usize::try_from(qos.depth).unwrap_or(usize::MAX)
}
