use timeloom_msg::QosProfile;
use timeloom_msg::qos::{Durability, History, Liveliness, QosDuration, Reliability};

/// The `QoS` of the publisher of a topic.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct PublisherQos {
    pub(super) profile: QosProfile,
    /// Number of messages that late joiners got from the recorded publishers together; 0 if the topic is not latched.
    pub(super) keeps: usize,
    /// The recorded publishers differed.
    pub(super) mixed: bool,
}

/// The most messages that are kept for late joiners.
const MOST_KEPT: u64 = 1000;

impl PublisherQos {
    /// Offers the strongest of each policy, which matches every subscription of the recorded publishers.
    ///
    /// Reliable topics keep all until acknowledged, so that a burst overwrites nothing.
    pub(super) fn of_recorded(profiles: &[QosProfile]) -> Self {
        let Some(first) = profiles.first() else {
            return Self::of_override(QosProfile {
                history: History::KeepAll,
                depth: 0,
                ..QosProfile::DEFAULT
            });
        };
        let any = |is: fn(&QosProfile) -> bool| profiles.iter().any(is);
        let same = profiles.iter().all(|other| is_same(first, other));
        let reliable = any(|profile| profile.reliability != Reliability::BestEffort);
        let latched = any(|profile| profile.durability == Durability::TransientLocal);
        let keeps = kept(profiles);
        let (history, depth) = match (reliable, latched) {
            (_, true) => (History::KeepLast, keeps.max(QosProfile::DEFAULT.depth)),
            (true, false) => (History::KeepAll, 0),
            (false, false) => (History::KeepLast, QosProfile::DEFAULT.depth),
        };
        let rest = if same { *first } else { QosProfile::DEFAULT };
        let profile = QosProfile {
            history,
            depth,
            reliability: if reliable {
                Reliability::Reliable
            } else {
                Reliability::BestEffort
            },
            durability: if latched {
                Durability::TransientLocal
            } else {
                Durability::Volatile
            },
            liveliness: known(rest.liveliness),
            ..rest
        };
        Self {
            profile,
            keeps: if latched {
                usize::try_from(keeps).unwrap_or(1)
            } else {
                0
            },
            mixed: !same,
        }
    }

    /// Exactly the `QoS` of the user.
    pub(super) fn of_override(profile: QosProfile) -> Self {
        let latched = profile.durability == Durability::TransientLocal;
        let keeps = if profile.history == History::KeepAll {
            MOST_KEPT
        } else {
            profile.depth.clamp(1, MOST_KEPT)
        };
        Self {
            profile,
            keeps: if latched {
                usize::try_from(keeps).unwrap_or(1)
            } else {
                0
            },
            mixed: false,
        }
    }

    pub(super) fn is_reliable(&self) -> bool {
        self.profile.reliability != Reliability::BestEffort
    }
}

fn is_same(a: &QosProfile, b: &QosProfile) -> bool {
    let policies =
        |profile: &QosProfile| -> (Reliability, Durability, Liveliness, [QosDuration; 3]) {
            (
                profile.reliability,
                profile.durability,
                profile.liveliness,
                [
                    profile.deadline,
                    profile.lifespan,
                    profile.liveliness_lease_duration,
                ],
            )
        };
    policies(a) == policies(b)
}

/// Number of messages for late joiners of all latched publishers; one with an unknown depth kept at least one.
fn kept(profiles: &[QosProfile]) -> u64 {
    let latched = profiles
        .iter()
        .filter(|profile| profile.durability == Durability::TransientLocal);
    let depth = |profile: &QosProfile| match profile.history {
        History::KeepAll => MOST_KEPT,
        _ => profile.depth.clamp(1, MOST_KEPT),
    };
    latched.map(depth).sum::<u64>().min(MOST_KEPT)
}

fn known(liveliness: Liveliness) -> Liveliness {
    match liveliness {
        Liveliness::Unknown | Liveliness::ManualByNode => Liveliness::SystemDefault,
        known => known,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const RECORDED: QosProfile = QosProfile {
        history: History::Unknown,
        depth: 0,
        ..QosProfile::DEFAULT
    };
    const LATCHED: QosProfile = QosProfile {
        durability: Durability::TransientLocal,
        ..RECORDED
    };
    const BEST_EFFORT: QosProfile = QosProfile {
        reliability: Reliability::BestEffort,
        ..RECORDED
    };

    #[test]
    fn reliable_topics_keep_all_and_best_effort_ones_do_not() {
        let qos = PublisherQos::of_recorded(&[RECORDED]);
        assert_eq!(qos.profile.history, History::KeepAll);
        assert!(qos.is_reliable() && qos.keeps == 0 && !qos.mixed);
        let qos = PublisherQos::of_recorded(&[BEST_EFFORT]);
        assert_eq!(
            (qos.profile.history, qos.profile.depth, qos.is_reliable()),
            (History::KeepLast, 10, false)
        );
        assert!(PublisherQos::of_recorded(&[]).is_reliable());
    }

    #[test]
    fn the_history_of_latched_publishers_is_kept() {
        let qos = PublisherQos::of_recorded(&[LATCHED; 25]);
        assert_eq!((qos.keeps, qos.profile.depth), (25, 25));
        let qos = PublisherQos::of_recorded(&[LATCHED]);
        assert_eq!((qos.keeps, qos.profile.depth), (1, 10));
        let all = QosProfile {
            history: History::KeepAll,
            ..LATCHED
        };
        assert_eq!(PublisherQos::of_recorded(&[all, all]).keeps, 1000);
    }

    #[test]
    fn the_strongest_of_different_publishers_applies() {
        let deadline = QosDuration { sec: 1, nsec: 0 };
        let strict = QosProfile {
            deadline,
            ..BEST_EFFORT
        };
        let qos = PublisherQos::of_recorded(&[strict, LATCHED]);
        assert!(qos.mixed && qos.is_reliable());
        assert_eq!(qos.profile.durability, Durability::TransientLocal);
        assert_eq!(qos.profile.deadline, QosDuration::UNSPECIFIED);
        let qos = PublisherQos::of_recorded(&[strict, strict]);
        assert_eq!((qos.mixed, qos.profile.deadline), (false, deadline));
    }
}
