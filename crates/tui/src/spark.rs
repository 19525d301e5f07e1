//! A small curve in one line of text.

const BARS: [char; 8] = ['▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];

/// The last values as bars, scaled to the largest; a blank for a value that is not there.
pub(crate) fn spark(values: impl ExactSizeIterator<Item = f64> + Clone, width: usize) -> String {
    let skipped = values.len().saturating_sub(width);
    let shown = values.skip(skipped);
    let largest = shown.clone().fold(0.0, f64::max);
    shown.map(|value| bar(value, largest)).collect()
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "a share of seven, and clamped"
)]
fn bar(value: f64, largest: f64) -> char {
    if largest <= 0.0 || value.is_nan() {
        return ' ';
    }
    let step = (value / largest * 7.0).round().clamp(0.0, 7.0);
    BARS.get(step as usize).copied().unwrap_or(' ')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_values_are_shown() {
        assert_eq!(spark([9.0, 0.0, 1.0, 2.0].into_iter(), 3), "▁▅█");
        assert_eq!(spark([0.0, 0.0].into_iter(), 8), "  ");
        assert_eq!(
            spark(std::iter::empty::<f64>().collect::<Vec<_>>().into_iter(), 8),
            ""
        );
    }
}
