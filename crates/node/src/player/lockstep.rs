use std::sync::atomic::{AtomicI64, Ordering};
use std::sync::{Arc, Mutex};

use timeloom_msg::{Definitions, StampProgram, TypeName};
use timeloom_wire::backend::lock;
use timeloom_wire::{
    EndpointInfo, EndpointKind, GraphEvent, GraphWatch, Node, Receiver, Sample, Subscription,
    TopicSpec, adapt_to_offers,
};

use super::mailbox::Mailbox;
use super::notice::{Notice, Reporter};
use crate::RosNode;

/// No message was received yet.
const SILENT: i64 = i64::MIN;

/// Listens to the topic that time waits for.
pub(super) struct Lockstep {
    topic: String,
    node: Arc<dyn Node>,
    mailbox: Arc<Mailbox>,
    reporter: Reporter,
    heard: Arc<AtomicI64>,
    /// Its publisher, once there is one.
    found: Arc<Mutex<Option<EndpointInfo>>>,
    subscription: Option<Box<dyn Subscription>>,
    _watch: GraphWatch,
}

impl Lockstep {
    /// Looks for a publisher of that topic.
    pub(super) fn start(
        node: &RosNode,
        topic: &str,
        mailbox: &Arc<Mailbox>,
        reporter: &Reporter,
    ) -> Self {
        let found: Arc<Mutex<Option<EndpointInfo>>> = Arc::default();
        let (slot, bell, wanted) = (Arc::clone(&found), Arc::clone(mailbox), topic.to_owned());
        let watch = node.participant().watch_graph(Box::new(move |event| {
            if let GraphEvent::EndpointChanged(info) = event
                && info.kind == EndpointKind::Publisher
                && info.topic == wanted
            {
                let mut slot = lock(&slot);
                slot.get_or_insert_with(|| EndpointInfo::clone(info));
                drop(slot);
                bell.ring();
            }
        }));
        Self {
            topic: topic.to_owned(),
            node: Arc::clone(node.wire()),
            mailbox: Arc::clone(mailbox),
            reporter: reporter.clone(),
            heard: Arc::new(AtomicI64::new(SILENT)),
            found,
            subscription: None,
            _watch: watch,
        }
    }

    /// The stamp of the last message received since the last call, in the player's time; [`i64::MAX`] if its type has
    /// none.
    pub(super) fn heard(&mut self) -> Option<i64> {
        self.subscribe();
        let heard = self.heard.swap(SILENT, Ordering::SeqCst);
        (heard != SILENT).then_some(heard)
    }

    /// Discards the stamp: it is from before a jump.
    pub(super) fn forget(&self) {
        self.heard.store(SILENT, Ordering::SeqCst);
    }

    /// Subscribes, once a publisher was found.
    pub(super) fn subscribe(&mut self) {
        if self.subscription.is_some() {
            return;
        }
        let found = lock(&self.found).take();
        let Some(publisher) = found else { return };
        match self.listen(&publisher) {
            Ok(subscription) => self.subscription = Some(subscription),
            Err(reason) => self.reporter.report(Notice::NotInStep {
                topic: self.topic.clone(),
                reason,
            }),
        }
    }

    fn listen(&self, publisher: &EndpointInfo) -> Result<Box<dyn Subscription>, String> {
        let type_name = TypeName::parse(&publisher.type_name).map_err(|error| error.to_string())?;
        let schema = Definitions::builtin().schema(&publisher.type_name).ok();
        let receiver = StampReceiver {
            stamp: schema.as_ref().and_then(StampProgram::compile),
            heard: Arc::clone(&self.heard),
            mailbox: Arc::clone(&self.mailbox),
        };
        let spec = TopicSpec {
            name: self.topic.clone(),
            type_name,
            type_hash: publisher.type_hash,
            // After a lost message time could wait forever.
            qos: adapt_to_offers(&[publisher.qos]),
        };
        let subscription = self.node.subscribe(&spec, Arc::new(receiver));
        subscription.map_err(|error| error.to_string())
    }
}

struct StampReceiver {
    stamp: Option<StampProgram>,
    heard: Arc<AtomicI64>,
    mailbox: Arc<Mailbox>,
}

impl Receiver for StampReceiver {
    fn sample(&self, sample: Sample) {
        let stamp = self.stamp.as_ref();
        // A message without a stamp acknowledges everything that was published.
        let heard = stamp
            .and_then(|stamp| stamp.read(&sample.payload).ok())
            .map_or(i64::MAX, timeloom_msg::Stamp::nanos);
        self.heard.store(heard, Ordering::SeqCst);
        self.mailbox.ring();
    }
}
