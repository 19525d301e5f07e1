//! The last values as one line of blocks.

const BLOCKS: [char; 8] = ['▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];

/// A line of blocks, one for each value, from the least to the greatest of them.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "a share from 0 to 1 of seven steps"
)]
pub(crate) fn sparkline(values: impl Iterator<Item = f64> + Clone) -> String {
    let finite = values.clone().filter(|value| value.is_finite());
    let (low, high) = finite.fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), value| {
        (low.min(value), high.max(value))
    });
    let step = |value: f64| {
        let share = (value - low) / (high - low);
        let place = if share.is_finite() { share * 7.0 } else { 3.0 };
        BLOCKS.get(place.round() as usize).copied().unwrap_or(' ')
    };
    values.map(step).collect()
}

#[cfg(test)]
mod tests {
    use super::sparkline;

    #[test]
    fn values_become_blocks() {
        assert_eq!(sparkline([0.0, 3.5, 7.0].into_iter()), "▁▅█");
        assert_eq!(sparkline([2.0, 2.0].into_iter()), "▄▄");
        assert_eq!(sparkline([f64::NAN].into_iter()), "▄");
        assert_eq!(sparkline(std::iter::empty()), "");
    }
}
