//! A day of clock time against exact fractions.

use timeloom_testkit::bench::Bench;
use timeloom_time::{
    ControlledClock, Duration, PlaybackRate, PlayerClock, Segment, Time, VirtualTime,
};

const START: i64 = 1_700_000_000_000_000_000;
const DAY: i64 = 24 * 3_600 * 1_000_000_000;
/// About a second, and not a round number, so that every digit takes part.
const STEP: i64 = 999_999_937;
/// Common rates, as numerator and denominator.
const RATES: [(i32, i32); 10] = [
    (1, 1),
    (1, 10),
    (1, 3),
    (1, 2),
    (7, 10),
    (11, 10),
    (3, 2),
    (2, 1),
    (10, 3),
    (10, 1),
];

pub(crate) fn soak(bench: &mut Bench) {
    let worst = RATES.map(drift).into_iter().max().unwrap_or(i64::MAX);
    let id = "time.soak.drift.24h_ns";
    bench.ratio_at_most(id, worst as f64, 1.0);
    bench.note(id, format_args!("the worst of {} rates", RATES.len()));

    let id = "time.soak.early_conversions";
    let (mut early, mut naive, mut tried) = (0, 0, 0_u32);
    for rate in RATES {
        let (of_ours, of_naive, of_rate) = early_conversions(rate);
        early += of_ours;
        naive += of_naive;
        tried += of_rate;
    }
    bench.exactly_zero(id, early);
    bench.note(
        id,
        format_args!(
            "clock time to steady time and back, {tried} times; in floating point {:.1} % come out early",
            100.0 * naive as f64 / f64::from(tried)
        ),
    );
}

fn rate_of((numerator, denominator): (i32, i32)) -> PlaybackRate {
    let rate = f64::from(numerator) / f64::from(denominator);
    PlaybackRate::new(rate).expect("a usable rate")
}

/// The largest error of a controlled clock in a day, in nanoseconds.
fn drift(rate: (i32, i32)) -> i64 {
    let world = VirtualTime::manual();
    let clock = ControlledClock::new(&world.base(), Time::from_nanos(START));
    let controlled = clock.set_rate(rate_of(rate)).and_then(|()| clock.resume());
    controlled.expect("a controlled clock takes orders");
    let (numerator, denominator) = (i128::from(rate.0), i128::from(rate.1));
    let mut worst = 0;
    for step in 1..=DAY / STEP {
        world.advance(Duration::from_nanos(STEP));
        let exact = i128::from(START) + i128::from(step * STEP) * numerator / denominator;
        let error = (i128::from(clock.now().nanos()) - exact).abs();
        worst = worst.max(i64::try_from(error).unwrap_or(i64::MAX));
    }
    worst
}

/// Number of conversions of a clock time to a steady time that came out early: ours, those in floating point, and of
/// how many.
fn early_conversions(rate: (i32, i32)) -> (u64, u64, u32) {
    let steady_ref = 12_345_678_901;
    let segment = Segment::running(START, steady_ref, rate_of(rate));
    let (mut early, mut naive, mut tried) = (0, 0, 0);
    for step in 1..=DAY / STEP {
        let target = START + step * STEP;
        let reached = segment.reach(target).expect("a running clock gets there");
        early += u64::from(segment.eval(reached) < target);
        let reached = in_floating_point(target, steady_ref, rate_of(rate).get());
        naive += u64::from(segment.eval(reached) < target);
        tried += 1;
    }
    (early, naive, tried)
}

#[expect(
    clippy::cast_possible_truncation,
    reason = "the loss of nanoseconds is what is counted"
)]
fn in_floating_point(target: i64, steady_ref: i64, rate: f64) -> i64 {
    steady_ref + ((target - START) as f64 / rate) as i64
}
