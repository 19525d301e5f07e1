use std::cell::Cell;
use std::ptr;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use timeloom_time::{Clock, System, Time};
use timeloom_wire::{
    EndpointEvent, Gid, LossKnowledge, LossTracker, Receiver, Result, Sample, Subscription,
    TopicSpec,
};

use crate::dispatcher::{Bell, Dispatch, Hears};
use crate::node::{NodeCore, Told, topic_names};
use crate::notes::{NoteKind, Notes};
use crate::own_nodes::Ends;
use crate::shared::refused;
use crate::sys::{
    EndpointListener, Qos, RawReader, ReaderHandle, TakenSample, inside_call, is_silent,
    last_number, new_question, told_since,
};
use crate::user_data;

pub(crate) struct DdsSubscription {
    reader: RawReader,
    core: Arc<Core>,
    /// The number of the last question to the writers; 0 before the first.
    question: AtomicU64,
    _told: Told,
}

/// Takes samples where they arrive, on Cyclone's receive thread, and calls the receiver there.
///
/// Samples of our own participant arrive inside a call of ours, with the caller's locks held: those are left to the
/// participant's thread.
struct Core {
    receiver: Arc<dyn Receiver>,
    clock: Clock<System>,
    notes: Arc<Notes>,
    dispatch: Dispatch,
    reader: OnceLock<ReaderHandle>,
    rung: AtomicBool,
    ended: AtomicBool,
    /// Held while the receiver is called: its calls do not overlap.
    losses: Mutex<LossTracker>,
}

thread_local! {
    /// The subscription whose receiver is being called on this thread.
    static CALLING: Cell<*const Core> = const { Cell::new(ptr::null()) };
}

/// Says so while it lives, also when the receiver panics.
struct Calling(*const Core);

impl Calling {
    fn new(core: &Core) -> Self {
        Self(CALLING.replace(ptr::from_ref(core)))
    }
}

impl Drop for Calling {
    fn drop(&mut self) {
        CALLING.set(self.0);
    }
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
            rung: AtomicBool::new(false),
            ended: AtomicBool::new(false),
            losses: Mutex::default(),
        });
        let listener = Arc::new(Listener(Arc::clone(&core)));
        let reader = RawReader::new(shared.domain(), &name, &type_name, &qos, listener)
            .map_err(|code| refused(format!("subscribe to `{}`", topic.name), code))?;
        let ends = Ends {
            readers: vec![Gid(reader.guid())],
            writers: Vec::new(),
        };
        Ok(Self {
            reader,
            core,
            question: AtomicU64::new(0),
            _told: Told::new(node, ends),
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

    fn last_told(&self, writer: &Gid) -> Option<u64> {
        last_number(&writer.0)
    }

    fn is_silent(&self, writer: &Gid) -> bool {
        is_silent(&writer.0)
    }

    fn ask_last_numbers(&self) -> bool {
        // Counted first: an answer may be here before the call returns.
        self.question.store(new_question(), Ordering::Release);
        self.reader.handle().ask_writers();
        true
    }

    fn has_answered(&self, writer: &Gid) -> bool {
        let question = self.question.load(Ordering::Acquire);
        question > 0 && told_since(&writer.0, question)
    }

    fn is_local(&self, writer: &Gid) -> bool {
        // The participant is the first twelve bytes.
        writer.0[..12] == self.reader.guid()[..12]
    }
}

impl Drop for DdsSubscription {
    fn drop(&mut self) {
        self.core.ended.store(true, Ordering::Release);
        if CALLING.get() != Arc::as_ptr(&self.core) {
            // Waits for a call that runs; none begins after it.
            drop(self.core.losses.lock());
        }
    }
}

impl Core {
    /// Takes all there is and calls the receiver with it.
    fn deliver(&self, reader: ReaderHandle) {
        let mut losses = self.losses.lock().unwrap_or_else(PoisonError::into_inner);
        let mut any = false;
        self.notes.catch(|| {
            let _calling = Calling::new(self);
            loop {
                let now = self.clock.now();
                let taken = reader.take(|sample| any |= self.pass_on(&mut losses, sample, now));
                // What came since rings again.
                if taken < ReaderHandle::AT_ONCE {
                    break;
                }
            }
            if any && !self.has_ended() {
                self.receiver.pause();
            }
        });
    }

    /// Gives one sample to the receiver; false if it was not for it.
    fn pass_on(&self, losses: &mut LossTracker, sample: TakenSample, now: Time<System>) -> bool {
        if self.has_ended() {
            return false;
        }
        let writer = Gid(sample.writer);
        let change = match sample.sequence {
            0 => 0,
            sequence => losses.gap_before(writer, sequence),
        };
        if change > 0 {
            let how = LossKnowledge::SequenceGaps;
            self.receiver.event(EndpointEvent::Lost {
                writer,
                change,
                how,
            });
        }
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

    fn has_ended(&self) -> bool {
        self.ended.load(Ordering::Acquire)
    }
}

impl Bell for Core {
    fn rung(&self) -> &AtomicBool {
        &self.rung
    }

    fn answer(&self) {
        if let (Some(reader), false) = (self.reader.get(), self.has_ended()) {
            self.deliver(*reader);
        }
    }
}

/// Cyclone's callbacks; apart from the core so that it can be rung for.
struct Listener(Arc<Core>);

impl EndpointListener for Listener {
    fn data_available(&self, reader: ReaderHandle) {
        let core = &self.0;
        if core.has_ended() {
            return;
        }
        if inside_call() {
            core.reader.get_or_init(|| reader);
            core.dispatch.ring(core);
        } else {
            core.deliver(reader);
        }
    }

    fn event(&self, event: EndpointEvent) {
        self.0.dispatch.event(Arc::clone(&self.0) as _, event);
    }
}

impl Hears for Core {
    fn hear(&self, event: EndpointEvent) {
        tracing::debug!(?event, "subscription");
        let calls = self.losses.lock().unwrap_or_else(PoisonError::into_inner);
        if !self.has_ended() {
            let _calling = Calling::new(self);
            self.receiver.event(event);
        }
        drop(calls);
    }
}
