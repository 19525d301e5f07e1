//! The algebra of a controlled clock, against a model in exact integers.

use proptest::prelude::*;
use timeloom_time::{
    ControlledClock, OnJump, PlaybackRate, PlayerClock, Time, VirtualTime, WaitOptions, Woke,
};

use crate::support::{SEC, at, ns};
use crate::waiting::{Form, Waiting};

/// A rate as the integers of its double: `mantissa / 2^shift`.
#[derive(Clone, Copy, Debug)]
struct Ratio {
    mantissa: i128,
    shift: u32,
}

impl Ratio {
    /// Exact for rates between 2^-60 and 2^52.
    fn of(rate: f64) -> Self {
        let mut shift = 0;
        let mut scaled = rate;
        while scaled.fract() != 0.0 {
            // Doubling a double is exact.
            scaled *= 2.0;
            shift += 1;
        }
        #[expect(clippy::cast_possible_truncation, reason = "a whole number below 2^53")]
        let mantissa = scaled as i128;
        Self { mantissa, shift }
    }

    fn scale(self, delta: i64) -> i64 {
        let scaled = (i128::from(delta) * self.mantissa) >> self.shift;
        i64::try_from(scaled).expect("small enough by construction")
    }
}

/// The equations of `playback_time.md` only.
#[derive(Debug)]
struct Model {
    ros: i64,
    steady: i64,
    rate: f64,
    paused: bool,
    /// Steady time now.
    now: i64,
}

impl Model {
    fn shows(&self) -> i64 {
        if self.paused {
            self.ros
        } else {
            self.ros + Ratio::of(self.rate).scale(self.now - self.steady)
        }
    }

    fn anchor(&mut self, ros: i64) {
        (self.ros, self.steady) = (ros, self.now);
    }
}

#[derive(Clone, Copy, Debug)]
enum Step {
    Advance(i64),
    Pause,
    Resume,
    Rate(f64),
    Jump(i64),
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        4 => (0..100 * SEC).prop_map(Step::Advance),
        2 => (0..100_i64).prop_map(Step::Advance),
        1 => Just(Step::Pause),
        2 => Just(Step::Resume),
        2 => (1e-3..1e3).prop_map(Step::Rate),
        1 => prop_oneof![Just(1.0), Just(0.1), Just(1.0 / 3.0), Just(2.0)].prop_map(Step::Rate),
        1 => (-1_000 * SEC..1_000 * SEC).prop_map(Step::Jump),
    ]
}

/// A clock and its model, kept in step.
struct Pair {
    world: VirtualTime,
    clock: ControlledClock,
    model: Model,
}

impl Pair {
    fn new(start: i64) -> Self {
        let world = VirtualTime::manual();
        let clock = ControlledClock::new(&world.base(), at(start));
        let model = Model {
            ros: start,
            steady: 0,
            rate: 1.0,
            paused: true,
            now: 0,
        };
        Self {
            world,
            clock,
            model,
        }
    }

    fn apply(&mut self, step: Step) {
        let model = &mut self.model;
        let shows = model.shows();
        match step {
            Step::Advance(nanos) => {
                model.now += nanos;
                self.world.advance(ns(nanos));
            }
            Step::Pause => {
                model.anchor(shows);
                model.paused = true;
                self.clock.pause().expect("a controlled clock takes orders");
            }
            Step::Resume => {
                model.anchor(shows);
                model.paused = false;
                self.clock
                    .resume()
                    .expect("a controlled clock takes orders");
            }
            Step::Rate(rate) => {
                model.anchor(shows);
                model.rate = rate;
                self.clock
                    .set_rate(PlaybackRate::new(rate).expect("a controlled clock takes orders"))
                    .expect("a controlled clock takes orders");
            }
            Step::Jump(to) => {
                model.anchor(to);
                self.clock
                    .jump(at(to))
                    .expect("a controlled clock takes orders");
            }
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn a_clock_is_its_model_and_monotone_between_jumps(
        start in -1_000 * SEC..1_000 * SEC, steps in prop::collection::vec(step(), 1..60),
    ) {
        let mut pair = Pair::new(start);
        let mut last = start;
        for step in steps {
            pair.apply(step);
            let now = pair.clock.now().nanos();
            prop_assert_eq!(now, pair.model.shows(), "after {:?}", step);
            prop_assert!(now >= last || matches!(step, Step::Jump(_)), "{} after {}", now, last);
            last = now;
        }
    }

    #[test]
    fn a_sleep_is_over_exactly_when_its_time_has_come(
        start in 0..1_000 * SEC, ahead in 0..200 * SEC,
        steps in prop::collection::vec(step(), 1..30), descriptor in any::<bool>(),
    ) {
        let mut pair = Pair::new(start);
        let form = if descriptor { Form::Descriptor } else { Form::Async };
        let options = WaitOptions::new().on_jump(OnJump::Ignore);
        let target = at(start + ahead);
        let mut waiting = Waiting::begin(form, &pair.world, pair.clock.clock(), target, &options);
        for step in steps {
            if let Some(woke) = waiting.look() {
                prop_assert_eq!(woke, Woke::Reached);
                prop_assert!(pair.clock.now() >= target, "early");
                return Ok(());
            }
            prop_assert!(pair.clock.now() < target, "late");
            pair.apply(step);
        }
    }

    #[test]
    fn pause_then_resume_is_identity(
        start in -1_000 * SEC..1_000 * SEC, rate in 1e-3..1e3_f64,
        ran in 0..1_000 * SEC, paused in 0..1_000 * SEC, more in 0..1_000 * SEC,
    ) {
        let [mut plain, mut paused_once] = [Pair::new(start), Pair::new(start)];
        for pair in [&mut plain, &mut paused_once] {
            for step in [Step::Rate(rate), Step::Resume, Step::Advance(ran)] {
                pair.apply(step);
            }
        }
        let stopped = paused_once.clock.now();
        for step in [Step::Pause, Step::Advance(paused), Step::Resume] {
            paused_once.apply(step);
            prop_assert_eq!(paused_once.clock.now(), stopped);
        }
        for pair in [&mut plain, &mut paused_once] {
            pair.apply(Step::Advance(more));
        }
        let lost = plain.clock.now() - paused_once.clock.now();
        prop_assert!((0..=1).contains(&lost.nanos()), "lost {}", lost);
    }

    #[test]
    fn a_day_drifts_by_at_most_a_nanosecond(
        rate in prop_oneof![1e-3..1e3_f64, Just(0.1), Just(1.0 / 3.0)],
        cuts in prop::collection::vec(0..86_400 * SEC, 0..20),
    ) {
        let day = 86_400 * SEC;
        let mut pair = Pair::new(0);
        pair.apply(Step::Rate(rate));
        pair.apply(Step::Resume);
        let mut cuts = cuts;
        cuts.sort_unstable();
        let mut passed = 0;
        for cut in cuts {
            pair.apply(Step::Advance(cut - passed));
            passed = cut;
            let _looked: Time<_> = pair.clock.now();
        }
        pair.apply(Step::Advance(day - passed));
        let drift = pair.clock.now().nanos() - Ratio::of(rate).scale(day);
        prop_assert!(drift.abs() <= 1, "{}", drift);
    }

    #[test]
    fn a_seek_and_back_is_identity_while_paused(
        start in any::<i64>(), there in any::<i64>(),
    ) {
        let world = VirtualTime::manual();
        let clock = ControlledClock::new(&world.base(), at(start));
        clock.jump(at(there)).unwrap();
        prop_assert_eq!(clock.now(), at(there));
        clock.jump(at(start)).unwrap();
        prop_assert_eq!(clock.now(), at(start));
    }
}
