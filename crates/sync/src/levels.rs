//! Where the envelopes of packets, answers and requests lie, and what follows from them.

use crate::shape_fit::Level;

/// Levels of the three envelopes above a common reference line.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Levels {
    /// How much steeper than the reference line, in ns/s.
    pub(crate) slope: f64,
    pub(crate) packets: Option<Level>,
    pub(crate) answers: Option<Level>,
    pub(crate) requests: Option<Level>,
}

impl Levels {
    /// Height above the reference line, and its deviation.
    pub(crate) fn result(&self) -> Option<(f64, f64)> {
        // Only as far as it is known: a noisy bound must not move a quiet one.
        let below = self.requests.map(|level| level.touch - 2.0 * level.sigma());
        if let Some(packets) = self.packets {
            // The middle of a round trip is worse than a packet's floor when the ways differ; but the
            // result must be possible.
            let above = self
                .answers
                .map_or(f64::INFINITY, |level| level.touch + 2.0 * level.sigma());
            let touch = packets.touch.min(above);
            return Some((
                touch.max(below.unwrap_or(touch).min(above)),
                packets.sigma(),
            ));
        }
        let above = self.answers?;
        let requests = self.requests?;
        let sigma = f64::hypot(above.sigma(), requests.sigma()) / 2.0;
        Some((f64::midpoint(above.touch, requests.touch), sigma))
    }
}
