//! Lower convex hulls of points that come from left to right.

/// A point: seconds (negative: before now), nanoseconds.
pub(crate) type Point = (f64, f64);

/// Adds a point to the right of a lower hull.
pub(crate) fn push(hull: &mut Vec<Point>, point: Point) {
    while let [.., before, last] = hull[..] {
        let cross =
            (point.0 - before.0) * (last.1 - before.1) - (point.1 - before.1) * (last.0 - before.0);
        if cross < 0.0 {
            break;
        }
        hull.pop();
    }
    // Of two points above each other only the lower one is on the hull.
    if let Some(last) = hull.last_mut().filter(|last| last.0 >= point.0) {
        last.1 = last.1.min(point.1);
    } else {
        hull.push(point);
    }
}

/// The slope of the edge over `at`, or of the nearest edge; none with less than two points.
pub(crate) fn slope_at(hull: &[Point], at: f64) -> Option<f64> {
    let last_edge = hull.len().checked_sub(2)?;
    let edge = hull
        .windows(2)
        .rposition(|edge| edge[0].0 <= at)
        .unwrap_or(0)
        .min(last_edge);
    let (left, right) = (hull.get(edge)?, hull.get(edge + 1)?);
    Some((right.1 - left.1) / (right.0 - left.0))
}

/// The height at zero of the line of `slope` that touches the hull from below; none without points.
pub(crate) fn support(hull: &[Point], slope: f64) -> Option<f64> {
    let height = |point: &Point| point.1 - slope * point.0;
    let (first, rest) = hull.split_first()?;
    // Not `f64::min`: with its rules for what is no number it costs as much again.
    Some(rest.iter().fold(height(first), |least, point| {
        let height = height(point);
        if height < least { height } else { least }
    }))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn a_hull_lies_below_its_points_and_its_slopes_rise(heights in prop::collection::vec(-1e6_f64..1e6, 1..80)) {
            let points: Vec<Point> = heights.iter().enumerate().map(|(at, height)| (at as f64, *height)).collect();
            let mut hull = Vec::new();
            for point in &points {
                push(&mut hull, *point);
            }
            let slopes: Vec<f64> = hull.windows(2).map(|edge| (edge[1].1 - edge[0].1) / (edge[1].0 - edge[0].0)).collect();
            prop_assert!(slopes.windows(2).all(|pair| pair[0] <= pair[1]));
            for slope in [-1.0, 0.0, 3.0] {
                let all = support(&points, slope);
                let of_hull = support(&hull, slope);
                prop_assert!((all.unwrap() - of_hull.unwrap()).abs() < 1e-3);
            }
        }
    }

    #[test]
    fn the_edge_over_a_place_gives_the_slope() {
        let hull = [(0.0, 0.0), (2.0, 2.0), (4.0, 6.0)];
        assert_eq!(slope_at(&hull, 1.0), Some(1.0));
        assert_eq!(slope_at(&hull, 3.0), Some(2.0));
        assert_eq!(slope_at(&hull, 9.0), Some(2.0));
        assert_eq!(slope_at(&hull, -9.0), Some(1.0));
        assert_eq!(slope_at(&hull[..1], 0.0), None);
    }
}
