//! Readers of raw payloads.

use std::ffi::CStr;
use std::mem::MaybeUninit;
use std::ptr;
use std::sync::Arc;

use bytes::Bytes;

use super::entity::{DdsResult, Domain, Entity, call, reap};
use super::ffi::{
    DDS_ANY_STATE, dds_create_reader, dds_entity_t, dds_get_subscription_matched_status,
    dds_sample_info_t, dds_subscription_matched_status_t, dds_takecdr, ddsi_serdata,
    ddsi_serdata_unref, timeloom_ask_writers,
};
use super::inline_qos::SampleIdentity;
use super::listener::{EndpointListener, ListenerHandle};
use super::matched::{self, MatchedEndpoint};
use super::qos::Qos;
use super::serdata::Serdata;

/// A sample taken from a reader.
pub(crate) struct TakenSample {
    pub(crate) payload: Bytes,
    pub(crate) writer: [u8; 16],
    /// 0 if Cyclone did not set it.
    pub(crate) sequence: u64,
    pub(crate) related: Option<SampleIdentity>,
    /// Nanoseconds since 1970; 0 if the sender did not set it.
    pub(crate) source_time: i64,
    /// The number of the writer within this process.
    pub(crate) publication: u64,
}

/// A reader of one topic, deleted when dropped.
#[derive(Debug)]
pub(crate) struct RawReader {
    handle: ReaderHandle,
    guid: [u8; 16],
    parts: Option<Parts>,
}

/// Dropped in this order: no callback runs after the reader is gone.
#[derive(Debug)]
struct Parts {
    _entity: Entity,
    _topic: Arc<Entity>,
    _listener: ListenerHandle,
    _domain: Arc<Domain>,
}

impl RawReader {
    pub(crate) fn new(
        domain: &Arc<Domain>,
        topic: &CStr,
        type_name: &CStr,
        qos: &Qos,
        listener: Arc<dyn EndpointListener>,
    ) -> DdsResult<Self> {
        let topic = domain.topic(topic, type_name)?;
        let listener = ListenerHandle::reader(listener);
        // SAFETY: live entities, QoS and listener; Cyclone copies the last two.
        let handle = call(|| unsafe {
            dds_create_reader(
                domain.handle(),
                topic.handle(),
                qos.as_ptr(),
                listener.as_ptr(),
            )
        });
        let entity = Entity::new(handle)?;
        Ok(Self {
            handle: ReaderHandle(handle),
            guid: entity.guid()?,
            parts: Some(Parts {
                _entity: entity,
                _topic: topic,
                _listener: listener,
                _domain: Arc::clone(domain),
            }),
        })
    }

    pub(crate) fn guid(&self) -> [u8; 16] {
        self.guid
    }

    pub(crate) fn handle(&self) -> ReaderHandle {
        self.handle
    }
}

impl Drop for RawReader {
    fn drop(&mut self) {
        reap(self.parts.take());
    }
}

/// A reader by its number, which may be used after the reader is gone: then it has no samples.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ReaderHandle(pub(super) dds_entity_t);

impl ReaderHandle {
    /// The limit of [`take`](Self::take): a burst is taken in few calls, and there is room on the stack.
    pub(crate) const AT_ONCE: usize = 32;

    /// Takes samples, up to [`AT_ONCE`](Self::AT_ONCE); returns their number, valid or not.
    pub(crate) fn take(self, each: impl FnMut(TakenSample)) -> usize {
        take_from(self.0, each)
    }

    /// Number of matched writers.
    pub(crate) fn matched(self) -> usize {
        let mut status = dds_subscription_matched_status_t::default();
        // SAFETY: any handle may be asked for; `status` has room for the answer.
        unsafe { dds_get_subscription_matched_status(self.0, &raw mut status) };
        status.current_count as usize
    }

    /// Requests the last numbers of the reliable writers; they answer with a heartbeat.
    pub(crate) fn ask_writers(self) {
        // SAFETY: any handle may be asked for; a reader that is gone has no writers to ask.
        call(|| unsafe { timeloom_ask_writers(self.0) });
    }

    /// The matched writers.
    pub(crate) fn writers(self) -> Vec<MatchedEndpoint> {
        matched::writers_of(self.0)
    }

    /// The writer with a number of [`TakenSample::publication`], if it still exists.
    pub(crate) fn writer(self, publication: u64) -> Option<MatchedEndpoint> {
        matched::writer_of(self.0, publication)
    }
}

fn take_from(reader: dds_entity_t, mut each: impl FnMut(TakenSample)) -> usize {
    const AT_ONCE: usize = ReaderHandle::AT_ONCE;
    let mut samples: [*mut ddsi_serdata; AT_ONCE] = [ptr::null_mut(); AT_ONCE];
    let mut infos = [const { MaybeUninit::<dds_sample_info_t>::uninit() }; AT_ONCE];
    let limit = u32::try_from(AT_ONCE).unwrap_or(u32::MAX);
    // SAFETY: both arrays have room for `limit` elements.
    let count = unsafe {
        dds_takecdr(
            reader,
            samples.as_mut_ptr(),
            limit,
            infos.as_mut_ptr().cast(),
            DDS_ANY_STATE,
        )
    };
    // An error (the reader is being deleted) means that there are no samples.
    let count = usize::try_from(count).unwrap_or(0);
    for (sample, info) in samples.into_iter().zip(&infos).take(count) {
        // SAFETY: Cyclone filled in the first `count` elements of both.
        let info = unsafe { info.assume_init_ref() };
        if info.valid_data {
            // SAFETY: a sample of our reader has our sertype, and one reference is now ours.
            each(unsafe { taken(sample.cast(), info) });
        }
        // SAFETY: gives back our reference.
        unsafe { ddsi_serdata_unref(sample) };
    }
    count
}

/// # Safety
/// `sample` is a live sample of ours, and the caller owns one reference to it.
unsafe fn taken(sample: *mut Serdata, info: &dds_sample_info_t) -> TakenSample {
    // SAFETY: as promised by the caller.
    unsafe {
        TakenSample {
            payload: Serdata::take_payload(sample),
            writer: (*sample).writer,
            sequence: (*sample).sequence,
            related: (*sample).related,
            source_time: info.source_timestamp,
            publication: info.publication_handle,
        }
    }
}
