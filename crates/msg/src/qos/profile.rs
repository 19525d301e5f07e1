//! One `QoS` profile.

use super::{Durability, History, Liveliness, QosDuration, Reliability};

/// All `QoS` policies of a publisher or subscription.
///
/// ```
/// use timeloom_msg::QosProfile;
/// use timeloom_msg::qos::{QosSpelling, parse_profiles, profiles_to_yaml};
///
/// let profile = QosProfile { depth: 100, ..QosProfile::SENSOR_DATA };
/// let text = profiles_to_yaml(&[profile], QosSpelling::Names);
/// assert!(text.contains("reliability: best_effort"));
/// assert_eq!(parse_profiles(&text)?, [profile]);
/// # Ok::<(), timeloom_msg::Error>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct QosProfile {
    /// Number of samples that are kept.
    pub history: History,
    /// The number of samples with [`History::KeepLast`].
    pub depth: u64,
    /// Whether lost samples are sent again.
    pub reliability: Reliability,
    /// Whether late joiners get old samples.
    pub durability: Durability,
    /// The longest expected time between samples.
    pub deadline: QosDuration,
    /// The time that a sample is valid.
    pub lifespan: QosDuration,
    /// The source of the liveliness assertion.
    pub liveliness: Liveliness,
    /// The longest time between two assertions.
    pub liveliness_lease_duration: QosDuration,
    /// Whether the topic has a plain DDS name without the prefixes of ROS.
    pub avoid_ros_namespace_conventions: bool,
}

impl QosProfile {
    /// The default of publishers and subscriptions: reliable, volatile, the last 10 samples.
    pub const DEFAULT: Self = Self {
        history: History::KeepLast,
        depth: 10,
        reliability: Reliability::Reliable,
        durability: Durability::Volatile,
        deadline: QosDuration::UNSPECIFIED,
        lifespan: QosDuration::UNSPECIFIED,
        liveliness: Liveliness::SystemDefault,
        liveliness_lease_duration: QosDuration::UNSPECIFIED,
        avoid_ros_namespace_conventions: false,
    };
    /// The profile of sensor streams: best effort, the last 5 samples.
    pub const SENSOR_DATA: Self = Self {
        depth: 5,
        reliability: Reliability::BestEffort,
        ..Self::DEFAULT
    };
    /// The profile of `/clock`: best effort, the last sample only.
    pub const CLOCK: Self = Self {
        depth: 1,
        ..Self::SENSOR_DATA
    };
    /// The profile of service requests and replies.
    pub const SERVICES: Self = Self::DEFAULT;
    /// The profile of parameter services.
    pub const PARAMETERS: Self = Self {
        depth: 1000,
        ..Self::DEFAULT
    };
    /// The profile of `/rosout`: kept for late joiners, for ten seconds.
    pub const ROSOUT: Self = Self {
        depth: 1000,
        durability: Durability::TransientLocal,
        lifespan: QosDuration { sec: 10, nsec: 0 },
        ..Self::DEFAULT
    };
}

impl Default for QosProfile {
    fn default() -> Self {
        Self::DEFAULT
    }
}
