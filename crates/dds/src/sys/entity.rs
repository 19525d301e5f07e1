//! Domains, and entities that are deleted when dropped.

use std::cell::Cell;
use std::collections::BTreeMap;
use std::ffi::{CStr, CString};
use std::fmt;
use std::ptr;
use std::sync::{Arc, Mutex, Weak};
use std::thread;

use super::ffi::{
    dds_create_domain, dds_create_participant, dds_delete, dds_entity_t, dds_get_guid,
    dds_get_instance_handle, dds_return_t, dds_strretcode,
};
use super::hooks;
use super::qos::Qos;
use super::receive_buffers::ReceiveBuffers;
use super::sertype;
use crate::payload_pool::PayloadPool;
use timeloom_wire::backend::lock;

/// A return code of Cyclone other than success.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) struct ReturnCode(pub(super) dds_return_t);

pub(crate) type DdsResult<T> = Result<T, ReturnCode>;

impl ReturnCode {
    /// A code that is not negative is not an error.
    pub(super) fn check(code: dds_return_t) -> DdsResult<u32> {
        u32::try_from(code).ok().ok_or(Self(code))
    }
}

impl fmt::Display for ReturnCode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // SAFETY: gives a string that lives for ever, for any number.
        let text = unsafe { CStr::from_ptr(dds_strretcode(self.0)) };
        write!(f, "{}", text.to_string_lossy().to_lowercase())
    }
}

impl fmt::Debug for ReturnCode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{self} ({})", self.0)
    }
}

thread_local! {
    static CALLS: Cell<u32> = const { Cell::new(0) };
}

/// Whether this thread is inside one of our own calls of Cyclone: a listener that runs now holds the locks of that
/// call.
pub(crate) fn inside_call() -> bool {
    CALLS.get() > 0
}

thread_local! {
    static AFTER_CALL: Cell<Option<fn()>> = const { Cell::new(None) };
}

/// Runs `work` on this thread once the current call has returned and Cyclone's locks are released.
pub(crate) fn after_call(work: fn()) {
    AFTER_CALL.set(Some(work));
}

/// Runs a call that may call listeners of endpoints in this process.
pub(super) fn call<T>(body: impl FnOnce() -> T) -> T {
    CALLS.set(CALLS.get() + 1);
    let result = body();
    CALLS.set(CALLS.get() - 1);
    if CALLS.get() == 0
        && let Some(work) = AFTER_CALL.take()
    {
        work();
    }
    result
}

thread_local! {
    static CALLBACKS: Cell<u32> = const { Cell::new(0) };
}

/// Whether this thread is inside a callback of Cyclone, where entities cannot be deleted: deletion waits for callbacks.
pub(crate) fn inside_callback() -> bool {
    CALLBACKS.get() > 0
}

/// Runs the body of a callback.
pub(super) fn callback(body: impl FnOnce()) {
    CALLBACKS.set(CALLBACKS.get() + 1);
    body();
    CALLBACKS.set(CALLBACKS.get() - 1);
}

/// Drops a value that owns entities: now, or on another thread if this one is inside a callback.
pub(super) fn reap(entities: impl Send + 'static) {
    if inside_callback() {
        let reaper = thread::Builder::new().name("dds reaper".into());
        // If no thread can be started, they are dropped here.
        reaper.spawn(move || drop(entities)).ok();
    }
}

/// An entity of Cyclone, deleted when dropped; running listeners are awaited.
#[derive(Debug)]
pub(crate) struct Entity(dds_entity_t);

impl Entity {
    pub(super) fn new(handle: dds_entity_t) -> DdsResult<Self> {
        ReturnCode::check(handle).map(|_| Self(handle))
    }

    pub(super) fn handle(&self) -> dds_entity_t {
        self.0
    }

    /// The GUID, in the order of the wire.
    pub(crate) fn guid(&self) -> DdsResult<[u8; 16]> {
        let mut guid = [0; 16];
        // SAFETY: any handle may be asked for; `guid` has room for 16 bytes.
        ReturnCode::check(unsafe { dds_get_guid(self.0, &raw mut guid) })?;
        Ok(guid)
    }

    /// A number that is unlikely to be shared by another entity of this machine.
    pub(crate) fn instance(&self) -> DdsResult<u64> {
        let mut handle = 0;
        // SAFETY: any handle may be asked for.
        ReturnCode::check(unsafe { dds_get_instance_handle(self.0, &raw mut handle) })?;
        Ok(handle)
    }
}

impl Drop for Entity {
    fn drop(&mut self) {
        // SAFETY: any handle may be deleted; the answer is an error if it is gone with its parent already.
        call(|| unsafe { dds_delete(self.0) });
    }
}

/// An instance of Cyclone in this process, with its own threads and sockets.
pub(crate) struct Domain {
    participating: Option<JoinedParticipant>,
    pool: Arc<PayloadPool>,
    /// The topics in use, by name and type: thousands of endpoints may share one.
    topics: Mutex<BTreeMap<(CString, CString), Weak<Entity>>>,
}

/// Dropped in this order.
struct JoinedParticipant {
    participant: Entity,
    _domain: Entity,
    _kept: Box<dyn Send + Sync>,
}

impl Domain {
    /// A domain with the configuration `config` (XML or URIs), and a participant in it.
    ///
    /// `id` must not be in use in this process; `kept` is dropped when it is free again. Large payloads are received
    /// into the memory of `pool`.
    pub(crate) fn new(
        id: u32,
        config: &CStr,
        qos: &Qos,
        kept: Box<dyn Send + Sync>,
        pool: Arc<PayloadPool>,
    ) -> DdsResult<Arc<Self>> {
        hooks::install();
        // SAFETY: a live string.
        let domain = Entity::new(unsafe { dds_create_domain(id, config.as_ptr()) })?;
        // SAFETY: a live QoS.
        let participant = Entity::new(call(|| unsafe {
            dds_create_participant(id, qos.as_ptr(), ptr::null())
        }))?;
        pool.watch(ReceiveBuffers(participant.handle()));
        let participating = JoinedParticipant {
            participant,
            _domain: domain,
            _kept: kept,
        };
        Ok(Arc::new(Self {
            participating: Some(participating),
            pool,
            topics: Mutex::default(),
        }))
    }

    /// The participant's GUID.
    pub(crate) fn guid(&self) -> DdsResult<[u8; 16]> {
        let participating = self.participating.as_ref().ok_or(ReturnCode(0))?;
        participating.participant.guid()
    }

    /// A topic, created unless it is in use already.
    pub(super) fn topic(&self, name: &CStr, type_name: &CStr) -> DdsResult<Arc<Entity>> {
        let mut topics = lock(&self.topics);
        let key = (name.to_owned(), type_name.to_owned());
        if let Some(topic) = topics.get(&key).and_then(Weak::upgrade) {
            return Ok(topic);
        }
        let topic = Arc::new(sertype::create_topic(self, name, type_name)?);
        // Removes topics that are no longer in use.
        topics.retain(|_, topic| topic.strong_count() > 0);
        topics.insert(key, Arc::downgrade(&topic));
        Ok(topic)
    }

    /// The memory of large payloads.
    pub(super) fn pool(&self) -> &Arc<PayloadPool> {
        &self.pool
    }

    /// The participant.
    pub(super) fn handle(&self) -> dds_entity_t {
        // It exists until the drop; 0 is not a valid entity.
        self.participating
            .as_ref()
            .map_or(0, |participating| participating.participant.handle())
    }
}

impl fmt::Debug for Domain {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Domain")
    }
}

impl Drop for Domain {
    fn drop(&mut self) {
        reap(self.participating.take());
    }
}
