//! What a worker keeps of the queries that run on it.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, PoisonError};

use super::control::Welcome;
use crate::Findings;
use crate::findings::FindingsRecord;

/// Queries that a worker remembers; one whose asker vanished is forgotten when as many others have begun.
const REMEMBERED: usize = 10_000;

/// The queries of a worker, and what each could not read.
#[derive(Debug)]
pub(super) struct WorkerState {
    welcome: Welcome,
    queries: Mutex<VecDeque<(String, Arc<Findings>)>>,
}

impl WorkerState {
    pub(super) fn new(instance: String, threads: usize) -> Self {
        Self {
            welcome: Welcome { instance, threads },
            queries: Mutex::default(),
        }
    }

    pub(super) fn begin(&self, query: &str) -> Welcome {
        let mut queries = self.lock();
        if queries.len() >= REMEMBERED {
            queries.pop_front();
        }
        queries.push_back((query.to_owned(), Arc::default()));
        self.welcome.clone()
    }

    /// Where the plans of a query put what they cannot read; `None` for a query that did not begin here.
    pub(super) fn findings(&self, query: &str) -> Option<Arc<Findings>> {
        let queries = self.lock();
        let known = queries.iter().rev().find(|(known, _)| known == query);
        known.map(|(_, findings)| Arc::clone(findings))
    }

    /// Forgets a query; `None` if it did not begin here, or before the last start.
    pub(super) fn end(&self, query: &str, instance: &str) -> Option<FindingsRecord> {
        let mut queries = self.lock();
        let at = queries.iter().rposition(|(known, _)| known == query)?;
        let (_, findings) = queries.remove(at)?;
        (instance == self.welcome.instance).then(|| findings.record())
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, VecDeque<(String, Arc<Findings>)>> {
        self.queries.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn findings_belong_to_their_query_and_are_given_out_once() {
        let state = WorkerState::new("a".into(), 2);
        let welcome = state.begin("one");
        state.begin("two");
        state.findings("one").unwrap().add_unread("bag: cut".into());
        assert!(state.findings("three").is_none());
        assert!(state.end("two", &welcome.instance).unwrap().is_empty());
        assert!(!state.end("one", &welcome.instance).unwrap().is_empty());
        assert_eq!(state.end("one", &welcome.instance), None);
        state.begin("four");
        assert_eq!(state.end("four", "another start"), None);
    }
}
