use std::collections::VecDeque;
use std::sync::{Arc, Condvar, Mutex, OnceLock, PoisonError};
use std::time::Duration;

/// The threads that call jump handlers for threads that must not wait for them.
///
/// There is one more than there are hanging handlers; an idle one ends after a while. Each starts when it is first
/// needed.
pub(crate) struct HandlerThreads(Arc<Shared>);

#[derive(Default)]
struct Shared {
    state: Mutex<State>,
    work: Condvar,
}

#[derive(Default)]
struct State {
    jobs: VecDeque<Job>,
    /// Threads that wait for a job.
    idle: usize,
}

type Job = Box<dyn FnOnce() + Send>;

/// Time that an idle thread waits for the next jump.
const LINGER: Duration = Duration::from_secs(10);

impl HandlerThreads {
    /// The threads of this process.
    pub(crate) fn global() -> &'static Self {
        static THREADS: OnceLock<HandlerThreads> = OnceLock::new();
        THREADS.get_or_init(|| Self(Arc::default()))
    }

    /// Runs a job on another thread, immediately. If the operating system cannot start a thread, it runs here.
    pub(crate) fn run(&self, job: impl FnOnce() + Send + 'static) {
        let mut state = self.0.lock();
        state.jobs.push_back(Box::new(job));
        if state.idle >= state.jobs.len() {
            drop(state);
            return self.0.work.notify_one();
        }
        drop(state);
        let shared = Arc::clone(&self.0);
        let thread = std::thread::Builder::new().name("jump handlers".into());
        if thread.spawn(move || shared.serve()).is_err() {
            let job = self.0.lock().jobs.pop_back();
            if let Some(job) = job {
                job();
            }
        }
    }
}

impl Shared {
    fn lock(&self) -> std::sync::MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Runs jobs until there are none for a while. Jobs do not panic: panics of handlers are caught.
    fn serve(&self) {
        let mut state = self.lock();
        loop {
            if let Some(job) = state.jobs.pop_front() {
                drop(state);
                job();
                state = self.lock();
                continue;
            }
            state.idle += 1;
            let (woken, waited) = self
                .work
                .wait_timeout(state, LINGER)
                .unwrap_or_else(PoisonError::into_inner);
            state = woken;
            state.idle -= 1;
            if waited.timed_out() && state.jobs.is_empty() {
                return;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::mpsc::channel;

    #[test]
    fn jobs_run_beside_one_that_hangs() {
        let threads = HandlerThreads(Arc::default());
        let (release, released) = channel::<()>();
        threads.run(move || {
            let _ended = released.recv();
        });
        let (sent, done) = channel();
        for number in 0..20 {
            let sent = sent.clone();
            threads.run(move || sent.send(number).unwrap());
        }
        drop(sent);
        let mut numbers: Vec<i32> = done.iter().collect();
        numbers.sort_unstable();
        assert_eq!(numbers, (0..20).collect::<Vec<_>>());
        drop(release);
    }
}
