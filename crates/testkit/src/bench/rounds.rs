//! Variants measured in turns, so that a change of load hits all of them alike.

use super::{Samples, Stopwatch};
use std::fmt;
use std::hint::black_box;
use std::time::Duration;

/// Number and length of the turns of a comparison: A B C, A B C, …
#[derive(Clone, Copy, Debug)]
pub struct Rounds {
    rounds: usize,
    slice: f64,
}

impl Rounds {
    /// `rounds` turns; in each turn, every variant runs for about `slice`.
    ///
    /// At least one turn is made. Odd numbers of rounds have a true middle.
    pub fn new(rounds: usize, slice: Duration) -> Self {
        Self {
            rounds: rounds.max(1),
            slice: slice.as_secs_f64() * 1e9,
        }
    }

    /// Measures all variants in turns; blocks for about `rounds × variants × slice`.
    ///
    /// Each variant gets its own number of iterations, found before the first turn. The result has one entry per
    /// variant, in the same order.
    pub fn run(&self, variants: &mut [Variant<'_>]) -> Vec<Measured> {
        let counts: Vec<u64> = variants
            .iter_mut()
            .map(|variant| variant.calibrate(self.slice))
            .collect();
        let mut taken = vec![Vec::with_capacity(self.rounds); variants.len()];
        for _ in 0..self.rounds {
            for ((variant, &count), taken) in variants.iter_mut().zip(&counts).zip(&mut taken) {
                taken.push((variant.run)(count) / count as f64);
            }
        }
        let named = variants.iter().zip(taken);
        named
            .map(|(variant, taken)| Measured {
                name: variant.name.to_owned(),
                nanos: taken.into_iter().collect(),
            })
            .collect()
    }
}

/// One way of doing a thing, to be compared with others.
pub struct Variant<'a> {
    name: &'a str,
    run: Box<dyn FnMut(u64) -> f64 + 'a>,
}

impl<'a> Variant<'a> {
    /// Calls `body` once per iteration; for work so short that only a tight loop measures it.
    pub fn looped<T>(name: &'a str, mut body: impl FnMut() -> T + 'a) -> Self {
        Self::batch(name, move |iterations| {
            for _ in 0..iterations {
                black_box(body());
            }
        })
    }

    /// Calls `body` with the number of iterations that it shall do.
    pub fn batch(name: &'a str, mut body: impl FnMut(u64) + 'a) -> Self {
        Self::timed(name, move |iterations| {
            let stopwatch = Stopwatch::start();
            body(iterations);
            stopwatch.wall()
        })
    }

    /// Like [`batch`](Self::batch), for a `body` that measures itself and returns the nanoseconds of all iterations:
    /// CPU time, or the time inside its threads.
    pub fn timed(name: &'a str, body: impl FnMut(u64) -> f64 + 'a) -> Self {
        Self {
            name,
            run: Box::new(body),
        }
    }

    /// Doubles the iterations until they are long enough to extrapolate from; this also warms the caches.
    fn calibrate(&mut self, slice: f64) -> u64 {
        let mut count = 1_u64;
        loop {
            let nanos = (self.run)(count);
            if nanos >= slice / 8.0 || count >= 1 << 40 {
                #[expect(
                    clippy::cast_possible_truncation,
                    clippy::cast_sign_loss,
                    reason = "a float to integer cast saturates, and no count is negative"
                )]
                return ((count as f64 * slice / nanos.max(1.0)) as u64).max(1);
            }
            count *= 2;
        }
    }
}

impl fmt::Debug for Variant<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Variant")
            .field("name", &self.name)
            .finish_non_exhaustive()
    }
}

/// Times of one variant in nanoseconds per iteration, one sample per round.
#[derive(Clone, Debug)]
pub struct Measured {
    name: String,
    nanos: Samples,
}

impl Measured {
    /// The variant's name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Nanoseconds per iteration, one sample per round in the order of the rounds.
    pub fn nanos(&self) -> &Samples {
        &self.nanos
    }

    /// The median of the nanoseconds per iteration.
    pub fn median(&self) -> f64 {
        self.nanos.median()
    }

    /// Duration relative to `other`: the median over the rounds of the ratio within a round.
    ///
    /// Both ran one after the other within each round, so a load that comes and goes cancels out.
    pub fn ratio_to(&self, other: &Self) -> f64 {
        let pairs = self.nanos.taken().iter().zip(other.nanos.taken());
        pairs
            .map(|(ours, theirs)| ours / theirs)
            .collect::<Samples>()
            .median()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::cell::RefCell;

    fn measured(nanos: &[f64]) -> Measured {
        Measured {
            name: "made up".into(),
            nanos: nanos.iter().copied().collect(),
        }
    }

    #[test]
    fn variants_take_turns_with_a_calibrated_count() {
        let calls = RefCell::new(Vec::new());
        let variant = |name: &'static str, cost: f64| {
            let calls = &calls;
            Variant::timed(name, move |iterations| {
                calls.borrow_mut().push((name, iterations));
                iterations as f64 * cost
            })
        };
        let rounds = Rounds::new(3, Duration::from_micros(8));
        let result = rounds.run(&mut [variant("cheap", 10.0), variant("dear", 100.0)]);

        let calls = calls.borrow();
        let turns = &calls[calls.len() - 6..];
        assert_eq!(turns, [("cheap", 800), ("dear", 80)].repeat(3));
        assert_eq!(
            result.iter().map(Measured::name).collect::<Vec<_>>(),
            ["cheap", "dear"]
        );
        assert_eq!(result[0].nanos().taken(), [10.0; 3]);
        assert_eq!(result[1].ratio_to(&result[0]).to_string(), "10");
    }

    #[test]
    fn work_longer_than_a_slice_runs_once() {
        let mut variant = Variant::timed("long", |iterations| iterations as f64 * 1e9);
        assert_eq!(variant.calibrate(1e6), 1);
    }

    #[test]
    fn free_work_ends_the_calibration() {
        assert!(Variant::timed("free", |_| 0.0).calibrate(1e6) > 0);
    }

    #[test]
    fn the_ratio_is_taken_within_rounds() {
        // The machine slowed down threefold in the second and third round: medians alone would say 3 / 2.
        let (a, b) = (measured(&[1.0, 3.0, 3.0]), measured(&[2.0, 6.0, 2.0]));
        assert_eq!(a.ratio_to(&b).to_string(), "0.5");
        assert_eq!((a.median() / b.median()).to_string(), "1.5");
    }

    #[test]
    fn a_loop_calls_its_body_once_per_iteration() {
        let mut calls = 0_u64;
        let mut variant = Variant::looped("count", || calls += 1);
        (variant.run)(5);
        drop(variant);
        assert_eq!(calls, 5);
    }
}
