//! Selection of the message for a time.

use super::AlignOptions;

/// The value that is used for a time.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Method {
    /// The message that is nearest in time, before or after.
    #[default]
    Nearest,
    /// The last message that is not later.
    Previous,
    /// Floating point numbers between the messages before and after; other values of the nearer one.
    Interpolate,
}

/// The message, or the two messages, that a value comes from.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Partner {
    /// The message that is not later.
    pub before: u32,
    /// The message that is not earlier; the same when one message is enough.
    pub after: u32,
    /// The position of the time between `before` and `after`: 0 to 1.
    pub fraction: f64,
}

impl Partner {
    fn one(row: u32) -> Self {
        Self {
            before: row,
            after: row,
            fraction: 0.0,
        }
    }

    /// The message that is nearer in time; of two equally near ones, the earlier.
    pub(super) fn nearer(self) -> u32 {
        if self.fraction > 0.5 {
            self.after
        } else {
            self.before
        }
    }
}

/// Finds the partner of each time; `samples` is ascending.
pub(super) fn find(frames: &[i64], samples: &[i64], options: AlignOptions) -> Vec<Option<Partner>> {
    frames
        .iter()
        .map(|frame| partner(*frame, samples, options))
        .collect()
}

fn partner(frame: i64, samples: &[i64], options: AlignOptions) -> Option<Partner> {
    let near = |row: usize| {
        let distance = samples.get(row)?.abs_diff(frame);
        let tolerance = options.tolerance_ns.map(i64::unsigned_abs);
        tolerance
            .is_none_or(|tolerance| distance <= tolerance)
            .then_some(distance)
    };
    let row = |row: usize| u32::try_from(row).ok();
    let later = samples.partition_point(|sample| *sample <= frame);
    let before = later.checked_sub(1);
    match options.method {
        Method::Previous => {
            near(before?)?;
            row(before?).map(Partner::one)
        }
        Method::Nearest => {
            let distances = (before.and_then(near), near(later));
            match distances {
                (None, None) => None,
                (Some(first), second) if second.is_none_or(|second| first <= second) => {
                    row(before?).map(Partner::one)
                }
                (_, Some(_)) | (Some(_), None) => row(later).map(Partner::one),
            }
        }
        Method::Interpolate => {
            let first = near(before?)?;
            if first == 0 {
                return row(before?).map(Partner::one);
            }
            let second = near(later)?;
            Some(Partner {
                before: row(before?)?,
                after: row(later)?,
                fraction: first as f64 / (first as f64 + second as f64),
            })
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rows(method: Method, tolerance_ns: Option<i64>, frames: &[i64]) -> Vec<Option<u32>> {
        let options = AlignOptions {
            method,
            tolerance_ns,
        };
        let partners = find(frames, &[10, 20, 30], options);
        partners
            .into_iter()
            .map(|it| it.map(Partner::nearer))
            .collect()
    }

    #[test]
    fn nearest_takes_the_closer_message_and_the_earlier_of_two() {
        let frames = [0, 10, 14, 15, 16, 99];
        let expected = [Some(0), Some(0), Some(0), Some(0), Some(1), Some(2)];
        assert_eq!(rows(Method::Nearest, None, &frames), expected);
        let expected = [None, Some(0), Some(0), None, Some(1), None];
        assert_eq!(rows(Method::Nearest, Some(4), &frames), expected);
    }

    #[test]
    fn previous_never_takes_a_later_message() {
        let expected = [None, Some(0), Some(0), Some(1), Some(2)];
        assert_eq!(rows(Method::Previous, None, &[9, 10, 19, 29, 99]), expected);
        assert_eq!(rows(Method::Previous, Some(5), &[16, 25]), [None, Some(1)]);
    }

    #[test]
    fn interpolation_needs_a_message_on_both_sides() {
        let options = AlignOptions {
            method: Method::Interpolate,
            tolerance_ns: Some(8),
        };
        let partners = find(&[9, 10, 12, 19, 31], &[10, 20, 30], options);
        assert_eq!(partners[0], None);
        assert_eq!(partners[1], Some(Partner::one(0)));
        let between = Partner {
            before: 0,
            after: 1,
            fraction: 0.2,
        };
        assert_eq!(partners[2], Some(between), "8 to the next is within");
        assert_eq!(partners[3], None, "9 from the one before is too far");
        assert_eq!(partners[4], None);
    }

    #[test]
    fn without_messages_nothing_matches() {
        let options = AlignOptions {
            method: Method::Nearest,
            tolerance_ns: None,
        };
        assert_eq!(find(&[1], &[], options), [None]);
    }
}
