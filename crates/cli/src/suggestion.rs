//! "Did you mean": the known name that is nearest to what was typed.

/// The nearest of `known`, when it is near enough to be a slip.
pub(crate) fn nearest<'a>(
    typed: &str,
    known: impl IntoIterator<Item = &'a str>,
) -> Option<&'a str> {
    let allowed = (typed.chars().count() / 3).max(2);
    let scored = known.into_iter().map(|name| (distance(typed, name), name));
    scored
        .filter(|(distance, _)| *distance <= allowed)
        .min_by_key(|(distance, _)| *distance)
        .map(|(_, name)| name)
}

/// Number of letters to insert, remove or replace.
fn distance(a: &str, b: &str) -> usize {
    let b: Vec<char> = b.chars().collect();
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, x) in a.chars().enumerate() {
        let mut diagonal = i;
        let mut left = i + 1;
        for (place, y) in row.iter_mut().skip(1).zip(&b) {
            let above = *place;
            let best = (diagonal + usize::from(x != *y))
                .min(above + 1)
                .min(left + 1);
            diagonal = above;
            left = best;
            *place = best;
        }
        if let Some(first) = row.first_mut() {
            *first = i + 1;
        }
    }
    row.last().copied().unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn distances_count_letters() {
        for (a, b, expected) in [
            ("", "", 0),
            ("", "abc", 3),
            ("kitten", "sitting", 3),
            ("/imu", "/imu", 0),
            ("ab", "ba", 2),
        ] {
            assert_eq!(distance(a, b), expected, "{a} {b}");
            assert_eq!(distance(b, a), expected, "{b} {a}");
        }
    }

    #[test]
    fn only_near_names_are_suggested() {
        let known = ["/imu/data", "/chatter", "/scan"];
        assert_eq!(nearest("/imu/dta", known), Some("/imu/data"));
        assert_eq!(nearest("/chattr", known), Some("/chatter"));
        assert_eq!(nearest("/camera/image_raw", known), None);
    }
}
