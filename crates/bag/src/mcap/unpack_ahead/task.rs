//! Work that one of several threads does, once.

use std::sync::PoisonError;

use timeloom_time::sync::{Condvar, Mutex, lock};

/// Work that is done by the first thread that comes to it: one of a pool, or the one that needs the result.
pub(super) struct Task<I, O> {
    state: Mutex<State<I, O>>,
    changed: Condvar,
}

enum State<I, O> {
    /// No thread has begun.
    Waiting(I),
    Running,
    Done(O),
    /// The result was taken, is no longer wanted, or the thread that worked on it panicked.
    Gone,
}

impl<I, O> Task<I, O> {
    pub(super) fn new(input: I) -> Self {
        Self {
            state: Mutex::new(State::Waiting(input)),
            changed: Condvar::new(),
        }
    }

    /// Does the work, unless a thread has begun with it or its result is not wanted; true if it was done here.
    pub(super) fn run(&self, work: impl FnOnce(I) -> O) -> bool {
        let Some(input) = self.begin() else {
            return false;
        };
        // Ends the wait for a result also if the work panics.
        let mut finish = Finish {
            task: self,
            state: Some(State::Gone),
        };
        finish.state = Some(State::Done(work(input)));
        true
    }

    fn begin(&self) -> Option<I> {
        let mut state = lock(&self.state);
        match std::mem::replace(&mut *state, State::Running) {
            State::Waiting(input) => Some(input),
            other => {
                *state = other;
                None
            }
        }
    }

    /// Whether a thread works on it.
    pub(super) fn is_running(&self) -> bool {
        matches!(*lock(&self.state), State::Running)
    }

    /// Waits for the thread that works on it, and takes the result; `None` if there is none.
    pub(super) fn take(&self) -> Option<O> {
        let mut state = lock(&self.state);
        while matches!(*state, State::Running) {
            let woken = self.changed.wait(state);
            state = woken.unwrap_or_else(PoisonError::into_inner);
        }
        match std::mem::replace(&mut *state, State::Gone) {
            State::Done(output) => Some(output),
            _ => None,
        }
    }

    /// Gives up the result; a thread that works on it finishes.
    pub(super) fn cancel(&self) {
        let mut state = lock(&self.state);
        if !matches!(*state, State::Running) {
            *state = State::Gone;
        }
    }
}

/// Sets the last state of a task when it is dropped.
struct Finish<'t, I, O> {
    task: &'t Task<I, O>,
    state: Option<State<I, O>>,
}

impl<I, O> Drop for Finish<'_, I, O> {
    fn drop(&mut self) {
        if let Some(state) = self.state.take() {
            *lock(&self.task.state) = state;
            self.task.changed.notify_all();
        }
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    #[test]
    fn a_task_is_done_once_and_its_result_is_taken_once() {
        let task = Task::new(2);
        assert!(task.run(|input| input + 1));
        assert!(!task.run(|_| unreachable!("it is done")));
        assert_eq!(task.take(), Some(3));
        assert_eq!(task.take(), None);
    }

    #[test]
    fn a_task_that_is_not_wanted_is_not_done() {
        let task: Task<u32, u32> = Task::new(2);
        task.cancel();
        assert!(!task.run(|_| unreachable!("it is not wanted")));
        assert_eq!(task.take(), None);
    }

    #[test]
    fn work_that_panics_leaves_no_result_and_no_waiting_thread() {
        let task: Task<u32, u32> = Task::new(2);
        let panicked = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
            task.run(|_| panic!("broken"))
        }));
        assert!(panicked.is_err());
        assert_eq!(task.take(), None);
    }
}

#[cfg(all(test, loom))]
mod loom_models {
    use std::sync::Arc;

    use timeloom_time::sync::loom::thread;
    use timeloom_time::sync::model;

    use super::*;

    /// A pool thread and the reader both try: one of them works, and the reader gets the result.
    #[test]
    fn the_reader_gets_the_result_of_whoever_works() {
        model(3, || {
            let task = Arc::new(Task::new(1));
            let pool = {
                let task = Arc::clone(&task);
                thread::spawn(move || task.run(|input| input + 1))
            };
            let here = task.run(|input| input + 1);
            assert_eq!(task.take(), Some(2));
            assert_ne!(pool.join().unwrap(), here);
        });
    }

    /// A reader that gives up neither blocks nor gets a result, whatever the pool does.
    #[test]
    fn a_task_can_be_given_up_at_any_time() {
        model(3, || {
            let task = Arc::new(Task::new(1));
            let pool = {
                let task = Arc::clone(&task);
                thread::spawn(move || task.run(|input| input + 1))
            };
            task.cancel();
            pool.join().unwrap();
            assert!(!task.is_running());
        });
    }
}
