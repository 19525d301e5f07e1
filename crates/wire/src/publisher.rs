use bytes::Bytes;
use timeloom_time::{Duration, System, Time};

use crate::error::{Error, Result};
use crate::gid::Gid;

/// Options for publishing one sample.
#[derive(Clone, Copy, Debug, Default)]
pub struct PublishOptions {
    /// The time of sending that receivers see; now, unless set.
    pub source_time: Option<Time<System>>,
    /// Keeps the sample in the batch until [`Publisher::flush`], a full packet, or the next sample without this option.
    pub batch: bool,
}

/// A publisher; dropping it ends it.
pub trait Publisher: Send + Sync {
    /// Its identity in the graph.
    fn gid(&self) -> Gid;

    /// Sends a serialised message with its encapsulation header; returns its sequence number, if it has one.
    ///
    /// May block while a reliable receiver is slower, for as long as the middleware's own limit.
    ///
    /// # Errors
    /// When the middleware refuses it; the message was then not sent.
    fn publish(&self, payload: Bytes, options: PublishOptions) -> Result<Option<u64>>;

    /// Sends the samples in the batch.
    ///
    /// # Errors
    /// When the middleware refuses it.
    fn flush(&self) -> Result<()>;

    /// Blocks until all reliable subscriptions have acknowledged all samples; false if `timeout` ran out.
    ///
    /// # Errors
    /// When the transport has no acknowledgements.
    fn wait_for_acknowledgements(&self, timeout: Duration) -> Result<bool>;

    /// Asserts the liveliness of the application, where the `QoS` requires it
    /// ([`ManualByTopic`](timeloom_msg::qos::Liveliness::ManualByTopic)); publishing does so too.
    ///
    /// # Errors
    /// When the transport has no manual liveliness.
    fn assert_liveliness(&self) -> Result<()> {
        Err(Error::Unsupported {
            transport: "the transport",
            feature: "manual liveliness",
        })
    }

    /// Number of matched subscriptions.
    fn matched(&self) -> usize;
}
