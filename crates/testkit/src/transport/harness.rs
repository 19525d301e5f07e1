use std::sync::Arc;

use timeloom_time::{Duration, TimeBase};
use timeloom_wire::Participant;

/// Gives the suite access to a transport.
pub trait Harness {
    /// A new participant; all participants of one harness see each other.
    ///
    /// # Panics
    /// When the transport cannot make one: the check then fails with the reason.
    fn participant(&self) -> Arc<dyn Participant>;

    /// Differences from other transports.
    fn quirks(&self) -> Quirks {
        Quirks::default()
    }

    /// The time on which the suite waits: the machine's, or the virtual time that the participants run on. The thread
    /// that runs a check must take part in virtual time.
    fn base(&self) -> TimeBase {
        TimeBase::machine()
    }

    /// Limit for waiting for an expected event.
    fn patience(&self) -> Duration {
        Duration::from_secs(10)
    }

    /// Time for which the suite checks that an event does not happen.
    fn quiet(&self) -> Duration {
        Duration::from_millis(300)
    }
}

/// Differences of a transport from DDS, beyond its [`Capabilities`](timeloom_wire::Capabilities).
#[derive(Clone, Copy, Debug, Default)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "independent exceptions, each named where it is set"
)]
pub struct Quirks {
    /// Endpoints with incompatible `QoS` match.
    pub matches_incompatible: bool,
    /// Incompatible `QoS` is not reported.
    pub silent_about_incompatible: bool,
    /// The number of matched endpoints is not known.
    pub no_matched_counts: bool,
    /// Peers do not announce their history kind and depth.
    pub hides_history: bool,
    /// Peers do not announce the lifespan of publishers.
    pub hides_lifespan: bool,
    /// Samples beyond the depth are buffered elsewhere (in a socket) while a receiver is busy, and are not lost.
    pub keeps_beyond_depth: bool,
    /// A client does not notice that its server is gone.
    pub servers_stay: bool,
}
