//! Finds the definition of a type: built in, installed, or described by the node that publishes it.

mod description_client;
mod node_query;

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard};
use std::thread::ThreadId;

use timeloom_msg::{Schema, TypeHash, TypeRequest, TypeResolver};
use timeloom_time::{BaseThread, Event, TimeBase};
use timeloom_wire::{EndpointInfo, Node, NodeName, Participant};

use crate::{Error, Result};
use node_query::{Missing, NodeQuery};
use timeloom_wire::backend::lock;

/// Number of nodes that are queried at a time.
const MOST_THREADS: usize = 8;

/// Finds definitions without blocking, and caches them.
///
/// A node that does not answer delays only the queries to itself. Clones are the same finder; its threads end with the
/// last of them, and open queries are not answered.
#[derive(Clone)]
pub struct TypeFinder(Arc<Owner>);

struct Owner(Arc<Shared>);

/// Called once with the result.
type Callback = Box<dyn FnOnce(Result<Arc<Schema>>) + Send>;
/// A layout: its name and hash.
type Key = (String, Option<TypeHash>);

struct Shared {
    local: TypeResolver,
    participant: Arc<dyn Participant>,
    node: Arc<dyn Node>,
    base: TimeBase,
    state: Mutex<State>,
    stop: AtomicBool,
}

#[derive(Default)]
struct State {
    found: BTreeMap<Key, Arc<Schema>>,
    /// The callbacks that wait for the answer to an open query.
    open: BTreeMap<Key, Vec<(EndpointInfo, Callback)>>,
    /// Queries by node.
    queues: BTreeMap<Option<NodeName>, VecDeque<EndpointInfo>>,
    /// The nodes that a thread is querying.
    busy: BTreeSet<Option<NodeName>>,
    threads: Vec<BaseThread<()>>,
    /// Our own threads, and the event that wakes each.
    workers: Vec<(ThreadId, Event)>,
}

impl TypeFinder {
    /// A finder that queries, as this node of the participant, the types that `local` does not have.
    pub fn new(
        participant: Arc<dyn Participant>,
        node: Arc<dyn Node>,
        local: TypeResolver,
    ) -> Self {
        Self(Arc::new(Owner(Arc::new(Shared {
            local,
            base: participant.time_base(),
            participant,
            node,
            state: Mutex::default(),
            stop: AtomicBool::new(false),
        }))))
    }

    /// The layout of a type with a local definition: built in or installed, with this hash if one is known.
    ///
    /// # Errors
    /// With the places that were searched.
    pub fn at_hand(&self, type_name: &str, hash: Option<TypeHash>) -> Result<Schema> {
        Ok(self.0.0.at_hand(type_name, hash)?)
    }

    /// Finds the layout of an endpoint's type, and calls `then` with it: at once when it was found before, and on
    /// another thread otherwise. Never blocks.
    ///
    /// A type that was not found is queried again the next time: the node may have started meanwhile.
    ///
    /// # Errors
    /// To `then`: when the type is not found, with the node that was queried and its answer.
    pub fn find(
        &self,
        endpoint: &EndpointInfo,
        then: impl FnOnce(Result<Arc<Schema>>) + Send + 'static,
    ) {
        let key = (endpoint.type_name.clone(), endpoint.type_hash);
        let shared = &self.0.0;
        let mut state = shared.lock();
        if let Some(schema) = state.found.get(&key).cloned() {
            drop(state);
            return then(Ok(schema));
        }
        let waiting = state.open.entry(key).or_default();
        waiting.push((endpoint.clone(), Box::new(then)));
        if waiting.len() > 1 {
            return;
        }
        let peer = endpoint.node.clone();
        let queue = state.queues.entry(peer.clone()).or_default();
        queue.push_back(endpoint.clone());
        if state.busy.len() < MOST_THREADS && state.busy.insert(peer) {
            shared.start(state, endpoint);
        }
    }

    /// Like [`find`](Self::find), but blocks for the answer; not for receivers.
    ///
    /// # Errors
    /// When the type is not found, with the node that was queried and its answer.
    pub fn find_blocking(&self, endpoint: &EndpointInfo) -> Result<Arc<Schema>> {
        let done = Event::new(&self.0.0.base);
        let slot = Arc::new(Mutex::new(None));
        let (set, place) = (done.clone(), Arc::clone(&slot));
        self.find(endpoint, move |found| {
            *lock(&place) = Some(found);
            set.set();
        });
        done.wait();
        let found = lock(&slot).take();
        found.unwrap_or_else(|| {
            Err(Error::NodeUnknown {
                type_name: endpoint.type_name.clone(),
            })
        })
    }
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, State> {
        lock(&self.state)
    }

    fn at_hand(&self, name: &str, hash: Option<TypeHash>) -> timeloom_msg::Result<Schema> {
        self.local.resolve(&TypeRequest {
            name,
            hash,
            stored: None,
        })
    }

    fn stopped(&self) -> bool {
        self.stop.load(Ordering::SeqCst)
    }

    /// Starts a thread for the node of an endpoint.
    fn start(self: &Arc<Self>, mut state: MutexGuard<'_, State>, endpoint: &EndpointInfo) {
        state.threads.retain(|thread| !thread.is_finished());
        let (shared, peer) = (Arc::clone(self), endpoint.node.clone());
        let spawned = self.base.spawn("type finder", move || shared.work(peer));
        match spawned {
            Ok(thread) => state.threads.push(thread),
            Err(error) => {
                state.busy.remove(&endpoint.node);
                let questions = state.queues.remove(&endpoint.node).unwrap_or_default();
                drop(state);
                for endpoint in questions {
                    let missing = Missing::of_endpoint(&endpoint, &error.to_string());
                    self.answer(&endpoint, Err(missing));
                }
            }
        }
    }

    fn work(&self, mut peer: Option<NodeName>) {
        let wake = Event::new(&self.base);
        let me = std::thread::current().id();
        self.lock().workers.push((me, wake.clone()));
        while !self.stopped() {
            let Some(endpoint) = self.next(&mut peer) else {
                break;
            };
            let stopped = || self.stopped();
            let ends = (&*self.participant, &*self.node);
            let query = NodeQuery::new(ends, &self.base, &wake, &stopped);
            let local = self.at_hand(&endpoint.type_name, endpoint.type_hash);
            let found = local.or_else(|_unknown| query.of(&endpoint));
            self.answer(&endpoint, found);
        }
        self.lock().workers.retain(|(id, _)| *id != me);
    }

    /// The next query to this node, or to one without a thread; `None` ends the thread.
    fn next(&self, peer: &mut Option<NodeName>) -> Option<EndpointInfo> {
        let mut state = self.lock();
        loop {
            if let Some(endpoint) = state.queues.get_mut(peer).and_then(VecDeque::pop_front) {
                return Some(endpoint);
            }
            state.queues.remove(peer);
            state.busy.remove(peer);
            let waiting = state.queues.keys().find(|node| !state.busy.contains(node));
            *peer = waiting.cloned()?;
            state.busy.insert(peer.clone());
        }
    }

    fn answer(&self, endpoint: &EndpointInfo, found: std::result::Result<Schema, Missing>) {
        let key = (endpoint.type_name.clone(), endpoint.type_hash);
        let found = found.map(Arc::new);
        let waiting = {
            let mut state = self.lock();
            let waiting = state.open.remove(&key).unwrap_or_default();
            if let Ok(schema) = &found {
                state.found.insert(key, Arc::clone(schema));
            }
            waiting
        };
        if self.stopped() {
            return;
        }
        for (asker, then) in waiting {
            then(found.clone().map_err(|missing| missing.into_error(&asker)));
        }
    }
}

impl Drop for Owner {
    fn drop(&mut self) {
        self.0.stop.store(true, Ordering::SeqCst);
        let (threads, workers, open) = {
            let mut state = self.0.lock();
            let threads = std::mem::take(&mut state.threads);
            (
                threads,
                state.workers.clone(),
                std::mem::take(&mut state.open),
            )
        };
        drop(open);
        for (_, wake) in &workers {
            wake.set();
        }
        // The last handle may be dropped by a callback.
        let me = std::thread::current().id();
        if workers.iter().all(|(id, _)| *id != me) {
            for thread in threads {
                let _panicked = thread.join();
            }
        }
    }
}

impl std::fmt::Debug for TypeFinder {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let found = self.0.0.lock().found.len();
        write!(f, "TypeFinder({found} types)")
    }
}
