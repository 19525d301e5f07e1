//! State shared by a participant, its nodes and their endpoints.

use std::collections::BTreeSet;
use std::ffi::CString;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex};

use timeloom_time::{Clock, System, TimeBase};
use timeloom_wire::{Error, Gid, Result};

use crate::config::configuration;
use crate::discovery::Discovery;
use crate::dispatcher::{Dispatch, Dispatcher};
use crate::options::Options;
use crate::own_nodes::OwnNodes;
use crate::payload_pool::PayloadPool;
use crate::sys::{Domain, LogLine, Qos, ReturnCode, watch_log};
use crate::user_data;
use timeloom_wire::backend::Observers;
use timeloom_wire::backend::lock;
use timeloom_wire::backend::{NoteKind, Notes};

/// The name of the transport in errors.
pub(crate) const TRANSPORT: &str = "Cyclone DDS";

/// The inner state of a participant.
pub(crate) struct Shared {
    discovery: Discovery,
    domain: Arc<Domain>,
    dispatcher: Dispatcher,
    domain_id: u32,
    pub(crate) own: Arc<OwnNodes>,
    pub(crate) observers: Arc<Observers>,
    pub(crate) notes: Arc<Notes>,
    pub(crate) clock: Clock<System>,
    ids: AtomicU32,
    _log: Arc<dyn Fn(&LogLine) + Send + Sync>,
}

impl Shared {
    pub(crate) fn new(options: &Options) -> Result<Arc<Self>> {
        let refused = |reason: String| refused(format!("join domain {}", options.domain), reason);
        let notes = Arc::new(Notes::new(options.reporter.clone()));
        let slot = DomainSlot::take(options.domain);
        let number = slot.0;
        let log = log_to_notes(&notes, number);
        watch_log(&log);
        let external = (number != options.domain).then_some(options.domain);
        let configuration = configuration(options, external, std::process::id());
        let configuration = CString::new(configuration)
            .ok()
            .ok_or_else(|| refused("the configuration has a zero byte".into()))?;
        let qos = Qos::with_user_data(&user_data::participant(&options.enclave));
        let dispatcher = Dispatcher::start(&notes).map_err(|error| refused(error.to_string()))?;
        let pool = PayloadPool::new(dispatcher.dispatch());
        let domain = Domain::new(number, &configuration, &qos, Box::new(slot), pool)
            .map_err(|code| refused(with_log(code, &notes)))?;
        let own = domain.guid().map_err(|code| refused(code.to_string()))?;
        let (own, observers) = (
            Arc::new(OwnNodes::new(Gid(own))),
            Arc::new(Observers::default()),
        );
        let discovery = Discovery::new(&domain, dispatcher.dispatch(), &own, &observers, &notes)
            .map_err(|code| refused(code.to_string()))?;
        Ok(Arc::new(Self {
            discovery,
            domain,
            dispatcher,
            domain_id: options.domain,
            own,
            observers,
            notes,
            clock: Clock::on(&TimeBase::machine()),
            ids: AtomicU32::new(0),
            _log: log,
        }))
    }

    /// The domain in which entities are created.
    pub(crate) fn domain(&self) -> &Arc<Domain> {
        &self.domain
    }

    pub(crate) fn dispatch(&self) -> &Dispatch {
        self.dispatcher.dispatch()
    }

    /// The domain on the wire.
    pub(crate) fn domain_id(&self) -> u32 {
        self.domain_id
    }

    /// The identity of a service or client: the participant's, and a number.
    pub(crate) fn next_service_id(&self) -> [u8; 16] {
        let mut id = self.own.participant().0;
        let number = self.ids.fetch_add(1, Ordering::Relaxed) + 1;
        id[12..].copy_from_slice(&number.to_be_bytes());
        id
    }

    /// Announces our nodes after a change.
    pub(crate) fn nodes_changed(&self) {
        self.discovery.own_changed(self.dispatch());
    }
}

/// An error of Cyclone for an attempted action.
pub(crate) fn refused(action: String, reason: impl std::fmt::Display) -> Error {
    Error::Refused {
        transport: TRANSPORT,
        action,
        reason: reason.to_string(),
    }
}

fn log_to_notes(notes: &Arc<Notes>, domain: u32) -> Arc<dyn Fn(&LogLine) + Send + Sync> {
    /// Log lines without a domain, such as those about the configuration.
    const NO_DOMAIN: u32 = u32::MAX;
    let notes = Arc::downgrade(notes);
    Arc::new(move |line: &LogLine| {
        let kind = if line.is_error {
            NoteKind::Error
        } else {
            NoteKind::Warning
        };
        let about_us = line.domain == domain || line.domain == NO_DOMAIN;
        if let Some(notes) = notes.upgrade().filter(|_| about_us) {
            notes.add(kind, &line.text);
        }
    })
}

/// Cyclone's return codes are terse; its log has the reason.
fn with_log(code: ReturnCode, notes: &Notes) -> String {
    let said = notes
        .all()
        .into_iter()
        .rfind(|note| note.kind == NoteKind::Error);
    said.map_or_else(|| code.to_string(), |note| format!("{code}: {}", note.text))
}

/// The numbers that Cyclone gives to the domains of this process: each participant has its own instance of Cyclone,
/// with its own configuration, even in the same ROS domain.
struct DomainSlot(u32);

static TAKEN: Mutex<BTreeSet<u32>> = Mutex::new(BTreeSet::new());
/// Further participants of a domain are numbered from here, above all ROS domains.
const FURTHER: u32 = 1 << 16;

impl DomainSlot {
    fn take(wanted: u32) -> Self {
        let mut taken = lock(&TAKEN);
        let number = std::iter::once(wanted)
            .chain(FURTHER..u32::MAX)
            .find(|number| taken.insert(*number))
            .unwrap_or(wanted);
        Self(number)
    }
}

impl Drop for DomainSlot {
    fn drop(&mut self) {
        let mut taken = lock(&TAKEN);
        taken.remove(&self.0);
    }
}
