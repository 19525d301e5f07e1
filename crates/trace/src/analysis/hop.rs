//! The durations of a hop. They are computed only here.

use super::clocks::{Clocks, Elapsed, Point, Suspicion};
use super::message::{Link, Message};

/// The duration of a part of a hop; `None` if the time at one of its ends is not known.
pub(super) type Part = Option<Result<Elapsed, Suspicion>>;

/// The durations of a hop.
#[derive(Clone, Copy, Debug)]
pub(super) struct Parts {
    /// From publication to publication.
    pub(super) total: Part,
    /// From publication to arrival; to the callback if the arrival is not known.
    pub(super) transport: Part,
    /// From arrival to callback, if both are known.
    pub(super) queue: Part,
    /// From callback to publication of the output.
    pub(super) node: Part,
}

impl Link {
    /// The durations of the hop of a link; `from` is the input, if it was found.
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
        // For a topic without tags and messages, only the reception is known.
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

/// The nanoseconds of a part whose clocks are consistent.
pub(super) fn nanos(part: Part) -> Option<u64> {
    Some(part?.ok()?.nanos)
}
