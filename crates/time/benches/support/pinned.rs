//! A tight loop on pinned threads that truly run at the same time.

use std::hint::black_box;
use std::sync::atomic::{AtomicUsize, Ordering};

use timeloom_testkit::bench::{Stopwatch, available_cores, pin_to_core};

use crate::context_switches::context_switches;

/// Number of times that a disturbed slice is measured again before the least disturbed one is used.
const TRIES: usize = 40;
/// The least share of a slice during which all threads run.
const OVERLAP: f64 = 0.9;

/// One thread's part of a slice.
struct Part {
    begin: f64,
    end: f64,
    preempted: bool,
}

/// Calls `body` `iterations` times on each of `threads` pinned threads at once; the mean real time of a thread.
///
/// A slice in which another process took a core, or in which the threads hardly overlapped, is measured again.
pub(crate) fn loop_on_pinned_threads<T>(
    threads: usize,
    iterations: u64,
    body: impl Fn() -> T + Sync,
) -> f64 {
    let mut best = (f64::NEG_INFINITY, f64::NAN);
    for _ in 0..TRIES {
        let parts = slice(threads, iterations, &body);
        let mean = parts.iter().map(|part| part.end - part.begin).sum::<f64>() / threads as f64;
        let overlap = overlap(&parts);
        if overlap > best.0 {
            best = (overlap, mean);
        }
        if overlap >= OVERLAP {
            break;
        }
    }
    best.1
}

fn slice<T>(threads: usize, iterations: u64, body: &(impl Fn() -> T + Sync)) -> Vec<Part> {
    let cores = available_cores().expect("the system names no cores");
    let arrived = AtomicUsize::new(0);
    let epoch = Stopwatch::start();
    let run = |core: usize| {
        pin_to_core(core).expect("a thread cannot be pinned");
        let before = context_switches("nonvoluntary");
        for _ in 0..100 {
            black_box(body());
        }
        arrived.fetch_add(1, Ordering::AcqRel);
        // A barrier that blocks would start the threads 50 µs apart.
        while arrived.load(Ordering::Acquire) < threads {
            std::hint::spin_loop();
        }
        let begin = epoch.wall();
        for _ in 0..iterations {
            black_box(body());
        }
        let end = epoch.wall();
        let preempted = context_switches("nonvoluntary") > before;
        Part {
            begin,
            end,
            preempted,
        }
    };
    let run = &run;
    std::thread::scope(|scope| {
        let handles: Vec<_> = (0..threads)
            .map(|number| {
                let core = cores[number % cores.len()];
                scope.spawn(move || run(core))
            })
            .collect();
        handles
            .into_iter()
            .map(|handle| handle.join().expect("a measured thread panicked"))
            .collect()
    })
}

/// The share of a slice during which all threads ran; zero when one of them lost its core.
fn overlap(parts: &[Part]) -> f64 {
    if parts.iter().any(|part| part.preempted) {
        return 0.0;
    }
    let begin = parts.iter().map(|part| part.begin).fold(0.0, f64::max);
    let end = parts.iter().map(|part| part.end);
    let end = end.fold(f64::INFINITY, f64::min);
    let lengths = parts.iter().map(|part| part.end - part.begin);
    (end - begin) / lengths.fold(0.0, f64::max)
}
