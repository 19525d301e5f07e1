use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};

use timeloom_time::{Clock, System, Time};
use timeloom_wire::{EndpointEvent, Gid, Receiver, Result, Sample, Subscription, TopicSpec};

use crate::dispatcher::{Dispatch, EventHandler, Task};
use crate::node::{AnnouncedEndpoints, NodeCore, topic_names};
use crate::own_nodes::EndpointGids;
use crate::shared::refused;
use crate::sys::{
    EndpointListener, Qos, RawReader, ReaderHandle, TakenSample, has_announced_since, inside_call,
    is_lease_expired, last_number, new_question,
};
use crate::user_data;
use timeloom_wire::backend::{NoteKind, Notes, ReceiverCalls};

pub(crate) struct DdsSubscription {
    reader: RawReader,
    core: Arc<Core>,
    /// The number of the last request for last numbers; 0 before the first.
    question: AtomicU64,
    _announced: AnnouncedEndpoints,
}

/// Takes samples where they arrive, on Cyclone's receive thread, and calls the receiver there.
///
/// Samples of our own participant arrive inside a call of ours, with the caller's locks held: the participant's thread
/// delivers those.
struct Core {
    receiver: Arc<dyn Receiver>,
    clock: Clock<System>,
    notes: Arc<Notes>,
    dispatch: Dispatch,
    reader: OnceLock<ReaderHandle>,
    scheduled: AtomicBool,
    calls: ReceiverCalls,
}

const ENCAPSULATION: usize = 4;

impl DdsSubscription {
    pub(crate) fn new(
        node: &Arc<NodeCore>,
        topic: &TopicSpec,
        receiver: Arc<dyn Receiver>,
    ) -> Result<Self> {
        let (name, type_name) = topic_names(topic)?;
        let shared = &node.shared;
        let qos = Qos::reader(&topic.qos, &user_data::endpoint(topic.type_hash));
        let core = Arc::new(Core {
            receiver,
            clock: shared.clock.clone(),
            notes: Arc::clone(&shared.notes),
            dispatch: shared.dispatch().clone(),
            reader: OnceLock::new(),
            scheduled: AtomicBool::new(false),
            calls: ReceiverCalls::default(),
        });
        let listener = Arc::new(Listener(Arc::clone(&core)));
        let reader = RawReader::new(shared.domain(), &name, &type_name, &qos, listener)
            .map_err(|code| refused(format!("subscribe to `{}`", topic.name), code))?;
        let ends = EndpointGids {
            readers: vec![Gid(reader.guid())],
            writers: Vec::new(),
        };
        Ok(Self {
            reader,
            core,
            question: AtomicU64::new(0),
            _announced: AnnouncedEndpoints::new(node, ends),
        })
    }
}

impl Subscription for DdsSubscription {
    fn gid(&self) -> Gid {
        Gid(self.reader.guid())
    }

    fn matched(&self) -> usize {
        self.reader.handle().matched()
    }

    fn last_announced(&self, writer: &Gid) -> Option<u64> {
        last_number(&writer.0)
    }

    fn is_lease_expired(&self, writer: &Gid) -> bool {
        is_lease_expired(&writer.0)
    }

    fn request_last_numbers(&self) -> bool {
        // Counted first: an answer may arrive before the call returns.
        self.question.store(new_question(), Ordering::Release);
        self.reader.handle().ask_writers();
        true
    }

    fn has_answered(&self, writer: &Gid) -> bool {
        let question = self.question.load(Ordering::Acquire);
        question > 0 && has_announced_since(&writer.0, question)
    }

    fn is_local(&self, writer: &Gid) -> bool {
        // The participant is the first twelve bytes.
        writer.0[..12] == self.reader.guid()[..12]
    }
}

impl Drop for DdsSubscription {
    fn drop(&mut self) {
        self.core.calls.end();
    }
}

impl Core {
    /// Takes all samples and calls the receiver with them.
    fn deliver(&self, reader: ReaderHandle) {
        self.calls
            .run(|| self.notes.catch(|| self.take_all(reader)));
    }

    fn take_all(&self, reader: ReaderHandle) {
        let mut any = false;
        loop {
            let now = self.clock.now();
            let taken = reader.take(|sample| any |= self.pass_on(sample, now));
            // Later samples trigger another callback.
            if taken < ReaderHandle::AT_ONCE {
                break;
            }
        }
        if any && !self.calls.has_ended() {
            self.receiver.pause();
        }
    }

    /// Passes one sample to the receiver; false if it was not passed.
    fn pass_on(&self, sample: TakenSample, now: Time<System>) -> bool {
        if self.calls.has_ended() {
            return false;
        }
        let writer = Gid(sample.writer);
        if sample.payload.len() < ENCAPSULATION {
            let text = format!(
                "{} bytes from {writer} have no encapsulation header",
                sample.payload.len()
            );
            self.notes.add(NoteKind::MalformedSample, &text);
            return false;
        }
        self.receiver.sample(Sample {
            payload: sample.payload,
            source_time: (sample.source_time != 0).then(|| Time::from_nanos(sample.source_time)),
            receive_time: now,
            writer,
            sequence: (sample.sequence != 0).then_some(sample.sequence),
        });
        true
    }
}

impl Task for Core {
    fn scheduled(&self) -> &AtomicBool {
        &self.scheduled
    }

    fn run(&self) {
        if let (Some(reader), false) = (self.reader.get(), self.calls.has_ended()) {
            self.deliver(*reader);
        }
    }
}

/// Cyclone's callbacks; separate from the core, so that the core can be scheduled from them.
struct Listener(Arc<Core>);

impl EndpointListener for Listener {
    fn data_available(&self, reader: ReaderHandle) {
        let core = &self.0;
        if core.calls.has_ended() {
            return;
        }
        if inside_call() {
            core.reader.get_or_init(|| reader);
            core.dispatch.schedule(core);
        } else {
            core.deliver(reader);
        }
    }

    fn event(&self, event: EndpointEvent) {
        self.0.dispatch.event(Arc::clone(&self.0) as _, event);
    }
}

impl EventHandler for Core {
    fn handle_event(&self, event: EndpointEvent) {
        tracing::debug!(?event, "subscription");
        self.calls.run(|| self.receiver.event(event));
    }
}
