//! A type without a layout: payloads pass through unchanged.

use std::ffi::{CStr, c_int, c_void};
use std::mem;
use std::ptr;
use std::sync::Arc;

use super::entity::{DdsResult, Domain, Entity};
use super::ffi::{
    DDSI_SERTYPE_FLAG_TOPICKIND_NO_KEY, dds_create_topic_sertype, ddsi_sertype, ddsi_sertype_fini,
    ddsi_sertype_init_flags, ddsi_sertype_ops, ddsi_sertype_unref, ddsi_sertype_v0,
};
use super::serdata;
use crate::payload_pool::PayloadPool;

/// A type as Cyclone keeps it: ours behind its header.
#[repr(C)]
pub(super) struct Sertype {
    base: ddsi_sertype,
    /// The memory of large payloads that are received.
    pool: Arc<PayloadPool>,
}

impl Sertype {
    /// The memory for the payloads of a type.
    ///
    /// # Safety
    /// `sertype` is a live sertype made by [`create_topic`].
    pub(super) unsafe fn pool<'a>(sertype: *const ddsi_sertype) -> &'a PayloadPool {
        // SAFETY: `base` is the first field.
        unsafe { &(*sertype.cast::<Self>()).pool }
    }
}

struct Operations(ddsi_sertype_ops);

// SAFETY: a table of functions; its one pointer is null and never written.
unsafe impl Sync for Operations {}

static OPERATIONS: Operations = Operations(ddsi_sertype_ops {
    version: Some(ddsi_sertype_v0),
    arg: ptr::null_mut(),
    free: Some(free),
    zero_samples: Some(zero_samples),
    realloc_samples: Some(realloc_samples),
    free_samples: Some(free_samples),
    equal: Some(equal),
    hash: Some(hash),
    type_id: None,
    type_map: None,
    type_info: None,
    derive_sertype: None,
    get_serialized_size: None,
    serialize_into: None,
});

/// A topic of a participant with raw payloads.
pub(super) fn create_topic(domain: &Domain, name: &CStr, type_name: &CStr) -> DdsResult<Entity> {
    let sertype = Box::into_raw(Box::new(Sertype {
        // SAFETY: all fields are bytes; the next call fills them in.
        base: unsafe { mem::zeroed() },
        pool: Arc::clone(domain.pool()),
    }));
    let mut sertype = sertype.cast::<ddsi_sertype>();
    // SAFETY: the tables live for ever, and Cyclone copies the name.
    unsafe {
        ddsi_sertype_init_flags(
            sertype,
            type_name.as_ptr(),
            &raw const OPERATIONS.0,
            &raw const serdata::OPERATIONS,
            DDSI_SERTYPE_FLAG_TOPICKIND_NO_KEY,
        );
    }
    // SAFETY: all pointers are live. On success Cyclone owns the sertype (and may replace it by an equal one).
    let topic = unsafe {
        dds_create_topic_sertype(
            domain.handle(),
            name.as_ptr(),
            &raw mut sertype,
            ptr::null(),
            ptr::null(),
            ptr::null(),
        )
    };
    if topic < 0 {
        // SAFETY: it is still ours.
        unsafe { ddsi_sertype_unref(sertype) };
    }
    Entity::new(topic)
}

unsafe extern "C" fn free(sertype: *mut ddsi_sertype) {
    // SAFETY: the last reference is gone; it was made by `create_topic`.
    unsafe {
        ddsi_sertype_fini(sertype);
        drop(Box::from_raw(sertype.cast::<Sertype>()));
    }
}

// There are no samples as C structures: Cyclone needs them only in dds_read and dds_take, which we do not call on these
// readers.
unsafe extern "C" fn zero_samples(_: *const ddsi_sertype, _: *mut c_void, _: usize) {}

unsafe extern "C" fn realloc_samples(
    to: *mut *mut c_void,
    _: *const ddsi_sertype,
    _: *mut c_void,
    _: usize,
    _: usize,
) {
    // SAFETY: Cyclone passes a place for the pointer.
    unsafe { *to = ptr::null_mut() };
}

unsafe extern "C" fn free_samples(_: *const ddsi_sertype, _: *mut *mut c_void, _: usize, _: c_int) {
}

/// Called for types of one name only.
unsafe extern "C" fn equal(_: *const ddsi_sertype, _: *const ddsi_sertype) -> bool {
    true
}

unsafe extern "C" fn hash(_: *const ddsi_sertype) -> u32 {
    0
}
