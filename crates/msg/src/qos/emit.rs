//! Writes `QoS` profiles exactly as rosbag2 (yaml-cpp) does.

use std::fmt::Write as _;

use super::{QosDuration, QosProfile};

/// The spelling of policies.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum QosSpelling {
    /// `history: 1`, before metadata version 9.
    Numbers,
    /// `history: keep_last`, since metadata version 9.
    #[default]
    Names,
}

/// The profiles as one YAML text, as in MCAP channel metadata and in `topics.offered_qos_profiles` of sqlite3.
///
/// No profiles give an empty text with [`QosSpelling::Numbers`] and `[]` with [`QosSpelling::Names`], as rosbag2 does.
pub fn profiles_to_yaml(profiles: &[QosProfile], spelling: QosSpelling) -> String {
    match (profiles.is_empty(), spelling) {
        (true, QosSpelling::Numbers) => String::new(),
        (true, QosSpelling::Names) => "[]".to_owned(),
        (false, _) => {
            let mut out = String::new();
            write_profiles(&mut out, profiles, spelling, 0);
            out
        }
    }
}

/// Appends the profiles as a YAML block sequence with its dashes in column `indent`, without a final newline.
pub fn write_profiles(
    out: &mut String,
    profiles: &[QosProfile],
    spelling: QosSpelling,
    indent: usize,
) {
    for (index, profile) in profiles.iter().enumerate() {
        if index > 0 {
            out.push('\n');
        }
        push_profile(out, profile, spelling, indent);
    }
}

fn push_profile(out: &mut String, profile: &QosProfile, spelling: QosSpelling, indent: usize) {
    let pad = " ".repeat(indent);
    let pick = |name: &'static str, number: u8| match spelling {
        QosSpelling::Names => name.to_owned(),
        QosSpelling::Numbers => number.to_string(),
    };
    let QosProfile {
        history,
        depth,
        reliability,
        durability,
        liveliness,
        ..
    } = *profile;
    let history = pick(history.name(), history.number());
    let reliability = pick(reliability.name(), reliability.number());
    let durability = pick(durability.name(), durability.number());
    let liveliness = pick(liveliness.name(), liveliness.number());
    let deadline = block(profile.deadline, &pad);
    let lifespan = block(profile.lifespan, &pad);
    let lease = block(profile.liveliness_lease_duration, &pad);
    let avoid = profile.avoid_ros_namespace_conventions;
    // Writing to a string cannot fail.
    let _ok = write!(
        out,
        "{pad}- history: {history}\n\
         {pad}  depth: {depth}\n\
         {pad}  reliability: {reliability}\n\
         {pad}  durability: {durability}\n\
         {pad}  deadline:{deadline}\n\
         {pad}  lifespan:{lifespan}\n\
         {pad}  liveliness: {liveliness}\n\
         {pad}  liveliness_lease_duration:{lease}\n\
         {pad}  avoid_ros_namespace_conventions: {avoid}"
    );
}

fn block(duration: QosDuration, pad: &str) -> String {
    format!(
        "\n{pad}    sec: {}\n{pad}    nsec: {}",
        duration.sec, duration.nsec
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_profiles() {
        assert_eq!(profiles_to_yaml(&[], QosSpelling::Numbers), "");
        assert_eq!(profiles_to_yaml(&[], QosSpelling::Names), "[]");
    }

    #[test]
    fn one_profile_in_both_spellings() {
        let names = profiles_to_yaml(&[QosProfile::DEFAULT], QosSpelling::Names);
        assert!(names.starts_with("- history: keep_last\n  depth: 10\n  reliability: reliable\n  durability: volatile\n  deadline:\n    sec: 0\n    nsec: 0\n"));
        assert!(names.ends_with("\n  avoid_ros_namespace_conventions: false"));
        let numbers = profiles_to_yaml(&[QosProfile::DEFAULT], QosSpelling::Numbers);
        assert!(
            numbers.starts_with("- history: 1\n  depth: 10\n  reliability: 1\n  durability: 2\n")
        );
    }
}
