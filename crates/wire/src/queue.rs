//! Bounded queues of samples: every queue has a limit, and every drop is counted.

mod bounded;
mod sample_queue;

pub(crate) use bounded::{Bounded, PayloadSize};
pub use bounded::{Dropped, Overflow, QueueLimits};
pub use sample_queue::SampleQueue;
