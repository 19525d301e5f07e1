//! A curve in one line of text.

const BARS: [char; 8] = ['▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];

/// The value of the lowest bar.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Scale {
    /// Zero, for rates and counts. All values zero leave the line blank.
    FromZero,
    /// The least value, for offsets. Equal values are bars of half the height.
    FromLeast,
}

/// One bar for each value, up to the largest of them; a blank for a value that is not a number.
pub fn sparkline(values: impl Iterator<Item = f64> + Clone, scale: Scale) -> String {
    let finite = || values.clone().filter(|value| value.is_finite());
    let high = finite().fold(f64::NEG_INFINITY, f64::max);
    let low = match scale {
        Scale::FromZero => 0.0,
        Scale::FromLeast => finite().fold(f64::INFINITY, f64::min),
    };
    values.map(|value| bar(value, low, high, scale)).collect()
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "clamped to the seven steps between eight bars"
)]
fn bar(value: f64, low: f64, high: f64, scale: Scale) -> char {
    let step = match (value - low) / (high - low) {
        _ if value.is_nan() => return ' ',
        share if high > low => (share * 7.0).round().clamp(0.0, 7.0),
        _ if scale == Scale::FromZero => return ' ',
        _ => 3.0,
    };
    BARS[step as usize]
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line<const N: usize>(values: [f64; N], scale: Scale) -> String {
        sparkline(values.into_iter(), scale)
    }

    #[test]
    fn counts_begin_at_zero() {
        assert_eq!(line([0.0, 1.0, 2.0], Scale::FromZero), "▁▅█");
        assert_eq!(line([1.0, 1.0], Scale::FromZero), "██");
        assert_eq!(line([0.0, 0.0], Scale::FromZero), "  ");
        assert_eq!(line([f64::NAN, 2.0], Scale::FromZero), " █");
        assert_eq!(line([], Scale::FromZero), "");
    }

    #[test]
    fn offsets_begin_at_the_least() {
        assert_eq!(line([-3.0, 0.5, 4.0], Scale::FromLeast), "▁▅█");
        assert_eq!(line([2.0, 2.0], Scale::FromLeast), "▄▄");
        assert_eq!(line([f64::INFINITY, 1.0, 2.0], Scale::FromLeast), "█▁█");
    }
}
