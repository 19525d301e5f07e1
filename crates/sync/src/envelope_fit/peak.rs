//! The highest place of a function with one hill, and where the hill ends.

/// The share of the interval that each round keeps.
const GOLDEN: f64 = 0.618_033_988_75;
/// A bracket is widened so many times at most: eight orders of magnitude.
const WIDENINGS: usize = 14;
/// And by this each time.
const WIDENING: f64 = 4.0;
/// The highest place is found to this share of the width.
const FINE: f64 = 0.05;
/// Enough rounds for that, wherever it is.
const MOST_ROUNDS: usize = 60;
/// Rounds of halving until the end of a hill is known.
const END_ROUNDS: usize = 6;

/// A place and the height there.
pub(super) type Place = (f64, f64);

/// Looks for the highest place between `limits`, around `start` and as far as `width` at first.
///
/// It is found to a share of the width, however far away it is.
pub(super) fn highest(
    start: f64,
    width: f64,
    limits: (f64, f64),
    mut height: impl FnMut(f64) -> f64,
) -> Place {
    let inside = |x: f64| x.clamp(limits.0, limits.1);
    let (mut low, mut high) = (inside(start - width), inside(start + width));
    let (mut at_low, mut at_high) = (height(low), height(high));
    let middle = inside(start);
    let mut best = (middle, height(middle));
    let mut step = width;
    for _ in 0..WIDENINGS {
        if at_low <= best.1 && at_high <= best.1 {
            break;
        }
        step *= WIDENING;
        if at_low > at_high {
            (high, at_high) = best;
            best = (low, at_low);
            low = inside(low - step);
            at_low = height(low);
        } else {
            (low, at_low) = best;
            best = (high, at_high);
            high = inside(high + step);
            at_high = height(high);
        }
    }
    narrow(low, high, FINE * width, best, height)
}

/// Golden sections of an interval with a highest place.
fn narrow(
    mut low: f64,
    mut high: f64,
    fine: f64,
    mut best: Place,
    mut height: impl FnMut(f64) -> f64,
) -> Place {
    let mut left = (high - GOLDEN * (high - low), 0.0);
    let mut right = (low + GOLDEN * (high - low), 0.0);
    left.1 = height(left.0);
    right.1 = height(right.0);
    for _ in 0..MOST_ROUNDS {
        if high - low < fine {
            break;
        }
        if left.1 > right.1 {
            high = right.0;
            right = left;
            left.0 = high - GOLDEN * (high - low);
            left.1 = height(left.0);
        } else {
            low = left.0;
            left = right;
            right.0 = low + GOLDEN * (high - low);
            right.1 = height(right.0);
        }
    }
    for place in [left, right] {
        if place.1 > best.1 {
            best = place;
        }
    }
    best
}

/// The end of a hill between its top and `limit`: the point of height `floor`, or the limit.
pub(super) fn end(
    top: f64,
    width: f64,
    limit: f64,
    floor: f64,
    mut height: impl FnMut(f64) -> f64,
) -> f64 {
    let side = (limit - top).signum();
    let (mut inside, mut outside) = (top, limit);
    let mut step = width;
    for _ in 0..WIDENINGS {
        let place = top + side * step;
        if (place - limit) * side >= 0.0 {
            break;
        }
        if height(place) < floor {
            outside = place;
            break;
        }
        inside = place;
        step *= WIDENING;
    }
    for _ in 0..END_ROUNDS {
        let middle = f64::midpoint(inside, outside);
        if height(middle) < floor {
            outside = middle;
        } else {
            inside = middle;
        }
    }
    outside
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hill(top: f64, width: f64) -> impl Fn(f64) -> f64 {
        move |x: f64| -((x - top) / width).abs()
    }

    #[test]
    fn a_hill_is_found_from_afar_and_measured() {
        for (top, width) in [(0.0, 1.0), (77_000.0, 30.0), (-3.5, 0.5)] {
            let (found, height) = highest(10.0, 1.0, (-1e6, 1e6), hill(top, width));
            assert!((found - top).abs() < 0.05, "{found} for {top}");
            let until = end(found, 1.0, 1e6, height - 6.0, hill(top, width));
            let size = (until - found) / width;
            assert!((5.0..12.0).contains(&size), "{size} widths");
        }
    }

    #[test]
    fn limits_are_kept() {
        let (found, _) = highest(0.0, 1.0, (-5.0, 5.0), |x| x);
        assert!((found - 5.0).abs() < 0.05, "{found}");
        let until = end(5.0, 1.0, -5.0, -100.0, |x| x);
        assert!((until + 5.0).abs() < 1e-9, "{until}");
    }
}
