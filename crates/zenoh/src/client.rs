//! Calls a service: a query to all of its servers.

use std::sync::atomic::{AtomicBool, AtomicI64, Ordering};
use std::sync::{Arc, Weak};
use std::time::Duration;

use bytes::Bytes;
use timeloom_wire::{
    EndpointKind, Error, Gid, Reply, ReplyReceiver, Result, ServiceClient, ServiceSpec,
};
use zenoh::Wait as _;
use zenoh::query::{ConsolidationMode, QueryTarget, Reply as ZenohReply};

use crate::attachment::Attachment;
use crate::node::{AnnouncedEndpoint, NodeCore, service_route};
use crate::payload::{ENCAPSULATION, contiguous};
use crate::session_call::{call, callback};
use crate::shared::{Shared, refused};
use timeloom_wire::backend::NoteKind;

pub(crate) struct ZenohClient {
    announced: AnnouncedEndpoint,
    core: Arc<Core>,
    key: String,
    /// The number of the last call.
    last: AtomicI64,
}

struct Core {
    service: String,
    gid: Gid,
    receiver: Arc<dyn ReplyReceiver>,
    shared: Arc<Shared>,
    ended: AtomicBool,
}

/// Servers have no time limit, as in `rmw_zenoh`: the caller decides how long to wait.
const FOR_EVER: Duration = Duration::from_millis(u64::MAX);

impl ZenohClient {
    pub(crate) fn new(
        node: &Arc<NodeCore>,
        service: &ServiceSpec,
        receiver: Arc<dyn ReplyReceiver>,
    ) -> Result<Self> {
        let plan = node.plan(EndpointKind::Client, service_route(service)?, &service.qos);
        let failed = |error| refused(format!("be a client of `{}`", service.name), error);
        let shared = &node.shared;
        let core = Arc::new(Core {
            service: service.name.clone(),
            gid: plan.gid,
            receiver,
            shared: Arc::clone(shared),
            ended: AtomicBool::new(false),
        });
        Ok(Self {
            key: plan.end.route.key(shared.domain),
            announced: plan.announce(false, Arc::new(|_| {})).map_err(failed)?,
            core,
            last: AtomicI64::new(0),
        })
    }
}

impl Drop for ZenohClient {
    fn drop(&mut self) {
        self.core.ended.store(true, Ordering::Release);
    }
}

impl ServiceClient for ZenohClient {
    fn call(&self, payload: Bytes) -> Result<i64> {
        let service = &self.core.service;
        if payload.len() < ENCAPSULATION {
            return Err(Error::NoEncapsulation {
                topic: service.clone(),
                length: payload.len(),
            });
        }
        let sequence = self.last.fetch_add(1, Ordering::Relaxed) + 1;
        let attachment = Attachment {
            sequence,
            source_time: self.core.shared.clock.now().nanos(),
            gid: self.core.gid,
        };
        // Weak: a query without a reply must not keep the session that would end it.
        let core: Weak<Core> = Arc::downgrade(&self.core);
        let query = self
            .core
            .shared
            .session()
            .get(self.key.as_str())
            .payload(payload)
            .attachment(attachment.encode())
            .target(QueryTarget::AllComplete)
            .consolidation(ConsolidationMode::None)
            .timeout(FOR_EVER)
            .callback(move |reply| {
                callback(|| {
                    if let Some(core) = core.upgrade() {
                        core.answered(&reply, sequence);
                    }
                });
            });
        call(|| query.wait()).map_err(|error| refused(format!("call `{service}`"), error))?;
        Ok(sequence)
    }

    fn servers(&self) -> usize {
        self.announced.matched()
    }
}

impl Core {
    fn answered(self: &Arc<Self>, reply: &ZenohReply, sequence: i64) {
        if self.ended.load(Ordering::Acquire) {
            return;
        }
        match self.read(reply, sequence) {
            Ok(payload) => {
                let core = Arc::clone(self);
                self.shared.dispatch().give(move || {
                    if !core.ended.load(Ordering::Acquire) {
                        core.receiver.reply(Reply { sequence, payload });
                    }
                });
            }
            Err(reason) => {
                let text = format!("reply of `{}`: {reason}", self.service);
                self.shared.notes.add(NoteKind::MalformedReply, &text);
            }
        }
    }

    fn read(&self, reply: &ZenohReply, sequence: i64) -> std::result::Result<Bytes, String> {
        let sample = reply.result().map_err(|error| {
            let text = error.payload().try_to_string().unwrap_or_default();
            format!("the server says `{text}`")
        })?;
        let attachment = sample.attachment().ok_or("it has no attachment")?;
        let attachment = Attachment::decode(&attachment.to_bytes())?;
        if (attachment.gid, attachment.sequence) != (self.gid, sequence) {
            return Err(format!(
                "it answers call {} of {} and not call {sequence} of {}",
                attachment.sequence, attachment.gid, self.gid
            ));
        }
        let length = sample.payload().len();
        if length < ENCAPSULATION {
            return Err(format!("{length} bytes have no encapsulation header"));
        }
        Ok(contiguous(sample.payload()))
    }
}
