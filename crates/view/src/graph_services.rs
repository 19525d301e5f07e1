//! The services of a graph, for clients.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, Weak};

use bytes::Bytes;
use timeloom_msg::{QosProfile, Schema};
use timeloom_node::{ServiceTypes, TypeFinder};
use timeloom_time::{Duration, TimeBase};
use timeloom_wire::{
    Caller, EndpointInfo, EndpointKind, Graph, GraphEvent, GraphWatch, Node, Participant,
};

use crate::channel::{ServiceId, ServiceInfo};
use crate::definition_text::definition_text;
use crate::error::{Error, Result};
use crate::peer::lock;
use crate::source_output::SourceOutput;

/// Timeout for finding a server, and for its response.
const PATIENCE: Duration = Duration::from_secs(10);
/// Limit for services, because names come from outside.
const MOST_SERVICES: usize = 10_000;

/// Advertises the services of a graph while they exist, if their definitions are known.
pub(crate) struct GraphServices {
    inner: Arc<Inner>,
    _watch: GraphWatch,
}

struct Inner {
    node: Arc<dyn Node>,
    base: TimeBase,
    finder: TypeFinder,
    output: SourceOutput,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    graph: Graph,
    offers: BTreeMap<String, Offer>,
}

enum Offer {
    /// Its definition is being looked for, or was not found.
    Unknown,
    Advertised(Advertised),
}

struct Advertised {
    id: ServiceId,
    types: ServiceTypes,
    caller: Option<Arc<Caller>>,
}

impl GraphServices {
    /// Advertises existing servers to `output`; `node` calls them.
    pub(crate) fn open(
        participant: &dyn Participant,
        node: &Arc<dyn Node>,
        finder: &TypeFinder,
        output: &SourceOutput,
    ) -> Self {
        let inner = Arc::new(Inner {
            node: Arc::clone(node),
            base: participant.time_base(),
            finder: finder.clone(),
            output: output.clone(),
            state: Mutex::default(),
        });
        let observed = Arc::downgrade(&inner);
        let watch = participant.watch_graph(Box::new(move |event| {
            if let Some(inner) = observed.upgrade() {
                inner.observe(event);
            }
        }));
        Self {
            inner,
            _watch: watch,
        }
    }

    /// Calls a service; blocks until the response arrives.
    pub(crate) fn call(&self, service: &str, request: Bytes) -> Result<Bytes> {
        let refused = |error: timeloom_wire::Error| Error::Refused(error.to_string());
        let caller = self.inner.caller(service)?;
        if !caller.wait_for_server(PATIENCE) {
            return Err(Error::Refused(format!("{service} is gone")));
        }
        caller.call(request, PATIENCE).map_err(refused)
    }

    /// Number of advertised services.
    pub(crate) fn len(&self) -> usize {
        let state = lock(&self.inner.state);
        let advertised = |offer: &&Offer| matches!(offer, Offer::Advertised(_));
        state.offers.values().filter(advertised).count()
    }
}

impl Inner {
    /// Processes a change of the graph, on the transport's thread.
    fn observe(self: &Arc<Self>, event: &GraphEvent) {
        match event {
            GraphEvent::EndpointChanged(server)
                if server.kind == EndpointKind::Server && server.topic.starts_with('/') =>
            {
                self.add(event, server);
            }
            GraphEvent::EndpointRemoved(gid) => {
                let mut state = lock(&self.state);
                let Some(service) = state.graph.endpoint(gid).map(|info| info.topic.clone()) else {
                    return;
                };
                state.graph.apply(event);
                if !state.has_server(&service)
                    && let Some(Offer::Advertised(advertised)) = state.offers.remove(&service)
                {
                    drop(state);
                    self.output.unadvertise_services(&[advertised.id]);
                }
            }
            _ => {}
        }
    }

    fn add(self: &Arc<Self>, event: &GraphEvent, server: &EndpointInfo) {
        {
            let mut state = lock(&self.state);
            state.graph.apply(event);
            if state.offers.contains_key(&server.topic) || state.offers.len() >= MOST_SERVICES {
                return;
            }
            state.offers.insert(server.topic.clone(), Offer::Unknown);
        }
        let asking: Weak<Self> = Arc::downgrade(self);
        let server = server.clone();
        let asked = server.clone();
        self.finder.find(&asked, move |found| {
            if let (Some(inner), Ok(schema)) = (asking.upgrade(), found) {
                inner.offer(&server, &schema);
            }
        });
    }

    /// Advertises a service whose definition was found. A service without a text definition cannot be called by
    /// clients.
    fn offer(&self, server: &EndpointInfo, schema: &Schema) {
        let Ok(types) = ServiceTypes::of_schema(schema) else {
            return;
        };
        let (Ok(request), Ok(response)) = (
            definition_text(&types.request),
            definition_text(&types.response),
        ) else {
            return;
        };
        let info = ServiceInfo {
            name: server.topic.clone(),
            type_name: server.type_name.clone(),
            request,
            response,
        };
        // The lock is held while advertising, so that the removal of a server is announced after that.
        let mut state = lock(&self.state);
        if !state.has_server(&server.topic) {
            state.offers.remove(&server.topic);
            return;
        }
        if let Some(&id) = self.output.advertise_services(vec![info]).first() {
            let caller = None;
            let advertised = Advertised { id, types, caller };
            state
                .offers
                .insert(server.topic.clone(), Offer::Advertised(advertised));
        }
    }

    fn caller(&self, service: &str) -> Result<Arc<Caller>> {
        let mut state = lock(&self.state);
        let Some(Offer::Advertised(advertised)) = state.offers.get_mut(service) else {
            return Err(Error::Refused(format!("{service} is gone")));
        };
        if let Some(caller) = &advertised.caller {
            return Ok(Arc::clone(caller));
        }
        let spec = advertised.types.spec(service, QosProfile::SERVICES);
        let caller = Caller::new(&*self.node, &spec, &self.base)
            .map_err(|error| Error::Refused(error.to_string()))?;
        let caller = Arc::new(caller);
        advertised.caller = Some(Arc::clone(&caller));
        Ok(caller)
    }
}

impl State {
    fn has_server(&self, service: &str) -> bool {
        self.graph
            .on(service, EndpointKind::Server)
            .next()
            .is_some()
    }
}
