//! The bare library, for comparison: the shortest path from bytes to Cyclone DDS and back, without any of our code.
//!
//! No checks, no numbers, no graph; a listener that takes all samples and copies each once, as a recorder must.

#![expect(
    improper_ctypes,
    clippy::undocumented_unsafe_blocks,
    reason = "a throw-away prototype against which we measure, as short as it can be"
)]

use std::ffi::{CString, c_char, c_int, c_void};
use std::ptr;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use timeloom_testkit::transport::Arrivals;

type Entity = i32;

#[repr(C)]
struct Serdata {
    ops: *const c_void,
    hash: u32,
    refc: AtomicU32,
    kind: c_int,
    sertype: *const c_void,
    timestamp: i64,
    status: u32,
    written: i64,
    loan: *mut c_void,
    data: Vec<u8>,
}

#[repr(C)]
struct Fragment {
    message: *mut u8,
    next: *mut Self,
    min: u32,
    end: u32,
    submessage: u16,
    payload: u16,
    key: u16,
}

#[repr(C)]
struct Piece {
    base: *mut c_void,
    length: usize,
}

unsafe extern "C" {
    fn dds_create_domain(domain: u32, config: *const c_char) -> Entity;
    fn dds_create_participant(domain: u32, qos: *const c_void, listener: *const c_void) -> Entity;
    fn dds_create_topic_sertype(
        participant: Entity,
        name: *const c_char,
        sertype: *mut *mut c_void,
        qos: *const c_void,
        listener: *const c_void,
        plist: *const c_void,
    ) -> Entity;
    fn dds_create_reader(
        participant: Entity,
        topic: Entity,
        qos: *const c_void,
        listener: *const c_void,
    ) -> Entity;
    fn dds_create_writer(
        participant: Entity,
        topic: Entity,
        qos: *const c_void,
        listener: *const c_void,
    ) -> Entity;
    fn dds_delete(entity: Entity) -> i32;
    fn dds_create_qos() -> *mut c_void;
    fn dds_delete_qos(qos: *mut c_void);
    fn dds_qset_reliability(qos: *mut c_void, kind: c_int, blocking: i64);
    fn dds_qset_history(qos: *mut c_void, kind: c_int, depth: i32);
    fn dds_qset_userdata(qos: *mut c_void, data: *const c_void, size: usize);
    fn dds_create_listener(argument: *mut c_void) -> *mut c_void;
    fn dds_lset_data_available(
        listener: *mut c_void,
        callback: unsafe extern "C" fn(Entity, *mut c_void),
    );
    fn dds_takecdr(
        reader: Entity,
        to: *mut *mut Serdata,
        most: u32,
        infos: *mut [u64; 8],
        mask: u32,
    ) -> i32;
    fn dds_take(
        reader: Entity,
        to: *mut *mut c_void,
        infos: *mut [u64; 8],
        size: usize,
        most: u32,
    ) -> i32;
    fn dds_return_loan(reader: Entity, samples: *mut *mut c_void, size: i32) -> i32;
    fn dds_writecdr(writer: Entity, serdata: *mut Serdata) -> i32;
    fn dds_get_publication_matched_status(writer: Entity, status: *mut [u32; 6]) -> i32;
    fn dds_get_entity_sertype(entity: Entity, sertype: *mut *const c_void) -> i32;
    fn ddsi_sertype_init_flags(
        sertype: *mut c_void,
        name: *const c_char,
        ops: *const c_void,
        serdata_ops: *const c_void,
        flags: u32,
    );
    fn ddsi_sertype_v0(dummy: *mut c_void);
    fn ddsi_serdata_init(serdata: *mut Serdata, sertype: *const c_void, kind: c_int);
    fn ddsi_serdata_unref(serdata: *mut Serdata);
}

unsafe fn new(sertype: *const c_void, kind: c_int, data: Vec<u8>) -> *mut Serdata {
    let serdata = Box::into_raw(Box::new(Serdata {
        ops: ptr::null(),
        hash: 0,
        refc: AtomicU32::new(0),
        kind,
        sertype,
        timestamp: 0,
        status: 0,
        written: 0,
        loan: ptr::null_mut(),
        data,
    }));
    unsafe { ddsi_serdata_init(serdata, sertype, kind) };
    serdata
}

unsafe extern "C" fn eqkey(_: *const Serdata, _: *const Serdata) -> bool {
    true
}
unsafe extern "C" fn size(serdata: *const Serdata) -> u32 {
    unsafe { (*serdata).data.len() as u32 }
}
unsafe extern "C" fn from_ser(
    sertype: *const c_void,
    kind: c_int,
    mut part: *const Fragment,
    size: usize,
) -> *mut Serdata {
    unsafe {
        let mut data = Vec::with_capacity(size);
        while !part.is_null() {
            let have = data.len() as u32;
            if (*part).end > have {
                let start = (*part)
                    .message
                    .add(48 + (*part).payload as usize + (have - (*part).min) as usize);
                data.extend_from_slice(std::slice::from_raw_parts(
                    start,
                    ((*part).end - have) as usize,
                ));
            }
            part = (*part).next;
        }
        new(sertype, kind, data)
    }
}
unsafe extern "C" fn to_ser(serdata: *const Serdata, offset: usize, size: usize, to: *mut c_void) {
    unsafe { ptr::copy_nonoverlapping((*serdata).data.as_ptr().add(offset), to.cast(), size) };
}
unsafe extern "C" fn to_ser_ref(
    serdata: *mut Serdata,
    offset: usize,
    size: usize,
    to: *mut Piece,
) -> *mut Serdata {
    unsafe {
        (*to).base = (*serdata).data.as_mut_ptr().add(offset).cast();
        (*to).length = size;
        (*serdata).refc.fetch_add(1, Ordering::Relaxed);
        serdata
    }
}
unsafe extern "C" fn to_ser_unref(serdata: *mut Serdata, _: *const Piece) {
    unsafe { ddsi_serdata_unref(serdata) };
}
unsafe extern "C" fn to_untyped(serdata: *const Serdata) -> *mut Serdata {
    unsafe {
        let untyped = new((*serdata).sertype, 1, Vec::new());
        (*untyped).hash = (*serdata).hash;
        (*untyped).sertype = ptr::null();
        untyped
    }
}
unsafe extern "C" fn free(serdata: *mut Serdata) {
    drop(unsafe { Box::from_raw(serdata) });
}
unsafe extern "C" fn keyhash(_: *const Serdata, to: *mut [u8; 16], _: bool) {
    unsafe { *to = [0; 16] };
}
unsafe extern "C" fn nothing() {}
unsafe extern "C" fn equal(_: *const c_void, _: *const c_void) -> bool {
    true
}
unsafe extern "C" fn hash(_: *const c_void) -> u32 {
    0
}

/// Makes malloc keep large blocks instead of returning them to the kernel each time: whether it does depends on the
/// thread and its past, and costs more than all that is measured.
pub(crate) fn keep_memory() {
    const M_TRIM_THRESHOLD: c_int = -1;
    const M_MMAP_THRESHOLD: c_int = -3;
    unsafe extern "C" {
        fn mallopt(parameter: c_int, value: c_int) -> c_int;
    }
    unsafe {
        mallopt(M_TRIM_THRESHOLD, 1 << 30);
        mallopt(M_MMAP_THRESHOLD, 1 << 25);
    }
}

/// The table of operations in the order of `ddsi_serdata_ops`.
fn serdata_operations() -> &'static [*const c_void; 17] {
    let table = [
        eqkey as *const c_void,
        size as _,
        from_ser as _,
        nothing as _,
        nothing as _,
        ptr::null(),
        to_ser as _,
        to_ser_ref as _,
        to_ser_unref as _,
        ptr::null(),
        to_untyped as _,
        ptr::null(),
        free as _,
        nothing as _,
        keyhash as _,
        ptr::null(),
        ptr::null(),
    ];
    Box::leak(Box::new(table))
}

/// The table of operations in the order of `ddsi_sertype_ops`. Sertypes are not freed.
fn sertype_operations() -> &'static [*const c_void; 14] {
    let mut table = [ptr::null(); 14];
    table[0] = ddsi_sertype_v0 as *const c_void;
    for slot in &mut table[2..6] {
        *slot = nothing as _;
    }
    table[6] = equal as _;
    table[7] = hash as _;
    Box::leak(Box::new(table))
}

/// A participant of the bare library.
pub(crate) struct Bare {
    domain: Entity,
    participant: Entity,
    operations: (&'static [*const c_void; 17], &'static [*const c_void; 14]),
}

pub(crate) struct BareWriter {
    writer: Entity,
    sertype: *const c_void,
}

impl Bare {
    pub(crate) fn new(id: u32, external: u32, config: &str) -> Self {
        let external = format!(
            "{config},<CycloneDDS><Domain Id=\"any\"><Discovery><ExternalDomainId>{external}</ExternalDomainId></Discovery></Domain></CycloneDDS>"
        );
        let config = CString::new(external).expect("text");
        unsafe {
            let domain = dds_create_domain(id, config.as_ptr());
            let participant = dds_create_participant(id, ptr::null(), ptr::null());
            assert!(domain > 0 && participant > 0, "{domain} {participant}");
            Self {
                domain,
                participant,
                operations: (serdata_operations(), sertype_operations()),
            }
        }
    }

    pub(crate) fn topic(&self, name: &str, type_name: &str) -> Entity {
        let (name, type_name) = (
            CString::new(name).expect("text"),
            CString::new(type_name).expect("text"),
        );
        unsafe {
            let mut sertype: *mut c_void = Box::into_raw(Box::new([0_u64; 10])).cast();
            let (serdata, sertypes) = self.operations;
            ddsi_sertype_init_flags(
                sertype,
                type_name.as_ptr(),
                sertypes.as_ptr().cast(),
                serdata.as_ptr().cast(),
                1,
            );
            dds_create_topic_sertype(
                self.participant,
                name.as_ptr(),
                &raw mut sertype,
                ptr::null(),
                ptr::null(),
                ptr::null(),
            )
        }
    }

    /// Reliable, keep all, with user data as ROS has it.
    fn qos() -> *mut c_void {
        let data = format!("typehash=RIHS01_{};", "5a".repeat(32));
        unsafe {
            let qos = dds_create_qos();
            dds_qset_reliability(qos, 1, i64::MAX);
            dds_qset_history(qos, 1, -1);
            dds_qset_userdata(qos, data.as_ptr().cast(), data.len());
            qos
        }
    }

    pub(crate) fn writer(&self, topic: Entity) -> BareWriter {
        let qos = Self::qos();
        unsafe {
            let writer = dds_create_writer(self.participant, topic, qos, ptr::null());
            dds_delete_qos(qos);
            let mut sertype = ptr::null();
            dds_get_entity_sertype(writer, &raw mut sertype);
            BareWriter { writer, sertype }
        }
    }

    pub(crate) fn silent_reader(&self, topic: Entity) -> Entity {
        let qos = Self::qos();
        unsafe {
            let reader = dds_create_reader(self.participant, topic, qos, ptr::null());
            dds_delete_qos(qos);
            reader
        }
    }

    /// A reader that counts each sample in `arrivals`.
    pub(crate) fn reader(&self, topic: Entity, arrivals: &Arc<Arrivals>) {
        let qos = Self::qos();
        unsafe {
            let listener =
                dds_create_listener(Arc::into_raw(Arc::clone(arrivals)).cast_mut().cast());
            dds_lset_data_available(listener, take_all);
            assert!(dds_create_reader(self.participant, topic, qos, listener) > 0);
            dds_delete_qos(qos);
        }
    }

    /// Counts discovered writers and readers.
    pub(crate) fn count_endpoints(&self) -> EndpointCount {
        const WRITERS: Entity = 0x7fff_0003;
        const READERS: Entity = 0x7fff_0004;
        let reader =
            |topic| unsafe { dds_create_reader(self.participant, topic, ptr::null(), ptr::null()) };
        EndpointCount {
            readers: [reader(WRITERS), reader(READERS)],
            seen: 0,
        }
    }
}

pub(crate) struct EndpointCount {
    readers: [Entity; 2],
    seen: usize,
}

impl EndpointCount {
    pub(crate) fn so_far(&mut self) -> usize {
        for reader in self.readers {
            loop {
                let mut samples = [ptr::null_mut(); 64];
                let mut infos = [[0; 8]; 64];
                let count =
                    unsafe { dds_take(reader, samples.as_mut_ptr(), infos.as_mut_ptr(), 64, 64) };
                if count <= 0 {
                    break;
                }
                self.seen += count as usize;
                unsafe { dds_return_loan(reader, samples.as_mut_ptr(), count) };
            }
        }
        self.seen
    }
}

unsafe extern "C" fn take_all(reader: Entity, argument: *mut c_void) {
    unsafe {
        let arrivals = &*argument.cast::<Arrivals>();
        loop {
            let mut samples = [ptr::null_mut(); 32];
            let mut infos = [[0; 8]; 32];
            let count = dds_takecdr(reader, samples.as_mut_ptr(), 32, infos.as_mut_ptr(), 127);
            if count <= 0 {
                break;
            }
            for sample in &samples[..count as usize] {
                arrivals.sample((**sample).data.len());
                ddsi_serdata_unref(*sample);
            }
        }
        arrivals.pause();
    }
}

impl BareWriter {
    pub(crate) fn write(&self, data: &[u8]) {
        unsafe {
            let serdata = new(self.sertype, 2, data.to_vec());
            assert!(dds_writecdr(self.writer, serdata) == 0);
        }
    }

    pub(crate) fn matched(&self) -> u32 {
        let mut status = [0; 6];
        unsafe { dds_get_publication_matched_status(self.writer, &raw mut status) };
        status[2]
    }
}

impl Drop for Bare {
    fn drop(&mut self) {
        unsafe {
            dds_delete(self.participant);
            dds_delete(self.domain);
        }
    }
}
