//! Listens to the discovery of DDS and to `ros_discovery_info`, and announces our own nodes there.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, Weak};

use timeloom_msg::QosProfile;
use timeloom_msg::qos::{Durability, History};
use timeloom_time::{Clock, Duration, Steady, System, Time, TimeBase};
use timeloom_wire::Gid;

use crate::dispatcher::{Dispatch, Task};
use crate::graph_join::GraphJoin;
use crate::node_info::{self, ParticipantInfo};
use crate::own_nodes::OwnNodes;
use crate::sys::{
    BuiltinReader, DdsResult, Domain, EndpointListener, Qos, RawReader, RawWriter, ReaderHandle,
    Written,
};
use crate::user_data;
use timeloom_wire::backend::Observers;
use timeloom_wire::backend::lock;
use timeloom_wire::backend::{NoteKind, Notes};

/// The readers and the writer of discovery.
pub(crate) struct Discovery {
    core: Arc<Core>,
    // Kept for their callbacks, and dropped before the core.
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
    scheduled: AtomicBool,
    /// Our own nodes must be announced.
    own_changed: AtomicBool,
    announcement: Mutex<Announcement>,
    dispatch: Dispatch,
    this: Weak<Self>,
}

/// Time of the last announcement of our nodes, and whether the next one is scheduled.
#[derive(Default)]
struct Announcement {
    last: Option<Time<Steady>>,
    waits: bool,
}

/// The shortest time between two announcements: each one names all nodes.
const OFTEN: Duration = Duration::from_millis(10);

/// The readers to take from; they belong to [`Discovery`].
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
        let writer = RawWriter::new(domain, topic, type_name, &qos, Arc::new(IgnoreEvents))?;
        let core = Arc::new_cyclic(|this| Core {
            join: Mutex::default(),
            observers: Arc::clone(observers),
            own: Arc::clone(own),
            notes: Arc::clone(notes),
            writer,
            clock: Clock::on(&TimeBase::machine()),
            sources: Mutex::default(),
            scheduled: AtomicBool::new(false),
            own_changed: AtomicBool::new(false),
            announcement: Mutex::default(),
            dispatch: dispatch.clone(),
            this: Weak::clone(this),
        });
        let listener = || {
            Arc::new(ScheduleOnData {
                core: Arc::downgrade(&core),
                dispatch: dispatch.clone(),
            })
        };
        let all = QosProfile {
            history: History::KeepAll,
            ..profile
        };
        let qos = Qos::reader(&all, &data).ignoring_own();
        let infos = Arc::new(RawReader::new(domain, topic, type_name, &qos, listener())?);
        let builtin = Arc::new(BuiltinReader::new(domain, listener())?);
        *lock(&core.sources) = Sources {
            builtin: Arc::downgrade(&builtin),
            infos: Some(infos.handle()),
        };
        dispatch.schedule(&core);
        Ok(Self {
            core,
            _builtin: builtin,
            _infos: infos,
        })
    }

    /// Announces our nodes again; many changes in a row make one announcement.
    pub(crate) fn own_changed(&self, dispatch: &Dispatch) {
        self.core.own_changed.store(true, Ordering::Release);
        dispatch.schedule(&self.core);
    }
}

impl Core {
    fn take_builtin(&self, join: &mut GraphJoin) {
        let builtin = lock(&self.sources).builtin.upgrade();
        if let Some(builtin) = builtin {
            let mut events = Vec::new();
            builtin.take(|presence| events.extend(join.presence(presence)));
            self.observers.notify(events);
        }
    }

    fn take_infos(&self, join: &mut GraphJoin) {
        let infos = lock(&self.sources).infos;
        let Some(infos) = infos else { return };
        let mut received = Vec::new();
        while infos.take(|sample| received.push((Gid(sample.writer), sample.payload))) > 0 {}
        for (writer, payload) in received {
            match ParticipantInfo::decode(&payload) {
                Some(info) => self.take_in(join, &info),
                None => self.notes.add(
                    NoteKind::MalformedNodeInfo,
                    &format!(
                        "{} bytes from {writer} are not a ParticipantEntitiesInfo",
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
        self.observers.notify(events);
    }

    /// Whether our nodes may be announced now; if it is too soon, schedules it.
    fn may_announce(&self) -> bool {
        let mut announcement = lock(&self.announcement);
        let now = Clock::<Steady>::on(self.clock.base()).now();
        let next = announcement
            .last
            .map(|last| last.saturating_add(OFTEN))
            .filter(|next| *next > now);
        let Some(next) = next else {
            *announcement = Announcement {
                last: Some(now),
                waits: false,
            };
            return true;
        };
        if let (false, Some(this)) = (announcement.waits, self.this.upgrade()) {
            announcement.waits = true;
            self.dispatch.schedule_at(next, this);
        }
        false
    }

    fn announce_own(&self, join: &mut GraphJoin) {
        if !self.own_changed.load(Ordering::Acquire) || !self.may_announce() {
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
                &format!("failed to announce our nodes: {code}"),
            );
        }
        self.take_in(join, &info);
    }
}

impl Task for Core {
    fn scheduled(&self) -> &AtomicBool {
        &self.scheduled
    }

    fn run(&self) {
        let mut join = lock(&self.join);
        self.take_builtin(&mut join);
        self.take_infos(&mut join);
        self.announce_own(&mut join);
    }
}

/// Schedules the core, which may be dropped before Cyclone stops calling.
struct ScheduleOnData {
    core: Weak<Core>,
    dispatch: Dispatch,
}

impl EndpointListener for ScheduleOnData {
    fn data_available(&self, _: ReaderHandle) {
        if let Some(core) = self.core.upgrade() {
            self.dispatch.schedule(&core);
        }
    }
}

/// A listener without callbacks.
pub(crate) struct IgnoreEvents;

impl EndpointListener for IgnoreEvents {}
