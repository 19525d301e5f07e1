use crate::event::EndpointEvent;
use crate::gid::Gid;
use crate::sample::Sample;

/// Takes what a subscription receives, on the transport's own thread.
///
/// Calls of one subscription never overlap. Return quickly: while a call runs, the next sample waits in the
/// middleware, and what does not fit there is lost.
pub trait Receiver: Send + Sync {
    /// A sample came.
    fn sample(&self, sample: Sample);

    /// No further sample is at hand: the moment to wake somebody, once for many samples.
    fn pause(&self) {}

    /// Something else happened to the subscription.
    fn event(&self, _event: EndpointEvent) {}
}

/// A subscription; dropping it ends it. No call of its receiver begins after the drop.
pub trait Subscription: Send + Sync {
    /// Who it is in the graph.
    fn gid(&self) -> Gid;

    /// How many publishers it is matched with.
    fn matched(&self) -> usize;

    /// The last number that a writer has said it has sent, whether its sample came or not; also of one that is gone.
    ///
    /// None where the transport has no such words, and for writers that say none, as those that are best effort.
    fn last_told(&self, _writer: &Gid) -> Option<u64> {
        None
    }

    /// Asks the reliable writers that it is matched with for their last number. Does not wait for the answers; false
    /// where the transport has none.
    fn ask_last_numbers(&self) -> bool {
        false
    }

    /// Whether a writer has told its last number since the last call of [`ask_last_numbers`](Self::ask_last_numbers):
    /// it is alive, and its number is the one of [`last_told`](Self::last_told).
    fn has_answered(&self, _writer: &Gid) -> bool {
        false
    }

    /// Whether a writer is in this process, so that nothing of it is lost on the way.
    fn is_local(&self, _writer: &Gid) -> bool {
        false
    }

    /// Whether a writer left without a word: its lease ran out, and it may have gone on where nobody heard it.
    fn is_silent(&self, _writer: &Gid) -> bool {
        false
    }
}
