//! The policy "best available", resolved against the existing endpoints.

use timeloom_msg::QosProfile;
use timeloom_msg::qos::{Durability, Liveliness, QosDuration, Reliability};

use crate::qos_match::{is_latched, is_reliable};

/// The duration that requests the best available deadline or lease, as `rmw` numbers it.
pub const BEST_AVAILABLE_DURATION: QosDuration = QosDuration {
    sec: 9_223_372_036,
    nsec: 854_775_806,
};

/// Whether one of the policies is "best available".
pub fn asks_for_best_available(qos: &QosProfile) -> bool {
    qos.reliability == Reliability::BestAvailable
        || qos.durability == Durability::BestAvailable
        || qos.liveliness == Liveliness::BestAvailable
        || qos.deadline == BEST_AVAILABLE_DURATION
        || qos.liveliness_lease_duration == BEST_AVAILABLE_DURATION
}

/// A subscription's profile with "best available" replaced by the most that all of these publishers offer.
///
/// As `rmw_dds_common` decides it, once, when the subscription is created. Without publishers it is the strongest.
pub fn best_available_subscription(wanted: &QosProfile, offers: &[QosProfile]) -> QosProfile {
    let all = |so: fn(&QosProfile) -> bool| offers.iter().all(so);
    let manual = |offer: &QosProfile| offer.liveliness == Liveliness::ManualByTopic;
    let longest = |of: fn(&QosProfile) -> QosDuration| offers.iter().map(of).max_by_key(nanos);
    QosProfile {
        reliability: match wanted.reliability {
            Reliability::BestAvailable if all(is_reliable) => Reliability::Reliable,
            Reliability::BestAvailable => Reliability::BestEffort,
            other => other,
        },
        durability: match wanted.durability {
            Durability::BestAvailable if all(is_latched) => Durability::TransientLocal,
            Durability::BestAvailable => Durability::Volatile,
            other => other,
        },
        liveliness: match wanted.liveliness {
            Liveliness::BestAvailable if !offers.is_empty() && all(manual) => {
                Liveliness::ManualByTopic
            }
            Liveliness::BestAvailable => Liveliness::Automatic,
            other => other,
        },
        deadline: duration(wanted.deadline, longest(|offer| offer.deadline)),
        liveliness_lease_duration: duration(
            wanted.liveliness_lease_duration,
            longest(|offer| offer.liveliness_lease_duration),
        ),
        ..*wanted
    }
}

/// A publisher's profile with "best available" replaced by values that match all of these subscriptions.
pub fn best_available_publisher(wanted: &QosProfile, requests: &[QosProfile]) -> QosProfile {
    let shortest = |of: fn(&QosProfile) -> QosDuration| requests.iter().map(of).min_by_key(nanos);
    let manual = |request: &QosProfile| request.liveliness == Liveliness::ManualByTopic;
    QosProfile {
        reliability: match wanted.reliability {
            Reliability::BestAvailable => Reliability::Reliable,
            other => other,
        },
        durability: match wanted.durability {
            Durability::BestAvailable => Durability::TransientLocal,
            other => other,
        },
        liveliness: match wanted.liveliness {
            Liveliness::BestAvailable if requests.iter().any(manual) => Liveliness::ManualByTopic,
            Liveliness::BestAvailable => Liveliness::Automatic,
            other => other,
        },
        deadline: duration(wanted.deadline, shortest(|request| request.deadline)),
        liveliness_lease_duration: duration(
            wanted.liveliness_lease_duration,
            shortest(|request| request.liveliness_lease_duration),
        ),
        ..*wanted
    }
}

fn duration(wanted: QosDuration, best: Option<QosDuration>) -> QosDuration {
    if wanted == BEST_AVAILABLE_DURATION {
        best.unwrap_or(QosDuration::UNSPECIFIED)
    } else {
        wanted
    }
}

/// A duration without a limit is the longest.
fn nanos(duration: &QosDuration) -> u64 {
    duration.limit().unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::compatible;
    use proptest::prelude::*;

    const BEST: QosProfile = QosProfile {
        reliability: Reliability::BestAvailable,
        durability: Durability::BestAvailable,
        liveliness: Liveliness::BestAvailable,
        deadline: BEST_AVAILABLE_DURATION,
        liveliness_lease_duration: BEST_AVAILABLE_DURATION,
        ..QosProfile::DEFAULT
    };

    fn profile() -> impl Strategy<Value = QosProfile> {
        let duration = prop_oneof![
            Just(QosDuration::UNSPECIFIED),
            (1..5_u64).prop_map(|seconds| QosDuration::from_nanos(seconds * 1_000_000_000))
        ];
        let flags = (any::<bool>(), any::<bool>(), any::<bool>());
        (flags, duration.clone(), duration).prop_map(
            |((reliable, latched, manual), deadline, liveliness_lease_duration)| QosProfile {
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
                liveliness: if manual {
                    Liveliness::ManualByTopic
                } else {
                    Liveliness::Automatic
                },
                deadline,
                liveliness_lease_duration,
                ..QosProfile::DEFAULT
            },
        )
    }

    proptest! {
        #[test]
        fn the_chosen_qos_matches_all_endpoints(others in prop::collection::vec(profile(), 0..5)) {
            let subscription = best_available_subscription(&BEST, &others);
            let publisher = best_available_publisher(&BEST, &others);
            prop_assert!(!asks_for_best_available(&subscription));
            prop_assert!(!asks_for_best_available(&publisher));
            for other in &others {
                prop_assert!(compatible(other, &subscription).is_empty());
                prop_assert!(compatible(&publisher, other).is_empty());
            }
        }

        #[test]
        fn explicit_policies_are_kept(wanted in profile(), other in profile()) {
            prop_assert!(!asks_for_best_available(&wanted));
            prop_assert_eq!(best_available_subscription(&wanted, &[other]), wanted);
            prop_assert_eq!(best_available_publisher(&wanted, &[other]), wanted);
        }
    }

    #[test]
    fn the_strongest_compatible_policy_is_chosen() {
        let alone = best_available_subscription(&BEST, &[]);
        assert_eq!(alone.reliability, Reliability::Reliable);
        assert_eq!(alone.durability, Durability::TransientLocal);
        let sensor = best_available_subscription(&BEST, &[QosProfile::SENSOR_DATA]);
        assert_eq!(sensor.reliability, Reliability::BestEffort);
        assert_eq!(sensor.durability, Durability::Volatile);
    }
}
