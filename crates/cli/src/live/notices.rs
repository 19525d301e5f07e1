//! Notices of background threads, until the main thread prints them.

use std::sync::{Arc, Mutex};

use timeloom_time::sync::lock;

use timeloom_node::Severity;
use timeloom_node::player::Reporter;
use timeloom_node::recorder::Note;

use crate::context::Context;

/// Limit between two prints: a thread that fails in a loop must not use up the memory.
const MOST: usize = 1000;

/// A queue of notices. Clones share it.
#[derive(Clone, Default)]
pub(crate) struct Notices(Arc<Mutex<Vec<Note>>>);

impl Notices {
    pub(crate) fn add(&self, severity: Severity, text: impl Into<String>) {
        let mut notices = lock(&self.0);
        let (severity, text) = match notices.len() {
            0..MOST => (severity, text.into()),
            MOST => (Severity::Warn, "more notices were dropped".to_owned()),
            _ => return,
        };
        notices.push(Note { severity, text });
    }

    pub(crate) fn warn(&self, text: impl Into<String>) {
        self.add(Severity::Warn, text);
    }

    pub(crate) fn take(&self) -> Vec<Note> {
        std::mem::take(&mut *lock(&self.0))
    }

    /// Adds the notices of a player or of a clock.
    pub(crate) fn reporter(&self) -> Reporter {
        let notices = self.clone();
        Reporter::new(move |notice| notices.add(notice.severity(), notice.to_string()))
    }

    pub(crate) fn print(&self, context: &mut Context) {
        for note in self.take() {
            print_note(&note, context);
        }
    }
}

/// Prints a notice; losses and errors at every log level.
pub(crate) fn print_note(note: &Note, context: &mut Context) {
    match note.severity {
        Severity::Debug | Severity::Info => context.printer.aside(&note.text),
        Severity::Warn => context.printer.warning(&note.text),
        _ => context.printer.loss(&note.text),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn notices_beyond_the_limit_are_dropped() {
        let notices = Notices::default();
        for number in 0..MOST + 5 {
            notices.warn(number.to_string());
        }
        let taken = notices.take();
        assert_eq!(taken.len(), MOST + 1);
        assert_eq!(taken[MOST].text, "more notices were dropped");
        assert!(notices.take().is_empty());
    }
}
