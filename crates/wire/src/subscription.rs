use crate::event::EndpointEvent;
use crate::gid::Gid;
use crate::sample::Sample;

/// Receives the samples and events of a subscription, on the transport's own thread.
///
/// Calls of one subscription never overlap. Return quickly: while a call runs, the next sample waits in the
/// middleware, and what does not fit there is lost.
pub trait Receiver: Send + Sync {
    /// A sample arrived.
    fn sample(&self, sample: Sample);

    /// No further sample is pending: wake a consumer here, once for many samples.
    fn pause(&self) {}

    /// An event of the subscription.
    fn event(&self, _event: EndpointEvent) {}
}

/// A subscription; dropping it ends it. No call of its receiver begins after the drop.
pub trait Subscription: Send + Sync {
    /// Its identity in the graph.
    fn gid(&self) -> Gid;

    /// The number of matched publishers.
    fn matched(&self) -> usize;

    /// The last sequence number that a writer has announced, whether that sample arrived or not; also for a writer that
    /// has left.
    ///
    /// `None` if the transport has no such announcements, and for best-effort writers, which send none.
    fn last_announced(&self, _writer: &Gid) -> Option<u64> {
        None
    }

    /// Asks the matched reliable writers to announce their last sequence number. Does not wait for the answers; false if
    /// the transport cannot ask.
    fn request_last_numbers(&self) -> bool {
        false
    }

    /// Whether a writer has answered the last [request](Self::request_last_numbers): it is alive, and
    /// [`last_announced`](Self::last_announced) is current.
    fn has_answered(&self, _writer: &Gid) -> bool {
        false
    }

    /// Whether a writer belongs to this participant, so that none of its samples is lost in transport.
    fn is_local(&self, _writer: &Gid) -> bool {
        false
    }

    /// Whether a writer's lease expired: it may still publish where it cannot be heard.
    fn is_lease_expired(&self, _writer: &Gid) -> bool {
        false
    }
}
