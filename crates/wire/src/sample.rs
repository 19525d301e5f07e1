use bytes::Bytes;
use timeloom_time::{System, Time};

use crate::gid::Gid;

/// One message as it came.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Sample {
    /// The serialised message, with its encapsulation header.
    pub payload: Bytes,
    /// When it was sent, by the sender's system clock.
    pub source_time: Option<Time<System>>,
    /// When it came, by our system clock.
    pub receive_time: Time<System>,
    /// Who sent it.
    pub writer: Gid,
    /// The writer's number of this sample; consecutive but for losses.
    pub sequence: Option<u64>,
}
