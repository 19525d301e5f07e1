//! Who is there: the graph by liveliness tokens, and who comes together with our own endpoints.

use std::collections::{BTreeMap, btree_map};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use timeloom_wire::{EndpointEvent, EndpointKind, Gid, GraphEvent, NodeName};

use crate::dispatcher::Dispatch;
use crate::notes::{NoteKind, Notes};
use crate::token::{Route, Token, gid_of};
use timeloom_wire::backend::Observers;

/// Hears what happens to an endpoint of ours, on the dispatcher's thread.
pub(crate) type Hears = Arc<dyn Fn(EndpointEvent) + Send + Sync>;

/// The tokens that are there.
pub(crate) struct Roster {
    state: Mutex<State>,
    /// What the observers are still to be told.
    news: Arc<Mutex<Vec<GraphEvent>>>,
    observers: Arc<Observers>,
    dispatch: Dispatch,
    notes: Arc<Notes>,
}

#[derive(Default)]
struct State {
    tokens: BTreeMap<Gid, Known>,
    /// Endpoints by the name of their topic or service.
    ends: BTreeMap<String, Vec<KnownEnd>>,
    /// Our own endpoints by the same.
    ours: BTreeMap<String, Vec<Ours>>,
}

/// What a token stands for.
enum Known {
    Node(NodeName),
    /// With the name of its topic or service.
    End(String),
}

struct KnownEnd {
    gid: Gid,
    kind: EndpointKind,
    route: Route,
}

/// An endpoint of ours that wants to know with whom it comes together.
pub(crate) struct Ours {
    pub(crate) kind: EndpointKind,
    pub(crate) route: Route,
    /// Takes any hash of the type.
    pub(crate) any_hash: bool,
    /// How many peers there are.
    pub(crate) matched: Arc<AtomicUsize>,
    pub(crate) hears: Hears,
    pub(crate) gid: Gid,
}

/// A peer that makes up tokens cannot fill the memory.
const MOST: usize = 100_000;

impl Roster {
    pub(crate) fn new(observers: &Arc<Observers>, dispatch: &Dispatch, notes: &Arc<Notes>) -> Self {
        Self {
            state: Mutex::default(),
            news: Arc::default(),
            observers: Arc::clone(observers),
            dispatch: dispatch.clone(),
            notes: Arc::clone(notes),
        }
    }

    /// A token of a peer came.
    pub(crate) fn came(&self, text: &str) {
        match Token::decode(text) {
            Ok(token) => self.enter(gid_of(text), &token),
            Err(reason) => {
                let text = format!("{reason}: {text}");
                self.notes.add(NoteKind::MalformedToken, &text);
            }
        }
    }

    /// A token went, a peer's or our own.
    pub(crate) fn went(&self, gid: &Gid) {
        let mut state = self.lock();
        let Some(known) = state.tokens.remove(gid) else {
            return;
        };
        let event = match known {
            Known::Node(name) => GraphEvent::NodeRemoved(name),
            Known::End(name) => {
                state.remove_end(&name, gid, &self.dispatch);
                GraphEvent::EndpointRemoved(*gid)
            }
        };
        self.tell(state, event);
    }

    /// A token is there, a peer's or our own.
    pub(crate) fn enter(&self, gid: Gid, token: &Token) {
        let mut state = self.lock();
        if state.tokens.len() >= MOST {
            drop(state);
            let text = format!("more than {MOST} nodes and endpoints");
            return self.notes.add(NoteKind::Dropped, &text);
        }
        let btree_map::Entry::Vacant(place) = state.tokens.entry(gid) else {
            // Tokens come once by each way.
            return;
        };
        let event = if let (Some(end), Some(info)) = (&token.end, token.info(gid)) {
            place.insert(Known::End(end.route.name.clone()));
            let end = KnownEnd {
                gid,
                kind: end.kind,
                route: end.route.clone(),
            };
            state.add_end(end, &self.dispatch);
            GraphEvent::EndpointChanged(Box::new(info))
        } else {
            place.insert(Known::Node(token.node.clone()));
            GraphEvent::NodeAdded(token.node.clone())
        };
        self.tell(state, event);
    }

    /// Tells an endpoint of ours with whom it comes together, now and from now on, until it leaves.
    pub(crate) fn watch(&self, ours: Ours) {
        let mut state = self.lock();
        let ends = state.ends.get(&ours.route.name).into_iter().flatten();
        let current = ends.filter(|end| ours.fits(end)).count();
        ours.matched.store(current, Ordering::Release);
        if current > 0 {
            ours.hear(current, current.cast_signed(), &self.dispatch);
        }
        let name = ours.route.name.clone();
        state.ours.entry(name).or_default().push(ours);
    }

    /// Ends a watch.
    pub(crate) fn leave(&self, gid: &Gid, name: &str) {
        let mut state = self.lock();
        if let Some(ours) = state.ours.get_mut(name) {
            ours.retain(|ours| ours.gid != *gid);
            if ours.is_empty() {
                state.ours.remove(name);
            }
        }
    }

    /// Whether that is an endpoint of this session.
    pub(crate) fn is_ours(&self, gid: &Gid) -> bool {
        let state = self.lock();
        let Some(Known::End(name)) = state.tokens.get(gid) else {
            return false;
        };
        let mut ours = state.ours.get(name).into_iter().flatten();
        ours.any(|ours| ours.gid == *gid)
    }

    /// Has the observers told, in order, and once for many events.
    fn tell(&self, state: MutexGuard<'_, State>, event: GraphEvent) {
        let mut news = lock(&self.news);
        news.push(event);
        if news.len() == 1 {
            let (news, observers) = (Arc::clone(&self.news), Arc::clone(&self.observers));
            self.dispatch.give(move || {
                let news = std::mem::take(&mut *lock(&news));
                observers.tell(news);
            });
        }
        // Held until here: events come in the order of the changes.
        drop(state);
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        lock(&self.state)
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl State {
    fn add_end(&mut self, end: KnownEnd, dispatch: &Dispatch) {
        self.change(&end, 1, dispatch);
        self.ends
            .entry(end.route.name.clone())
            .or_default()
            .push(end);
    }

    fn remove_end(&mut self, name: &str, gid: &Gid, dispatch: &Dispatch) {
        let Some(ends) = self.ends.get_mut(name) else {
            return;
        };
        let Some(at) = ends.iter().position(|end| end.gid == *gid) else {
            return;
        };
        let end = ends.swap_remove(at);
        if ends.is_empty() {
            self.ends.remove(name);
        }
        self.change(&end, -1, dispatch);
    }

    /// Tells those of ours that the end comes together with.
    fn change(&self, end: &KnownEnd, change: isize, dispatch: &Dispatch) {
        let ours = self.ours.get(&end.route.name).into_iter().flatten();
        for ours in ours.filter(|ours| ours.fits(end)) {
            let before = ours.matched.load(Ordering::Acquire);
            let current = before.saturating_add_signed(change);
            ours.matched.store(current, Ordering::Release);
            ours.hear(current, change, dispatch);
        }
    }
}

impl Ours {
    /// On Zenoh, endpoints come together by their key alone, whatever their `QoS`.
    fn fits(&self, end: &KnownEnd) -> bool {
        end.kind == opposite(self.kind)
            && end.route.name == self.route.name
            && end.route.type_name == self.route.type_name
            && (self.any_hash || end.route.hash == self.route.hash)
    }

    fn hear(&self, current: usize, change: isize, dispatch: &Dispatch) {
        let hears = Arc::clone(&self.hears);
        dispatch.give(move || hears(EndpointEvent::Matched { current, change }));
    }
}

fn opposite(kind: EndpointKind) -> EndpointKind {
    match kind {
        EndpointKind::Publisher => EndpointKind::Subscription,
        EndpointKind::Subscription => EndpointKind::Publisher,
        EndpointKind::Server => EndpointKind::Client,
        EndpointKind::Client => EndpointKind::Server,
    }
}
