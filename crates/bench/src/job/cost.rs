//! CPU time of all threads of this process, independent of other processes.

use nix::sys::resource::{UsageWho, getrusage};
use nix::sys::time::{TimeVal, TimeValLike as _};

/// Measures from its creation.
pub(super) struct Cost(f64);

impl Cost {
    pub(super) fn start() -> anyhow::Result<Self> {
        Ok(Self(cpu_seconds()?))
    }

    /// Seconds of CPU time per item.
    pub(super) fn per(&self, items: u64) -> anyhow::Result<f64> {
        Ok((cpu_seconds()? - self.0) / items.max(1) as f64)
    }
}

fn cpu_seconds() -> anyhow::Result<f64> {
    let usage = getrusage(UsageWho::RUSAGE_SELF)?;
    let seconds = |time: TimeVal| time.num_microseconds() as f64 * 1e-6;
    Ok(seconds(usage.user_time()) + seconds(usage.system_time()))
}
