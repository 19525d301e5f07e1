//! The participant's own thread, for work that must not run inside Cyclone's callbacks.

use std::cell::RefCell;
use std::ops::ControlFlow;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, Sender};
use std::thread::{self, JoinHandle, ThreadId};

use timeloom_time::{Clock, Duration, Steady, Time};
use timeloom_wire::EndpointEvent;

use crate::sys::{after_call, inside_call, inside_callback};
use timeloom_wire::backend::Notes;

/// Work for the dispatcher's thread.
pub(crate) trait Task: Send + Sync {
    /// Whether it is scheduled and has not run yet.
    fn scheduled(&self) -> &AtomicBool;

    /// Does all the work that is pending.
    fn run(&self);
}

/// Handles events on the dispatcher's thread.
pub(crate) trait EventHandler: Send + Sync {
    fn handle_event(&self, event: EndpointEvent);
}

enum Job {
    Run(Arc<dyn Task>),
    RunAt(Time<Steady>, Arc<dyn Task>),
    Event(Arc<dyn EventHandler>, EndpointEvent),
    All(Vec<Self>),
    Stop,
}

thread_local! {
    /// Jobs created inside a call of Cyclone: a call that matches hundreds of endpoints wakes the dispatcher once.
    static HELD: RefCell<Vec<(Dispatch, Vec<Job>)>> = const { RefCell::new(Vec::new()) };
}

/// Sends jobs to the dispatcher; jobs after its end are dropped.
#[derive(Clone)]
pub(crate) struct Dispatch {
    jobs: Sender<Job>,
    thread: ThreadId,
}

impl Dispatch {
    /// Runs the task soon; scheduled again before it runs, it runs once.
    pub(crate) fn schedule(&self, task: &Arc<impl Task + 'static>) {
        if !task.scheduled().swap(true, Ordering::AcqRel) {
            let task = Arc::clone(task);
            self.give(Job::Run(task));
        }
    }

    /// Runs the task at that time, even if it also runs before.
    pub(crate) fn schedule_at(&self, time: Time<Steady>, task: Arc<dyn Task>) {
        self.give(Job::RunAt(time, task));
    }

    /// Handles the event on the dispatcher's thread, in order.
    pub(crate) fn event(&self, to: Arc<dyn EventHandler>, event: EndpointEvent) {
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
            // Fails only after the participant's end, when no work is left.
            self.jobs.send(job).ok();
        }
    }
}

/// Sends the jobs that were held back, in order.
fn give_held() {
    for (dispatch, jobs) in HELD.take() {
        dispatch.jobs.send(Job::All(jobs)).ok();
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

/// The state of the thread.
struct Worker {
    clock: Clock<Steady>,
    notes: Arc<Notes>,
    later: Vec<(Time<Steady>, Arc<dyn Task>)>,
}

impl Worker {
    fn work(mut self, jobs: &Receiver<Job>) {
        while let Some(job) = self.next(jobs) {
            if self.run(job).is_break() {
                return;
            }
        }
    }

    /// Waits for a job; meanwhile runs delayed tasks that are due.
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
            for (_, task) in due {
                self.notes.catch(|| task.run());
            }
        }
        jobs.recv().ok()
    }

    fn run(&mut self, job: Job) -> ControlFlow<()> {
        match job {
            Job::Run(task) => {
                // Before the work, so that data that arrives meanwhile schedules it again. A swap, not a store: it
                // synchronises with the last `schedule`, so that the work sees what was done before it.
                task.scheduled().swap(false, Ordering::AcqRel);
                self.notes.catch(|| task.run());
            }
            Job::RunAt(time, task) => self.later.push((time, task)),
            Job::Event(to, event) => self.notes.catch(|| to.handle_event(event)),
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
        // A job may hold the last handle of the participant: then this is the thread itself. Joining inside a callback
        // of Cyclone can deadlock, because a job may wait for that callback.
        if thread::current().id() != self.dispatch.thread && !inside_callback() {
            thread.join().ok();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Mutex;
    use timeloom_wire::backend::NoteKind;

    #[derive(Default)]
    struct Counting {
        scheduled: AtomicBool,
        runs: Mutex<usize>,
    }

    impl Task for Counting {
        fn scheduled(&self) -> &AtomicBool {
            &self.scheduled
        }

        fn run(&self) {
            *self.runs.lock().unwrap() += 1;
        }
    }

    /// Runs once, at its first event.
    struct Once<F>(Mutex<Option<F>>);

    impl<F: FnOnce() + Send> EventHandler for Once<F> {
        fn handle_event(&self, _: EndpointEvent) {
            let work = self.0.lock().unwrap().take();
            work.unwrap()();
        }
    }

    fn run(dispatch: &Dispatch, work: impl FnOnce() + Send + 'static) {
        let once = Arc::new(Once(Mutex::new(Some(work))));
        dispatch.event(once, EndpointEvent::DeadlineMissed { total: 1 });
    }

    #[test]
    fn a_task_scheduled_many_times_before_it_runs_runs_once() {
        let dispatcher = Dispatcher::start(&Arc::new(Notes::new(None))).unwrap();
        let task = Arc::new(Counting::default());
        let (go, wait) = mpsc::channel::<()>();
        run(dispatcher.dispatch(), move || wait.recv().unwrap());
        for _ in 0..100 {
            dispatcher.dispatch().schedule(&task);
        }
        go.send(()).unwrap();
        drop(dispatcher);
        assert_eq!(*task.runs.lock().unwrap(), 1);
    }

    #[test]
    fn a_task_can_run_later() {
        let dispatcher = Dispatcher::start(&Arc::new(Notes::new(None))).unwrap();
        let task = Arc::new(Counting::default());
        let clock = Clock::<Steady>::new();
        dispatcher
            .dispatch()
            .schedule_at(clock.now() + Duration::from_millis(5), task.clone());
        while *task.runs.lock().unwrap() == 0 {
            let _woke = clock.sleep_for(Duration::from_millis(1));
        }
        drop(dispatcher);
        assert_eq!(*task.runs.lock().unwrap(), 1);
    }

    #[test]
    fn a_panic_is_reported_and_the_thread_continues() {
        let notes = Arc::new(Notes::new(None));
        let dispatcher = Dispatcher::start(&notes).unwrap();
        run(dispatcher.dispatch(), || panic!("on purpose"));
        let task = Arc::new(Counting::default());
        dispatcher.dispatch().schedule(&task);
        drop(dispatcher);
        assert_eq!(*task.runs.lock().unwrap(), 1);
        assert_eq!(notes.all()[0].kind, NoteKind::Panicked);
    }

    #[test]
    fn a_job_may_drop_the_dispatcher() {
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
