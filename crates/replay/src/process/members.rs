//! The processes of a run: those of its process group, and those that left it, which have a variable in their environment.

use std::sync::atomic::{AtomicU32, Ordering};

use rustix::process::Pid;

/// A value that no other run has.
pub(super) fn new_mark() -> String {
    static NEXT: AtomicU32 = AtomicU32::new(0);
    let number = NEXT.fetch_add(1, Ordering::Relaxed);
    format!("{}.{number}", std::process::id())
}

/// The processes that are in a group or have a variable. Zombies are none: they wait for their parent.
pub(super) fn find(group: Pid, name: &str, value: &str) -> Vec<Pid> {
    let wanted = format!("{name}={value}");
    let Ok(entries) = std::fs::read_dir("/proc") else {
        return Vec::new();
    };
    entries
        .flatten()
        .filter_map(|entry| entry.file_name().to_str()?.parse::<i32>().ok())
        .filter_map(Pid::from_raw)
        .filter(|pid| match state_and_group(*pid) {
            None | Some(('Z' | 'X', _)) => false,
            Some((_, of)) => of == group.as_raw_pid() || has_variable(*pid, &wanted),
        })
        .collect()
}

/// The state of a process and its group; `None` if it has ended.
fn state_and_group(pid: Pid) -> Option<(char, i32)> {
    let stat = std::fs::read_to_string(format!("/proc/{}/stat", pid.as_raw_pid())).ok()?;
    // The name in parentheses may have spaces and parentheses itself.
    let (_, fields) = stat.rsplit_once(')')?;
    let mut fields = fields.split_whitespace();
    let state = fields.next()?.chars().next()?;
    let group = fields.nth(1)?.parse().ok()?;
    Some((state, group))
}

/// Whether a process has a variable; the environment of other users cannot be read.
fn has_variable(pid: Pid, wanted: &str) -> bool {
    let environment = std::fs::read(format!("/proc/{}/environ", pid.as_raw_pid()));
    environment.is_ok_and(|bytes| {
        let mut variables = bytes.split(|byte| *byte == 0);
        variables.any(|variable| variable == wanted.as_bytes())
    })
}
