//! Writers of raw payloads.

use std::ffi::CStr;
use std::ptr;
use std::sync::Arc;

use bytes::Bytes;

use super::entity::{DdsResult, Domain, Entity, ReturnCode, call, reap};
use super::ffi::{
    DDS_RETCODE_TIMEOUT, SDK_DATA, dds_assert_liveliness, dds_create_writer, dds_entity_t,
    dds_get_entity_sertype, dds_get_publication_matched_status, dds_publication_matched_status_t,
    dds_wait_for_acks, dds_write_flush, ddsi_serdata_unref, ddsi_sertype, timeloom_forwardcdr,
};
use super::inline_qos::SampleIdentity;
use super::listener::{EndpointListener, ListenerHandle};
use super::matched::{self, MatchedEndpoint};
use super::qos::Qos;
use super::serdata::Serdata;

/// The properties of a sample to write, beside the payload.
pub(crate) struct Written {
    /// Nanoseconds since 1970.
    pub(crate) source_time: i64,
    /// Sent as inline `QoS`.
    pub(crate) related: Option<SampleIdentity>,
    /// Send it now, not with the next samples.
    pub(crate) flush: bool,
}

/// A writer of one topic, deleted when dropped.
pub(crate) struct RawWriter {
    handle: dds_entity_t,
    guid: [u8; 16],
    sertype: *const ddsi_sertype,
    parts: Option<Parts>,
}

/// Dropped in this order: no callback runs after the writer is gone.
struct Parts {
    entity: Entity,
    _topic: Arc<Entity>,
    _listener: ListenerHandle,
    _domain: Arc<Domain>,
}

// SAFETY: Cyclone's entities may be used from all threads, and the sertype is never written.
unsafe impl Send for RawWriter {}
// SAFETY: as above.
unsafe impl Sync for RawWriter {}

impl RawWriter {
    pub(crate) fn new(
        domain: &Arc<Domain>,
        topic: &CStr,
        type_name: &CStr,
        qos: &Qos,
        listener: Arc<dyn EndpointListener>,
    ) -> DdsResult<Self> {
        let topic = domain.topic(topic, type_name)?;
        let listener = ListenerHandle::writer(listener);
        // SAFETY: live entities, QoS and listener; Cyclone copies the last two.
        let handle = call(|| unsafe {
            dds_create_writer(
                domain.handle(),
                topic.handle(),
                qos.as_ptr(),
                listener.as_ptr(),
            )
        });
        let entity = Entity::new(handle)?;
        let mut sertype = ptr::null();
        // SAFETY: the sertype lives as long as the writer.
        ReturnCode::check(unsafe { dds_get_entity_sertype(entity.handle(), &raw mut sertype) })?;
        Ok(Self {
            handle,
            guid: entity.guid()?,
            sertype,
            parts: Some(Parts {
                entity,
                _topic: topic,
                _listener: listener,
                _domain: Arc::clone(domain),
            }),
        })
    }

    pub(crate) fn guid(&self) -> [u8; 16] {
        self.guid
    }

    /// A number that is unlikely to be shared by another endpoint.
    pub(crate) fn instance(&self) -> DdsResult<u64> {
        self.parts.as_ref().ok_or(ReturnCode(0))?.entity.instance()
    }

    /// Writes a payload; returns its number.
    pub(crate) fn write(&self, payload: Bytes, written: &Written) -> DdsResult<u64> {
        // SAFETY: the sertype lives as long as the writer. The sample is not shared before it is written.
        let serdata = unsafe {
            let serdata = Serdata::allocate(self.sertype, SDK_DATA, payload);
            (*serdata).base.timestamp = written.source_time;
            (*serdata).related = written.related;
            // One reference is Cyclone's, the other keeps the sample until its number is read.
            (*serdata)
                .base
                .refc
                .fetch_add(1, std::sync::atomic::Ordering::Relaxed);
            serdata
        };
        let handle = self.handle;
        // SAFETY: a live sample of this writer's sertype; Cyclone takes one reference, also when it fails.
        let code = call(|| unsafe { timeloom_forwardcdr(handle, serdata.cast(), written.flush) });
        // SAFETY: we still own one reference; the hook that writes the number ran on this thread.
        let sequence = unsafe {
            let sequence = (*serdata).sequence;
            ddsi_serdata_unref(serdata.cast());
            sequence
        };
        ReturnCode::check(code).map(|_| sequence)
    }

    /// Sends the samples that were written without `flush`.
    pub(crate) fn flush(&self) -> DdsResult<()> {
        // SAFETY: a live writer.
        ReturnCode::check(call(|| unsafe { dds_write_flush(self.handle) })).map(drop)
    }

    /// Blocks until all samples are acknowledged; false if `nanos` ran out.
    pub(crate) fn wait_for_acks(&self, nanos: i64) -> DdsResult<bool> {
        // SAFETY: a live writer.
        match unsafe { dds_wait_for_acks(self.handle, nanos) } {
            DDS_RETCODE_TIMEOUT => Ok(false),
            code => ReturnCode::check(code).map(|_| true),
        }
    }

    pub(crate) fn assert_liveliness(&self) -> DdsResult<()> {
        // SAFETY: a live writer.
        ReturnCode::check(call(|| unsafe { dds_assert_liveliness(self.handle) })).map(drop)
    }

    /// Number of matched readers.
    pub(crate) fn matched(&self) -> usize {
        let mut status = dds_publication_matched_status_t::default();
        // SAFETY: a live writer; `status` has room for the answer.
        unsafe { dds_get_publication_matched_status(self.handle, &raw mut status) };
        status.current_count as usize
    }

    /// The matched readers.
    pub(crate) fn readers(&self) -> Vec<MatchedEndpoint> {
        matched::readers_of(self.handle)
    }
}

impl Drop for RawWriter {
    fn drop(&mut self) {
        reap(self.parts.take());
    }
}
