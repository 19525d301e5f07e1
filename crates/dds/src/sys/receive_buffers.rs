//! The memory that Cyclone receives packets in.

use super::ffi::{dds_entity_t, timeloom_trim_receive_buffers};

/// The receive buffers of a participant, which keep the memory of large samples for the next ones.
pub(crate) struct ReceiveBuffers(pub(super) dds_entity_t);

impl ReceiveBuffers {
    /// Gives back what was not used since the last call; returns whether nothing is kept any more.
    pub(crate) fn trim(&self) -> bool {
        // SAFETY: any handle may be asked for; a participant that is gone keeps nothing.
        unsafe { timeloom_trim_receive_buffers(self.0) <= 0 }
    }
}
