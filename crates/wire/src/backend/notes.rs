//! Warnings of a transport, counted by kind.

use std::collections::BTreeMap;
use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Mutex};

use super::lock;

/// Called with each note, on the thread where it arises.
pub type Reporter = Arc<dyn Fn(&Note) + Send + Sync>;

/// A problem that did not stop the transport.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Note {
    /// The kind of problem.
    pub kind: NoteKind,
    /// The latest problem of this kind, in one line.
    pub text: String,
    /// The number of problems of this kind so far.
    pub total: u64,
}

impl fmt::Display for Note {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {} ({})", self.kind, self.text, self.total)
    }
}

/// The kind of a note.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[non_exhaustive]
pub enum NoteKind {
    /// A warning of the middleware.
    Warning,
    /// An error of the middleware.
    Error,
    /// A `ros_discovery_info` message of DDS that cannot be read: the nodes of its sender have no names.
    MalformedNodeInfo,
    /// A liveliness token of Zenoh that cannot be read: its node or endpoint is not in the graph.
    MalformedToken,
    /// A node name that ROS does not allow: the node is not in the graph.
    InvalidNodeName,
    /// A sample without its encapsulation header, or without the attachment of ROS: it was dropped.
    MalformedSample,
    /// A request without its header or attachment: it was dropped.
    MalformedRequest,
    /// A reply without its header or attachment, or to another client: it was dropped.
    MalformedReply,
    /// A queue was full: something was dropped.
    Dropped,
    /// A receiver, handler or observer panicked: the transport goes on without it.
    Panicked,
    /// Zenoh endpoints of a protocol that this build does not have; it has TCP only.
    UnsupportedProtocol,
}

impl fmt::Display for NoteKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Warning => "warning",
            Self::Error => "error",
            Self::MalformedNodeInfo => "malformed ros_discovery_info",
            Self::MalformedToken => "malformed liveliness token",
            Self::InvalidNodeName => "invalid node name",
            Self::MalformedSample => "malformed sample",
            Self::MalformedRequest => "malformed request",
            Self::MalformedReply => "malformed reply",
            Self::Dropped => "dropped",
            Self::Panicked => "panic",
            Self::UnsupportedProtocol => "unsupported protocol, only TCP is available",
        })
    }
}

/// Counts notes, keeps the last of each kind, and calls the reporter.
pub struct Notes {
    counted: Mutex<BTreeMap<NoteKind, Note>>,
    reporter: Option<Reporter>,
}

/// The longest text, in characters: a peer may send anything.
const LONGEST: usize = 500;

impl Notes {
    /// No notes yet.
    pub fn new(reporter: Option<Reporter>) -> Self {
        Self {
            counted: Mutex::default(),
            reporter,
        }
    }

    /// Counts a note.
    pub fn add(&self, kind: NoteKind, text: &str) {
        let note = {
            let mut counted = lock(&self.counted);
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

    /// Calls code of the user and reports a panic in it, which would otherwise end a thread of the transport.
    pub fn catch(&self, call: impl FnOnce()) {
        if catch_unwind(AssertUnwindSafe(call)).is_err() {
            self.add(
                NoteKind::Panicked,
                "a receiver, handler or observer panicked",
            );
        }
    }

    /// The last note of each kind.
    pub fn all(&self) -> Vec<Note> {
        let counted = lock(&self.counted);
        counted.values().cloned().collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_panic_is_caught_and_reported() {
        let reported = Arc::new(Mutex::new(Vec::new()));
        let seen = Arc::clone(&reported);
        let reporter: Reporter = Arc::new(move |note| seen.lock().unwrap().push(note.kind));
        let notes = Notes::new(Some(reporter));
        notes.catch(|| panic!("on purpose"));
        assert_eq!(notes.all()[0].total, 1);
        assert_eq!(*reported.lock().unwrap(), [NoteKind::Panicked]);
    }

    #[test]
    fn notes_are_counted_and_short() {
        let notes = Notes::new(None);
        notes.add(NoteKind::Warning, "first");
        notes.add(NoteKind::Warning, &"x\n".repeat(10_000));
        let all = notes.all();
        assert_eq!(all.len(), 1);
        assert_eq!((all[0].total, all[0].text.len()), (2, LONGEST));
    }
}
