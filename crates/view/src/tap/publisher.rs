use bytes::Bytes;
use timeloom_time::Duration;
use timeloom_wire::{Gid, PublishOptions, Publisher, Result};

use super::Listener;

/// A publisher with a listener.
pub(super) struct TappedPublisher {
    pub(super) inner: Box<dyn Publisher>,
    pub(super) listener: Listener,
}

impl Publisher for TappedPublisher {
    fn gid(&self) -> Gid {
        self.inner.gid()
    }

    fn publish(&self, payload: Bytes, options: PublishOptions) -> Result<Option<u64>> {
        let sent = self.inner.publish(payload.clone(), options)?;
        (self.listener)(&payload);
        Ok(sent)
    }

    fn flush(&self) -> Result<()> {
        self.inner.flush()
    }

    fn wait_for_acknowledgements(&self, timeout: Duration) -> Result<bool> {
        self.inner.wait_for_acknowledgements(timeout)
    }

    fn assert_liveliness(&self) -> Result<()> {
        self.inner.assert_liveliness()
    }

    fn matched(&self) -> usize {
        self.inner.matched()
    }
}
