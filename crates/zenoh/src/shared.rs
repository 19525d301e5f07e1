//! State shared by a participant, its nodes and their endpoints.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;

use timeloom_time::{Clock, System, TimeBase};
use timeloom_wire::{Error, Result};
use zenoh::liveliness::LivelinessToken;
use zenoh::pubsub::Subscriber;
use zenoh::sample::SampleKind;
use zenoh::session::TransportEventsListener;
use zenoh::{Session, Wait as _};

use crate::config;
use crate::departure;
use crate::dispatcher::{Dispatch, Dispatcher};
use crate::options::Options;
use crate::roster::Roster;
use crate::router_keeper::RouterKeeper;
use crate::session_call::{call, callback, is_inside_callback};
use crate::token::{self, gid_of};
use timeloom_wire::backend::Observers;
use timeloom_wire::backend::{NoteKind, Notes};

/// The name of the transport in errors.
pub(crate) const TRANSPORT: &str = "Zenoh";

/// The inner state of a participant.
pub(crate) struct Shared {
    // In the order of their end: first the observers, then the session, then the router that it uses.
    tokens: Option<Subscriber<()>>,
    dispatcher: Dispatcher,
    routers: Option<TransportEventsListener<()>>,
    session: Session,
    pub(crate) keeper: Option<Arc<RouterKeeper>>,
    pub(crate) domain: u32,
    pub(crate) enclave: String,
    pub(crate) roster: Arc<Roster>,
    pub(crate) observers: Arc<Observers>,
    pub(crate) notes: Arc<Notes>,
    pub(crate) clock: Clock<System>,
    ids: AtomicU64,
}

impl Shared {
    pub(crate) fn new(options: &Options) -> Result<Arc<Self>> {
        let refused = |reason: &dyn std::fmt::Display| {
            refused(format!("join domain {}", options.domain), reason)
        };
        let notes = Arc::new(Notes::new(options.reporter.clone()));
        let config = config::session(options)?;
        let unspoken = config::unspoken(&config);
        if !unspoken.is_empty() {
            notes.add(NoteKind::UnsupportedProtocol, &unspoken.join(", "));
        }
        let keeper = RouterKeeper::start(options, &config, &notes)?;
        let session = call(|| zenoh::open(config).wait()).map_err(|error| refused(&error))?;
        let dispatcher = Dispatcher::start(&notes).map_err(|error| refused(&error))?;
        let observers = Arc::new(Observers::default());
        let roster = Arc::new(Roster::new(&observers, dispatcher.dispatch(), &notes));
        let tokens =
            watch_tokens(&session, options.domain, &roster).map_err(|error| refused(&error))?;
        let routers = keeper.as_ref().map(|keeper| keeper.watch(&session));
        let routers = routers.transpose().map_err(|error| refused(&error))?;
        Ok(Arc::new(Self {
            tokens: Some(tokens),
            dispatcher,
            routers,
            session,
            keeper,
            domain: options.domain,
            enclave: options.enclave.clone(),
            roster,
            observers,
            notes,
            clock: Clock::on(&TimeBase::machine()),
            ids: AtomicU64::new(0),
        }))
    }

    /// The session in which endpoints are created.
    pub(crate) fn session(&self) -> &Session {
        &self.session
    }

    pub(crate) fn dispatch(&self) -> &Dispatch {
        self.dispatcher.dispatch()
    }

    /// A number for a node or endpoint of ours.
    pub(crate) fn next_id(&self) -> u64 {
        self.ids.fetch_add(1, Ordering::Relaxed)
    }

    /// Announces a local node or endpoint, until dropped.
    pub(crate) fn declare(&self, token: &str) -> zenoh::Result<LivelinessToken> {
        call(|| {
            self.session
                .liveliness()
                .declare_token(token.to_owned())
                .wait()
        })
    }
}

impl Drop for Shared {
    fn drop(&mut self) {
        call(|| drop((self.tokens.take(), self.routers.take())));
        close(self.session.clone(), Some(Arc::clone(&self.notes)));
        if let Some(keeper) = &self.keeper {
            keeper.end();
        }
    }
}

/// Closes a session once all sent data has left; not on a thread that the session would wait for.
pub(crate) fn close(session: Session, notes: Option<Arc<Notes>>) {
    let end = move || {
        let left = departure::wait(&session);
        if let Some(notes) = notes.filter(|_| left > 0) {
            let text = format!("{left} bytes were on their way to peers that took nothing more");
            notes.add(NoteKind::Dropped, &text);
        }
        // Fails only if it has ended already.
        session.close().wait().ok();
    };
    if is_inside_callback() {
        // If no thread can be started, the session ends with its last handle.
        thread::Builder::new().spawn(end).ok();
    } else {
        end();
    }
}

/// Keeps the roster up to date with the tokens of others; our own are entered at their creation.
fn watch_tokens(
    session: &Session,
    domain: u32,
    roster: &Arc<Roster>,
) -> zenoh::Result<Subscriber<()>> {
    let roster = Arc::clone(roster);
    let own = format!("/{}/", session.zid());
    let subscriber = session
        .liveliness()
        .declare_subscriber(token::all_of(domain))
        .history(true)
        .callback(move |sample| {
            callback(|| {
                let text = sample.key_expr().as_str();
                if text.contains(&own) {
                    return;
                }
                match sample.kind() {
                    SampleKind::Put => roster.came(text),
                    SampleKind::Delete => roster.went(&gid_of(text)),
                }
            });
        });
    call(|| subscriber.wait())
}

/// An error of Zenoh for an attempted action.
pub(crate) fn refused(action: String, reason: impl std::fmt::Display) -> Error {
    Error::Refused {
        transport: TRANSPORT,
        action,
        reason: reason.to_string(),
    }
}
