//! The rates that a key steps through.

const LADDER: [f64; 15] = [
    0.01, 0.02, 0.05, 0.1, 0.25, 0.5, 0.75, 1.0, 1.5, 2.0, 4.0, 8.0, 16.0, 50.0, 100.0,
];

/// Close enough to a step to be it.
const SAME: f64 = 1e-6;

/// The next faster step.
pub(crate) fn faster(rate: f64) -> f64 {
    let next = LADDER.iter().find(|step| **step > rate * (1.0 + SAME));
    next.copied().unwrap_or(rate)
}

/// The next slower step.
pub(crate) fn slower(rate: f64) -> f64 {
    let next = LADDER.iter().rfind(|step| **step < rate * (1.0 - SAME));
    next.copied().unwrap_or(rate)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn up_and_down_meet() {
        assert!((slower(faster(1.0)) - 1.0).abs() < SAME);
        assert!((faster(0.3) - 0.5).abs() < SAME);
        assert!((slower(0.3) - 0.25).abs() < SAME);
    }

    #[test]
    fn the_ends_stay() {
        assert!((faster(100.0) - 100.0).abs() < SAME);
        assert!((slower(0.01) - 0.01).abs() < SAME);
        assert!((faster(1000.0) - 1000.0).abs() < SAME);
    }
}
