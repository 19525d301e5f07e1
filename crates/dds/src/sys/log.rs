//! The log lines of Cyclone, redirected because a library does not print.

use std::ffi::{CStr, c_void};
use std::ptr;
use std::sync::{Arc, Mutex, Once, Weak};

use super::ffi::{DDS_LC_ERROR, DDS_LC_FATAL, dds_log_data_t, dds_set_log_sink};
use timeloom_wire::backend::lock;

/// A line of Cyclone's log.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct LogLine {
    /// An error; otherwise a warning or less.
    pub(crate) is_error: bool,
    /// The number of the domain in this process.
    pub(crate) domain: u32,
    pub(crate) text: String,
}

type Watcher = dyn Fn(&LogLine) + Send + Sync;

static WATCHERS: Mutex<Vec<Weak<Watcher>>> = Mutex::new(Vec::new());

/// Calls `watcher` with every line from now on, until it is dropped. It must not call Cyclone.
pub(crate) fn watch_log(watcher: &Arc<Watcher>) {
    static SINK: Once = Once::new();
    // SAFETY: the function lives for ever and needs no argument.
    SINK.call_once(|| unsafe { dds_set_log_sink(Some(line), ptr::null_mut()) });
    let mut watchers = lock(&WATCHERS);
    watchers.retain(|watcher| watcher.strong_count() > 0);
    watchers.push(Arc::downgrade(watcher));
}

unsafe extern "C" fn line(_: *mut c_void, data: *const dds_log_data_t) {
    // SAFETY: Cyclone passes a live description with a C string.
    let (data, text) = unsafe { (&*data, CStr::from_ptr((*data).message)) };
    let line = LogLine {
        is_error: data.priority & (DDS_LC_FATAL | DDS_LC_ERROR) != 0,
        domain: data.domid,
        text: text.to_string_lossy().trim().to_owned(),
    };
    // The lock is not held while user code runs.
    let watchers: Vec<_> = {
        let watchers = lock(&WATCHERS);
        watchers.iter().filter_map(Weak::upgrade).collect()
    };
    for watcher in watchers {
        watcher(&line);
    }
}
