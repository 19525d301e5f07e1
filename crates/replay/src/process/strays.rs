//! Processes of a run that left its process group, found by a variable in their environment.

use std::sync::atomic::{AtomicU32, Ordering};

use rustix::process::Pid;

/// A value that no other run has.
pub(super) fn new_mark() -> String {
    static NEXT: AtomicU32 = AtomicU32::new(0);
    let number = NEXT.fetch_add(1, Ordering::Relaxed);
    format!("{}.{number}", std::process::id())
}

/// The processes that have this variable and are no zombies.
pub(super) fn find(name: &str, value: &str) -> Vec<Pid> {
    let wanted = format!("{name}={value}");
    let Ok(entries) = std::fs::read_dir("/proc") else {
        return Vec::new();
    };
    let marked = |pid: &Pid| {
        // A zombie has no environment; that of other users cannot be read.
        let environment = std::fs::read(format!("/proc/{}/environ", pid.as_raw_pid()));
        environment.is_ok_and(|bytes| {
            bytes
                .split(|byte| *byte == 0)
                .any(|variable| variable == wanted.as_bytes())
        })
    };
    entries
        .flatten()
        .filter_map(|entry| entry.file_name().to_str()?.parse::<i32>().ok())
        .filter_map(Pid::from_raw)
        .filter(marked)
        .collect()
}
