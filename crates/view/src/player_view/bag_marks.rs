use std::sync::{Arc, Mutex};

use crate::peer::lock;
use crate::snapshot::TimelineMark;

/// Marks that are shown; a page with more is not readable.
const MOST: usize = 500;

/// A place of a bag that needs attention, such as a violation of a contract.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BagMark {
    /// Its log time.
    pub start_ns: i64,
    /// Where it ends; the same for a moment.
    pub end_ns: i64,
    /// Description for the user.
    pub text: String,
}

/// The marks on the timeline of a bag. Clones are the same marks.
#[derive(Clone, Debug, Default)]
pub struct BagMarks(Arc<Mutex<Vec<BagMark>>>);

impl BagMarks {
    /// Shows these marks from now on; at most the first five hundred.
    pub fn set(&self, mut marks: Vec<BagMark>) {
        marks.sort_by_key(|mark| (mark.start_ns, mark.end_ns));
        marks.truncate(MOST);
        *lock(&self.0) = marks;
    }

    /// The marks in seconds since a time.
    pub(super) fn shown(&self, since: impl Fn(i64) -> f64) -> Vec<TimelineMark> {
        let marks = lock(&self.0);
        let marks = marks.iter().map(|mark| TimelineMark {
            from: since(mark.start_ns),
            to: since(mark.end_ns),
            text: mark.text.clone(),
        });
        marks.collect()
    }
}
