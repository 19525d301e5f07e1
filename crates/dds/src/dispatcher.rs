//! The participant's own thread: does what must not be done inside Cyclone's callbacks.

use std::cell::RefCell;
use std::ops::ControlFlow;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, Sender};
use std::thread::{self, JoinHandle, ThreadId};

use timeloom_time::{Clock, Duration, Steady, Time};
use timeloom_wire::EndpointEvent;

use crate::notes::Notes;
use crate::sys::{after_call, inside_call, inside_callback};

/// Something with work to be done on the dispatcher's thread.
pub(crate) trait Bell: Send + Sync {
    /// Whether it was rung and not answered yet.
    fn rung(&self) -> &AtomicBool;

    /// Does all the work that there is.
    fn answer(&self);
}

/// Takes events on the dispatcher's thread.
pub(crate) trait Hears: Send + Sync {
    fn hear(&self, event: EndpointEvent);
}

enum Job {
    Answer(Arc<dyn Bell>),
    AnswerAt(Time<Steady>, Arc<dyn Bell>),
    Event(Arc<dyn Hears>, EndpointEvent),
    All(Vec<Self>),
    Stop,
}

thread_local! {
    /// Jobs given inside a call of Cyclone: a call that matches hundreds of endpoints wakes the dispatcher once.
    static HELD: RefCell<Vec<(Dispatch, Vec<Job>)>> = const { RefCell::new(Vec::new()) };
}

/// A way to give work to the dispatcher; what is given after its end is dropped.
#[derive(Clone)]
pub(crate) struct Dispatch {
    jobs: Sender<Job>,
    thread: ThreadId,
}

impl Dispatch {
    /// Has the bell answered soon; many rings before that are one.
    pub(crate) fn ring(&self, bell: &Arc<impl Bell + 'static>) {
        if !bell.rung().swap(true, Ordering::AcqRel) {
            let bell = Arc::clone(bell);
            self.give(Job::Answer(bell));
        }
    }

    /// Has the bell answered at that time, whether it is rung before or not.
    pub(crate) fn ring_at(&self, time: Time<Steady>, bell: Arc<dyn Bell>) {
        self.give(Job::AnswerAt(time, bell));
    }

    /// Has the event heard on the dispatcher's thread, in order.
    pub(crate) fn event(&self, to: Arc<dyn Hears>, event: EndpointEvent) {
        self.give(Job::Event(to, event));
    }

    fn hold(&self, job: Job) {
        HELD.with_borrow_mut(|held| match held.last_mut() {
            Some((last, jobs)) if last.thread == self.thread => jobs.push(job),
            _ => held.push((self.clone(), vec![job])),
        });
        after_call(give_held);
    }

    fn give(&self, job: Job) {
        if inside_call() {
            self.hold(job);
        } else {
            // It fails only after the participant's end, when there is nothing left to do.
            self.jobs.send(job).ok();
        }
    }
}

/// Gives what was held back, in order.
fn give_held() {
    for (dispatch, jobs) in HELD.take() {
        dispatch.jobs.send(Job::All(jobs)).ok();
    }
}

/// The thread; ended when dropped, after what was given before.
pub(crate) struct Dispatcher {
    dispatch: Dispatch,
    thread: Option<JoinHandle<()>>,
}

impl Dispatcher {
    /// Starts the thread.
    ///
    /// # Errors
    /// When the machine has no thread left.
    pub(crate) fn start(notes: &Arc<Notes>) -> std::io::Result<Self> {
        let (sender, receiver) = mpsc::channel();
        let worker = Worker {
            clock: Clock::new(),
            notes: Arc::clone(notes),
            later: Vec::new(),
        };
        let thread = thread::Builder::new()
            .name("dds dispatch".into())
            .spawn(move || worker.work(&receiver))?;
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

/// What the thread does.
struct Worker {
    clock: Clock<Steady>,
    notes: Arc<Notes>,
    later: Vec<(Time<Steady>, Arc<dyn Bell>)>,
}

impl Worker {
    fn work(mut self, jobs: &Receiver<Job>) {
        while let Some(job) = self.next(jobs) {
            if self.run(job).is_break() {
                return;
            }
        }
    }

    /// Waits for a job; answers those whose time has come meanwhile.
    fn next(&mut self, jobs: &Receiver<Job>) -> Option<Job> {
        while let Some(due) = self.later.iter().map(|(time, _)| *time).min() {
            match jobs.recv_timeout(to_std(due - self.clock.now())) {
                Ok(job) => return Some(job),
                Err(RecvTimeoutError::Disconnected) => return None,
                Err(RecvTimeoutError::Timeout) => {}
            }
            let now = self.clock.now();
            let due: Vec<_> = self
                .later
                .extract_if(.., |(time, _)| *time <= now)
                .collect();
            for (_, bell) in due {
                self.notes.catch(|| bell.answer());
            }
        }
        jobs.recv().ok()
    }

    fn run(&mut self, job: Job) -> ControlFlow<()> {
        match job {
            Job::Answer(bell) => {
                // Before the work: what comes meanwhile rings again. A swap, not a store: it reads the last ring, so
                // that what was done before that ring is seen below.
                bell.rung().swap(false, Ordering::AcqRel);
                self.notes.catch(|| bell.answer());
            }
            Job::AnswerAt(time, bell) => self.later.push((time, bell)),
            Job::Event(to, event) => self.notes.catch(|| to.hear(event)),
            Job::All(jobs) => return jobs.into_iter().try_for_each(|job| self.run(job)),
            Job::Stop => return ControlFlow::Break(()),
        }
        ControlFlow::Continue(())
    }
}

fn to_std(duration: Duration) -> std::time::Duration {
    std::time::Duration::from_nanos(u64::try_from(duration.nanos()).unwrap_or(0))
}

impl Drop for Dispatcher {
    fn drop(&mut self) {
        self.dispatch.jobs.send(Job::Stop).ok();
        let Some(thread) = self.thread.take() else {
            return;
        };
        // A job may hold the last handle of the participant: then this is the thread itself. And inside a callback of
        // Cyclone nobody can be waited for who may wait for the callback.
        if thread::current().id() != self.dispatch.thread && !inside_callback() {
            thread.join().ok();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::notes::NoteKind;
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

    /// Runs once, when it hears something.
    struct Once<F>(Mutex<Option<F>>);

    impl<F: FnOnce() + Send> Hears for Once<F> {
        fn hear(&self, _: EndpointEvent) {
            let work = self.0.lock().unwrap().take();
            work.unwrap()();
        }
    }

    fn run(dispatch: &Dispatch, work: impl FnOnce() + Send + 'static) {
        let once = Arc::new(Once(Mutex::new(Some(work))));
        dispatch.event(once, EndpointEvent::DeadlineMissed { total: 1 });
    }

    #[test]
    fn many_rings_before_the_answer_are_one() {
        let dispatcher = Dispatcher::start(&Arc::new(Notes::new(None))).unwrap();
        let bell = Arc::new(Counting::default());
        let (go, wait) = mpsc::channel::<()>();
        run(dispatcher.dispatch(), move || wait.recv().unwrap());
        for _ in 0..100 {
            dispatcher.dispatch().ring(&bell);
        }
        go.send(()).unwrap();
        drop(dispatcher);
        assert_eq!(*bell.answers.lock().unwrap(), 1);
    }

    #[test]
    fn a_bell_can_be_answered_later() {
        let dispatcher = Dispatcher::start(&Arc::new(Notes::new(None))).unwrap();
        let bell = Arc::new(Counting::default());
        let clock = Clock::<Steady>::new();
        dispatcher
            .dispatch()
            .ring_at(clock.now() + Duration::from_millis(5), bell.clone());
        while *bell.answers.lock().unwrap() == 0 {
            let _woke = clock.sleep_for(Duration::from_millis(1));
        }
        drop(dispatcher);
        assert_eq!(*bell.answers.lock().unwrap(), 1);
    }

    #[test]
    fn a_panic_is_noted_and_ends_nothing() {
        let notes = Arc::new(Notes::new(None));
        let dispatcher = Dispatcher::start(&notes).unwrap();
        run(dispatcher.dispatch(), || panic!("on purpose"));
        let bell = Arc::new(Counting::default());
        dispatcher.dispatch().ring(&bell);
        drop(dispatcher);
        assert_eq!(*bell.answers.lock().unwrap(), 1);
        assert_eq!(notes.all()[0].kind, NoteKind::Panicked);
    }

    #[test]
    fn it_may_end_itself() {
        let dispatcher = Dispatcher::start(&Arc::new(Notes::new(None))).unwrap();
        let dispatch = dispatcher.dispatch().clone();
        let (done, wait) = mpsc::channel();
        run(&dispatch, move || {
            drop(dispatcher);
            done.send(()).unwrap();
        });
        wait.recv().unwrap();
    }
}
