//! A clock stepped one by one, and sleepers that must wake at every step.
//!
//! The stepper continues when all sleepers have answered, so a lost wake-up cannot hide behind the next step: it shows
//! as a missing answer, and the watchdog counts it.

use std::ops::RangeInclusive;
use std::sync::atomic::{AtomicI64, Ordering};

use timeloom_testkit::bench::{Bench, Stopwatch, available_cores, pin_to_core};
use timeloom_time::{Clock, Ros, Time};

use crate::context_switches::context_switches;
use crate::unlocked_clock::UnlockedClock;

/// Per number of sleepers: 400,000 in all.
const STEPS: u32 = 200_000;
const STEPS_OF_USUAL: u32 = 150_000;
/// In turns of a busy loop; about as long as it takes to go to sleep.
const LONGEST_DELAY: i64 = 8;
/// The longest time for an answer, in nanoseconds, before its wake-up counts as lost. A busy machine delays by tens of
/// milliseconds, never by this.
const PATIENCE: f64 = 5e9;

/// A clock that is moved by hand.
pub(crate) trait Steps: Sync {
    fn step_to(&self, time: i64);
    /// Blocks until the clock shows `time`.
    fn sleep_until(&self, time: i64);
}

impl Steps for Clock<Ros> {
    fn step_to(&self, time: i64) {
        self.set_override(Time::from_nanos(time));
    }

    fn sleep_until(&self, time: i64) {
        let woke = Self::sleep_until(self, Time::from_nanos(time));
        assert!(woke.is_reached(), "{woke}");
    }
}

/// The result of a soak.
struct Soaked {
    lost: u64,
    /// Number of times that sleepers really gave up their core.
    parks: u64,
}

pub(crate) fn soak(bench: &mut Bench) {
    let id = "time.soak.lost_wakeups";
    let mut lost = 0;
    // One sleeper: most steps hit it while it goes to sleep. Two: one is always asleep, and each must be found.
    for sleepers in [1, 2] {
        let clock = Clock::<Ros>::new();
        clock.activate_override();
        clock.set_override(Time::from_nanos(1));
        let soaked = step(&clock, sleepers, STEPS, PATIENCE);
        lost += soaked.lost;
        bench.note(
            id,
            format_args!(
                "{STEPS} steps, sleepers: {sleepers}, {} real parks",
                soaked.parks
            ),
        );
    }
    bench.exactly_zero(id, lost);

    // The same with a clock that is known to lose some: it shows that this soak would notice.
    let Soaked { lost, parks } = step(&UnlockedClock::default(), 1, STEPS_OF_USUAL, 0.1e9);
    bench.note(
        id,
        format_args!(
            "the usual clock, which notifies without the lock: {lost} lost in {STEPS_OF_USUAL} steps, {parks} real parks"
        ),
    );
}

fn step(clock: &impl Steps, sleepers: usize, steps: u32, patience: f64) -> Soaked {
    let answers: Vec<AtomicI64> = (0..sleepers).map(|_| AtomicI64::new(0)).collect();
    // At 1 the clock starts, and that is a change of source.
    let times = 2..=i64::from(steps) + 1;
    // Stepper and sleepers on different cores: on one core a sleeper always gets to sleep before the next step.
    let cores = available_cores().expect("the system names no cores");
    let [stepper_core, sleeper_core] = [0, 1].map(|number| cores[number % cores.len()]);
    std::thread::scope(|scope| {
        let mut sleepers = Vec::new();
        for answer in &answers {
            let times = times.clone();
            sleepers.push(scope.spawn(move || {
                pin_to_core(sleeper_core).expect("a thread cannot be pinned");
                sleep_at_each(clock, times, answer)
            }));
        }
        let stepper = scope.spawn(|| {
            pin_to_core(stepper_core).expect("a thread cannot be pinned");
            step_through(clock, times.clone(), &answers, patience)
        });
        let lost = stepper.join().expect("the stepper panicked");
        // A sleeper that still sleeps lost a wake-up that was counted; wake it until it is through.
        while sleepers.iter().any(|sleeper| !sleeper.is_finished()) {
            clock.step_to(*times.end());
            std::thread::yield_now();
        }
        let parks = sleepers
            .into_iter()
            .map(|sleeper| sleeper.join().expect("a sleeper panicked"));
        Soaked {
            lost,
            parks: parks.sum(),
        }
    })
}

/// Sleeps until each of the times and answers it; returns how often the thread really gave up its core.
fn sleep_at_each(clock: &impl Steps, times: RangeInclusive<i64>, answer: &AtomicI64) -> u64 {
    let before = context_switches("voluntary");
    for time in times {
        clock.sleep_until(time);
        answer.store(time, Ordering::Release);
    }
    context_switches("voluntary") - before
}

/// Steps from time to time as the answers arrive; returns the number of missing ones.
fn step_through(
    clock: &impl Steps,
    times: RangeInclusive<i64>,
    answers: &[AtomicI64],
    patience: f64,
) -> u64 {
    let mut lost = 0;
    for time in times {
        clock.step_to(time);
        lost += missing(answers, time, patience);
        // Hits another moment of the last sleeper's way back to sleep at each step.
        for _ in 0..time.wrapping_mul(37) % LONGEST_DELAY {
            std::hint::spin_loop();
        }
    }
    lost
}

/// Waits until all have answered `time`; returns the number that did not within `patience`. The next step wakes these
/// too.
fn missing(answers: &[AtomicI64], time: i64, patience: f64) -> u64 {
    let waiting = Stopwatch::start();
    let mut looks = 0_u32;
    loop {
        let answered = answers
            .iter()
            .filter(|answer| answer.load(Ordering::Acquire) >= time);
        let behind = answers.len() - answered.count();
        looks += 1;
        if behind == 0 || (looks.is_multiple_of(1024) && waiting.wall() > patience) {
            return behind as u64;
        }
        if looks.is_multiple_of(1024) {
            // On a machine with one core the sleepers need it.
            std::thread::yield_now();
        }
        std::hint::spin_loop();
    }
}
