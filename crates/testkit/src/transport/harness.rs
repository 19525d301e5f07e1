use std::sync::Arc;

use timeloom_time::{Duration, TimeBase};
use timeloom_wire::Participant;

/// How the suite comes to a transport.
pub trait Harness {
    /// A new participant; all participants of one harness see each other.
    ///
    /// # Panics
    /// When the transport cannot make one: the check then fails with the reason.
    fn participant(&self) -> Arc<dyn Participant>;

    /// What the transport does otherwise than others.
    fn quirks(&self) -> Quirks {
        Quirks::default()
    }

    /// The time on which the suite waits: the machine's, or the virtual time that the participants run on. The thread
    /// that runs a check must take part in virtual time.
    fn base(&self) -> TimeBase {
        TimeBase::machine()
    }

    /// How long something that must happen may take.
    fn patience(&self) -> Duration {
        Duration::from_secs(10)
    }

    /// How long the suite watches that something does not happen.
    fn quiet(&self) -> Duration {
        Duration::from_millis(300)
    }
}

/// What a transport does otherwise than DDS, beyond its [`Capabilities`](timeloom_wire::Capabilities).
#[derive(Clone, Copy, Debug, Default)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "independent exceptions, each named where it is set"
)]
pub struct Quirks {
    /// Endpoints with incompatible `QoS` come together nevertheless.
    pub matches_incompatible: bool,
    /// Nobody is told of incompatible `QoS`.
    pub silent_about_incompatible: bool,
    /// Publishers do not know how many subscriptions they have, or subscriptions their publishers.
    pub no_matched_counts: bool,
    /// Peers do not tell their history kind and depth.
    pub hides_history: bool,
    /// Peers do not tell the lifespan that publishers offer.
    pub hides_lifespan: bool,
    /// Samples beyond the depth wait elsewhere (in a socket) while a receiver is busy, and are not lost.
    pub keeps_beyond_depth: bool,
    /// A client cannot tell that its server is gone.
    pub servers_stay: bool,
}
