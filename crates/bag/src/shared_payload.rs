//! A payload that can be kept without a copy.

use std::ops::{Deref, Range};
use std::sync::Arc;

/// The payload of a message in the memory of its reader, which uses that memory again when all payloads in it are dropped.
#[derive(Debug, Clone)]
pub struct SharedPayload {
    bytes: Arc<Vec<u8>>,
    range: Range<usize>,
}

impl SharedPayload {
    pub(crate) fn new(bytes: Arc<Vec<u8>>, range: Range<usize>) -> Self {
        Self { bytes, range }
    }
}

impl AsRef<[u8]> for SharedPayload {
    fn as_ref(&self) -> &[u8] {
        self.bytes.get(self.range.clone()).unwrap_or_default()
    }
}

impl Deref for SharedPayload {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        self.as_ref()
    }
}
