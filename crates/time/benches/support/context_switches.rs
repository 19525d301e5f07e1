//! Number of times that the kernel took a thread off its core.

/// The calling thread's count of one `kind` since it began: `"voluntary"` when it blocked, `"nonvoluntary"` when
/// another thread got its core. Costs some 10 µs: read it outside of the timed part.
pub(crate) fn context_switches(kind: &str) -> u64 {
    let status =
        std::fs::read_to_string("/proc/thread-self/status").expect("the kernel has no procfs");
    let name = format!("{kind}_ctxt_switches:");
    let count = status.lines().find_map(|line| line.strip_prefix(&name));
    count
        .and_then(|count| count.trim().parse().ok())
        .expect("the kernel counts no context switches")
}
