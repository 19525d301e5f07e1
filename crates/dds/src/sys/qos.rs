//! `QoS` of ROS as `QoS` of DDS, and back.

use std::ffi::c_int;
use std::ptr;
use std::slice;

use timeloom_msg::QosProfile;
use timeloom_msg::qos::{Durability, History, Liveliness, QosDuration, Reliability};

use super::ffi::{
    DDS_DURABILITY_TRANSIENT_LOCAL, DDS_DURABILITY_VOLATILE, DDS_HISTORY_KEEP_ALL,
    DDS_HISTORY_KEEP_LAST, DDS_IGNORELOCAL_PARTICIPANT, DDS_INFINITY, DDS_LIVELINESS_AUTOMATIC,
    DDS_LIVELINESS_MANUAL_BY_PARTICIPANT, DDS_LIVELINESS_MANUAL_BY_TOPIC,
    DDS_RELIABILITY_BEST_EFFORT, DDS_RELIABILITY_RELIABLE, dds_create_qos, dds_delete_qos,
    dds_free, dds_qget_deadline, dds_qget_durability, dds_qget_history, dds_qget_lifespan,
    dds_qget_liveliness, dds_qget_reliability, dds_qget_userdata, dds_qos_t,
    dds_qset_data_representation, dds_qset_deadline, dds_qset_durability,
    dds_qset_durability_service, dds_qset_history, dds_qset_ignorelocal, dds_qset_lifespan,
    dds_qset_liveliness, dds_qset_reliability, dds_qset_userdata,
};

const UNLIMITED: i32 = -1;
/// The encodings that a reader accepts: XCDR1, which ROS uses, and XCDR2. Payloads are passed on unchanged.
const READ: [i16; 2] = [0, 2];
const WRITTEN: [i16; 1] = [0];

/// A set of policies, for creating entities.
pub(crate) struct Qos(*mut dds_qos_t);

impl Qos {
    /// With user data and the defaults of DDS.
    pub(crate) fn with_user_data(user_data: &str) -> Self {
        // SAFETY: makes a new set.
        let qos = Self(unsafe { dds_create_qos() });
        // SAFETY: a live set; Cyclone copies the bytes.
        unsafe { dds_qset_userdata(qos.0, user_data.as_ptr().cast(), user_data.len()) };
        qos
    }

    /// For a reader of Cyclone's own topics: with a history of one, an endpoint that appears and disappears between two
    /// reads would be missed.
    pub(super) fn keeping_all() -> Self {
        // SAFETY: makes a new set.
        let qos = Self(unsafe { dds_create_qos() });
        // SAFETY: a live set.
        unsafe { dds_qset_history(qos.0, DDS_HISTORY_KEEP_ALL, UNLIMITED) };
        qos
    }

    /// For a reader.
    pub(crate) fn reader(profile: &QosProfile, user_data: &str) -> Self {
        let qos = Self::endpoint(profile, user_data);
        // SAFETY: a live set; Cyclone copies the numbers.
        unsafe { dds_qset_data_representation(qos.0, 2, READ.as_ptr()) };
        qos
    }

    /// For a writer.
    pub(crate) fn writer(profile: &QosProfile, user_data: &str) -> Self {
        let qos = Self::endpoint(profile, user_data);
        let (history, depth) = history(profile);
        // SAFETY: a live set; Cyclone copies the numbers.
        unsafe {
            dds_qset_data_representation(qos.0, 1, WRITTEN.as_ptr());
            if profile.durability == Durability::TransientLocal {
                // Cyclone keeps this many samples for late joiners, whatever the history is.
                dds_qset_durability_service(
                    qos.0, 0, history, depth, UNLIMITED, UNLIMITED, UNLIMITED,
                );
            }
        }
        qos
    }

    /// Ignores the writers of the same participant.
    #[must_use]
    pub(crate) fn ignoring_own(self) -> Self {
        // SAFETY: a live set.
        unsafe { dds_qset_ignorelocal(self.0, DDS_IGNORELOCAL_PARTICIPANT) };
        self
    }

    fn endpoint(profile: &QosProfile, user_data: &str) -> Self {
        let qos = Self::with_user_data(user_data);
        let (history, depth) = history(profile);
        let reliability = match profile.reliability {
            Reliability::BestEffort => DDS_RELIABILITY_BEST_EFFORT,
            _ => DDS_RELIABILITY_RELIABLE,
        };
        let durability = match profile.durability {
            Durability::TransientLocal => DDS_DURABILITY_TRANSIENT_LOCAL,
            _ => DDS_DURABILITY_VOLATILE,
        };
        let liveliness = match profile.liveliness {
            Liveliness::ManualByTopic => DDS_LIVELINESS_MANUAL_BY_TOPIC,
            Liveliness::ManualByNode => DDS_LIVELINESS_MANUAL_BY_PARTICIPANT,
            _ => DDS_LIVELINESS_AUTOMATIC,
        };
        // SAFETY: a live set; all values are within their ranges.
        unsafe {
            dds_qset_history(qos.0, history, depth);
            // Without limit as in rmw_cyclonedds: a reliable writer waits and does not lose samples.
            dds_qset_reliability(qos.0, reliability, DDS_INFINITY);
            dds_qset_durability(qos.0, durability);
            dds_qset_deadline(qos.0, to_nanos(profile.deadline));
            dds_qset_lifespan(qos.0, to_nanos(profile.lifespan));
            dds_qset_liveliness(
                qos.0,
                liveliness,
                to_nanos(profile.liveliness_lease_duration),
            );
        }
        qos
    }

    pub(super) fn as_ptr(&self) -> *const dds_qos_t {
        self.0
    }
}

impl Drop for Qos {
    fn drop(&mut self) {
        // SAFETY: made by `dds_create_qos`.
        unsafe { dds_delete_qos(self.0) };
    }
}

fn history(profile: &QosProfile) -> (c_int, i32) {
    match profile.history {
        History::KeepAll => (DDS_HISTORY_KEEP_ALL, UNLIMITED),
        // ROS uses a depth of 0 for the middleware's default, which is 1.
        _ => (
            DDS_HISTORY_KEEP_LAST,
            i32::try_from(profile.depth).unwrap_or(i32::MAX).max(1),
        ),
    }
}

fn to_nanos(duration: QosDuration) -> i64 {
    duration
        .limit()
        .and_then(|nanos| i64::try_from(nanos).ok())
        .unwrap_or(DDS_INFINITY)
}

fn from_nanos(nanos: i64) -> QosDuration {
    if nanos == DDS_INFINITY {
        return QosDuration::INFINITE;
    }
    QosDuration::from_nanos(u64::try_from(nanos).unwrap_or(0))
}

/// The profile of a discovered endpoint; absent policies have the defaults of DDS.
///
/// # Safety
/// `qos` is null or a live set.
pub(super) unsafe fn read_profile(qos: *const dds_qos_t) -> QosProfile {
    let (mut kind, mut depth, mut nanos) = (DDS_HISTORY_KEEP_LAST, 1, DDS_INFINITY);
    let mut blocking = 0;
    let (mut reliable, mut durable, mut alive) =
        (DDS_RELIABILITY_BEST_EFFORT, DDS_DURABILITY_VOLATILE, 0);
    let (mut deadline, mut lifespan) = (DDS_INFINITY, DDS_INFINITY);
    if !qos.is_null() {
        // SAFETY: the set is live; what is absent leaves the defaults alone.
        unsafe {
            dds_qget_history(qos, &raw mut kind, &raw mut depth);
            dds_qget_reliability(qos, &raw mut reliable, &raw mut blocking);
            dds_qget_durability(qos, &raw mut durable);
            dds_qget_deadline(qos, &raw mut deadline);
            dds_qget_lifespan(qos, &raw mut lifespan);
            dds_qget_liveliness(qos, &raw mut alive, &raw mut nanos);
        }
    }
    let keep_all = kind == DDS_HISTORY_KEEP_ALL;
    QosProfile {
        history: if keep_all {
            History::KeepAll
        } else {
            History::KeepLast
        },
        depth: if keep_all {
            0
        } else {
            u64::try_from(depth).unwrap_or(0)
        },
        reliability: if reliable == DDS_RELIABILITY_RELIABLE {
            Reliability::Reliable
        } else {
            Reliability::BestEffort
        },
        // Transient and persistent serve late joiners as well.
        durability: if durable == DDS_DURABILITY_VOLATILE {
            Durability::Volatile
        } else {
            Durability::TransientLocal
        },
        deadline: from_nanos(deadline),
        lifespan: from_nanos(lifespan),
        liveliness: match alive {
            DDS_LIVELINESS_MANUAL_BY_TOPIC => Liveliness::ManualByTopic,
            DDS_LIVELINESS_MANUAL_BY_PARTICIPANT => Liveliness::ManualByNode,
            _ => Liveliness::Automatic,
        },
        liveliness_lease_duration: from_nanos(nanos),
        avoid_ros_namespace_conventions: false,
    }
}

/// The user data of a discovered entity; empty if there is none.
///
/// # Safety
/// `qos` is null or a live set.
pub(super) unsafe fn read_user_data(qos: *const dds_qos_t) -> Vec<u8> {
    let (mut data, mut size) = (ptr::null_mut(), 0);
    // SAFETY: the set is live; Cyclone gives a copy that is ours to free.
    unsafe {
        if qos.is_null() || !dds_qget_userdata(qos, &raw mut data, &raw mut size) || data.is_null()
        {
            return Vec::new();
        }
        let copy = slice::from_raw_parts(data.cast::<u8>(), size).to_vec();
        dds_free(data);
        copy
    }
}
