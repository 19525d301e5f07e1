use std::collections::BTreeMap;
use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Mutex, PoisonError};

use crate::options::Reporter;

/// What a note is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[non_exhaustive]
pub enum NoteKind {
    /// Cyclone DDS warns.
    Warning,
    /// Cyclone DDS reports an error.
    Error,
    /// A peer's `ros_discovery_info` cannot be read: its nodes have no names.
    MalformedNodeInfo,
    /// A peer's node has a name that ROS does not allow: it is not shown.
    InvalidNodeName,
    /// A request or reply without its header: it was not passed on.
    MalformedServiceHeader,
    /// More requests or replies than can be kept: one was dropped.
    Dropped,
    /// A receiver, handler or observer panicked: the transport goes on without it.
    Panicked,
    /// A sample shorter than its encapsulation header: it was not passed on.
    MalformedSample,
}

impl fmt::Display for NoteKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Warning => "warning of Cyclone DDS",
            Self::Error => "error of Cyclone DDS",
            Self::MalformedNodeInfo => "malformed ros_discovery_info",
            Self::InvalidNodeName => "invalid node name",
            Self::MalformedServiceHeader => "malformed service header",
            Self::Dropped => "dropped",
            Self::Panicked => "panic",
            Self::MalformedSample => "malformed sample",
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

    /// Calls what others wrote; a panic there is noted and goes no further: a thread of the transport, or of Cyclone,
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
        notes.add(NoteKind::InvalidNodeName, "first");
        notes.add(NoteKind::InvalidNodeName, &"x\n".repeat(10_000));
        let all = notes.all();
        assert_eq!(all.len(), 1);
        assert_eq!((all[0].total, all[0].text.len()), (2, LONGEST));
    }
}
