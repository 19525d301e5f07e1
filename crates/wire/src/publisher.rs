use bytes::Bytes;
use timeloom_time::{Duration, System, Time};

use crate::error::{Error, Result};
use crate::gid::Gid;

/// How to publish one sample.
#[derive(Clone, Copy, Debug, Default)]
pub struct PublishOptions {
    /// The time of sending that receivers see; now, unless set.
    pub source_time: Option<Time<System>>,
    /// Leaves the sample in the batch until [`Publisher::flush`], a full packet, or the next sample without
    /// this mark.
    pub batch: bool,
}

/// A publisher; dropping it ends it.
pub trait Publisher: Send + Sync {
    /// Who it is in the graph.
    fn gid(&self) -> Gid;

    /// Sends a serialised message with its encapsulation header; gives its sequence number, if there is one.
    ///
    /// May block while a reliable receiver is slower, for as long as the middleware's own limit.
    ///
    /// # Errors
    /// When the middleware refuses it; the message was then not sent.
    fn publish(&self, payload: Bytes, options: PublishOptions) -> Result<Option<u64>>;

    /// Sends what is left in the batch.
    ///
    /// # Errors
    /// When the middleware refuses it.
    fn flush(&self) -> Result<()>;

    /// Blocks until all reliable subscriptions have acknowledged all samples; false if `timeout` ran out.
    ///
    /// # Errors
    /// When the transport has no acknowledgements.
    fn wait_for_acknowledgements(&self, timeout: Duration) -> Result<bool>;

    /// Says that the application is alive, where the `QoS` asks for that
    /// ([`ManualByTopic`](timeloom_msg::qos::Liveliness::ManualByTopic)); publishing says it too.
    ///
    /// # Errors
    /// When the transport has no manual liveliness.
    fn assert_liveliness(&self) -> Result<()> {
        Err(Error::Unsupported {
            transport: "the transport",
            feature: "manual liveliness",
        })
    }

    /// How many subscriptions it is matched with.
    fn matched(&self) -> usize;
}
