//! Cost of a sample of a time source: with many sleepers that are not due, and with many clocks.

#[path = "support/cpu.rs"]
mod cpu;
#[path = "support/wake_all.rs"]
mod wake_all;

use std::thread::JoinHandle;
use std::time::Duration as StdDuration;

use cpu::process_cpu;
use timeloom_testkit::bench::{Bench, Measured, Rounds, Samples, Stopwatch, Variant};
use timeloom_time::{
    CancelToken, Clock, Duration, Ros, SourceId, Steady, Time, TimeBase, TimeHub, WaitOptions, Woke,
};
use wake_all::WakeAllClock;

/// The time that every sleeper waits for: later than any tick of this benchmark.
const NEVER: Time<Ros> = Time::from_nanos(i64::MAX - 1);
const PERIOD: Duration = Duration::from_millis(1);
/// Samples per turn of the two hubs: so few that both meet the same load.
const SAMPLES: u32 = 50;
const ROUNDS: usize = 81;

fn main() {
    let mut bench = Bench::from_env();
    if bench.wants("time.tick.undue") || bench.wants("time.tick.wake_all") {
        undue(&mut bench);
    }
    if bench.wants("time.tick.clocks") {
        clocks(&mut bench);
    }
}

/// An override clock with threads that sleep on it for a time that is never reached.
struct Sleepers {
    clock: Clock<Ros>,
    cancel: CancelToken,
    threads: Vec<JoinHandle<Woke<Ros>>>,
    time: i64,
}

impl Sleepers {
    fn new(count: usize) -> Self {
        let clock = Clock::new();
        clock.activate_override();
        clock.set_override(Time::from_nanos(1));
        let cancel = CancelToken::new();
        let options = WaitOptions::new().cancel(&cancel);
        let threads = (0..count)
            .map(|_| {
                let (clock, options) = (clock.clone(), options.clone());
                std::thread::spawn(move || clock.sleep_until_with(NEVER, &options))
            })
            .collect();
        Self {
            clock,
            cancel,
            threads,
            time: 1,
        }
    }

    fn tick(&mut self) {
        self.time += PERIOD.nanos();
        self.clock.set_override(Time::from_nanos(self.time));
    }

    fn end(self) {
        self.cancel.cancel();
        for thread in self.threads {
            let woke = thread.join().expect("a sleeper panicked");
            assert_eq!(woke, Woke::Cancelled, "no tick concerned it");
        }
    }
}

fn undue(bench: &mut Bench) {
    let (mut one, mut hundred) = (Sleepers::new(1), Sleepers::new(100));
    let mut usual = WakeAllClock::with_sleepers(100);
    // Until all of them sleep.
    pause(Duration::from_millis(100));

    let measured = Rounds::new(401, StdDuration::from_micros(200)).run(&mut [
        Variant::looped("100 sleepers", || hundred.tick()),
        Variant::looped("1 sleeper", || one.tick()),
    ]);
    let [with_hundred, with_one] = &measured[..] else {
        unreachable!("as many results as variants")
    };
    let id = "time.tick.undue.100";
    bench.ratio_at_most(id, with_hundred.ratio_to(with_one), 2.0);
    bench.ratio_at_most("time.tick.undue.100_us", with_hundred.median() / 1e3, 1.0);
    bench.note(id, figures(&measured));

    let (ours, theirs) = at_1_khz(&mut hundred, &mut usual);
    bench.ratio_at_least(
        "time.tick.wake_all.100",
        theirs.median() / ours.median(),
        500.0,
    );
    bench.note(
        "time.tick.wake_all.100",
        format_args!(
            "at 1 kHz with 100 undue sleepers: ours p50 {:.2} µs, wake all {:.1} µs",
            ours.median() / 1e3,
            theirs.median() / 1e3,
        ),
    );
    one.end();
    hundred.end();
    usual.end();
}

/// Cost of a tick for the source at the usual pace, when caches are cold and all sleepers sleep again.
fn at_1_khz(ours: &mut Sleepers, usual: &mut WakeAllClock) -> (Samples, Samples) {
    let timed = |tick: &mut dyn FnMut()| {
        let stopwatch = Stopwatch::start();
        tick();
        stopwatch.wall()
    };
    let (mut of_ours, mut of_usual) = (Vec::new(), Vec::new());
    for _ in 0..300 {
        pause(PERIOD);
        of_ours.push(timed(&mut || ours.tick()));
        of_usual.push(timed(&mut || usual.tick()));
    }
    (
        of_ours.into_iter().collect(),
        of_usual.into_iter().collect(),
    )
}

/// A hub with clocks that a loop at 1 kHz feeds.
struct Fed {
    hub: TimeHub,
    clocks: Vec<Clock<Ros>>,
    time: i64,
}

impl Fed {
    fn new(count: usize) -> Self {
        let hub = TimeHub::new(&TimeBase::machine());
        let clocks = (0..count).map(|_| hub.clock()).collect();
        hub.activate();
        Self {
            hub,
            clocks,
            time: 1,
        }
    }

    /// The process's CPU time for this many samples, one each millisecond.
    fn feed(&mut self, samples: u32) -> f64 {
        let sink = self.hub.sink(SourceId::named("benchmark"));
        let steady = Clock::<Steady>::new();
        let before = process_cpu();
        let mut at = steady.now();
        for _ in 0..samples {
            at = at.saturating_add(PERIOD).max(steady.now());
            let woke = steady.sleep_until(at);
            assert!(woke.is_reached(), "{woke}");
            self.time += PERIOD.nanos();
            sink.tick(Time::from_nanos(self.time));
        }
        let used = process_cpu() - before;
        let behind = self
            .clocks
            .iter()
            .filter(|clock| clock.now().nanos() != self.time);
        assert_eq!(behind.count(), 0, "every clock shows the last sample");
        used
    }
}

fn clocks(bench: &mut Bench) {
    let (mut one, mut fifty) = (Fed::new(1), Fed::new(50));
    let (mut of_one, mut of_fifty) = (Vec::new(), Vec::new());
    for _ in 0..ROUNDS {
        of_fifty.push(fifty.feed(SAMPLES));
        of_one.push(one.feed(SAMPLES));
    }
    let ratios = of_fifty.iter().zip(&of_one);
    let ratios: Samples = ratios.map(|(fifty, one)| fifty / one).collect();
    let share = |used: Vec<f64>| {
        let used: Samples = used.into_iter().collect();
        100.0 * used.median() / (f64::from(SAMPLES) * PERIOD.nanos() as f64)
    };
    let id = "time.tick.clocks.50";
    bench.ratio_at_most(id, ratios.median(), 1.5);
    bench.note(
        id,
        format_args!(
            "CPU of the process at 1 kHz: 50 clocks {:.2} %, 1 clock {:.2} %",
            share(of_fifty),
            share(of_one),
        ),
    );
}

fn pause(duration: Duration) {
    let woke = Clock::<Steady>::new().sleep_for(duration);
    assert!(woke.is_reached(), "{woke}");
}

fn figures(measured: &[Measured]) -> String {
    let figures: Vec<_> = measured
        .iter()
        .map(|one| format!("{} {:.0} ns", one.name(), one.median()))
        .collect();
    figures.join(", ")
}
