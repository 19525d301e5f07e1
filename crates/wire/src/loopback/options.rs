use timeloom_time::Duration;

use crate::queue::QueueLimits;

/// How a loopback network behaves.
#[derive(Clone, Copy, Debug)]
pub struct LoopbackOptions {
    /// What all random faults come from.
    pub seed: u64,
    /// How long the endpoints of a participant that died without good-bye are still believed to be there.
    pub lease: Duration,
    /// How much waits at one reader, whatever its history says: what a DDS calls resource limits.
    pub limits: QueueLimits,
    /// How long a publisher that keeps all waits for a reliable reader that keeps all and is full.
    pub max_blocking: Duration,
    /// How long it takes until a reliable sample that was dropped is sent again.
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
