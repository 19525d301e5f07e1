//! Cost of reading a clock, against the bare clock read and against the usual mutex.

#[path = "support/context_switches.rs"]
mod context_switches;
#[path = "support/pinned.rs"]
mod pinned;
#[path = "support/usual_clock.rs"]
mod usual_clock;

use std::hint::black_box;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration as StdDuration;

use pinned::loop_on_pinned_threads;
use timeloom_testkit::bench::{Bench, Measured, Rounds, Variant};
use timeloom_time::{
    Clock, ControlledClock, Duration, PlaybackRate, PlayerClock, Ros, Steady, Time, TimeBase,
    WaitOptions,
};
use usual_clock::{AtomicSim, MutexPlayer, MutexSim, monotonic};

/// Short enough that most slices pass undisturbed on a busy machine.
const SLICE: StdDuration = StdDuration::from_micros(400);
const ROUNDS: usize = 61;
const START: i64 = 1_700_000_000_000_000_000;

/// Every clock that is read: ours, and those of others.
struct Clocks {
    controlled: ControlledClock,
    /// Not at real-time rate, so that the product of rate and time is really computed.
    slowed: ControlledClock,
    sim: Clock<Ros>,
    mutex_player: MutexPlayer,
    atomic_sim: AtomicSim,
    mutex_sim: MutexSim,
}

impl Clocks {
    fn new() -> Self {
        let controlled = |rate| {
            let clock = ControlledClock::new(&TimeBase::machine(), Time::from_nanos(START));
            let rate = PlaybackRate::new(rate).expect("a usable rate");
            let controlled = clock.set_rate(rate).and_then(|()| clock.resume());
            controlled.expect("a controlled clock takes orders");
            clock
        };
        let sim = Clock::new();
        sim.activate_override();
        let clocks = Self {
            controlled: controlled(1.0),
            slowed: controlled(0.7),
            sim,
            mutex_player: MutexPlayer::new(START),
            atomic_sim: AtomicSim::new(START),
            mutex_sim: MutexSim::new(START),
        };
        clocks.set(0);
        clocks
    }

    /// Sets each of them as a source or a control does.
    fn set(&self, step: i64) {
        let time = START + step;
        self.sim.set_override(Time::from_nanos(time));
        self.atomic_sim.set(time);
        self.mutex_sim.set(time);
        self.mutex_player.set(time);
        // A new reference pair at the same rate: a write, but no jump.
        for clock in [&self.controlled, &self.slowed] {
            let written = clock.set_rate(clock.reference().rate);
            written.expect("a controlled clock takes orders");
        }
    }
}

fn main() {
    let mut bench = Bench::from_env();
    let clocks = Clocks::new();
    if bench.wants("time.read.controlled") {
        controlled(&mut bench, &clocks);
    }
    if bench.wants("time.read.sim") {
        sim(&mut bench, &clocks);
    }
    if bench.wants("time.read.writer") {
        with_writer(&mut bench, &clocks);
    }
}

/// A variant that reads a clock in a tight loop on `threads` threads.
fn read<'a, T>(name: &'a str, threads: usize, now: impl Fn() -> T + Sync + 'a) -> Variant<'a> {
    Variant::timed(name, move |iterations| {
        loop_on_pinned_threads(threads, iterations, &now)
    })
}

fn player_variants(clocks: &Clocks, threads: usize) -> Vec<Measured> {
    Rounds::new(ROUNDS, SLICE).run(&mut [
        read("controlled", threads, || black_box(clocks).controlled.now()),
        read("at rate 0.7", threads, || black_box(clocks).slowed.now()),
        read("clock_gettime", threads, monotonic),
        read("mutex and f64", threads, || {
            black_box(clocks).mutex_player.now()
        }),
        read("std Instant", threads, instant),
    ])
}

fn sim_variants(clocks: &Clocks, threads: usize) -> Vec<Measured> {
    Rounds::new(ROUNDS, SLICE).run(&mut [
        read("sim", threads, || black_box(clocks).sim.now()),
        read("flag and atomic", threads, || {
            black_box(clocks).atomic_sim.now()
        }),
        read("mutex", threads, || black_box(clocks).mutex_sim.now()),
    ])
}

#[expect(
    clippy::disallowed_methods,
    reason = "the standard library's clock is what we are compared with"
)]
fn instant() -> std::time::Instant {
    std::time::Instant::now()
}

fn controlled(bench: &mut Bench, clocks: &Clocks) {
    for threads in [1, 2] {
        let measured = player_variants(clocks, threads);
        let [ours, slowed, bare, mutex, ..] = &measured[..] else {
            unreachable!("as many results as variants")
        };
        let id = format!("time.read.controlled.{threads}t");
        bench.ratio_at_most(&id, ours.ratio_to(bare), 1.15);
        note_all(bench, &id, &measured);
        let id = format!("time.read.controlled.rate_{threads}t");
        bench.ratio_at_most(&id, slowed.ratio_to(bare), 1.15);
        if threads == 2 {
            let id = "time.read.controlled.mutex_2t";
            bench.ratio_at_least(id, mutex.ratio_to(ours), 4.0);
        }
    }
}

fn sim(bench: &mut Bench, clocks: &Clocks) {
    for threads in [1, 2] {
        let measured = sim_variants(clocks, threads);
        let [ours, plain, mutex] = &measured[..] else {
            unreachable!("as many results as variants")
        };
        let id = format!("time.read.sim.{threads}t");
        bench.ratio_at_most(&id, ours.ratio_to(plain), 2.5);
        note_all(bench, &id, &measured);
        if threads == 2 {
            bench.ratio_at_least("time.read.sim.mutex_2t", mutex.ratio_to(ours), 8.0);
        }
    }
}

/// The same two threads while a third writes all clocks a thousand times a second.
fn with_writer(bench: &mut Bench, clocks: &Clocks) {
    let stop = AtomicBool::new(false);
    std::thread::scope(|scope| {
        scope.spawn(|| write_at_1_khz(clocks, &stop));
        for measured in [player_variants(clocks, 2), sim_variants(clocks, 2)] {
            note_all(bench, "time.read.writer.2t", &measured);
        }
        stop.store(true, Ordering::Relaxed);
    });
}

fn write_at_1_khz(clocks: &Clocks, stop: &AtomicBool) {
    let steady = Clock::<Steady>::new();
    let mut at = steady.now();
    let mut step = 0;
    while !stop.load(Ordering::Relaxed) {
        at = at.saturating_add(Duration::from_millis(1));
        let woke = steady.sleep_until_with(at, &WaitOptions::new());
        assert!(woke.is_reached(), "{woke}");
        step += 1_000_000;
        clocks.set(step);
    }
}

fn note_all(bench: &mut Bench, id: &str, measured: &[Measured]) {
    let figures: Vec<_> = measured
        .iter()
        .map(|one| format!("{} {:.1} ns", one.name(), one.median()))
        .collect();
    bench.note(id, figures.join(", "));
}
