//! Syncs a file beside the thread that writes it: the disk may take longer than the queue of a recorder lasts.

use std::io;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{Builder, JoinHandle};

/// A thread that syncs one file when it is asked to.
pub(super) struct BackgroundSync {
    /// Room for one request: it is for all that is written until it starts. `None` once the thread is to end.
    requests: Option<SyncSender<()>>,
    failure: Failure,
    thread: Option<JoinHandle<()>>,
}

/// The first error that was not taken yet.
type Failure = Arc<Mutex<Option<io::Error>>>;

impl BackgroundSync {
    /// Starts a thread that calls `sync` for each request.
    pub(super) fn start(sync: impl FnMut() -> io::Result<()> + Send + 'static) -> io::Result<Self> {
        let (requests, asked) = sync_channel(1);
        let failure = Failure::default();
        let shared = Arc::clone(&failure);
        let thread = Builder::new()
            .name("bag-sync".into())
            .spawn(move || run(&asked, &shared, sync))?;
        Ok(Self {
            requests: Some(requests),
            failure,
            thread: Some(thread),
        })
    }

    /// Asks for a sync of all that is written so far; does not wait.
    pub(super) fn request(&self) {
        if let Some(requests) = &self.requests {
            // Full: the request that waits has not started yet, so it is for this, too.
            requests.try_send(()).unwrap_or_default();
        }
    }

    /// The first error since the last call.
    pub(super) fn failure(&self) -> Option<io::Error> {
        let mut failure = self.failure.lock().unwrap_or_else(PoisonError::into_inner);
        failure.take()
    }

    /// Waits until all requests are done; returns the error that was not taken yet.
    pub(super) fn finish(mut self) -> Option<io::Error> {
        self.end();
        self.failure()
    }

    fn end(&mut self) {
        self.requests = None;
        if let Some(thread) = self.thread.take() {
            // It only calls `sync`; a panic there was printed.
            thread.join().unwrap_or_default();
        }
    }
}

impl Drop for BackgroundSync {
    fn drop(&mut self) {
        self.end();
    }
}

fn run(asked: &Receiver<()>, failure: &Failure, mut sync: impl FnMut() -> io::Result<()>) {
    while asked.recv().is_ok() {
        if let Err(error) = sync() {
            let mut failure = failure.lock().unwrap_or_else(PoisonError::into_inner);
            failure.get_or_insert(error);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};
    use std::sync::mpsc::channel;

    use super::*;

    #[test]
    fn a_request_does_not_wait_and_requests_that_wait_are_one() {
        let (started, has_started) = channel();
        let (go_on, may_go_on) = channel();
        let count = Arc::new(AtomicUsize::new(0));
        let done = Arc::clone(&count);
        let background = BackgroundSync::start(move || {
            started.send(()).unwrap();
            may_go_on.recv().unwrap();
            done.fetch_add(1, Ordering::SeqCst);
            Ok(())
        })
        .unwrap();
        background.request();
        has_started.recv().unwrap();
        // The disk is busy: what is written now is synced afterwards, at once.
        for _ in 0..10 {
            background.request();
        }
        assert_eq!(count.load(Ordering::SeqCst), 0);
        go_on.send(()).unwrap();
        go_on.send(()).unwrap();
        assert!(background.finish().is_none());
        assert_eq!(count.load(Ordering::SeqCst), 2);
    }

    #[test]
    fn the_first_failure_is_reported_once() {
        let mut number = 0;
        let background = BackgroundSync::start(move || {
            number += 1;
            Err(io::Error::other(format!("failure {number}")))
        })
        .unwrap();
        background.request();
        let error = loop {
            if let Some(error) = background.failure() {
                break error;
            }
            std::thread::yield_now();
        };
        assert_eq!(error.to_string(), "failure 1");
        assert!(background.finish().is_none());
    }

    #[test]
    fn the_end_reports_a_failure_that_was_not_taken() {
        let background = BackgroundSync::start(|| Err(io::Error::other("no disk"))).unwrap();
        background.request();
        assert_eq!(background.finish().unwrap().to_string(), "no disk");
    }
}
