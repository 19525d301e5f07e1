//! Bounded queues of samples: every queue has a limit, and every drop is counted.

mod bounded;
mod counted_queue;
mod sample_queue;

pub(crate) use bounded::{Bounded, PayloadSize};
pub use bounded::{Dropped, Overflow, QueueLimits};
pub use counted_queue::{CountedQueue, ReceivedAccount};
pub use sample_queue::SampleQueue;
