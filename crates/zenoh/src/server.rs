//! Serves a service: a queryable, whose queries wait for their replies.

use std::collections::{BTreeMap, VecDeque};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};

use bytes::Bytes;
use timeloom_time::Time;
use timeloom_wire::{
    EndpointKind, Error, Gid, Request, RequestHandler, RequestId, Result, ServiceServer,
    ServiceSpec,
};
use zenoh::Wait as _;
use zenoh::query::{Query, Queryable};

use crate::attachment::Attachment;
use crate::node::{AnnouncedEndpoint, NodeCore, service_route};
use crate::payload::{ENCAPSULATION, contiguous};
use crate::session_call::{call, callback};
use crate::shared::{Shared, refused};
use timeloom_wire::backend::NoteKind;
use timeloom_wire::backend::lock;

pub(crate) struct ZenohServer {
    // Dropped first: peers see the endpoint leave before it stops.
    announced: Option<AnnouncedEndpoint>,
    queryable: Option<Queryable<()>>,
    core: Arc<Core>,
}

struct Core {
    service: String,
    key: String,
    handler: Arc<dyn RequestHandler>,
    shared: Arc<Shared>,
    open: Mutex<Open>,
    ended: AtomicBool,
}

/// Requests without a reply, in order of arrival.
#[derive(Default)]
struct Open {
    queries: BTreeMap<(Gid, i64), Query>,
    order: VecDeque<(Gid, i64)>,
}

/// Limit of the requests without a reply: the oldest is dropped, with a note.
const MOST: usize = 10_000;

impl ZenohServer {
    pub(crate) fn new(
        node: &Arc<NodeCore>,
        service: &ServiceSpec,
        handler: Arc<dyn RequestHandler>,
    ) -> Result<Self> {
        let plan = node.plan(EndpointKind::Server, service_route(service)?, &service.qos);
        let failed = |error| refused(format!("serve `{}`", service.name), error);
        let shared = &node.shared;
        let key = plan.end.route.key(shared.domain);
        let core = Arc::new(Core {
            service: service.name.clone(),
            key: key.clone(),
            handler,
            shared: Arc::clone(shared),
            open: Mutex::default(),
            ended: AtomicBool::new(false),
        });
        let weak = Arc::downgrade(&core);
        let queryable = shared
            .session()
            .declare_queryable(key)
            .complete(true)
            .callback(move |query| {
                callback(|| {
                    if let Some(core) = weak.upgrade() {
                        core.asked(query);
                    }
                });
            });
        let queryable = call(|| queryable.wait()).map_err(failed)?;
        Ok(Self {
            announced: Some(plan.announce(false, Arc::new(|_| {})).map_err(failed)?),
            queryable: Some(queryable),
            core,
        })
    }
}

impl Drop for ZenohServer {
    fn drop(&mut self) {
        self.core.ended.store(true, Ordering::Release);
        self.announced.take();
        call(|| drop(self.queryable.take()));
    }
}

impl ServiceServer for ZenohServer {
    fn reply(&self, id: &RequestId, payload: Bytes) -> Result<()> {
        self.core.reply(id, payload)
    }
}

impl ServiceServer for Core {
    fn reply(&self, id: &RequestId, payload: Bytes) -> Result<()> {
        if payload.len() < ENCAPSULATION {
            return Err(Error::NoEncapsulation {
                topic: self.service.clone(),
                length: payload.len(),
            });
        }
        let query = self.lock().take(&(id.client, id.sequence));
        let query = query.ok_or_else(|| Error::ClientGone {
            service: self.service.clone(),
            client: id.client,
        })?;
        let attachment = Attachment {
            sequence: id.sequence,
            source_time: self.shared.clock.now().nanos(),
            gid: id.client,
        };
        let reply = query
            .reply(self.key.as_str(), payload)
            .attachment(attachment.encode());
        call(|| reply.wait()).map_err(|error| refused(format!("answer `{}`", self.service), error))
    }
}

impl Core {
    fn asked(self: Arc<Self>, query: Query) {
        match read(&query) {
            Ok(request) => {
                let dropped = self
                    .lock()
                    .add((request.id.client, request.id.sequence), query);
                if let Some(text) = dropped {
                    let text = format!("request of `{}`: {text}", self.service);
                    self.shared.notes.add(NoteKind::Dropped, &text);
                }
                let shared = Arc::clone(&self.shared);
                shared.dispatch().give(move || {
                    if !self.ended.load(Ordering::Acquire) {
                        self.handler.request(request, &*self);
                    }
                });
            }
            Err(reason) => {
                let text = format!("request of `{}`: {reason}", self.service);
                self.shared.notes.add(NoteKind::MalformedRequest, &text);
            }
        }
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, Open> {
        lock(&self.open)
    }
}

impl Open {
    /// Keeps a query for its reply; returns a note if another one was dropped for it.
    fn add(&mut self, id: (Gid, i64), query: Query) -> Option<String> {
        if self.queries.insert(id, query).is_some() {
            return Some(format!("{} asked twice with the number {}", id.0, id.1));
        }
        self.order.push_back(id);
        if self.queries.len() <= MOST {
            return None;
        }
        while let Some(oldest) = self.order.pop_front() {
            if self.queries.remove(&oldest).is_some() {
                return Some(format!("more than {MOST} wait for their answers"));
            }
        }
        None
    }

    fn take(&mut self, id: &(Gid, i64)) -> Option<Query> {
        let query = self.queries.remove(id);
        if self.queries.is_empty() {
            self.order.clear();
        } else if self.order.len() > 2 * MOST {
            let queries = &self.queries;
            self.order.retain(|id| queries.contains_key(id));
        }
        query
    }
}

fn read(query: &Query) -> std::result::Result<Request, String> {
    let attachment = query.attachment().ok_or("it has no attachment")?;
    let attachment = Attachment::decode(&attachment.to_bytes())?;
    let payload = query.payload().map(contiguous).unwrap_or_default();
    if payload.len() < ENCAPSULATION {
        return Err(format!(
            "{} bytes from {} have no encapsulation header",
            payload.len(),
            attachment.gid
        ));
    }
    Ok(Request {
        id: RequestId {
            client: attachment.gid,
            sequence: attachment.sequence,
            dialect: 0,
        },
        payload,
        source_time: (attachment.source_time != 0)
            .then(|| Time::from_nanos(attachment.source_time)),
    })
}
