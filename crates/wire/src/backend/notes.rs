//! What a transport has to say, counted by kind.

use std::collections::BTreeMap;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Mutex, PoisonError};

/// The kinds of notes that a transport has.
pub trait NoteKind: Copy + Ord {
    /// A receiver, handler or observer panicked: the transport goes on without it.
    const PANICKED: Self;
}

/// Called with each note, on the thread where it arises.
pub type Reporter<K> = Arc<dyn Fn(&Note<K>) + Send + Sync>;

/// Something that people may want to know, and that stopped nothing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Note<K> {
    /// What it is about.
    pub kind: K,
    /// The last one in words.
    pub text: String,
    /// How many there were of this kind.
    pub total: u64,
}

/// Counts notes, keeps the last of each kind, and tells the reporter.
pub struct Notes<K> {
    counted: Mutex<BTreeMap<K, Note<K>>>,
    reporter: Option<Reporter<K>>,
}

/// A peer may send anything; a note stays a line.
const LONGEST: usize = 500;

impl<K: NoteKind> Notes<K> {
    /// No notes yet.
    pub fn new(reporter: Option<Reporter<K>>) -> Self {
        Self {
            counted: Mutex::default(),
            reporter,
        }
    }

    /// Counts a note.
    pub fn add(&self, kind: K, text: &str) {
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

    /// Calls what others wrote; a panic there is noted and goes no further: a thread of the transport
    /// would be lost with it.
    pub fn catch(&self, call: impl FnOnce()) {
        if catch_unwind(AssertUnwindSafe(call)).is_err() {
            self.add(K::PANICKED, "a receiver, handler or observer panicked");
        }
    }

    /// The last note of each kind.
    pub fn all(&self) -> Vec<Note<K>> {
        let counted = self.counted.lock().unwrap_or_else(PoisonError::into_inner);
        counted.values().cloned().collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
    enum Kind {
        Odd,
        Panicked,
    }

    impl NoteKind for Kind {
        const PANICKED: Self = Self::Panicked;
    }

    #[test]
    fn a_panic_goes_no_further() {
        let told = Arc::new(Mutex::new(Vec::new()));
        let seen = Arc::clone(&told);
        let reporter: Reporter<Kind> = Arc::new(move |note| seen.lock().unwrap().push(note.kind));
        let notes = Notes::new(Some(reporter));
        notes.catch(|| panic!("on purpose"));
        assert_eq!(notes.all()[0].total, 1);
        assert_eq!(*told.lock().unwrap(), [Kind::Panicked]);
    }

    #[test]
    fn notes_are_counted_and_short() {
        let notes = Notes::new(None);
        notes.add(Kind::Odd, "first");
        notes.add(Kind::Odd, &"x\n".repeat(10_000));
        let all = notes.all();
        assert_eq!(all.len(), 1);
        assert_eq!((all[0].total, all[0].text.len()), (2, LONGEST));
    }
}
