//! Callbacks of Cyclone, turned into calls of a trait.

use std::ffi::c_void;
use std::fmt;
use std::sync::Arc;

use timeloom_wire::{EndpointEvent, QosPolicy};

use super::entity::callback;
use super::ffi::{
    DDS_DEADLINE_QOS_POLICY_ID, DDS_DURABILITY_QOS_POLICY_ID, DDS_LIVELINESS_QOS_POLICY_ID,
    DDS_RELIABILITY_QOS_POLICY_ID, dds_create_listener, dds_delete_listener, dds_entity_t,
    dds_listener_t, dds_liveliness_changed_status_t, dds_liveliness_lost_status_t,
    dds_lset_data_available, dds_lset_liveliness_changed, dds_lset_liveliness_lost,
    dds_lset_offered_deadline_missed, dds_lset_offered_incompatible_qos,
    dds_lset_publication_matched, dds_lset_requested_deadline_missed,
    dds_lset_requested_incompatible_qos, dds_lset_subscription_matched,
    dds_offered_deadline_missed_status_t, dds_offered_incompatible_qos_status_t,
    dds_publication_matched_status_t, dds_requested_deadline_missed_status_t,
    dds_requested_incompatible_qos_status_t, dds_subscription_matched_status_t,
};
use super::reader::ReaderHandle;

/// Handles the callbacks of one endpoint, on any of Cyclone's threads or inside one of our own calls.
pub(crate) trait EndpointListener: Send + Sync {
    /// Data is available; called again only after new data arrived.
    fn data_available(&self, _reader: ReaderHandle) {}

    /// Any other event.
    fn event(&self, _event: EndpointEvent) {}
}

/// A listener for Cyclone; kept until the entity that it was created for is gone.
pub(super) struct ListenerHandle {
    listener: *mut dds_listener_t,
    // Boxed twice: a trait object needs two words, a callback's argument has one.
    _target: Box<Arc<dyn EndpointListener>>,
}

// SAFETY: after `new` the listener is only passed to Cyclone, which locks it, and deleted.
unsafe impl Send for ListenerHandle {}
// SAFETY: as above.
unsafe impl Sync for ListenerHandle {}

impl fmt::Debug for ListenerHandle {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("ListenerHandle")
    }
}

impl ListenerHandle {
    fn new(target: Arc<dyn EndpointListener>) -> Self {
        let target = Box::new(target);
        let argument: *const Arc<dyn EndpointListener> = &raw const *target;
        // SAFETY: the argument stays where it is until this handle is dropped, after the entity.
        let listener = unsafe { dds_create_listener(argument.cast_mut().cast()) };
        Self {
            listener,
            _target: target,
        }
    }

    /// Only new data.
    pub(super) fn data(target: Arc<dyn EndpointListener>) -> Self {
        let handle = Self::new(target);
        // SAFETY: a live listener; the callback knows what its argument is.
        unsafe { dds_lset_data_available(handle.listener, Some(data_available)) };
        handle
    }

    /// All callbacks of a reader.
    pub(super) fn reader(target: Arc<dyn EndpointListener>) -> Self {
        let handle = Self::data(target);
        // SAFETY: as above.
        unsafe {
            dds_lset_subscription_matched(handle.listener, Some(subscription_matched));
            dds_lset_liveliness_changed(handle.listener, Some(liveliness_changed));
            dds_lset_requested_deadline_missed(handle.listener, Some(requested_deadline_missed));
            dds_lset_requested_incompatible_qos(handle.listener, Some(requested_incompatible_qos));
        }
        handle
    }

    /// All callbacks of a writer.
    pub(super) fn writer(target: Arc<dyn EndpointListener>) -> Self {
        let handle = Self::new(target);
        // SAFETY: as above.
        unsafe {
            dds_lset_publication_matched(handle.listener, Some(publication_matched));
            dds_lset_liveliness_lost(handle.listener, Some(liveliness_lost));
            dds_lset_offered_deadline_missed(handle.listener, Some(offered_deadline_missed));
            dds_lset_offered_incompatible_qos(handle.listener, Some(offered_incompatible_qos));
        }
        handle
    }

    pub(super) fn as_ptr(&self) -> *const dds_listener_t {
        self.listener
    }
}

impl Drop for ListenerHandle {
    fn drop(&mut self) {
        // SAFETY: made by `new`; Cyclone's entities have copies of it.
        unsafe { dds_delete_listener(self.listener) };
    }
}

/// # Safety
/// `argument` is the argument of a live [`ListenerHandle`]: Cyclone waits for callbacks before an entity is gone.
unsafe fn target<'a>(argument: *mut c_void) -> &'a dyn EndpointListener {
    // SAFETY: as promised by the caller.
    unsafe { &**argument.cast::<Arc<dyn EndpointListener>>() }
}

unsafe extern "C" fn data_available(reader: dds_entity_t, argument: *mut c_void) {
    // SAFETY: see `target`.
    let target = unsafe { target(argument) };
    callback(|| target.data_available(ReaderHandle(reader)));
}

/// Declares the callback of one status and the event that it becomes.
macro_rules! callbacks {
    ($($name:ident($status:ident: $type:ty) => $event:expr;)+) => {$(
        unsafe extern "C" fn $name(_: dds_entity_t, $status: $type, argument: *mut c_void) {
            // SAFETY: see `target`.
            let target = unsafe { target(argument) };
            callback(|| target.event($event));
        }
    )+};
}

callbacks! {
    subscription_matched(status: dds_subscription_matched_status_t) => EndpointEvent::Matched {
        current: status.current_count as usize,
        change: status.current_count_change as isize,
    };
    publication_matched(status: dds_publication_matched_status_t) => EndpointEvent::Matched {
        current: status.current_count as usize,
        change: status.current_count_change as isize,
    };
    liveliness_changed(status: dds_liveliness_changed_status_t) => EndpointEvent::LivelinessChanged {
        alive: status.alive_count as usize,
        dead: status.not_alive_count as usize,
    };
    liveliness_lost(_status: dds_liveliness_lost_status_t) => EndpointEvent::LivelinessChanged {
        alive: 0,
        dead: 1,
    };
    requested_deadline_missed(status: dds_requested_deadline_missed_status_t) => EndpointEvent::DeadlineMissed {
        total: status.total_count.into(),
    };
    offered_deadline_missed(status: dds_offered_deadline_missed_status_t) => EndpointEvent::DeadlineMissed {
        total: status.total_count.into(),
    };
    requested_incompatible_qos(status: dds_requested_incompatible_qos_status_t) => EndpointEvent::IncompatibleQos {
        policy: policy(status.last_policy_id),
        total: status.total_count.into(),
    };
    offered_incompatible_qos(status: dds_offered_incompatible_qos_status_t) => EndpointEvent::IncompatibleQos {
        policy: policy(status.last_policy_id),
        total: status.total_count.into(),
    };
}

fn policy(id: u32) -> QosPolicy {
    match id {
        DDS_RELIABILITY_QOS_POLICY_ID => QosPolicy::Reliability,
        DDS_DURABILITY_QOS_POLICY_ID => QosPolicy::Durability,
        DDS_DEADLINE_QOS_POLICY_ID => QosPolicy::Deadline,
        DDS_LIVELINESS_QOS_POLICY_ID => QosPolicy::Liveliness,
        _ => QosPolicy::Other,
    }
}
