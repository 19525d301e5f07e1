use timeloom_time::{Ros, Time};

use crate::analysis::{Engine, Publication};
use crate::export::{ChromeTrace, OtlpTrace};
use crate::moment::Moment;
use crate::published_time::PublishedTime;

/// What takes lineage: the analysis, or an export. `now` is the time line on which it comes.
pub trait Sink {
    /// Whether nothing more is wanted.
    fn is_done(&self) -> bool {
        false
    }
    /// A main topic of which something will come.
    fn expect(&mut self, _topic: &str) {}
    /// A tag.
    fn tag(&mut self, publication: &Publication<'_>, now: i64);
    /// A message whose links were found otherwise.
    fn linked(&mut self, publication: &Publication<'_>, now: i64);
    /// A message that says nothing of its inputs.
    fn message(&mut self, _topic: &str, _stamp: Option<Time<Ros>>, _published: Moment, _now: i64) {}
    /// Autoware's note of when a message was published.
    fn published_time(&mut self, _topic: &str, _note: PublishedTime, _now: i64) {}
}

impl Sink for Engine {
    fn expect(&mut self, topic: &str) {
        self.expect_topic(topic);
    }

    fn tag(&mut self, publication: &Publication<'_>, now: i64) {
        self.tagged_publication(publication, now);
    }

    fn linked(&mut self, publication: &Publication<'_>, now: i64) {
        self.publication(publication, now);
    }

    fn message(&mut self, topic: &str, stamp: Option<Time<Ros>>, published: Moment, now: i64) {
        Self::message(self, topic, stamp, published, now);
    }

    fn published_time(&mut self, topic: &str, note: PublishedTime, now: i64) {
        Self::published_time(self, topic, note, now);
    }
}

impl Sink for ChromeTrace {
    fn tag(&mut self, publication: &Publication<'_>, _now: i64) {
        self.add(publication);
    }

    fn linked(&mut self, publication: &Publication<'_>, _now: i64) {
        self.add(publication);
    }
}

impl Sink for OtlpTrace {
    fn tag(&mut self, publication: &Publication<'_>, _now: i64) {
        self.add(publication);
    }

    fn linked(&mut self, publication: &Publication<'_>, _now: i64) {
        self.add(publication);
    }
}
