//! From values to places, with ticks at round numbers.

/// One axis of a picture.
#[derive(Debug, Clone, Copy)]
pub(super) struct Axis {
    low: f64,
    high: f64,
    from: f64,
    to: f64,
}

impl Axis {
    /// An axis that holds all values, drawn between two places.
    pub(super) fn new(values: impl Iterator<Item = f64>, (from, to): (f64, f64)) -> Self {
        let finite = values.filter(|value| value.is_finite());
        let (low, high) = finite.fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), value| {
            (low.min(value), high.max(value))
        });
        let (low, high) = if low > high { (0.0, 1.0) } else { (low, high) };
        // A flat line stands in the middle.
        let room = ((high - low) * 0.04)
            .max(high.abs().max(low.abs()) * 1e-9)
            .max(1e-6);
        Self {
            low: low - room,
            high: high + room,
            from,
            to,
        }
    }

    /// The place of a value.
    pub(super) fn at(&self, value: f64) -> f64 {
        let share = (value - self.low) / (self.high - self.low);
        let share = if share.is_finite() {
            share.clamp(0.0, 1.0)
        } else {
            0.0
        };
        self.from + share * (self.to - self.from)
    }

    /// Round values within the axis, with their text.
    #[expect(
        clippy::cast_possible_truncation,
        reason = "a power of ten of a float fits any integer"
    )]
    pub(super) fn ticks(&self) -> Vec<(f64, String)> {
        let rough = (self.high - self.low) / 6.0;
        let power = rough.log10().floor();
        let unit = 10_f64.powf(power);
        let step = [1.0, 2.0, 5.0, 10.0]
            .map(|factor| factor * unit)
            .into_iter()
            .find(|step| *step >= rough)
            .unwrap_or(rough);
        let digits = usize::try_from((-step.log10().floor()).max(0.0) as i64).unwrap_or(0);
        let first = (self.low / step).ceil();
        (0..12)
            .map(|number| (first + f64::from(number)) * step)
            .take_while(|value| *value <= self.high)
            // Minus zero looks wrong.
            .map(|value| (value, format!("{:.digits$}", value + 0.0)))
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ticks_are_round_and_inside() {
        let axis = Axis::new([0.3, 9.7].into_iter(), (0.0, 100.0));
        let ticks: Vec<String> = axis.ticks().into_iter().map(|(_, text)| text).collect();
        assert_eq!(ticks, ["0", "2", "4", "6", "8", "10"]);
        for values in [vec![], vec![5.0], vec![f64::NAN, 1e18, -1e18]] {
            let axis = Axis::new(values.into_iter(), (0.0, 100.0));
            assert!(axis.ticks().len() < 12);
            assert!((0.0..=100.0).contains(&axis.at(f64::INFINITY)));
        }
    }
}
