//! Threads bound to cores, so that "two threads" means two cores.

use super::Stopwatch;
use rustix::thread::{CpuSet, sched_getaffinity, sched_setaffinity};
use std::io;
use std::sync::Barrier;

/// The cores that the calling thread may run on, lowest first.
///
/// # Errors
///
/// When the system call fails.
pub fn available_cores() -> io::Result<Vec<usize>> {
    let set = sched_getaffinity(None)?;
    Ok((0..CpuSet::MAX_CPU)
        .filter(|&core| set.is_set(core))
        .collect())
}

/// Binds the calling thread to one core.
///
/// # Errors
///
/// When there is no such core, or this process may not use it.
pub fn pin_to_core(core: usize) -> io::Result<()> {
    if core >= CpuSet::MAX_CPU {
        return Err(io::Error::new(
            io::ErrorKind::InvalidInput,
            format!("there is no core {core}"),
        ));
    }
    let mut set = CpuSet::new();
    set.set(core);
    Ok(sched_setaffinity(None, &set)?)
}

/// Runs `body` on `threads` threads at once, each bound to a core of its own as far as there are cores, and returns
/// the mean of their real times in nanoseconds.
///
/// All threads start together; `body` gets the thread's number. Made for [`Variant::timed`](super::Variant::timed).
/// Blocks until all have ended.
///
/// # Errors
///
/// When a thread cannot be bound. No thread runs `body` then.
///
/// # Panics
///
/// When `body` does.
pub fn on_pinned_threads(threads: usize, body: impl Fn(usize) + Sync) -> io::Result<f64> {
    let cores = available_cores()?;
    let start = Barrier::new(threads);
    let run = |number: usize| {
        let pinned = pin_to_core(cores[number % cores.len()]);
        // Every thread reaches this barrier, also one that failed, so that none waits forever.
        start.wait();
        pinned?;
        let stopwatch = Stopwatch::start();
        body(number);
        Ok(stopwatch.wall())
    };
    let run = &run;
    let walls: io::Result<Vec<f64>> = std::thread::scope(|scope| {
        let handles: Vec<_> = (0..threads)
            .map(|number| scope.spawn(move || run(number)))
            .collect();
        let joined = handles.into_iter().map(std::thread::ScopedJoinHandle::join);
        joined
            .map(|result| result.unwrap_or_else(|panic| std::panic::resume_unwind(panic)))
            .collect()
    });
    let walls = walls?;
    Ok(walls.iter().sum::<f64>() / walls.len() as f64)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Mutex;

    #[test]
    fn a_pinned_thread_may_run_on_its_core_only() {
        let cores = available_cores().unwrap();
        let last = *cores.last().unwrap();
        let after = std::thread::spawn(move || {
            pin_to_core(last).unwrap();
            available_cores().unwrap()
        });
        assert_eq!(after.join().unwrap(), [last]);
        assert_eq!(available_cores().unwrap(), cores, "other threads stay free");
    }

    #[test]
    fn a_missing_core_is_an_error() {
        assert!(pin_to_core(CpuSet::MAX_CPU).is_err());
        assert!(pin_to_core(usize::MAX).is_err());
    }

    #[test]
    fn each_thread_runs_once_on_its_own_core() {
        let cores = available_cores().unwrap();
        let seen = Mutex::new(Vec::new());
        let threads = cores.len().min(2);
        let wall = on_pinned_threads(threads, |number| {
            seen.lock()
                .unwrap()
                .push((number, available_cores().unwrap()));
        });
        assert!(wall.unwrap() > 0.0);
        let mut seen = seen.into_inner().unwrap();
        seen.sort();
        let expected: Vec<_> = (0..threads)
            .map(|number| (number, vec![cores[number]]))
            .collect();
        assert_eq!(seen, expected);
    }

    #[test]
    fn more_threads_than_cores_share_them() {
        let threads = available_cores().unwrap().len() + 1;
        assert!(on_pinned_threads(threads, |_| ()).is_ok());
    }
}
