//! Every simulated family against the anchor and against the bars of timesync.md §7; bounds, cost and memory.

use std::hint::black_box;
use std::ops::Range;
use std::time::Duration as StdDuration;

use timeloom_sync::simulate::{
    Family, HostClock, Scenario, Score, score, score_bare, score_smoothed,
};
use timeloom_sync::{DeviceTime, Limits, Method, PassiveSample, Sample, SensorClock};
use timeloom_testkit::bench::{Bench, Measured, Rounds, Variant};
use timeloom_time::Time;

/// Not those that anything was tuned on.
const SEEDS: Range<u64> = 7_001..7_006;
const SLICE: StdDuration = StdDuration::from_millis(2);
const ROUNDS: usize = 31;

fn main() {
    let mut bench = Bench::from_env();
    let mut total = Total::default();
    for family in Family::ALL {
        let id = short_name(*family);
        let wanted = [format!("sync.{id}"), "sync.all".to_owned()];
        if wanted.iter().any(|id| bench.wants(id)) {
            compare(&mut bench, *family, id, &mut total);
        }
    }
    total.report(&mut bench);
    if bench.wants("sync.cost") {
        cost(&mut bench);
    }
    if bench.wants("sync.memory") {
        memory(&mut bench);
    }
}

/// The part of the name before the first dash: `p2`.
fn short_name(family: Family) -> &'static str {
    family.name().split('-').next().unwrap_or_default()
}

/// p99 of timesync.md §7 in microseconds, where it has one.
fn bar_us(family: Family) -> Option<f64> {
    Some(match family {
        Family::QuietUdp => 15.0,
        Family::LoadedUdp | Family::HostStep => 35.0,
        Family::CoalescedTcp => 55.0,
        Family::Loaded40Hz => 85.0,
        Family::Loaded10Hz => 130.0,
        Family::Loaded1kHz => 30.0,
        Family::Congested => 700.0,
        Family::PathShift => 75.0,
        Family::Warming640Hz | Family::Reboot => 40.0,
        Family::Cooling40Hz => 110.0,
        Family::AsymmetricRequests => 500.0,
        _ => return None,
    })
}

/// The families where the 60 s hull is the baseline of §7.
const AGAINST_HULL: [Family; 7] = [
    Family::QuietUdp,
    Family::LoadedUdp,
    Family::CoalescedTcp,
    Family::Loaded40Hz,
    Family::Loaded10Hz,
    Family::Loaded1kHz,
    Family::KernelStamps,
];

/// What all families have in common.
#[derive(Default)]
struct Total {
    evaluations: u64,
    bound_violations: u64,
    backwards: u64,
    families: f64,
    /// Sums of the logarithms of smoothed by live: medians, 99th percentiles.
    smoothed: (f64, f64),
}

impl Total {
    fn add(&mut self, live: &[Score], smoothed: &[Score]) {
        for score in live {
            self.evaluations += score.evaluations;
            self.bound_violations += score.bound_violations;
            self.backwards += score.backwards;
        }
        let ratio = |of: fn(&Score) -> f64| {
            let sum = |scores: &[Score]| scores.iter().map(of).sum::<f64>();
            (sum(smoothed) / sum(live)).ln()
        };
        self.families += 1.0;
        self.smoothed.0 += ratio(|score| score.p50_ns);
        self.smoothed.1 += ratio(|score| score.p99_ns);
    }

    fn report(&self, bench: &mut Bench) {
        if self.evaluations == 0 {
            return;
        }
        bench.exactly_zero("sync.all.bound_violations", self.bound_violations);
        bench.exactly_zero("sync.all.backwards", self.backwards);
        bench.note(
            "sync.all.bound_violations",
            format_args!("of {} evaluations", self.evaluations),
        );
        let mean = |sum: f64| (sum / self.families).exp();
        bench.ratio_at_most("sync.all.smoothed_p50", mean(self.smoothed.0), 1.0);
        bench.ratio_at_most("sync.all.smoothed_p99", mean(self.smoothed.1), 1.0);
    }
}

/// The worst p99 of all seeds, in microseconds.
fn worst(scores: &[Score]) -> f64 {
    scores.iter().map(|score| score.p99_ns).fold(0.0, f64::max) / 1e3
}

fn compare(bench: &mut Bench, family: Family, id: &str, total: &mut Total) {
    let scenario = family.scenario();
    let limits = Limits::default();
    let with = |method: Method| {
        let clock = family.host_clock();
        let one = |seed| score(&scenario, seed, method.clock(limits), clock);
        SEEDS.map(one).collect::<Vec<Score>>()
    };
    // As the driver does it: on the system clock, without anything around.
    let bare = |method: Method| {
        let estimator = || method.estimator(&limits);
        let one = |seed| score_bare(&scenario, seed, estimator(), HostClock::System);
        worst(&SEEDS.map(one).collect::<Vec<Score>>())
    };
    let live = with(Method::Envelope);
    let smoothed: Vec<Score> = SEEDS
        .filter_map(|seed| score_smoothed(&scenario, seed, &limits).ok())
        .collect();
    total.add(&live, &smoothed);
    let (ours, smoothed) = (worst(&live), worst(&smoothed));
    let (mean, regression) = (bare(Method::Mean), bare(Method::Regression));
    if family.has_stable_floor() {
        bench.ratio_at_least(&format!("sync.{id}.anchor_mean"), mean / ours, 50.0);
        bench.ratio_at_least(
            &format!("sync.{id}.anchor_regression"),
            regression / ours,
            50.0,
        );
    }
    if let Some(bar) = bar_us(family) {
        bench.ratio_at_most(&format!("sync.{id}.bar"), ours / bar, 1.0);
    }
    if AGAINST_HULL.contains(&family) {
        let hull = worst(&with(Method::Hull));
        bench.ratio_at_most(&format!("sync.{id}.hull"), ours / hull, 1.3);
    }
    bench.note(
        &format!("sync.{id}"),
        format_args!(
            "{family}: p99 {ours:.1} µs, smoothed {smoothed:.1} µs, anchor mean {mean:.0} µs, regression {regression:.0} µs"
        ),
    );
}

/// A packet at 1 kHz whose delay is 300 µs and a little.
fn packet(number: i64) -> Sample {
    let event = number * 1_000_000;
    let arrival = event + 300_000 + number * 7_919 % 1_000 * 1_000;
    Sample::Passive(PassiveSample::new(
        DeviceTime::from_nanos(event),
        Time::from_nanos(arrival),
    ))
}

fn cost(bench: &mut Bench) {
    let mut measured: Vec<(Method, Measured, Measured)> = Vec::new();
    for method in [Method::Envelope, Method::Mean] {
        let mut clock = method.clock(Limits::default());
        let mut number = 0;
        for _ in 0..600_000 {
            number += 1;
            clock.push(&packet(number)).expect("possible samples");
        }
        let reader = {
            let mut clock = method.clock(Limits::default());
            for number in 0..60_000 {
                clock.push(&packet(number)).expect("possible samples");
            }
            clock
        };
        let mut results = Rounds::new(ROUNDS, SLICE).run(&mut [
            Variant::looped("sample", || {
                number += 1;
                clock.push(black_box(&packet(number))).is_ok()
            }),
            Variant::looped("conversion", || {
                reader.peek(black_box(DeviceTime::from_nanos(60_000_000_000)))
            }),
        ]);
        let conversion = results.pop().expect("two variants");
        let sample = results.pop().expect("two variants");
        measured.push((method, sample, conversion));
    }
    for (method, sample, conversion) in &measured {
        bench.note(
            &format!("sync.cost.{method}"),
            format_args!(
                "{:.0} ns per sample at 1 kHz, {:.0} ns per conversion",
                sample.median(),
                conversion.median()
            ),
        );
    }
    if let [(_, ours, _), (_, anchor, _)] = &measured[..] {
        bench.ratio_at_most("sync.cost.sample", ours.ratio_to(anchor), 3.0);
    }
}

/// A day of samples at 1 kHz, on simulated time.
fn memory(bench: &mut Bench) {
    let scenario = Scenario {
        duration_s: 86_400.0,
        rate_hz: Some(1_000.0),
        ..Scenario::default()
    };
    let mut clock = SensorClock::default();
    let mut after_an_hour = 0;
    let mut samples = 0_u64;
    for simulated in scenario.simulate(SEEDS.start) {
        samples += u64::from(clock.push(&simulated.sample).is_ok());
        if simulated.at_s < 3_600.0 {
            after_an_hour = clock.memory();
        }
    }
    let grown = clock.memory().saturating_sub(after_an_hour) as u64;
    bench.exactly_zero("sync.memory.growth", grown);
    bench.note(
        "sync.memory.growth",
        format_args!("{after_an_hour} bytes, after an hour as after {samples} samples of a day"),
    );
}
