//! "Did you mean": the known name that is nearest to what was typed.

use strsim::levenshtein;

/// The known name that is nearest to what was typed, if it is near enough to be a slip, or if what was typed is a part of
/// it.
///
/// ```
/// let topics = ["/imu/data", "/scan"];
/// assert_eq!(timeloom_text::nearest("/imu/dta", topics), Some("/imu/data"));
/// assert_eq!(timeloom_text::nearest("/camera/image_raw", topics), None);
/// ```
pub fn nearest<'a>(typed: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let allowed = (typed.chars().count() / 3).max(2);
    let scored = known
        .into_iter()
        .map(|name| (levenshtein(typed, name), name));
    scored
        .filter(|(distance, name)| *distance <= allowed || is_part(typed, name))
        .min_by_key(|(distance, _)| *distance)
        .map(|(_, name)| name)
}

/// Whether a name begins or ends with the typed text.
fn is_part(typed: &str, name: &str) -> bool {
    const ENOUGH: usize = 3;
    let bare = typed.trim_matches('/');
    // `/scan` is a whole name, and so the end of `/front/scan`, not of `/laserscan`.
    let ends = name
        .strip_suffix(bare)
        .is_some_and(|before| before.ends_with('/'));
    bare.len() >= ENOUGH && (name.starts_with(typed.trim_end_matches('/')) || ends)
}

#[cfg(test)]
mod tests {
    use super::*;

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
