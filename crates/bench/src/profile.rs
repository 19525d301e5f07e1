//! The description of a load: groups of publishers, as in rosbag2's benchmarks.

use timeloom_msg::QosProfile;

use crate::output::Usage;
use crate::payload::Content;
use crate::profile_document;

/// The built-in profiles by name.
const BUILT_IN: [(&str, &str); 6] = [
    ("100MBs_raw", include_str!("profiles/100MBs_raw.yaml")),
    ("200MBs_raw", include_str!("profiles/200MBs_raw.yaml")),
    ("300MBs_raw", include_str!("profiles/300MBs_raw.yaml")),
    ("automotive", include_str!("profiles/automotive.yaml")),
    ("mixed_110Mbs", include_str!("profiles/mixed_110Mbs.yaml")),
    (
        "mixed_110Mbs_low_pubs_count",
        include_str!("profiles/mixed_110Mbs_low_pubs_count.yaml"),
    ),
];

/// A load: publishers with message sizes and rates.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Profile {
    pub(super) groups: Vec<Group>,
    /// Whether to wait for a subscription to every publisher before the first message.
    pub(super) wait_for_subscriptions: bool,
    /// Number of threads; one per processor if absent.
    pub(super) threads: Option<usize>,
}

/// Publishers with the same settings.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Group {
    pub(super) publishers: u64,
    /// Topics are `/<root>_1`, `/<root>_2` and so on.
    pub(super) topic_root: String,
    pub(super) content: Content,
    /// Length of `data` in a message; ignored for types without it.
    pub(super) size: usize,
    pub(super) count_each: u64,
    pub(super) hertz: f64,
    pub(super) qos: QosProfile,
}

impl Profile {
    /// A built-in profile, or one from a file of producers.
    pub(super) fn find(name: &str) -> anyhow::Result<Self> {
        if let Some((_, text)) = BUILT_IN.iter().find(|(known, _)| *known == name) {
            return Ok(profile_document::read(text)?);
        }
        let text = std::fs::read_to_string(name).map_err(|error| {
            let known = BUILT_IN.map(|(name, _)| name).join(", ");
            Usage(format!(
                "cannot read the profile {name}: {error}; built-in profiles are {known}"
            ))
        })?;
        let profile =
            profile_document::read(&text).map_err(|error| Usage(format!("{name}: {error}")))?;
        Ok(profile)
    }

    /// Multiplies the rates; sizes and topics stay the same.
    pub(super) fn scaled(mut self, factor: f64) -> Self {
        for group in &mut self.groups {
            group.hertz *= factor;
        }
        self
    }

    /// Sets the message counts for a duration.
    pub(super) fn lasting(mut self, seconds: f64) -> Self {
        for group in &mut self.groups {
            #[expect(
                clippy::cast_possible_truncation,
                clippy::cast_sign_loss,
                reason = "both are above 0, and a count that is too high saturates"
            )]
            let count = (group.hertz * seconds).ceil() as u64;
            group.count_each = count.max(1);
        }
        self
    }

    /// Bytes of `data` per second, summed over all publishers.
    pub(super) fn bytes_per_second(&self) -> f64 {
        let of = |group: &Group| group.publishers as f64 * group.size as f64 * group.hertz;
        self.groups.iter().map(of).sum()
    }

    /// Number of publishers.
    pub(super) fn publishers(&self) -> u64 {
        self.groups.iter().map(|group| group.publishers).sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Publishers, megabytes a second and messages, as rosbag2.md has them.
    #[test]
    fn the_built_in_profiles_are_those_of_rosbag2() {
        let of = |name: &str| {
            let profile = Profile::find(name).unwrap();
            let messages: u64 = profile
                .groups
                .iter()
                .map(|g| g.publishers * g.count_each)
                .sum();
            let megabytes = (profile.bytes_per_second() / 1e6).round();
            (profile.publishers(), megabytes, messages)
        };
        assert_eq!(of("100MBs_raw"), (20, 100.0, 20_000));
        assert_eq!(of("200MBs_raw"), (20, 200.0, 20_000));
        assert_eq!(of("300MBs_raw"), (20, 300.0, 20_000));
        assert_eq!(of("mixed_110Mbs"), (501, 60.0, 1_000_100));
        assert_eq!(of("mixed_110Mbs_low_pubs_count"), (101, 110.0, 200_100));
        assert_eq!(of("automotive"), (30, 572.0, 11_240));
    }

    #[test]
    fn a_scaled_profile_has_the_same_topics_and_sizes() {
        let whole = Profile::find("100MBs_raw").unwrap();
        let part = whole.clone().scaled(0.1).lasting(10.0);
        assert!((part.groups[0].hertz - 2.5).abs() < 1e-9, "{part:?}");
        assert_eq!(part.groups[0].count_each, 25);
        assert_eq!(part.groups[0].size, whole.groups[0].size);
        assert_eq!(part.publishers(), 20);
    }

    #[test]
    fn an_unknown_name_is_refused_with_the_built_in_names() {
        let error = Profile::find("automotiv").unwrap_err();
        assert!(error.is::<Usage>());
        assert!(error.to_string().contains("automotive,"), "{error}");
    }
}
