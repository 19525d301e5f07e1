//! From the tick that makes a sleeper due to the sleeper running, against a bare futex.

use std::sync::atomic::{AtomicU32, Ordering};

use rustix::thread::futex;
use timeloom_testkit::bench::{Bench, Samples, Stopwatch, available_cores, pin_to_core};
use timeloom_time::{Clock, Duration, Ros, Steady, Time};

const WAKES: u32 = 25;
const TURNS: u32 = 61;
/// Long enough for a woken thread to sleep again.
const REST: Duration = Duration::from_micros(300);

/// Something that wakes a sleeping thread.
trait Waking: Sync {
    /// Blocks until woken for the `number`th time.
    fn sleep(&self, number: u32);
    fn wake(&self, number: u32);
}

/// A tick of an override clock.
struct Tick(Clock<Ros>);

impl Waking for Tick {
    fn sleep(&self, number: u32) {
        let woke = self.0.sleep_until(time(number));
        assert!(woke.is_reached(), "{woke}");
    }

    fn wake(&self, number: u32) {
        self.0.set_override(time(number));
    }
}

fn time(number: u32) -> Time<Ros> {
    Time::from_nanos(i64::from(number) + 1)
}

/// A bare futex.
struct Futex(AtomicU32);

impl Waking for Futex {
    fn sleep(&self, number: u32) {
        while self.0.load(Ordering::Acquire) < number {
            // An error means that the word has changed.
            let _looked = futex::wait(&self.0, futex::Flags::PRIVATE, number - 1, None);
        }
    }

    fn wake(&self, number: u32) {
        self.0.store(number, Ordering::Release);
        let woken = futex::wake(&self.0, futex::Flags::PRIVATE, 1);
        woken.expect("a futex can be woken");
    }
}

/// Reports how long a due sleeper takes to run.
pub(crate) fn measure(bench: &mut Bench) {
    let clock = Clock::new();
    clock.activate_override();
    clock.set_override(time(0));
    let (tick, futex) = (Tick(clock), Futex(AtomicU32::new(0)));
    let (mut ours, mut theirs) = (Vec::new(), Vec::new());
    for turn in 0..TURNS {
        let first = turn * WAKES + 1;
        ours.push(turn_of(&tick, first));
        theirs.push(turn_of(&futex, first));
    }
    let ratios = ours.iter().zip(&theirs).map(|(ours, theirs)| ours / theirs);
    let ratios: Samples = ratios.collect();
    let id = "time.sleep.wake.futex";
    bench.ratio_at_most(id, ratios.median(), 1.3);
    let [ours, theirs] = [ours, theirs].map(|turns| turns.into_iter().collect::<Samples>());
    bench.note(
        id,
        format_args!(
            "from tick to sleeper p50 {:.1} µs, bare futex {:.1} µs",
            ours.median() / 1e3,
            theirs.median() / 1e3
        ),
    );
}

/// The middle time from waking to awake, in nanoseconds, of the wakes from number `first` on.
///
/// Waker and sleeper have a core each: otherwise the sleeper waits for its waker to be done.
fn turn_of(waking: &impl Waking, first: u32) -> f64 {
    let numbers = first..first + WAKES;
    let cores = available_cores().expect("the system names no cores");
    let [waker_core, sleeper_core] = [0, 1].map(|number| cores[number % cores.len()]);
    let epoch = Stopwatch::start();
    std::thread::scope(|scope| {
        let awake = scope.spawn({
            let numbers = numbers.clone();
            move || {
                pin_to_core(sleeper_core).expect("a thread cannot be pinned");
                let awake = numbers.map(|number| {
                    waking.sleep(number);
                    epoch.wall()
                });
                awake.collect::<Vec<_>>()
            }
        });
        let woken = scope.spawn(move || {
            pin_to_core(waker_core).expect("a thread cannot be pinned");
            let steady = Clock::<Steady>::new();
            let woken = numbers.map(|number| {
                let rested = steady.sleep_for(REST);
                assert!(rested.is_reached(), "{rested}");
                let begin = epoch.wall();
                waking.wake(number);
                begin
            });
            woken.collect::<Vec<_>>()
        });
        let [awake, woken] = [awake, woken].map(|thread| thread.join().expect("no panic"));
        let latencies = awake.iter().zip(&woken).map(|(awake, woken)| awake - woken);
        latencies.collect::<Samples>().median()
    })
}
