//! Lateness and cost of sleeps, against the usual ways to sleep.

#[path = "support/cpu.rs"]
mod cpu;
#[path = "support/lateness.rs"]
mod lateness;
#[path = "support/wake_latency.rs"]
mod wake_latency;

use std::future::Future;
use std::pin::pin;
use std::task::{Context, Poll, Wake, Waker};
use std::thread::Thread;

use lateness::{Sleeper, in_turns};
use timeloom_testkit::bench::Bench;
use timeloom_time::{Clock, Precision, Steady, Time, WaitOptions, Woke};
use tokio::runtime::Runtime;

fn main() {
    let mut bench = Bench::from_env();
    let mut early = 0;
    let wants = |ids: &[&str]| ids.iter().any(|id| bench.wants(id));
    let [waits_block, waits_are_async] = [
        wants(&[
            "time.sleep.default",
            "time.sleep.precise",
            "time.sleep.early",
        ]),
        wants(&["time.sleep.async", "time.sleep.early"]),
    ];
    if waits_block {
        early += blocking(&mut bench);
    }
    if waits_are_async {
        early += asynchronous(&mut bench);
    }
    if bench.wants("time.sleep.wake") {
        wake_latency::measure(&mut bench);
    }
    bench.exactly_zero("time.sleep.early", early);
}

/// Sleeps of a thread. Returns the number of ours that ended early.
fn blocking(bench: &mut Bench) -> u64 {
    let clock = Clock::<Steady>::new();
    let normal = WaitOptions::new();
    let precise = WaitOptions::new().precision(Precision::Precise);
    let spin_sleeper = spin_sleep::SpinSleeper::default();
    let results = in_turns(&mut [
        Sleeper::new("default", |at| reached(clock.sleep_until_with(at, &normal))),
        Sleeper::new("precise", |at| {
            reached(clock.sleep_until_with(at, &precise));
        }),
        Sleeper::new("thread::sleep", |at| thread_sleep(left(&clock, at))),
        Sleeper::new("spin_sleep", |at| spin_sleeper.sleep(left(&clock, at))),
    ]);
    let [normal, precise, usual, _] = &results[..] else {
        unreachable!("as many results as sleepers")
    };
    bench.ratio_at_most("time.sleep.default.p50", normal.ratio_to(usual), 0.6);
    bench.ratio_at_most("time.sleep.precise.p50_us", precise.p50() / 1e3, 2.0);
    bench.ratio_at_most("time.sleep.precise.cpu_percent", precise.cpu_percent(), 6.0);
    for result in &results {
        bench.note("time.sleep.default.p50", result);
    }
    normal.early + precise.early
}

/// Sleeps of a task. Returns the number of ours that ended early.
fn asynchronous(bench: &mut Bench) -> u64 {
    let clock = Clock::<Steady>::new();
    let options = WaitOptions::new();
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .expect("no tokio runtime");
    let results = in_turns(&mut [
        Sleeper::new("in tokio", |at| {
            reached(runtime.block_on(clock.sleep_until_async_with(at, &options)));
        }),
        Sleeper::new("in a plain block_on", |at| {
            reached(block_on(clock.sleep_until_async_with(at, &options)));
        }),
        Sleeper::new("tokio::time", |at| tokio_sleep(&runtime, left(&clock, at))),
    ]);
    let [ours, plain, usual] = &results[..] else {
        unreachable!("as many results as sleepers")
    };
    bench.ratio_at_most("time.sleep.async.p50", ours.ratio_to(usual), 0.1);
    for result in &results {
        bench.note("time.sleep.async.p50", result);
    }
    ours.early + plain.early
}

fn reached(woke: Woke<Steady>) {
    assert!(woke.is_reached(), "{woke}");
}

/// The duration for a relative sleep.
fn left(clock: &Clock<Steady>, at: Time<Steady>) -> std::time::Duration {
    let left = at - clock.now();
    std::time::Duration::from_nanos(u64::try_from(left.nanos()).unwrap_or(0))
}

#[expect(
    clippy::disallowed_methods,
    reason = "the standard library's sleep is what we are compared with"
)]
fn thread_sleep(left: std::time::Duration) {
    std::thread::sleep(left);
}

fn tokio_sleep(runtime: &Runtime, left: std::time::Duration) {
    runtime.block_on(async move {
        let at = tokio::time::Instant::now() + left;
        tokio::time::sleep_until(at).await;
    });
}

/// The smallest possible executor: this thread parks until woken.
fn block_on<F: Future>(future: F) -> F::Output {
    struct Unpark(Thread);
    impl Wake for Unpark {
        fn wake(self: std::sync::Arc<Self>) {
            self.0.unpark();
        }
    }
    let waker = Waker::from(std::sync::Arc::new(Unpark(std::thread::current())));
    let mut context = Context::from_waker(&waker);
    let mut future = pin!(future);
    loop {
        match future.as_mut().poll(&mut context) {
            Poll::Ready(output) => return output,
            Poll::Pending => std::thread::park(),
        }
    }
}
