use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use bytes::Bytes;
use timeloom_msg::{QosProfile, Value};
use timeloom_wire::{Node, Request, RequestHandler, RequestId, ServiceServer};

use super::executor::{Executor, JobQueue};
use super::rosout::{Logger, Severity};
use super::service_types::ServiceTypes;
use crate::Result;

/// Answers requests: decoded request to decoded response.
pub(super) type Handler = Box<dyn Fn(&Value) -> Result<Value> + Send + Sync>;

/// A service that answers; dropping it ends it. No call of its handler begins after the drop.
pub struct Service {
    name: String,
    core: Arc<Core>,
    /// Where the handler runs, also after the node is gone.
    _executor: Arc<Executor>,
}

struct Core {
    name: String,
    types: ServiceTypes,
    handler: Handler,
    jobs: JobQueue,
    logger: Logger,
    /// Held while the server is made: a request that comes before it is there waits for it.
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
        *server = Some(node.serve(&spec, Arc::new(Hand(Arc::clone(&core))))?);
        drop(server);
        Ok(Self {
            name: name.to_owned(),
            core,
            _executor: executor,
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
        // Dropped after the lock is given back.
        let server = self.core.server().take();
        drop(server);
    }
}

impl std::fmt::Debug for Service {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Service({})", self.name)
    }
}

/// What the middleware holds: hands requests on, and never works on the middleware's thread.
struct Hand(Arc<Core>);

impl RequestHandler for Hand {
    fn request(&self, request: Request, _server: &dyn ServiceServer) {
        let core = Arc::clone(&self.0);
        if !self.0.jobs.submit(move || core.answer(&request)) {
            let text = format!("a call of {} was thrown away: too many wait", self.0.name);
            self.0.logger.report(Severity::Error, &text);
        }
    }
}

impl Core {
    fn server(&self) -> MutexGuard<'_, Option<Box<dyn ServiceServer>>> {
        self.server.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn answer(&self, request: &Request) {
        if self.closed.load(Ordering::SeqCst) {
            return;
        }
        let answer = catch_unwind(AssertUnwindSafe(|| self.response(&request.payload)));
        let sent = match answer {
            Ok(Ok(payload)) => self.send(&request.id, payload),
            Ok(Err(error)) => Err(error.to_string()),
            Err(_panic) => Err("its handler panicked".to_owned()),
        };
        if let Err(reason) = sent {
            let text = format!("a call of {} was not answered: {reason}", self.name);
            self.logger.log(Severity::Error, &text);
        }
    }

    fn response(&self, payload: &[u8]) -> Result<Bytes> {
        let request = self.types.request.decode(payload)?;
        let response = (self.handler)(&request)?;
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
