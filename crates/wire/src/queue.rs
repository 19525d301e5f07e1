//! Bounded queues of samples: nothing grows without a limit, and nothing is thrown away without a number.

mod bounded;
mod sample_queue;

pub(crate) use bounded::{Bounded, Weigh};
pub use bounded::{Dropped, Overflow, QueueLimits};
pub use sample_queue::SampleQueue;
