//! The peers that a reader or writer is matched with.

use super::ffi::{
    dds_builtintopic_endpoint_t, dds_builtintopic_free_endpoint, dds_entity_t,
    dds_get_matched_publication_data, dds_get_matched_publications,
    dds_get_matched_subscription_data, dds_get_matched_subscriptions, dds_return_t,
};
use super::qos::read_user_data;

/// A reader or writer that is matched with one of ours.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct MatchedEndpoint {
    pub(crate) guid: [u8; 16],
    pub(crate) user_data: Vec<u8>,
}

type List = unsafe extern "C" fn(dds_entity_t, *mut u64, usize) -> dds_return_t;
type Find = unsafe extern "C" fn(dds_entity_t, u64) -> *mut dds_builtintopic_endpoint_t;

pub(super) fn readers_of(writer: dds_entity_t) -> Vec<MatchedEndpoint> {
    all(
        writer,
        dds_get_matched_subscriptions,
        dds_get_matched_subscription_data,
    )
}

pub(super) fn writers_of(reader: dds_entity_t) -> Vec<MatchedEndpoint> {
    all(
        reader,
        dds_get_matched_publications,
        dds_get_matched_publication_data,
    )
}

pub(super) fn writer_of(reader: dds_entity_t, publication: u64) -> Option<MatchedEndpoint> {
    one(reader, publication, dds_get_matched_publication_data)
}

fn all(entity: dds_entity_t, list: List, find: Find) -> Vec<MatchedEndpoint> {
    let mut handles = vec![0; 16];
    loop {
        // SAFETY: any handle may be asked for, and there is room for as many numbers as said.
        let count = unsafe { list(entity, handles.as_mut_ptr(), handles.len()) };
        let count = usize::try_from(count).unwrap_or(0);
        if count <= handles.len() {
            handles.truncate(count);
            break;
        }
        handles.resize(count, 0);
    }
    handles
        .into_iter()
        .filter_map(|handle| one(entity, handle, find))
        .collect()
}

fn one(entity: dds_entity_t, handle: u64, find: Find) -> Option<MatchedEndpoint> {
    // SAFETY: any handle may be asked for; the answer is null or ours to free.
    unsafe {
        let endpoint = find(entity, handle);
        let found = endpoint.as_ref().map(|endpoint| MatchedEndpoint {
            guid: endpoint.key,
            user_data: read_user_data(endpoint.qos),
        })?;
        dds_builtintopic_free_endpoint(endpoint);
        Some(found)
    }
}
