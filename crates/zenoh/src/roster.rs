//! The graph from liveliness tokens, and the matches of our own endpoints.

use std::collections::{BTreeMap, btree_map};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard};

use timeloom_wire::{EndpointEvent, EndpointKind, EventObserver, Gid, GraphEvent, NodeName};

use crate::dispatcher::Dispatch;
use crate::token::{Route, Token, gid_of};
use timeloom_wire::backend::Observers;
use timeloom_wire::backend::lock;
use timeloom_wire::backend::{NoteKind, Notes};

/// The tokens that are present.
pub(crate) struct Roster {
    state: Mutex<State>,
    /// Events that the observers have not seen yet.
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
    ours: BTreeMap<String, Vec<OwnEndpoint>>,
}

/// The entity that a token announces.
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

/// An endpoint of ours and the observer of its matches.
pub(crate) struct OwnEndpoint {
    pub(crate) kind: EndpointKind,
    pub(crate) route: Route,
    /// Accepts any hash of the type.
    pub(crate) any_hash: bool,
    /// Number of matched peers.
    pub(crate) matched: Arc<AtomicUsize>,
    /// Called on the dispatcher's thread.
    pub(crate) observer: EventObserver,
    pub(crate) gid: Gid,
}

/// Limit of the tokens: a peer that invents tokens cannot fill the memory.
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

    /// A token of a peer appeared.
    pub(crate) fn came(&self, text: &str) {
        match Token::decode(text) {
            Ok(token) => self.enter(gid_of(text), &token),
            Err(reason) => {
                let text = format!("{reason}: {text}");
                self.notes.add(NoteKind::MalformedToken, &text);
            }
        }
    }

    /// A token disappeared, a peer's or our own.
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
        self.publish(state, event);
    }

    /// Enters a token, a peer's or our own.
    pub(crate) fn enter(&self, gid: Gid, token: &Token) {
        let mut state = self.lock();
        if state.tokens.len() >= MOST {
            drop(state);
            let text = format!("more than {MOST} nodes and endpoints");
            return self.notes.add(NoteKind::Dropped, &text);
        }
        let btree_map::Entry::Vacant(place) = state.tokens.entry(gid) else {
            // A token arrives once per path.
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
        self.publish(state, event);
    }

    /// Reports the matches of an endpoint of ours, now and from now on, until it leaves.
    pub(crate) fn watch(&self, ours: OwnEndpoint) {
        let mut state = self.lock();
        let ends = state.ends.get(&ours.route.name).into_iter().flatten();
        let current = ends.filter(|end| ours.fits(end)).count();
        ours.matched.store(current, Ordering::Release);
        if current > 0 {
            ours.report_match(current, current.cast_signed(), &self.dispatch);
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

    /// Passes the event to the observers, in order, and many events at once.
    fn publish(&self, state: MutexGuard<'_, State>, event: GraphEvent) {
        let mut news = lock(&self.news);
        news.push(event);
        if news.len() == 1 {
            let (news, observers) = (Arc::clone(&self.news), Arc::clone(&self.observers));
            self.dispatch.give(move || {
                let news = std::mem::take(&mut *lock(&news));
                observers.notify(news);
            });
        }
        // Held until here: events come in the order of the changes.
        drop(state);
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        lock(&self.state)
    }
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

    /// Updates the endpoints of ours that match the remote one.
    fn change(&self, end: &KnownEnd, change: isize, dispatch: &Dispatch) {
        let ours = self.ours.get(&end.route.name).into_iter().flatten();
        for ours in ours.filter(|ours| ours.fits(end)) {
            let before = ours.matched.load(Ordering::Acquire);
            let current = before.saturating_add_signed(change);
            ours.matched.store(current, Ordering::Release);
            ours.report_match(current, change, dispatch);
        }
    }
}

impl OwnEndpoint {
    /// On Zenoh, endpoints match by their key alone, whatever their `QoS`.
    fn fits(&self, end: &KnownEnd) -> bool {
        end.kind == opposite(self.kind)
            && end.route.name == self.route.name
            && end.route.type_name == self.route.type_name
            && (self.any_hash || end.route.hash == self.route.hash)
    }

    fn report_match(&self, current: usize, change: isize, dispatch: &Dispatch) {
        let observer = Arc::clone(&self.observer);
        dispatch.give(move || observer(EndpointEvent::Matched { current, change }));
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
