//! Data that Cyclone passes to our hooks, beside its API: sequence numbers, heartbeats, and inline `QoS` both ways.

use std::ffi::c_int;
use std::ptr;
use std::slice;
use std::sync::Once;

use super::ffi::{
    ddsi_serdata, ddsi_xmsg, ddsi_xmsg_addpar, timeloom_heartbeat_hook, timeloom_inline_qos_hook,
    timeloom_lease_hook, timeloom_receive_hook, timeloom_write_hook,
};
use super::inline_qos::{ENCODED, RELATED_SAMPLE_IDENTITY, SampleIdentity};
use super::last_numbers;
use super::serdata::Serdata;

/// Sets the hooks, once in a process, before the first domain and with it Cyclone's threads exist.
pub(super) fn install() {
    static INSTALLED: Once = Once::new();
    INSTALLED.call_once(|| {
        // SAFETY: no other thread reads them yet: they are read only by code that needs a domain, and every domain
        // is made after this call.
        unsafe {
            timeloom_write_hook = Some(written);
            timeloom_receive_hook = Some(received);
            timeloom_heartbeat_hook = Some(heartbeat);
            timeloom_inline_qos_hook = Some(add_inline_qos);
            timeloom_lease_hook = Some(lease_expired);
        }
    });
}

/// A sample gets its number, on the thread that writes it and before any other thread sees it.
unsafe extern "C" fn written(serdata: *mut ddsi_serdata, writer: *const [u8; 16], sequence: u64) {
    if Serdata::is_ours(serdata) {
        // SAFETY: it is ours and not shared yet.
        unsafe {
            (*serdata.cast::<Serdata>()).writer = *writer;
            (*serdata.cast::<Serdata>()).sequence = sequence;
        }
    }
}

/// A writer announced its last number, on the receive thread.
unsafe extern "C" fn heartbeat(writer: *const [u8; 16], last: u64) {
    // SAFETY: Cyclone passes the identity of the writer.
    last_numbers::announce(unsafe { *writer }, last);
}

/// The lease of a participant expired, on the thread that checks leases.
unsafe extern "C" fn lease_expired(participant: *const [u8; 16]) {
    // SAFETY: Cyclone passes the identity of the participant.
    last_numbers::lease_expired(unsafe { &*participant });
}

/// A sample arrived, and is not stored yet.
unsafe extern "C" fn received(
    serdata: *mut ddsi_serdata,
    writer: *const [u8; 16],
    sequence: u64,
    qos: *const u8,
    qos_size: usize,
    little_endian: c_int,
) {
    if !Serdata::is_ours(serdata) {
        return;
    }
    let related = (qos_size > 0).then(|| {
        // SAFETY: Cyclone passes the part of the packet between the inline QoS and the payload.
        let list = unsafe { slice::from_raw_parts(qos, qos_size) };
        SampleIdentity::find(list, little_endian != 0)
    });
    // SAFETY: it is ours and not shared yet.
    unsafe {
        let serdata = serdata.cast::<Serdata>();
        (*serdata).writer = *writer;
        (*serdata).sequence = sequence;
        (*serdata).related = related.flatten();
    }
}

/// A packet with a sample is created: adds the identity of the related sample.
unsafe extern "C" fn add_inline_qos(message: *mut ddsi_xmsg, serdata: *const ddsi_serdata) {
    if !Serdata::is_ours(serdata) {
        return;
    }
    // SAFETY: it is ours and live; it is not changed after it was written.
    let Some(related) = (unsafe { (*serdata.cast::<Serdata>()).related }) else {
        return;
    };
    for id in RELATED_SAMPLE_IDENTITY {
        // SAFETY: Cyclone gives room for as many bytes as asked for, in a message that is being made.
        unsafe {
            let place = ddsi_xmsg_addpar(message, id, ENCODED);
            ptr::copy_nonoverlapping(related.encode().as_ptr(), place.cast(), ENCODED);
        }
    }
}
