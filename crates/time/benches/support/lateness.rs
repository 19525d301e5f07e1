//! Sleeps at 1 kHz, in turns, and the lateness of each.

use std::fmt;

use timeloom_testkit::bench::{Samples, Stopwatch};
use timeloom_time::{Clock, Duration, Steady, Time};

use crate::cpu::process_cpu;

const PERIOD: Duration = Duration::from_millis(1);
/// Sleeps per turn: so few that all ways to sleep meet the same load.
const SLEEPS: usize = 50;
const TURNS: usize = 61;

/// One way to sleep until a time.
pub(crate) struct Sleeper<'a> {
    name: &'static str,
    sleep: Box<dyn FnMut(Time<Steady>) + 'a>,
}

impl<'a> Sleeper<'a> {
    pub(crate) fn new(name: &'static str, sleep: impl FnMut(Time<Steady>) + 'a) -> Self {
        Self {
            name,
            sleep: Box::new(sleep),
        }
    }
}

/// The results of one way to sleep.
pub(crate) struct Lateness {
    name: &'static str,
    /// The middle lateness of each turn, in nanoseconds.
    turns: Vec<f64>,
    all: Vec<f64>,
    /// Share of a core that the process used, per turn.
    cpu: Vec<f64>,
    /// Sleeps that ended before their time.
    pub(crate) early: u64,
    /// Periods that went by while sleeping.
    missed: u64,
}

/// Runs all sleepers at 1 kHz, turn by turn.
pub(crate) fn in_turns(sleepers: &mut [Sleeper<'_>]) -> Vec<Lateness> {
    let mut results: Vec<_> = sleepers
        .iter()
        .map(|sleeper| Lateness {
            name: sleeper.name,
            turns: Vec::new(),
            all: Vec::new(),
            cpu: Vec::new(),
            early: 0,
            missed: 0,
        })
        .collect();
    for _ in 0..TURNS {
        for (sleeper, result) in sleepers.iter_mut().zip(&mut results) {
            result.turn(&mut sleeper.sleep);
        }
    }
    results
}

impl Lateness {
    fn turn(&mut self, sleep: &mut dyn FnMut(Time<Steady>)) {
        let clock = Clock::<Steady>::new();
        let (wall, cpu) = (Stopwatch::start(), process_cpu());
        let mut late = Vec::with_capacity(SLEEPS);
        let mut at = clock.now() + PERIOD;
        for _ in 0..SLEEPS {
            sleep(at);
            let now = clock.now();
            self.early += u64::from(now < at);
            late.push((now - at).nanos() as f64);
            at += PERIOD;
            while at <= clock.now() {
                self.missed += 1;
                at += PERIOD;
            }
        }
        self.cpu.push((process_cpu() - cpu) / wall.wall());
        self.turns.push(samples(&late).median());
        self.all.append(&mut late);
    }

    /// The middle lateness, in nanoseconds.
    pub(crate) fn p50(&self) -> f64 {
        samples(&self.all).median()
    }

    /// The process's share of a core.
    pub(crate) fn cpu_percent(&self) -> f64 {
        100.0 * samples(&self.cpu).median()
    }

    /// The middle of the ratios within the turns.
    pub(crate) fn ratio_to(&self, other: &Self) -> f64 {
        let pairs = self.turns.iter().zip(&other.turns);
        let ratios: Samples = pairs.map(|(ours, theirs)| ours / theirs).collect();
        ratios.median()
    }
}

impl fmt::Display for Lateness {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let late = samples(&self.all);
        let [p50, p90, p99] = [50.0, 90.0, 99.0].map(|percent| late.percentile(percent) / 1e3);
        write!(
            f,
            "{}: late by p50 {p50:.1} µs, p90 {p90:.1} µs, p99 {p99:.0} µs; {} of {} periods missed; {:.1} % CPU",
            self.name,
            self.missed,
            late.len(),
            self.cpu_percent(),
        )
    }
}

fn samples(values: &[f64]) -> Samples {
    values.iter().copied().collect()
}
