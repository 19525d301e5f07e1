//! The ROS distributions whose layouts differ.

use std::str::FromStr;

/// A ROS 2 distribution, oldest first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Default)]
pub enum Distro {
    /// Humble Hawksbill, 2022.
    Humble,
    /// Jazzy Jalisco, 2024.
    #[default]
    Jazzy,
    /// Kilted Kaiju, 2025.
    Kilted,
    /// Lyrical Luth, 2026.
    Lyrical,
    /// Rolling, the newest.
    Rolling,
}

/// Messages of `rosbag2_interfaces` that are not in every distribution, with the first one that has them; `None` for a
/// message that no release has.
///
/// The package itself is in every distribution: `ros2 bag record -a` skips a topic whose package it does not find, and
/// fails on a topic whose package lacks the type.
const LATER: [(&str, Option<Distro>); 5] = [
    (
        "rosbag2_interfaces/msg/MessagesLostEvent",
        Some(Distro::Lyrical),
    ),
    (
        "rosbag2_interfaces/msg/MessagesLostEventTopicStat",
        Some(Distro::Lyrical),
    ),
    ("rosbag2_interfaces/msg/LowDiskSpaceEvent", None),
    ("rosbag2_interfaces/msg/StopRecordingEvent", None),
    ("rosbag2_interfaces/msg/TopicStatistics", None),
];

impl Distro {
    /// All distributions, oldest first.
    pub const ALL: [Self; 5] = [
        Self::Humble,
        Self::Jazzy,
        Self::Kilted,
        Self::Lyrical,
        Self::Rolling,
    ];

    /// The name as `ROS_DISTRO` spells it.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Humble => "humble",
            Self::Jazzy => "jazzy",
            Self::Kilted => "kilted",
            Self::Lyrical => "lyrical",
            Self::Rolling => "rolling",
        }
    }

    /// Whether the distribution has the package of a message type, but not the type.
    ///
    /// Publishing such a type makes a `ros2 bag record -a` of this distribution fail.
    pub fn lacks(self, type_name: &str) -> bool {
        LATER
            .iter()
            .find(|(name, _)| *name == type_name)
            .is_some_and(|(_, first)| first.is_none_or(|first| self < first))
    }
}

impl FromStr for Distro {
    type Err = crate::Error;

    fn from_str(text: &str) -> crate::Result<Self> {
        Self::ALL
            .into_iter()
            .find(|distro| distro.as_str() == text)
            .ok_or_else(|| crate::Error::Name {
                what: "distribution",
                name: text.to_owned(),
                reason: "expected humble, jazzy, kilted, lyrical or rolling",
            })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn later_types_are_lacking_before_their_first_distribution() {
        let lost = "rosbag2_interfaces/msg/MessagesLostEvent";
        let lacking = Distro::ALL.map(|distro| distro.lacks(lost));
        assert_eq!(lacking, [true, true, true, false, false]);
        for distro in Distro::ALL {
            assert!(distro.lacks("rosbag2_interfaces/msg/LowDiskSpaceEvent"));
            assert!(!distro.lacks("rosbag2_interfaces/msg/WriteSplitEvent"));
            assert!(!distro.lacks("std_msgs/msg/String"));
        }
    }
}
