//! The participant's own thread, for user code that must not run inside Zenoh's callbacks.

use std::sync::Arc;
use std::sync::mpsc::{self, Sender};
use std::thread::{self, JoinHandle, ThreadId};

use crate::session_call::is_inside_callback;
use timeloom_wire::backend::Notes;

type Job = Box<dyn FnOnce() + Send>;

/// Sends jobs to the dispatcher; jobs after its end are dropped.
#[derive(Clone)]
pub(crate) struct Dispatch {
    jobs: Sender<Option<Job>>,
    thread: ThreadId,
}

impl Dispatch {
    /// Runs the job on the dispatcher's thread, after all earlier ones.
    pub(crate) fn give(&self, job: impl FnOnce() + Send + 'static) {
        // Fails only after the participant's end, when no work is left.
        self.jobs.send(Some(Box::new(job))).ok();
    }

    /// Whether this is the dispatcher's thread.
    pub(crate) fn is_here(&self) -> bool {
        thread::current().id() == self.thread
    }
}

/// The thread; dropping it ends the thread after the jobs that were sent before.
pub(crate) struct Dispatcher {
    dispatch: Dispatch,
    thread: Option<JoinHandle<()>>,
}

impl Dispatcher {
    /// Starts the thread.
    ///
    /// # Errors
    /// When the operating system cannot start a thread.
    pub(crate) fn start(notes: &Arc<Notes>) -> std::io::Result<Self> {
        let (sender, jobs) = mpsc::channel::<Option<Job>>();
        let notes = Arc::clone(notes);
        let thread = thread::Builder::new()
            .name("zenoh dispatch".into())
            .spawn(move || {
                while let Ok(Some(job)) = jobs.recv() {
                    notes.catch(job);
                }
            })?;
        Ok(Self {
            dispatch: Dispatch {
                jobs: sender,
                thread: thread.thread().id(),
            },
            thread: Some(thread),
        })
    }

    pub(crate) fn dispatch(&self) -> &Dispatch {
        &self.dispatch
    }
}

impl Drop for Dispatcher {
    fn drop(&mut self) {
        self.dispatch.jobs.send(None).ok();
        // A job may hold the last handle of the participant: then this is the thread itself. Joining inside a callback
        // of Zenoh can deadlock, because a job may wait for Zenoh.
        if let Some(thread) = self.thread.take()
            && !self.dispatch.is_here()
            && !is_inside_callback()
        {
            thread.join().ok();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Mutex;
    use timeloom_wire::backend::NoteKind;

    #[test]
    fn jobs_run_in_order_and_continue_after_a_panic() {
        let notes = Arc::new(Notes::new(None));
        let dispatcher = Dispatcher::start(&notes).unwrap();
        let done = Arc::new(Mutex::new(Vec::new()));
        for number in 0..10 {
            let done = Arc::clone(&done);
            dispatcher.dispatch().give(move || {
                assert_ne!(number, 5, "on purpose");
                done.lock().unwrap().push(number);
            });
        }
        drop(dispatcher);
        assert_eq!(*done.lock().unwrap(), [0, 1, 2, 3, 4, 6, 7, 8, 9]);
        assert_eq!(notes.all()[0].kind, NoteKind::Panicked);
    }

    #[test]
    fn a_job_may_drop_the_dispatcher() {
        let dispatcher = Dispatcher::start(&Arc::new(Notes::new(None))).unwrap();
        let dispatch = dispatcher.dispatch().clone();
        let (done, wait) = mpsc::channel();
        dispatch.give(move || {
            drop(dispatcher);
            done.send(()).unwrap();
        });
        wait.recv().unwrap();
    }
}
