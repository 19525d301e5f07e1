//! Cyclone's own topics: participants, writers and readers, remote and local.

use std::ffi::{CStr, c_char, c_void};
use std::mem::MaybeUninit;
use std::ptr;
use std::sync::Arc;

use timeloom_msg::QosProfile;
use timeloom_msg::qos::History;

use super::entity::{DdsResult, Domain, Entity, call, reap};
use super::ffi::{
    DDS_ALIVE_INSTANCE_STATE, DDS_BUILTIN_TOPIC_DCPSPARTICIPANT, DDS_BUILTIN_TOPIC_DCPSPUBLICATION,
    DDS_BUILTIN_TOPIC_DCPSSUBSCRIPTION, dds_builtintopic_endpoint_t,
    dds_builtintopic_participant_t, dds_create_reader, dds_entity_t, dds_return_loan,
    dds_sample_info_t, dds_take,
};
use super::listener::{EndpointListener, ListenerHandle};
use super::qos::{Qos, read_profile, read_user_data};

/// The discovered properties of an endpoint.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Discovered {
    pub(crate) topic: String,
    pub(crate) type_name: String,
    pub(crate) qos: QosProfile,
    pub(crate) user_data: Vec<u8>,
}

/// A participant or endpoint that was added, changed or removed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Presence {
    Participant([u8; 16]),
    ParticipantGone([u8; 16]),
    Writer([u8; 16], Discovered),
    Reader([u8; 16], Discovered),
    EndpointGone([u8; 16]),
}

#[derive(Clone, Copy, Debug)]
enum Kind {
    Participants,
    Writers,
    Readers,
}

/// The readers of the three topics.
#[derive(Debug)]
pub(crate) struct BuiltinReader(Option<Parts>);

/// Dropped in this order: no callback runs after the readers are gone.
#[derive(Debug)]
struct Parts {
    readers: [(Kind, Entity); 3],
    _listener: ListenerHandle,
    _domain: Arc<Domain>,
}

const AT_ONCE: usize = 16;

impl BuiltinReader {
    /// `listener` is called when one of them has data.
    pub(crate) fn new(
        domain: &Arc<Domain>,
        listener: Arc<dyn EndpointListener>,
    ) -> DdsResult<Self> {
        let listener = ListenerHandle::data(listener);
        let qos = Qos::keeping_all();
        let reader = |topic: dds_entity_t| {
            // SAFETY: a live participant, QoS and listener, and a topic that always exists.
            let handle = call(|| unsafe {
                dds_create_reader(domain.handle(), topic, qos.as_ptr(), listener.as_ptr())
            });
            Entity::new(handle)
        };
        let readers = [
            (
                Kind::Participants,
                reader(DDS_BUILTIN_TOPIC_DCPSPARTICIPANT)?,
            ),
            (Kind::Writers, reader(DDS_BUILTIN_TOPIC_DCPSPUBLICATION)?),
            (Kind::Readers, reader(DDS_BUILTIN_TOPIC_DCPSSUBSCRIPTION)?),
        ];
        Ok(Self(Some(Parts {
            readers,
            _listener: listener,
            _domain: Arc::clone(domain),
        })))
    }

    /// Takes all changes: participants first, so that endpoints find theirs.
    pub(crate) fn take(&self, mut each: impl FnMut(Presence)) {
        for (kind, reader) in self.0.iter().flat_map(|parts| &parts.readers) {
            while take_some(*kind, reader.handle(), &mut each) > 0 {}
        }
    }
}

impl Drop for BuiltinReader {
    fn drop(&mut self) {
        reap(self.0.take());
    }
}

fn take_some(kind: Kind, reader: dds_entity_t, each: &mut impl FnMut(Presence)) -> usize {
    let mut samples: [*mut c_void; AT_ONCE] = [ptr::null_mut(); AT_ONCE];
    let mut infos = [const { MaybeUninit::<dds_sample_info_t>::uninit() }; AT_ONCE];
    let limit = u32::try_from(AT_ONCE).unwrap_or(u32::MAX);
    // SAFETY: both arrays have room; null pointers ask for a loan.
    let count = unsafe {
        dds_take(
            reader,
            samples.as_mut_ptr(),
            infos.as_mut_ptr().cast(),
            AT_ONCE,
            limit,
        )
    };
    let Ok(count @ 1..) = usize::try_from(count) else {
        return 0;
    };
    for (sample, info) in samples.iter().zip(&infos).take(count) {
        // SAFETY: Cyclone filled in the first `count` elements of both, with samples of this topic's type.
        let (came, went) = unsafe { presence(kind, *sample, info.assume_init_ref()) };
        came.into_iter().chain(went).for_each(&mut *each);
    }
    // SAFETY: gives back the loan of this reader.
    unsafe {
        dds_return_loan(
            reader,
            samples.as_mut_ptr(),
            i32::try_from(count).unwrap_or(0),
        )
    };
    count
}

/// Additions and removals: both, for an entity that was gone before it was seen.
///
/// # Safety
/// `sample` is a live sample of the topic of `kind`.
unsafe fn presence(
    kind: Kind,
    sample: *const c_void,
    info: &dds_sample_info_t,
) -> (Option<Presence>, Option<Presence>) {
    let gone = info.instance_state != DDS_ALIVE_INSTANCE_STATE;
    if matches!(kind, Kind::Participants) {
        // SAFETY: as promised by the caller; the key is there even when the rest is not.
        let key = unsafe { (*sample.cast::<dds_builtintopic_participant_t>()).key };
        return (
            info.valid_data.then_some(Presence::Participant(key)),
            gone.then_some(Presence::ParticipantGone(key)),
        );
    }
    // SAFETY: as promised by the caller.
    let endpoint = unsafe { &*sample.cast::<dds_builtintopic_endpoint_t>() };
    let came = info.valid_data.then(|| {
        // SAFETY: a valid sample has live strings and policies, or null.
        let discovered = unsafe {
            Discovered {
                topic: text(endpoint.topic_name),
                type_name: text(endpoint.type_name),
                qos: offered(read_profile(endpoint.qos), &endpoint.key),
                user_data: read_user_data(endpoint.qos),
            }
        };
        match kind {
            Kind::Writers => Presence::Writer(endpoint.key, discovered),
            _ => Presence::Reader(endpoint.key, discovered),
        }
    });
    (came, gone.then_some(Presence::EndpointGone(endpoint.key)))
}

/// The first bytes of the GUIDs of Fast DDS.
const FAST_DDS: [u8; 2] = [0x01, 0x0f];

/// A profile without the policies that the peer does not send: Fast DDS omits the history, and Cyclone fills in its
/// default.
fn offered(profile: QosProfile, guid: &[u8; 16]) -> QosProfile {
    if !guid.starts_with(&FAST_DDS) {
        return profile;
    }
    QosProfile {
        history: History::Unknown,
        depth: 0,
        ..profile
    }
}

/// # Safety
/// `text` is null or a live C string.
unsafe fn text(text: *const c_char) -> String {
    if text.is_null() {
        return String::new();
    }
    // SAFETY: as promised by the caller.
    unsafe { CStr::from_ptr(text) }
        .to_string_lossy()
        .into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_history_of_fast_dds_is_unknown() {
        let mut guid = [0; 16];
        guid[..2].copy_from_slice(&[0x01, 0x10]);
        assert_eq!(offered(QosProfile::DEFAULT, &guid), QosProfile::DEFAULT);
        guid[..2].copy_from_slice(&FAST_DDS);
        let profile = offered(QosProfile::DEFAULT, &guid);
        assert_eq!((profile.history, profile.depth), (History::Unknown, 0));
        assert_eq!(profile.reliability, QosProfile::DEFAULT.reliability);
    }
}
