use std::collections::BTreeMap;
use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Mutex, PoisonError};

use crate::options::Reporter;

/// What a note is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[non_exhaustive]
pub enum NoteKind {
    /// A liveliness token that cannot be read: its node or endpoint is not shown.
    MalformedToken,
    /// A sample without the attachment of ROS, or shorter than its encapsulation header: it was not passed on.
    MalformedSample,
    /// A request without the attachment of ROS or without payload: it was not passed on.
    MalformedRequest,
    /// A reply without the attachment of ROS, or to somebody else's call: it was not passed on.
    MalformedReply,
    /// More than can be kept: some was dropped.
    Dropped,
    /// A receiver, handler or observer panicked: the transport goes on without it.
    Panicked,
    /// Endpoints of a protocol that this build does not speak: only TCP.
    Unspoken,
    /// Something that is asked for is not there.
    Warning,
}

impl fmt::Display for NoteKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::MalformedToken => "malformed liveliness token",
            Self::MalformedSample => "malformed sample",
            Self::MalformedRequest => "malformed request",
            Self::MalformedReply => "malformed reply",
            Self::Dropped => "dropped",
            Self::Panicked => "panic",
            Self::Unspoken => "endpoints that are not spoken to, only TCP is",
            Self::Warning => "warning",
        })
    }
}

/// Something that people may want to know, and that stopped nothing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Note {
    /// What it is about.
    pub kind: NoteKind,
    /// The last one in words.
    pub text: String,
    /// How many there were of this kind.
    pub total: u64,
}

/// Counts notes, keeps the last of each kind, and tells the reporter.
pub(crate) struct Notes {
    counted: Mutex<BTreeMap<NoteKind, Note>>,
    reporter: Option<Reporter>,
}

/// A peer may send anything; a note stays a line.
const LONGEST: usize = 500;

impl Notes {
    pub(crate) fn new(reporter: Option<Reporter>) -> Self {
        Self {
            counted: Mutex::default(),
            reporter,
        }
    }

    pub(crate) fn add(&self, kind: NoteKind, text: &str) {
        let note = {
            let mut counted = self.counted.lock().unwrap_or_else(PoisonError::into_inner);
            let note = counted.entry(kind).or_insert_with(|| Note {
                kind,
                text: String::new(),
                total: 0,
            });
            note.total += 1;
            note.text = text
                .chars()
                .filter(|c| !c.is_control())
                .take(LONGEST)
                .collect();
            note.clone()
        };
        if let Some(report) = &self.reporter {
            report(&note);
        }
    }

    /// Calls what others wrote; a panic there is noted and goes no further: a thread of the transport, or of Zenoh,
    /// would be lost with it.
    pub(crate) fn catch(&self, call: impl FnOnce()) {
        if catch_unwind(AssertUnwindSafe(call)).is_err() {
            self.add(
                NoteKind::Panicked,
                "a receiver, handler or observer panicked",
            );
        }
    }

    pub(crate) fn all(&self) -> Vec<Note> {
        let counted = self.counted.lock().unwrap_or_else(PoisonError::into_inner);
        counted.values().cloned().collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn notes_are_counted_and_short() {
        let notes = Notes::new(None);
        notes.add(NoteKind::MalformedToken, "first");
        notes.add(NoteKind::MalformedToken, &"x\n".repeat(10_000));
        let all = notes.all();
        assert_eq!(all.len(), 1);
        assert_eq!((all[0].total, all[0].text.len()), (2, LONGEST));
    }
}
