use timeloom_time::Duration;

use crate::queue::QueueLimits;

/// Options of a loopback network.
#[derive(Clone, Copy, Debug)]
pub struct LoopbackOptions {
    /// The seed of all random faults.
    pub seed: u64,
    /// Time for which the endpoints of a killed participant stay in the graph.
    pub lease: Duration,
    /// Limit of the samples that wait at one reader, independent of its history: the resource limits of DDS.
    pub limits: QueueLimits,
    /// The longest time for which a publisher that keeps all waits for a full reliable reader that keeps all.
    pub max_blocking: Duration,
    /// Time until a dropped reliable sample is resent.
    pub repair: Duration,
}

impl Default for LoopbackOptions {
    fn default() -> Self {
        Self {
            seed: 0,
            lease: Duration::from_secs(10),
            limits: QueueLimits {
                messages: 100_000,
                bytes: 256 << 20,
            },
            max_blocking: Duration::from_secs(1),
            repair: Duration::from_millis(10),
        }
    }
}
