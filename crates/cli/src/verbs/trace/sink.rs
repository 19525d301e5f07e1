//! Where the lineage of a bag goes.

use timeloom_time::{Ros, Time};
use timeloom_trace::{ChromeTrace, Engine, Moment, OtlpTrace, Publication, PublishedTime};

/// What takes the lineage of a bag; `now` is the log time.
pub(super) trait Sink {
    /// A topic of which something will come.
    fn expect(&mut self, _topic: &str) {}
    /// A message with its links, `tagged` or found by a model.
    fn publication(&mut self, publication: &Publication<'_>, tagged: bool, now: i64);
    /// A message that says nothing of its inputs.
    fn message(&mut self, _topic: &str, _stamp: Option<Time<Ros>>, _published: Moment, _now: i64) {}
    /// Autoware's note of when a message was published.
    fn note(&mut self, _topic: &str, _note: PublishedTime, _now: i64) {}
}

impl Sink for Engine {
    fn expect(&mut self, topic: &str) {
        self.expect_topic(topic);
    }

    fn publication(&mut self, publication: &Publication<'_>, tagged: bool, now: i64) {
        if tagged {
            self.tagged_publication(publication, now);
        } else {
            Self::publication(self, publication, now);
        }
    }

    fn message(&mut self, topic: &str, stamp: Option<Time<Ros>>, published: Moment, now: i64) {
        Self::message(self, topic, stamp, published, now);
    }

    fn note(&mut self, topic: &str, note: PublishedTime, now: i64) {
        self.published_time(topic, note, now);
    }
}

impl Sink for ChromeTrace {
    fn publication(&mut self, publication: &Publication<'_>, _tagged: bool, _now: i64) {
        self.add(publication);
    }
}

impl Sink for OtlpTrace {
    fn publication(&mut self, publication: &Publication<'_>, _tagged: bool, _now: i64) {
        self.add(publication);
    }
}
