//! A sample as Cyclone keeps it: our bytes behind its header.

use std::ffi::{c_char, c_int, c_void};
use std::mem;
use std::ptr;
use std::slice;
use std::sync::atomic::Ordering;

use bytes::Bytes;

use super::ffi::{
    SDK_KEY, ddsi_rdata, ddsi_rmsg, ddsi_serdata, ddsi_serdata_init, ddsi_serdata_ops,
    ddsi_serdata_unref, ddsi_sertype, ddsrt_iovec_t,
};
use super::inline_qos::SampleIdentity;
use super::sertype::Sertype;

/// A serialised sample with the data that the hooks add to it.
///
/// Fields after `base` are set before the sample is shared (by its creator, or by a hook that Cyclone calls before it
/// stores the sample) and only read from then on.
#[repr(C)]
pub(super) struct Serdata {
    pub(super) base: ddsi_serdata,
    pub(super) payload: Bytes,
    pub(super) writer: [u8; 16],
    /// 0 until a hook sets it: RTPS counts from 1.
    pub(super) sequence: u64,
    pub(super) related: Option<SampleIdentity>,
}

impl Serdata {
    /// A new sample with one reference.
    ///
    /// # Safety
    /// `sertype` is a live sertype made by `sertype.rs`.
    pub(super) unsafe fn allocate(
        sertype: *const ddsi_sertype,
        kind: c_int,
        payload: Bytes,
    ) -> *mut Self {
        let serdata = Box::into_raw(Box::new(Self {
            // SAFETY: all fields are integers and pointers, for which zero is a value.
            base: unsafe { mem::zeroed() },
            payload,
            writer: [0; 16],
            sequence: 0,
            related: None,
        }));
        // SAFETY: both point to live objects; this fills in `base`.
        unsafe { ddsi_serdata_init(&raw mut (*serdata).base, sertype, kind) };
        serdata
    }

    /// The sample behind Cyclone's pointer, if it is one of ours.
    pub(super) fn is_ours(serdata: *const ddsi_serdata) -> bool {
        // SAFETY: callers pass what Cyclone gave them, which is live.
        ptr::eq(unsafe { (*serdata).ops }, &raw const OPERATIONS)
    }

    /// The payload, without a copy if this is the only reference to the sample.
    ///
    /// # Safety
    /// `serdata` is live, ours, and the caller owns one reference to it.
    pub(super) unsafe fn take_payload(serdata: *mut Self) -> Bytes {
        // SAFETY: it is live. With one reference, the caller's, no other thread can access it or get a reference.
        unsafe {
            if (*serdata).base.refc.load(Ordering::Acquire) == 1 {
                mem::take(&mut (*serdata).payload)
            } else {
                (*serdata).payload.clone()
            }
        }
    }
}

/// The functions that Cyclone calls for our samples.
pub(super) static OPERATIONS: ddsi_serdata_ops = ddsi_serdata_ops {
    eqkey: Some(equal_keys),
    get_size: Some(size),
    from_ser: Some(from_packets),
    from_ser_iov: Some(from_pieces),
    from_keyhash: Some(from_keyhash),
    from_sample: None,
    to_ser: Some(copy_out),
    to_ser_ref: Some(lend),
    to_ser_unref: Some(end_loan),
    to_sample: None,
    to_untyped: Some(to_untyped),
    untyped_to_sample: None,
    free: Some(free),
    print: Some(print),
    get_keyhash: Some(keyhash),
    from_loaned_sample: None,
    from_psmx: None,
};

/// # Safety
/// As for all functions here: Cyclone calls them with live samples of ours.
unsafe fn ours<'a>(serdata: *const ddsi_serdata) -> &'a Serdata {
    // SAFETY: `base` is the first field of every sample with these operations.
    unsafe { &*serdata.cast() }
}

/// ROS topics have no keys: all samples are of one instance.
unsafe extern "C" fn equal_keys(_: *const ddsi_serdata, _: *const ddsi_serdata) -> bool {
    true
}

unsafe extern "C" fn size(serdata: *const ddsi_serdata) -> u32 {
    // SAFETY: see `ours`.
    let length = unsafe { ours(serdata) }.payload.len();
    // Longer payloads are refused before they become samples.
    u32::try_from(length).unwrap_or(u32::MAX)
}

/// Puts the pieces of a received sample together: the one copy on the way in.
unsafe extern "C" fn from_packets(
    sertype: *const ddsi_sertype,
    kind: c_int,
    mut piece: *const ddsi_rdata,
    size: usize,
) -> *mut ddsi_serdata {
    // SAFETY: Cyclone passes a live sertype of ours.
    let pool = unsafe { Sertype::pool(sertype) };
    let mut payload = pool.memory(size);
    // SAFETY: Cyclone gives a chain of live pieces, in order; each covers the bytes `min..maxp1` of the sample,
    // which stand in its packet from `payload_zoff` on. Pieces may overlap.
    while let Some(part) = unsafe { piece.as_ref() } {
        let (from, to, have) = (part.min as usize, part.maxp1 as usize, payload.len());
        if to > have {
            if from > have || to > size {
                return ptr::null_mut();
            }
            // SAFETY: as above; the packet stands right behind its header (a static assertion of Cyclone).
            let bytes = unsafe {
                let start = part
                    .rmsg
                    .cast::<u8>()
                    .add(mem::size_of::<ddsi_rmsg>() + usize::from(part.payload_zoff));
                slice::from_raw_parts(start.add(have - from), to - have)
            };
            payload.extend_from_slice(bytes);
        }
        piece = part.nextfrag;
    }
    if payload.len() != size {
        return ptr::null_mut();
    }
    // SAFETY: Cyclone passes a live sertype.
    unsafe { Serdata::allocate(sertype, kind, pool.payload(payload)) }.cast()
}

/// Not used for our own samples; Cyclone may convert between two of our sertypes with it.
unsafe extern "C" fn from_pieces(
    sertype: *const ddsi_sertype,
    kind: c_int,
    count: usize,
    pieces: *const ddsrt_iovec_t,
    size: usize,
) -> *mut ddsi_serdata {
    let mut payload = Vec::with_capacity(size);
    for index in 0..count {
        // SAFETY: Cyclone gives `count` live pieces.
        let piece = unsafe { &*pieces.add(index) };
        // SAFETY: each describes live memory.
        payload.extend_from_slice(unsafe {
            slice::from_raw_parts(piece.iov_base.cast(), piece.iov_len)
        });
    }
    // SAFETY: Cyclone passes a live sertype.
    unsafe { Serdata::allocate(sertype, kind, payload.into()) }.cast()
}

unsafe extern "C" fn from_keyhash(_: *const ddsi_sertype, _: *const c_void) -> *mut ddsi_serdata {
    ptr::null_mut()
}

/// Copies bytes out; up to three beyond the end may be requested, because the wire pads to multiples of four.
unsafe extern "C" fn copy_out(
    serdata: *const ddsi_serdata,
    offset: usize,
    size: usize,
    to: *mut c_void,
) {
    // SAFETY: see `ours`.
    let payload = &unsafe { ours(serdata) }.payload;
    // SAFETY: Cyclone passes room for `size` bytes.
    let to = unsafe { slice::from_raw_parts_mut(to.cast::<u8>(), size) };
    let rest = payload.get(offset..).unwrap_or_default();
    let (copied, padding) = to.split_at_mut(rest.len().min(size));
    copied.copy_from_slice(&rest[..copied.len()]);
    padding.fill(0);
}

/// Lends bytes without a copy, except for a last piece that the wire pads to a multiple of four.
unsafe extern "C" fn lend(
    serdata: *const ddsi_serdata,
    offset: usize,
    size: usize,
    to: *mut ddsrt_iovec_t,
) -> *mut ddsi_serdata {
    // SAFETY: see `ours`.
    let whole = unsafe { ours(serdata) };
    if let Some(bytes) = whole.payload.get(offset..offset.saturating_add(size)) {
        // SAFETY: Cyclone passes a place for the description.
        unsafe { set(to, bytes) };
        whole.base.refc.fetch_add(1, Ordering::Relaxed);
        serdata.cast_mut()
    } else {
        let mut tail = vec![0; size];
        // SAFETY: the sample is live and the buffer is as long as said.
        unsafe { copy_out(serdata, offset, size, tail.as_mut_ptr().cast()) };
        // SAFETY: the sertype of a live sample is live.
        let tail = unsafe { Serdata::allocate(whole.base.r#type, whole.base.kind, tail.into()) };
        // SAFETY: just made; Cyclone passes a place for the description.
        unsafe { set(to, &(*tail).payload) };
        tail.cast()
    }
}

/// # Safety
/// `to` can be written, and `bytes` stay where they are until `end_loan`.
unsafe fn set(to: *mut ddsrt_iovec_t, bytes: &[u8]) {
    // SAFETY: as promised by the caller.
    unsafe {
        (*to).iov_base = bytes.as_ptr().cast_mut().cast();
        (*to).iov_len = bytes.len();
    }
}

unsafe extern "C" fn end_loan(serdata: *mut ddsi_serdata, _: *const ddsrt_iovec_t) {
    // SAFETY: gives back the reference that `lend` took or made.
    unsafe { ddsi_serdata_unref(serdata) };
}

/// Represents the one instance; carries no payload, because Cyclone keeps it.
unsafe extern "C" fn to_untyped(serdata: *const ddsi_serdata) -> *mut ddsi_serdata {
    // SAFETY: see `ours`; the sertype of a live sample is live.
    unsafe {
        let untyped = Serdata::allocate((*serdata).r#type, SDK_KEY, Bytes::new());
        (*untyped).base.hash = (*serdata).hash;
        (*untyped).base.r#type = ptr::null();
        untyped.cast()
    }
}

unsafe extern "C" fn free(serdata: *mut ddsi_serdata) {
    // SAFETY: the last reference is gone; it was made by `allocate`.
    drop(unsafe { Box::from_raw(serdata.cast::<Serdata>()) });
}

unsafe extern "C" fn print(
    _: *const ddsi_sertype,
    _: *const ddsi_serdata,
    to: *mut c_char,
    size: usize,
) -> usize {
    if size > 0 {
        // SAFETY: Cyclone passes room for `size` characters.
        unsafe { *to = 0 };
    }
    0
}

unsafe extern "C" fn keyhash(_: *const ddsi_serdata, to: *mut [u8; 16], _: bool) {
    // SAFETY: Cyclone passes a place for the hash.
    unsafe { *to = [0; 16] };
}
