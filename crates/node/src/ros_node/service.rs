use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard};

use bytes::Bytes;
use timeloom_msg::{QosProfile, Value};
use timeloom_wire::backend::lock;
use timeloom_wire::{Node, Request, RequestHandler, RequestId, ServiceServer};

use super::executor::{Executor, JobQueue};
use super::rosout::{Logger, Severity};
use super::service_types::ServiceTypes;
use crate::Result;

/// Handles requests at once: decoded request to decoded response.
pub(super) type RequestHandlerFn = Box<dyn Fn(&Value) -> Result<Value> + Send + Sync>;
/// Handles requests with later responses; `None` for a request that cannot be decoded.
pub(super) type DeferredHandlerFn = Box<dyn Fn(Option<&Value>, Responder) + Send + Sync>;

/// The handler of requests.
pub(super) enum Handler {
    /// Called on the node's own thread.
    Now(RequestHandlerFn),
    /// Called on the middleware's thread, so that no request waits for another; a [`Responder`] sends the response.
    Deferred(DeferredHandlerFn),
}

/// A service that answers; dropping it ends it. No call of its handler begins after the drop.
pub struct Service {
    name: String,
    core: Arc<Core>,
    /// The thread of the handler, also after the node is gone.
    executor: Arc<Executor>,
}

struct Core {
    name: String,
    types: ServiceTypes,
    handler: Handler,
    jobs: JobQueue,
    logger: Logger,
    /// Held while the server is created: a request that arrives before waits for it.
    server: Mutex<Option<Box<dyn ServiceServer>>>,
    closed: AtomicBool,
}

impl Service {
    pub(super) fn start(
        node: &dyn Node,
        name: &str,
        types: ServiceTypes,
        qos: QosProfile,
        handler: Handler,
        (executor, logger): (Arc<Executor>, Logger),
    ) -> Result<Self> {
        let spec = types.spec(name, qos);
        let core = Arc::new(Core {
            name: name.to_owned(),
            types,
            handler,
            jobs: executor.queue().clone(),
            logger,
            server: Mutex::default(),
            closed: AtomicBool::new(false),
        });
        let mut server = core.server();
        *server = Some(node.serve(&spec, Arc::new(Dispatch(Arc::clone(&core))))?);
        drop(server);
        Ok(Self {
            name: name.to_owned(),
            core,
            executor,
        })
    }

    /// The full name of the service.
    pub fn name(&self) -> &str {
        &self.name
    }
}

impl Drop for Service {
    fn drop(&mut self) {
        self.core.closed.store(true, Ordering::SeqCst);
        // Responses that were given are sent, or the last client would wait in vain.
        if matches!(self.core.handler, Handler::Deferred(_)) {
            self.executor.finish_queued();
        }
        // Dropped after the lock is released.
        let server = self.core.server().take();
        drop(server);
    }
}

impl std::fmt::Debug for Service {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Service({})", self.name)
    }
}

/// The handler for the middleware: passes requests on, and does no work on the middleware's thread.
struct Dispatch(Arc<Core>);

impl RequestHandler for Dispatch {
    fn request(&self, request: Request, _server: &dyn ServiceServer) {
        let core = &self.0;
        tracing::debug!(service = core.name, "request");
        match &core.handler {
            Handler::Now(_) => {
                let answering = Arc::clone(core);
                core.submit(move || answering.answer(&request));
            }
            Handler::Deferred(takes) if !core.closed.load(Ordering::SeqCst) => {
                let value = core.types.request.decode(&request.payload).ok();
                let responder = Responder {
                    core: Arc::clone(core),
                    id: request.id,
                };
                takes(value.as_ref(), responder);
            }
            Handler::Deferred(_) => {}
        }
    }
}

/// Responds to one request, from any thread and at any time; the node's own thread sends the response.
///
/// A request whose responder is dropped is never answered.
pub struct Responder {
    core: Arc<Core>,
    id: RequestId,
}

impl Responder {
    /// Responds with those of the fields that the layout has, which differs between distributions; the others keep
    /// their defaults. Does not block.
    pub fn fields(self, fields: &[(&str, Value)]) {
        let response = self.response(fields);
        let core = Arc::clone(&self.core);
        core.submit(move || {
            let payload = response.map_err(|error| error.to_string());
            let sent = payload.and_then(|payload| self.core.send(&self.id, payload));
            self.core.report(sent);
        });
    }

    /// Logs the reason why the request was refused, on the node's own thread.
    pub fn warn(&self, text: String) {
        let core = Arc::clone(&self.core);
        self.core.submit(move || {
            let text = format!("{}: {text}", core.name);
            core.logger.log(Severity::Warn, &text);
        });
    }

    fn response(&self, fields: &[(&str, Value)]) -> Result<Bytes> {
        let layout = &self.core.types.response;
        let mut response = layout.default_value()?;
        for (name, value) in fields {
            if response.get(name).is_some() {
                response.set(name, value.clone())?;
            }
        }
        Ok(Bytes::from(layout.encode(&response)?))
    }
}

impl std::fmt::Debug for Responder {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Responder({})", self.core.name)
    }
}

impl Core {
    fn server(&self) -> MutexGuard<'_, Option<Box<dyn ServiceServer>>> {
        lock(&self.server)
    }

    fn submit(&self, job: impl FnOnce() + Send + 'static) {
        if !self.jobs.submit(job) {
            let text = format!("a call of {} was dropped: request queue full", self.name);
            self.logger.report(Severity::Error, &text);
        }
    }

    fn answer(&self, request: &Request) {
        let Handler::Now(answers) = &self.handler else {
            return;
        };
        if self.closed.load(Ordering::SeqCst) {
            return;
        }
        let answer = catch_unwind(AssertUnwindSafe(|| {
            self.response(answers, &request.payload)
        }));
        let sent = match answer {
            Ok(Ok(payload)) => self.send(&request.id, payload),
            Ok(Err(error)) => Err(error.to_string()),
            Err(_panic) => Err("its handler panicked".to_owned()),
        };
        self.report(sent);
    }

    fn report(&self, sent: std::result::Result<(), String>) {
        if let Err(reason) = sent {
            let text = format!("a call of {} was not answered: {reason}", self.name);
            self.logger.log(Severity::Error, &text);
        }
    }

    fn response(&self, answers: &RequestHandlerFn, payload: &[u8]) -> Result<Bytes> {
        let request = self.types.request.decode(payload)?;
        let response = answers(&request)?;
        Ok(Bytes::from(self.types.response.encode(&response)?))
    }

    fn send(&self, id: &RequestId, payload: Bytes) -> std::result::Result<(), String> {
        match &*self.server() {
            Some(server) => server.reply(id, payload).map_err(|error| error.to_string()),
            // The service ended while its handler ran.
            None => Ok(()),
        }
    }
}
