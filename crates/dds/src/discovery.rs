//! Listens to DDS's discovery and to `ros_discovery_info`, and tells our own nodes there.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError, Weak};

use timeloom_msg::QosProfile;
use timeloom_msg::qos::{Durability, History};
use timeloom_time::{Clock, Duration, Steady, System, Time, TimeBase};
use timeloom_wire::Gid;

use crate::dispatcher::{Bell, Dispatch};
use crate::graph_join::GraphJoin;
use crate::node_info::{self, ParticipantInfo};
use crate::notes::{NoteKind, Notes};
use crate::own_nodes::OwnNodes;
use crate::sys::{
    BuiltinReader, DdsResult, Domain, EndpointListener, Qos, RawReader, RawWriter, ReaderHandle,
    Written,
};
use crate::user_data;
use timeloom_wire::backend::Observers;

/// The readers and the writer of discovery.
pub(crate) struct Discovery {
    core: Arc<Core>,
    // Dropped before the core is let go; kept for their callbacks.
    _builtin: Arc<BuiltinReader>,
    _infos: Arc<RawReader>,
}

struct Core {
    join: Mutex<GraphJoin>,
    observers: Arc<Observers>,
    own: Arc<OwnNodes>,
    notes: Arc<Notes>,
    writer: RawWriter,
    clock: Clock<System>,
    sources: Mutex<Sources>,
    rung: AtomicBool,
    /// Our own nodes are to be told.
    own_changed: AtomicBool,
    told: Mutex<Told>,
    dispatch: Dispatch,
    this: Weak<Self>,
}

/// When our nodes were told last, and whether they will be again.
#[derive(Default)]
struct Told {
    last: Option<Time<Steady>>,
    waits: bool,
}

/// Nodes are told at once, and then at most this often: each time it is all of them.
const OFTEN: Duration = Duration::from_millis(10);

/// Where there is something to take; the readers belong to [`Discovery`].
#[derive(Default)]
struct Sources {
    builtin: Weak<BuiltinReader>,
    infos: Option<ReaderHandle>,
}

impl Discovery {
    pub(crate) fn new(
        domain: &Arc<Domain>,
        dispatch: &Dispatch,
        own: &Arc<OwnNodes>,
        observers: &Arc<Observers>,
        notes: &Arc<Notes>,
    ) -> DdsResult<Self> {
        let data = user_data::endpoint(node_info::TYPE_HASH.parse().ok());
        let profile = QosProfile {
            depth: 1,
            durability: Durability::TransientLocal,
            ..QosProfile::DEFAULT
        };
        let (topic, type_name) = (node_info::TOPIC, node_info::TYPE);
        let qos = Qos::writer(&profile, &data);
        let writer = RawWriter::new(domain, topic, type_name, &qos, Arc::new(Deaf))?;
        let core = Arc::new_cyclic(|this| Core {
            join: Mutex::default(),
            observers: Arc::clone(observers),
            own: Arc::clone(own),
            notes: Arc::clone(notes),
            writer,
            clock: Clock::on(&TimeBase::machine()),
            sources: Mutex::default(),
            rung: AtomicBool::new(false),
            own_changed: AtomicBool::new(false),
            told: Mutex::default(),
            dispatch: dispatch.clone(),
            this: Weak::clone(this),
        });
        let ringer = || {
            Arc::new(Ringer {
                core: Arc::downgrade(&core),
                dispatch: dispatch.clone(),
            })
        };
        let all = QosProfile {
            history: History::KeepAll,
            ..profile
        };
        let qos = Qos::reader(&all, &data).ignoring_own();
        let infos = Arc::new(RawReader::new(domain, topic, type_name, &qos, ringer())?);
        let builtin = Arc::new(BuiltinReader::new(domain, ringer())?);
        *core.sources.lock().unwrap_or_else(PoisonError::into_inner) = Sources {
            builtin: Arc::downgrade(&builtin),
            infos: Some(infos.handle()),
        };
        dispatch.ring(&core);
        Ok(Self {
            core,
            _builtin: builtin,
            _infos: infos,
        })
    }

    /// Our nodes are to be told again; many changes in a row are told at once.
    pub(crate) fn own_changed(&self, dispatch: &Dispatch) {
        self.core.own_changed.store(true, Ordering::Release);
        dispatch.ring(&self.core);
    }
}

impl Core {
    fn take_builtin(&self, join: &mut GraphJoin) {
        let builtin = self
            .sources
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .builtin
            .upgrade();
        if let Some(builtin) = builtin {
            let mut events = Vec::new();
            builtin.take(|presence| events.extend(join.presence(presence)));
            self.observers.tell(events);
        }
    }

    fn take_infos(&self, join: &mut GraphJoin) {
        let infos = self
            .sources
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .infos;
        let Some(infos) = infos else { return };
        let mut received = Vec::new();
        while infos.take(|sample| received.push((Gid(sample.writer), sample.payload))) > 0 {}
        for (writer, payload) in received {
            match ParticipantInfo::decode(&payload) {
                Some(info) => self.take_in(join, &info),
                None => self.notes.add(
                    NoteKind::MalformedNodeInfo,
                    &format!(
                        "{} bytes from {writer} are no ParticipantEntitiesInfo",
                        payload.len()
                    ),
                ),
            }
        }
    }

    fn take_in(&self, join: &mut GraphJoin, info: &ParticipantInfo) {
        let events = join.nodes(info, |node| {
            let text = format!(
                "`{}` in `{}` of {}",
                node.name, node.namespace, info.participant
            );
            self.notes.add(NoteKind::InvalidNodeName, &text);
        });
        self.observers.tell(events);
    }

    /// Whether it is time to tell our nodes; if it is too soon, it will be later.
    fn may_tell(&self) -> bool {
        let mut told = self.told.lock().unwrap_or_else(PoisonError::into_inner);
        let now = Clock::<Steady>::on(self.clock.base()).now();
        let next = told
            .last
            .map(|last| last.saturating_add(OFTEN))
            .filter(|next| *next > now);
        let Some(next) = next else {
            *told = Told {
                last: Some(now),
                waits: false,
            };
            return true;
        };
        if let (false, Some(this)) = (told.waits, self.this.upgrade()) {
            told.waits = true;
            self.dispatch.ring_at(next, this);
        }
        false
    }

    fn tell_own(&self, join: &mut GraphJoin) {
        if !self.own_changed.load(Ordering::Acquire) || !self.may_tell() {
            return;
        }
        self.own_changed.swap(false, Ordering::AcqRel);
        let info = self.own.info();
        let written = Written {
            source_time: self.clock.now().nanos(),
            related: None,
            flush: true,
        };
        if let Err(code) = self.writer.write(info.encode().into(), &written) {
            self.notes.add(
                NoteKind::Error,
                &format!("our nodes could not be told: {code}"),
            );
        }
        self.take_in(join, &info);
    }
}

impl Bell for Core {
    fn rung(&self) -> &AtomicBool {
        &self.rung
    }

    fn answer(&self) {
        let mut join = self.join.lock().unwrap_or_else(PoisonError::into_inner);
        self.take_builtin(&mut join);
        self.take_infos(&mut join);
        self.tell_own(&mut join);
    }
}

/// Rings for the core, which may be gone before Cyclone knows.
struct Ringer {
    core: Weak<Core>,
    dispatch: Dispatch,
}

impl EndpointListener for Ringer {
    fn data_available(&self, _: ReaderHandle) {
        if let Some(core) = self.core.upgrade() {
            self.dispatch.ring(&core);
        }
    }
}

/// Hears nothing.
pub(crate) struct Deaf;

impl EndpointListener for Deaf {}
