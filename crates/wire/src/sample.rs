use bytes::Bytes;
use timeloom_time::{System, Time};

use crate::gid::Gid;

/// A received message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Sample {
    /// The serialised message, with its encapsulation header.
    pub payload: Bytes,
    /// When it was sent, by the sender's system clock.
    pub source_time: Option<Time<System>>,
    /// When it was received, by our system clock.
    pub receive_time: Time<System>,
    /// The writer that sent it.
    pub writer: Gid,
    /// Its sequence number; those of a writer are consecutive, so that a gap is a loss.
    pub sequence: Option<u64>,
}
