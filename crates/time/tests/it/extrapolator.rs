//! Extrapolated time against simulated sources whose true time is known at every instant.

use proptest::prelude::*;
use timeloom_time::{Extrapolator, Update};

const MS: i64 = 1_000_000;

/// One stretch of a source: it runs at `rate` for `steady` nanoseconds, then publishes a sample,
/// after an optional jump.
#[derive(Debug, Clone, Copy)]
struct Stretch {
    steady: i64,
    rate: f64,
    jump: i64,
    delay: i64,
}

impl Stretch {
    fn step(&self) -> i64 {
        (self.steady as f64 * self.rate).round_to_nanos()
    }
}

trait RoundToNanos {
    fn round_to_nanos(self) -> i64;
}

impl RoundToNanos for f64 {
    #[expect(
        clippy::cast_possible_truncation,
        reason = "simulated times are far below the range of an i64"
    )]
    fn round_to_nanos(self) -> i64 {
        self.round() as i64
    }
}

/// The true time of a source: points `(steady, source)` with straight lines between them. A jump
/// is two points at the same steady time.
#[derive(Debug, Default)]
struct Truth(Vec<(i64, i64)>);

impl Truth {
    fn at(&self, steady: i64) -> i64 {
        let after = self.0.partition_point(|&(s, _)| s <= steady);
        let (s0, r0) = self.0[after - 1];
        match self.0.get(after) {
            Some(&(s1, r1)) => {
                let part = i128::from(r1 - r0) * i128::from(steady - s0) / i128::from(s1 - s0);
                r0 + i64::try_from(part).expect("between two points")
            }
            None => r0,
        }
    }
}

/// A sample on its way: its arrival, its time, and how far the source ran since the last one, without jumps.
#[derive(Debug, Clone, Copy)]
struct Arrival {
    steady: i64,
    ros: i64,
    step: i64,
}

fn simulate(stretches: &[Stretch]) -> (Truth, Vec<Arrival>) {
    let (mut steady, mut ros) = (1_000 * MS, 5_000 * MS);
    let mut truth = Truth(vec![(steady, ros)]);
    let step = 0;
    let mut arrivals = vec![Arrival { steady, ros, step }];
    for stretch in stretches {
        steady += stretch.steady;
        ros += stretch.step();
        truth.0.push((steady, ros));
        if stretch.jump != 0 {
            ros += stretch.jump;
            truth.0.push((steady, ros));
        }
        // Samples keep their order, as those of one publisher do.
        let earliest = arrivals.last().map_or(steady, |last| last.steady);
        arrivals.push(Arrival {
            steady: (steady + stretch.delay).max(earliest),
            ros,
            step: stretch.step(),
        });
    }
    (truth, arrivals)
}

fn interval() -> impl Strategy<Value = i64> {
    prop_oneof![3 => Just(10 * MS), 1 => MS..100 * MS]
}

fn source_rate() -> impl Strategy<Value = f64> {
    prop_oneof![
        2 => Just(1.0),
        2 => (-2.0..2.0_f64).prop_map(|exponent| 10_f64.powf(exponent)),
        1 => Just(0.0),
    ]
}

/// A source that keeps one rate for a while, then another, pauses now and then.
fn source(delay: i64) -> impl Strategy<Value = Vec<Stretch>> {
    let phase = (interval(), source_rate(), 1_usize..15).prop_flat_map(move |(steady, rate, n)| {
        prop::collection::vec(
            (0..=delay).prop_map(move |delay| Stretch {
                steady,
                rate,
                jump: 0,
                delay,
            }),
            n,
        )
    });
    prop::collection::vec(phase, 1..6).prop_map(|phases| phases.concat())
}

/// Steady times to check between two arrivals, both ends included.
fn probes(from: i64, to: i64) -> impl Iterator<Item = i64> {
    (0..=20).map(move |part| from + (to - from) * part / 20)
}

/// Feeds the arrivals and checks time between them. `delayed` is the most that the source
/// advances while a sample is under way.
fn check(truth: &Truth, arrivals: &[Arrival], delayed: i64) -> Result<(), TestCaseError> {
    let mut clock = Extrapolator::<8>::new();
    let mut shown = i64::MIN;
    let (mut last_step, mut largest_step) = (0, 0);
    for pair in arrivals.windows(2) {
        let [arrival, next] = [pair[0], pair[1]];
        let before = clock.segment();
        let update = clock.sample(arrival.steady, arrival.ros);
        let segment = update.segment();
        // The same reading twice is not a step.
        if before != Some(segment) {
            last_step = before.map_or(0, |before| arrival.ros - before.ros_ref());
        }
        if let Update::Start(_) | Update::Jump(_) = update {
            prop_assert_eq!(segment.eval(arrival.steady), arrival.ros);
            (shown, largest_step) = (i64::MIN, 0);
        } else {
            largest_step = largest_step.max(last_step);
        }
        prop_assert!(segment.floor() <= segment.cap() && segment.rate() >= 0.0);
        let ahead_limit = shown.max(arrival.ros + last_step.max(0));
        let behind_limit = next.step + delayed + 1;
        for steady in probes(arrival.steady, next.steady) {
            let now = segment.eval(steady);
            prop_assert!(now >= shown, "went back from {shown} to {now}");
            prop_assert!(now >= arrival.ros, "{now} is before the last sample");
            prop_assert!(
                now <= ahead_limit.max(arrival.ros),
                "{now} is too far ahead"
            );
            shown = now;
            // At the instant of the next sample a jump has already happened.
            if steady < next.steady {
                let error = now - truth.at(steady);
                prop_assert!(error <= largest_step, "{error} ahead of the truth");
                prop_assert!(-error <= behind_limit, "{error} behind the truth");
            }
        }
    }
    Ok(())
}

proptest! {
    #[test]
    fn the_error_is_at_most_one_sample_period(stretches in source(0)) {
        let (truth, arrivals) = simulate(&stretches);
        check(&truth, &arrivals, 0)?;
    }

    #[test]
    fn delayed_samples_add_the_advance_of_the_source(stretches in source(8 * MS)) {
        let (truth, arrivals) = simulate(&stretches);
        let fastest = stretches.iter().map(|stretch| stretch.rate).fold(0.0, f64::max);
        check(&truth, &arrivals, (8.0 * MS as f64 * fastest).round_to_nanos() + 1)?;
    }

    #[test]
    fn jumps_of_the_source_are_reported_and_nothing_else_is(
        stretches in source(0),
        jumps in prop::collection::vec((any::<prop::sample::Index>(), -100_000_i64..100_000), 0..4),
    ) {
        // Two plain steps first: without them, a far jump is a very fast source.
        let plain = Stretch { steady: 10 * MS, rate: 1.0, jump: 0, delay: 0 };
        let mut stretches = [vec![plain; 2], stretches].concat();
        for (index, millis) in jumps {
            // Further than any step at these rates, so that it is a jump whatever came before.
            let far = if millis < 0 { -20_000 } else { 100_000 };
            index.get_mut(&mut stretches[2..]).jump = (millis + far) * MS;
        }
        let (truth, arrivals) = simulate(&stretches);
        check(&truth, &arrivals, 0)?;
        let mut clock = Extrapolator::<8>::new();
        prop_assert!(matches!(clock.sample(arrivals[0].steady, arrivals[0].ros), Update::Start(_)));
        for (stretch, arrival) in stretches.iter().zip(&arrivals[1..]) {
            let jumped = matches!(clock.sample(arrival.steady, arrival.ros), Update::Jump(_));
            prop_assert_eq!(jumped, stretch.jump != 0, "at {:?}", arrival);
        }
    }

    #[test]
    fn a_constant_rate_is_followed_to_a_few_nanoseconds(
        steady in interval(),
        exponent in -2.0..2.0_f64,
        count in 2_usize..40,
    ) {
        let stretch = Stretch { steady, rate: 10_f64.powf(exponent), jump: 0, delay: 0 };
        let (truth, arrivals) = simulate(&vec![stretch; count]);
        let mut clock = Extrapolator::<8>::new();
        clock.sample(arrivals[0].steady, arrivals[0].ros);
        for pair in arrivals[1..].windows(2) {
            let segment = clock.sample(pair[0].steady, pair[0].ros).segment();
            for steady in probes(pair[0].steady, pair[1].steady) {
                let error = (segment.eval(steady) - truth.at(steady)).abs();
                prop_assert!(error <= 2, "{error} ns at rate {}", stretch.rate);
            }
        }
    }

    #[test]
    fn time_stops_by_itself_when_the_source_dies(stretches in source(0)) {
        let (_, arrivals) = simulate(&stretches);
        let mut clock = Extrapolator::<8>::new();
        for arrival in &arrivals {
            clock.sample(arrival.steady, arrival.ros);
        }
        let segment = clock.segment().expect("there was a sample");
        let death = arrivals[arrivals.len() - 1].steady;
        prop_assert!(!clock.is_overdue(death));
        let hour = 3_600_000 * MS;
        prop_assert_eq!(segment.eval(death + hour), segment.eval(death + 2 * hour));
        // A source whose last sample showed a pause is not overdue; every other one is.
        prop_assert_eq!(clock.is_overdue(death + hour), clock.expected_period().is_some());
        if stretches[stretches.len() - 1].step() > 0 {
            prop_assert!(clock.is_overdue(death + hour));
            prop_assert_eq!(segment.eval(death + hour), segment.cap());
        }
    }

    #[test]
    fn no_input_panics_or_goes_back(
        samples in prop::collection::vec((any::<i64>(), any::<i64>()), 1..40),
        probes in prop::collection::vec(any::<i64>(), 1..20),
    ) {
        let mut probes = probes;
        probes.sort_unstable();
        let mut clock = Extrapolator::<3>::new();
        for (steady, ros) in samples {
            let segment = clock.sample(steady, ros).segment();
            clock.deadline();
            let mut shown = ros;
            for &probe in &probes {
                let now = segment.eval(probe);
                prop_assert!(now >= shown);
                shown = now;
            }
        }
    }
}
