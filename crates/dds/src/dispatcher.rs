//! The participant's own thread: does what must not be done inside Cyclone's callbacks.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{self, Receiver, Sender};
use std::thread::{self, JoinHandle, ThreadId};

use crate::sys::inside_callback;

/// Something with work to be done on the dispatcher's thread.
pub(crate) trait Bell: Send + Sync {
    /// Whether it was rung and not answered yet.
    fn rung(&self) -> &AtomicBool;

    /// Does all the work that there is.
    fn answer(&self);
}

enum Job {
    Answer(Arc<dyn Bell>),
    Run(Box<dyn FnOnce() + Send>),
    Stop,
}

/// A way to give work to the dispatcher; what is given after its end is dropped.
#[derive(Clone)]
pub(crate) struct Dispatch {
    jobs: Sender<Job>,
}

impl Dispatch {
    /// Has the bell answered soon; many rings before that are one.
    pub(crate) fn ring(&self, bell: &Arc<impl Bell + 'static>) {
        if !bell.rung().swap(true, Ordering::AcqRel) {
            let bell = Arc::clone(bell);
            // It fails only after the participant's end, when there is nothing left to do.
            self.jobs.send(Job::Answer(bell)).ok();
        }
    }

    /// Has the work done once, in order.
    pub(crate) fn run(&self, work: impl FnOnce() + Send + 'static) {
        self.jobs.send(Job::Run(Box::new(work))).ok();
    }
}

/// The thread; ended when dropped, after what was given before.
pub(crate) struct Dispatcher {
    dispatch: Dispatch,
    thread: Option<JoinHandle<()>>,
    id: ThreadId,
}

impl Dispatcher {
    /// Starts the thread.
    ///
    /// # Errors
    /// When the machine has no thread left.
    pub(crate) fn start() -> std::io::Result<Self> {
        let (sender, receiver) = mpsc::channel();
        let thread = thread::Builder::new()
            .name("dds dispatch".into())
            .spawn(move || work(&receiver))?;
        Ok(Self {
            dispatch: Dispatch { jobs: sender },
            id: thread.thread().id(),
            thread: Some(thread),
        })
    }

    pub(crate) fn dispatch(&self) -> &Dispatch {
        &self.dispatch
    }
}

fn work(jobs: &Receiver<Job>) {
    while let Ok(job) = jobs.recv() {
        match job {
            Job::Answer(bell) => {
                // Before the work: what comes meanwhile rings again.
                bell.rung().store(false, Ordering::Release);
                bell.answer();
            }
            Job::Run(work) => work(),
            Job::Stop => return,
        }
    }
}

impl Drop for Dispatcher {
    fn drop(&mut self) {
        self.dispatch.jobs.send(Job::Stop).ok();
        let Some(thread) = self.thread.take() else {
            return;
        };
        // A job may hold the last handle of the participant: then this is the thread itself. And inside a callback of
        // Cyclone nobody can be waited for who may wait for the callback.
        if thread::current().id() != self.id && !inside_callback() {
            thread.join().ok();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Mutex;

    #[derive(Default)]
    struct Counting {
        rung: AtomicBool,
        answers: Mutex<usize>,
    }

    impl Bell for Counting {
        fn rung(&self) -> &AtomicBool {
            &self.rung
        }

        fn answer(&self) {
            *self.answers.lock().unwrap() += 1;
        }
    }

    #[test]
    fn many_rings_before_the_answer_are_one() {
        let dispatcher = Dispatcher::start().unwrap();
        let bell = Arc::new(Counting::default());
        let (go, wait) = mpsc::channel::<()>();
        dispatcher.dispatch().run(move || wait.recv().unwrap());
        for _ in 0..100 {
            dispatcher.dispatch().ring(&bell);
        }
        go.send(()).unwrap();
        drop(dispatcher);
        assert_eq!(*bell.answers.lock().unwrap(), 1);
    }

    #[test]
    fn it_may_end_itself() {
        let dispatcher = Dispatcher::start().unwrap();
        let dispatch = dispatcher.dispatch().clone();
        let (done, wait) = mpsc::channel();
        dispatch.run(move || {
            drop(dispatcher);
            done.send(()).unwrap();
        });
        wait.recv().unwrap();
    }
}
