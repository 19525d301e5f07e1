//! Declarations of Cyclone DDS: the C names only.
//!
//! Layouts and values are checked against the C headers when the crate is built (`layout.txt`).

#![expect(
    non_camel_case_types,
    unreachable_pub,
    reason = "C declarations keep the names of C"
)]

mod types;

use std::ffi::{c_char, c_int, c_void};

pub use types::*;

unsafe extern "C" {
    // The hooks that build/patches.rs adds; null until set.
    pub static mut timeloom_inline_qos_hook:
        Option<unsafe extern "C" fn(*mut ddsi_xmsg, *const ddsi_serdata)>;
    pub static mut timeloom_write_hook:
        Option<unsafe extern "C" fn(*mut ddsi_serdata, *const [u8; 16], u64)>;
    pub static mut timeloom_receive_hook: Option<
        unsafe extern "C" fn(*mut ddsi_serdata, *const [u8; 16], u64, *const u8, usize, c_int),
    >;
    pub static mut timeloom_heartbeat_hook: Option<unsafe extern "C" fn(*const [u8; 16], u64)>;
    pub static mut timeloom_lease_hook: Option<unsafe extern "C" fn(*const [u8; 16])>;
    pub fn timeloom_forwardcdr(
        writer: dds_entity_t,
        serdata: *mut ddsi_serdata,
        flush: bool,
    ) -> dds_return_t;
    pub fn timeloom_ask_writers(reader: dds_entity_t) -> dds_return_t;
    pub fn timeloom_receive_buffers(participant: dds_entity_t, trim: bool) -> dds_return_t;

    pub fn dds_create_domain(domain: u32, config: *const c_char) -> dds_entity_t;
    pub fn dds_create_participant(
        domain: u32,
        qos: *const dds_qos_t,
        listener: *const dds_listener_t,
    ) -> dds_entity_t;
    pub fn dds_create_topic_sertype(
        participant: dds_entity_t,
        name: *const c_char,
        sertype: *mut *mut ddsi_sertype,
        qos: *const dds_qos_t,
        listener: *const dds_listener_t,
        sedp_plist: *const ddsi_plist,
    ) -> dds_entity_t;
    pub fn dds_create_reader(
        participant: dds_entity_t,
        topic: dds_entity_t,
        qos: *const dds_qos_t,
        listener: *const dds_listener_t,
    ) -> dds_entity_t;
    pub fn dds_create_writer(
        participant: dds_entity_t,
        topic: dds_entity_t,
        qos: *const dds_qos_t,
        listener: *const dds_listener_t,
    ) -> dds_entity_t;
    pub fn dds_delete(entity: dds_entity_t) -> dds_return_t;
    pub fn dds_get_guid(entity: dds_entity_t, guid: *mut [u8; 16]) -> dds_return_t;
    pub fn dds_get_instance_handle(entity: dds_entity_t, handle: *mut u64) -> dds_return_t;
    pub fn dds_get_entity_sertype(
        entity: dds_entity_t,
        sertype: *mut *const ddsi_sertype,
    ) -> dds_return_t;
    pub fn dds_strretcode(code: dds_return_t) -> *const c_char;
    pub fn dds_free(pointer: *mut c_void);

    pub fn dds_takecdr(
        reader: dds_entity_t,
        samples: *mut *mut ddsi_serdata,
        maximum: u32,
        infos: *mut dds_sample_info_t,
        mask: u32,
    ) -> dds_return_t;
    pub fn dds_take(
        reader: dds_entity_t,
        samples: *mut *mut c_void,
        infos: *mut dds_sample_info_t,
        size: usize,
        maximum: u32,
    ) -> dds_return_t;
    pub fn dds_return_loan(
        reader: dds_entity_t,
        samples: *mut *mut c_void,
        size: i32,
    ) -> dds_return_t;
    pub fn dds_write_flush(writer: dds_entity_t) -> dds_return_t;
    pub fn dds_assert_liveliness(writer: dds_entity_t) -> dds_return_t;
    pub fn dds_wait_for_acks(writer: dds_entity_t, timeout: i64) -> dds_return_t;
    pub fn dds_get_publication_matched_status(
        writer: dds_entity_t,
        status: *mut dds_publication_matched_status_t,
    ) -> dds_return_t;
    pub fn dds_get_subscription_matched_status(
        reader: dds_entity_t,
        status: *mut dds_subscription_matched_status_t,
    ) -> dds_return_t;
    pub fn dds_get_matched_subscriptions(
        writer: dds_entity_t,
        handles: *mut u64,
        size: usize,
    ) -> dds_return_t;
    pub fn dds_get_matched_publications(
        reader: dds_entity_t,
        handles: *mut u64,
        size: usize,
    ) -> dds_return_t;
    pub fn dds_get_matched_subscription_data(
        writer: dds_entity_t,
        handle: u64,
    ) -> *mut dds_builtintopic_endpoint_t;
    pub fn dds_get_matched_publication_data(
        reader: dds_entity_t,
        handle: u64,
    ) -> *mut dds_builtintopic_endpoint_t;
    pub fn dds_builtintopic_free_endpoint(endpoint: *mut dds_builtintopic_endpoint_t);

    pub fn dds_create_listener(argument: *mut c_void) -> *mut dds_listener_t;
    pub fn dds_delete_listener(listener: *mut dds_listener_t);
    pub fn dds_lset_data_available(
        listener: *mut dds_listener_t,
        callback: Option<unsafe extern "C" fn(dds_entity_t, *mut c_void)>,
    );
    pub fn dds_lset_subscription_matched(
        listener: *mut dds_listener_t,
        callback: Option<
            unsafe extern "C" fn(dds_entity_t, dds_subscription_matched_status_t, *mut c_void),
        >,
    );
    pub fn dds_lset_publication_matched(
        listener: *mut dds_listener_t,
        callback: Option<
            unsafe extern "C" fn(dds_entity_t, dds_publication_matched_status_t, *mut c_void),
        >,
    );
    pub fn dds_lset_liveliness_changed(
        listener: *mut dds_listener_t,
        callback: Option<
            unsafe extern "C" fn(dds_entity_t, dds_liveliness_changed_status_t, *mut c_void),
        >,
    );
    pub fn dds_lset_requested_deadline_missed(
        listener: *mut dds_listener_t,
        callback: Option<
            unsafe extern "C" fn(dds_entity_t, dds_requested_deadline_missed_status_t, *mut c_void),
        >,
    );
    pub fn dds_lset_requested_incompatible_qos(
        listener: *mut dds_listener_t,
        callback: Option<
            unsafe extern "C" fn(
                dds_entity_t,
                dds_requested_incompatible_qos_status_t,
                *mut c_void,
            ),
        >,
    );
    pub fn dds_lset_offered_incompatible_qos(
        listener: *mut dds_listener_t,
        callback: Option<
            unsafe extern "C" fn(dds_entity_t, dds_offered_incompatible_qos_status_t, *mut c_void),
        >,
    );
    pub fn dds_lset_offered_deadline_missed(
        listener: *mut dds_listener_t,
        callback: Option<
            unsafe extern "C" fn(dds_entity_t, dds_offered_deadline_missed_status_t, *mut c_void),
        >,
    );
    pub fn dds_lset_liveliness_lost(
        listener: *mut dds_listener_t,
        callback: Option<
            unsafe extern "C" fn(dds_entity_t, dds_liveliness_lost_status_t, *mut c_void),
        >,
    );

    pub fn dds_create_qos() -> *mut dds_qos_t;
    pub fn dds_delete_qos(qos: *mut dds_qos_t);
    pub fn dds_qset_userdata(qos: *mut dds_qos_t, value: *const c_void, size: usize);
    pub fn dds_qset_history(qos: *mut dds_qos_t, kind: c_int, depth: i32);
    pub fn dds_qset_reliability(qos: *mut dds_qos_t, kind: c_int, max_blocking_time: i64);
    pub fn dds_qset_durability(qos: *mut dds_qos_t, kind: c_int);
    pub fn dds_qset_durability_service(
        qos: *mut dds_qos_t,
        cleanup_delay: i64,
        history: c_int,
        depth: i32,
        max_samples: i32,
        max_instances: i32,
        max_samples_per_instance: i32,
    );
    pub fn dds_qset_deadline(qos: *mut dds_qos_t, deadline: i64);
    pub fn dds_qset_lifespan(qos: *mut dds_qos_t, lifespan: i64);
    pub fn dds_qset_liveliness(qos: *mut dds_qos_t, kind: c_int, lease: i64);
    pub fn dds_qset_ignorelocal(qos: *mut dds_qos_t, kind: c_int);
    pub fn dds_qset_data_representation(qos: *mut dds_qos_t, count: u32, values: *const i16);
    pub fn dds_qget_userdata(
        qos: *const dds_qos_t,
        value: *mut *mut c_void,
        size: *mut usize,
    ) -> bool;
    pub fn dds_qget_history(qos: *const dds_qos_t, kind: *mut c_int, depth: *mut i32) -> bool;
    pub fn dds_qget_reliability(
        qos: *const dds_qos_t,
        kind: *mut c_int,
        blocking: *mut i64,
    ) -> bool;
    pub fn dds_qget_durability(qos: *const dds_qos_t, kind: *mut c_int) -> bool;
    pub fn dds_qget_deadline(qos: *const dds_qos_t, deadline: *mut i64) -> bool;
    pub fn dds_qget_lifespan(qos: *const dds_qos_t, lifespan: *mut i64) -> bool;
    pub fn dds_qget_liveliness(qos: *const dds_qos_t, kind: *mut c_int, lease: *mut i64) -> bool;

    pub fn dds_set_log_sink(
        callback: Option<unsafe extern "C" fn(*mut c_void, *const dds_log_data_t)>,
        data: *mut c_void,
    );

    pub fn ddsi_sertype_init_flags(
        sertype: *mut ddsi_sertype,
        name: *const c_char,
        ops: *const ddsi_sertype_ops,
        serdata_ops: *const ddsi_serdata_ops,
        flags: u32,
    );
    pub fn ddsi_sertype_fini(sertype: *mut ddsi_sertype);
    pub fn ddsi_sertype_unref(sertype: *mut ddsi_sertype);
    pub fn ddsi_sertype_v0(dummy: *mut ddsi_sertype_v0_dummy);
    pub fn ddsi_serdata_init(serdata: *mut ddsi_serdata, sertype: *const ddsi_sertype, kind: c_int);
    pub fn ddsi_serdata_unref(serdata: *mut ddsi_serdata);
    pub fn ddsi_xmsg_addpar(message: *mut ddsi_xmsg, id: u16, size: usize) -> *mut c_void;
}
