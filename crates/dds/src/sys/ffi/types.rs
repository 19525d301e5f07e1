//! The structures and values of Cyclone DDS that we use.

use std::ffi::{c_char, c_int, c_void};
use std::sync::atomic::AtomicU32;

pub type dds_entity_t = i32;
pub type dds_return_t = i32;

/// An opaque type.
macro_rules! opaque {
    ($($name:ident)+) => {$(
        #[repr(C)]
        pub struct $name {
            inside: [u8; 0],
        }
    )+};
}
opaque!(dds_qos_t dds_listener_t ddsi_xmsg ddsi_plist ddsi_sertype_v0_dummy);

macro_rules! values {
    ($($name:ident: $type:ty = $value:expr;)+) => {$(pub const $name: $type = $value;)+};
}
values! {
    DDS_DURABILITY_VOLATILE: c_int = 0;
    DDS_DURABILITY_TRANSIENT_LOCAL: c_int = 1;
    DDS_HISTORY_KEEP_LAST: c_int = 0;
    DDS_HISTORY_KEEP_ALL: c_int = 1;
    DDS_RELIABILITY_BEST_EFFORT: c_int = 0;
    DDS_RELIABILITY_RELIABLE: c_int = 1;
    DDS_LIVELINESS_AUTOMATIC: c_int = 0;
    DDS_LIVELINESS_MANUAL_BY_PARTICIPANT: c_int = 1;
    DDS_LIVELINESS_MANUAL_BY_TOPIC: c_int = 2;
    DDS_IGNORELOCAL_PARTICIPANT: c_int = 1;
    DDS_DURABILITY_QOS_POLICY_ID: u32 = 2;
    DDS_DEADLINE_QOS_POLICY_ID: u32 = 4;
    DDS_LIVELINESS_QOS_POLICY_ID: u32 = 8;
    DDS_RELIABILITY_QOS_POLICY_ID: u32 = 11;
    DDS_INFINITY: i64 = i64::MAX;
    DDS_ANY_STATE: u32 = 127;
    DDS_ALIVE_INSTANCE_STATE: u32 = 16;
    DDS_RETCODE_TIMEOUT: dds_return_t = -10;
    SDK_KEY: c_int = 1;
    SDK_DATA: c_int = 2;
    DDSI_SERTYPE_FLAG_TOPICKIND_NO_KEY: u32 = 1;
    DDS_BUILTIN_TOPIC_DCPSPARTICIPANT: dds_entity_t = 0x7fff_0001;
    DDS_BUILTIN_TOPIC_DCPSPUBLICATION: dds_entity_t = 0x7fff_0003;
    DDS_BUILTIN_TOPIC_DCPSSUBSCRIPTION: dds_entity_t = 0x7fff_0004;
    DDS_LC_FATAL: u32 = 1;
    DDS_LC_ERROR: u32 = 2;
    DDS_LC_WARNING: u32 = 4;
}

#[repr(C)]
pub struct ddsi_serdata {
    pub ops: *const ddsi_serdata_ops,
    pub hash: u32,
    pub refc: AtomicU32,
    pub kind: c_int,
    pub r#type: *const ddsi_sertype,
    pub timestamp: i64,
    pub statusinfo: u32,
    pub twrite: i64,
    pub loan: *mut c_void,
}

/// Initialised by `ddsi_sertype_init_flags`; we read none of its fields.
#[repr(C, align(8))]
pub struct ddsi_sertype {
    inside: [u8; 80],
}

#[repr(C)]
pub struct ddsrt_iovec_t {
    pub iov_base: *mut c_void,
    pub iov_len: usize,
}

#[repr(C)]
pub struct ddsi_serdata_ops {
    pub eqkey: Option<unsafe extern "C" fn(*const ddsi_serdata, *const ddsi_serdata) -> bool>,
    pub get_size: Option<unsafe extern "C" fn(*const ddsi_serdata) -> u32>,
    pub from_ser: Option<
        unsafe extern "C" fn(
            *const ddsi_sertype,
            c_int,
            *const ddsi_rdata,
            usize,
        ) -> *mut ddsi_serdata,
    >,
    pub from_ser_iov: Option<
        unsafe extern "C" fn(
            *const ddsi_sertype,
            c_int,
            usize,
            *const ddsrt_iovec_t,
            usize,
        ) -> *mut ddsi_serdata,
    >,
    pub from_keyhash:
        Option<unsafe extern "C" fn(*const ddsi_sertype, *const c_void) -> *mut ddsi_serdata>,
    pub from_sample: Option<unsafe extern "C" fn()>,
    pub to_ser: Option<unsafe extern "C" fn(*const ddsi_serdata, usize, usize, *mut c_void)>,
    pub to_ser_ref: Option<
        unsafe extern "C" fn(
            *const ddsi_serdata,
            usize,
            usize,
            *mut ddsrt_iovec_t,
        ) -> *mut ddsi_serdata,
    >,
    pub to_ser_unref: Option<unsafe extern "C" fn(*mut ddsi_serdata, *const ddsrt_iovec_t)>,
    pub to_sample: Option<unsafe extern "C" fn()>,
    pub to_untyped: Option<unsafe extern "C" fn(*const ddsi_serdata) -> *mut ddsi_serdata>,
    pub untyped_to_sample: Option<unsafe extern "C" fn()>,
    pub free: Option<unsafe extern "C" fn(*mut ddsi_serdata)>,
    pub print: Option<
        unsafe extern "C" fn(*const ddsi_sertype, *const ddsi_serdata, *mut c_char, usize) -> usize,
    >,
    pub get_keyhash: Option<unsafe extern "C" fn(*const ddsi_serdata, *mut [u8; 16], bool)>,
    pub from_loaned_sample: Option<unsafe extern "C" fn()>,
    pub from_psmx: Option<unsafe extern "C" fn()>,
}

#[repr(C)]
pub struct ddsi_sertype_ops {
    pub version: Option<unsafe extern "C" fn(*mut ddsi_sertype_v0_dummy)>,
    pub arg: *mut c_void,
    pub free: Option<unsafe extern "C" fn(*mut ddsi_sertype)>,
    pub zero_samples: Option<unsafe extern "C" fn(*const ddsi_sertype, *mut c_void, usize)>,
    pub realloc_samples: Option<
        unsafe extern "C" fn(*mut *mut c_void, *const ddsi_sertype, *mut c_void, usize, usize),
    >,
    pub free_samples:
        Option<unsafe extern "C" fn(*const ddsi_sertype, *mut *mut c_void, usize, c_int)>,
    pub equal: Option<unsafe extern "C" fn(*const ddsi_sertype, *const ddsi_sertype) -> bool>,
    pub hash: Option<unsafe extern "C" fn(*const ddsi_sertype) -> u32>,
    pub type_id: Option<unsafe extern "C" fn()>,
    pub type_map: Option<unsafe extern "C" fn()>,
    pub type_info: Option<unsafe extern "C" fn()>,
    pub derive_sertype: Option<unsafe extern "C" fn()>,
    pub get_serialized_size: Option<unsafe extern "C" fn()>,
    pub serialize_into: Option<unsafe extern "C" fn()>,
}

/// The header of a received packet; the packet follows.
#[repr(C, align(8))]
pub struct ddsi_rmsg {
    inside: [u8; 48],
}

/// A piece of a sample in a received packet.
#[repr(C)]
pub struct ddsi_rdata {
    pub rmsg: *mut ddsi_rmsg,
    pub nextfrag: *mut Self,
    pub min: u32,
    pub maxp1: u32,
    pub submsg_zoff: u16,
    pub payload_zoff: u16,
    pub keyhash_zoff: u16,
}

#[repr(C)]
pub struct dds_sample_info_t {
    pub sample_state: u32,
    pub view_state: u32,
    pub instance_state: u32,
    pub valid_data: bool,
    pub source_timestamp: i64,
    pub instance_handle: u64,
    pub publication_handle: u64,
    pub generations: [u32; 5],
}

#[repr(C)]
pub struct dds_builtintopic_participant_t {
    pub key: [u8; 16],
    pub qos: *mut dds_qos_t,
}

#[repr(C)]
pub struct dds_builtintopic_endpoint_t {
    pub key: [u8; 16],
    pub participant_key: [u8; 16],
    pub participant_instance_handle: u64,
    pub topic_name: *mut c_char,
    pub type_name: *mut c_char,
    pub qos: *mut dds_qos_t,
}

#[derive(Clone, Copy, Default)]
#[repr(C)]
pub struct dds_subscription_matched_status_t {
    pub total_count: u32,
    pub total_count_change: i32,
    pub current_count: u32,
    pub current_count_change: i32,
    pub last_publication_handle: u64,
}

#[derive(Clone, Copy, Default)]
#[repr(C)]
pub struct dds_publication_matched_status_t {
    pub total_count: u32,
    pub total_count_change: i32,
    pub current_count: u32,
    pub current_count_change: i32,
    pub last_subscription_handle: u64,
}

#[derive(Clone, Copy)]
#[repr(C)]
pub struct dds_liveliness_changed_status_t {
    pub alive_count: u32,
    pub not_alive_count: u32,
    pub alive_count_change: i32,
    pub not_alive_count_change: i32,
    pub last_publication_handle: u64,
}

#[derive(Clone, Copy)]
#[repr(C)]
pub struct dds_requested_deadline_missed_status_t {
    pub total_count: u32,
    pub total_count_change: i32,
    pub last_instance_handle: u64,
}

#[derive(Clone, Copy)]
#[repr(C)]
pub struct dds_requested_incompatible_qos_status_t {
    pub total_count: u32,
    pub total_count_change: i32,
    pub last_policy_id: u32,
}

#[derive(Clone, Copy)]
#[repr(C)]
pub struct dds_offered_incompatible_qos_status_t {
    pub total_count: u32,
    pub total_count_change: i32,
    pub last_policy_id: u32,
}

#[derive(Clone, Copy)]
#[repr(C)]
pub struct dds_offered_deadline_missed_status_t {
    pub total_count: u32,
    pub total_count_change: i32,
    pub last_instance_handle: u64,
}

#[derive(Clone, Copy)]
#[repr(C)]
pub struct dds_liveliness_lost_status_t {
    pub total_count: u32,
    pub total_count_change: i32,
}

#[repr(C)]
pub struct dds_log_data_t {
    pub priority: u32,
    pub domid: u32,
    pub file: *const c_char,
    pub line: u32,
    pub function: *const c_char,
    pub message: *const c_char,
    pub size: usize,
    pub hdrsize: usize,
}
