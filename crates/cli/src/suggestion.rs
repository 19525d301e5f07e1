//! "Did you mean": the known name that is nearest to what was typed.

/// The nearest of `known`, when it is near enough to be a slip, or what was typed is a part of it.
pub(crate) fn nearest<'a>(
    typed: &str,
    known: impl IntoIterator<Item = &'a str>,
) -> Option<&'a str> {
    let allowed = (typed.chars().count() / 3).max(2);
    let scored = known.into_iter().map(|name| (distance(typed, name), name));
    scored
        .filter(|(distance, name)| *distance <= allowed || is_part(typed, name))
        .min_by_key(|(distance, _)| *distance)
        .map(|(_, name)| name)
}

/// Whether a name begins or ends with what was typed: the rest was left out.
fn is_part(typed: &str, name: &str) -> bool {
    const ENOUGH: usize = 3;
    let bare = typed.trim_matches('/');
    // `/scan` is a whole name, and so the end of `/front/scan`, not of `/laserscan`.
    let ends = name
        .strip_suffix(bare)
        .is_some_and(|before| before.ends_with('/'));
    bare.len() >= ENOUGH && (name.starts_with(typed.trim_end_matches('/')) || ends)
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

    #[test]
    fn a_part_of_a_name_is_enough() {
        let known = [
            "/camera/left/image_raw",
            "/camera/right/image_raw",
            "/imu/data",
        ];
        assert_eq!(nearest("/imu", known), Some("/imu/data"));
        assert_eq!(nearest("/image_raw", known), Some("/camera/left/image_raw"));
        assert_eq!(nearest("/camera/r", known), Some("/camera/right/image_raw"));
        assert_eq!(nearest("/da", known), None, "two letters are no name");
        assert_eq!(nearest("/scan", ["/robot1/front/laserscan"]), None);
    }
}
