//! What one hop took: the only place where it is computed.

use super::clocks::{Clocks, Elapsed, Point, Suspicion};
use super::message::{Link, Message};

/// A part of a hop; none when nobody read the clock at one of its ends.
type Part = Option<Result<Elapsed, Suspicion>>;

/// The parts of a hop.
#[derive(Clone, Copy, Debug)]
pub(super) struct Parts {
    /// From publication to publication.
    pub(super) total: Part,
    /// From publication to arrival; to the callback where the arrival is not known.
    pub(super) transport: Part,
    /// From arrival to callback, where both are known.
    pub(super) queue: Part,
    /// From callback to publication of what was made of it.
    pub(super) node: Part,
}

impl Link {
    /// What the hop of a link took; `from` is the input, if it was found.
    pub(super) fn parts(
        &self,
        message: &Message,
        from: Option<&Message>,
        clocks: &Clocks,
    ) -> Parts {
        let reader = message.point();
        let at = |moment| Point { moment, ..reader };
        let callback = (!self.received.is_unknown()).then(|| at(self.received));
        let arrived = callback.and(self.arrived).map(at);
        // Of a topic that nobody tells of, only the reception is known.
        let sent = from.filter(|from| !from.is_assumed()).map(Message::point);
        let between = |from: Option<Point>, to: Option<Point>| {
            let (from, to) = from.zip(to)?;
            Some(clocks.elapsed(from, to))
        };
        Parts {
            total: between(from.map(Message::point), Some(reader)),
            transport: between(sent, arrived.or(callback)),
            queue: between(arrived, callback),
            node: between(callback, Some(reader)),
        }
    }
}

/// The nanoseconds of a part that can be believed.
pub(super) fn nanos(part: Part) -> Option<u64> {
    Some(part?.ok()?.nanos)
}
