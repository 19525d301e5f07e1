use std::fmt;

use timeloom_msg::QosProfile;
use timeloom_msg::qos::{Durability, History, Liveliness, QosDuration, Reliability};

use crate::event::QosPolicy;

/// The reason why a publisher and a subscription do not match, as text for users.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Incompatibility {
    /// The incompatible policy.
    pub policy: QosPolicy,
}

impl fmt::Display for Incompatibility {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self.policy {
            QosPolicy::Reliability => {
                "the publisher is best effort and the subscription wants reliable: \
                 make the publisher reliable or the subscription best effort"
            }
            QosPolicy::Durability => {
                "the publisher is volatile and the subscription wants transient local: \
                 make the publisher transient local or the subscription volatile"
            }
            QosPolicy::Deadline => {
                "the publisher's deadline is longer than the subscription's: \
                 shorten the publisher's or lengthen the subscription's"
            }
            QosPolicy::Liveliness => {
                "the publisher's liveliness is weaker than the subscription's: \
                 make the publisher's manual or shorter, or the subscription's automatic or longer"
            }
            QosPolicy::Other => "a policy that the middleware does not name does not fit",
        })
    }
}

/// All policies in which the offer is weaker than the request; empty if they match.
///
/// Best available requests nothing and offers the most.
pub fn compatible(offered: &QosProfile, requested: &QosProfile) -> Vec<Incompatibility> {
    let liveliness = rank(offered.liveliness) < rank(requested.liveliness)
        || longer(
            offered.liveliness_lease_duration,
            requested.liveliness_lease_duration,
        );
    [
        (
            QosPolicy::Reliability,
            !is_reliable(offered)
                && is_reliable(requested)
                && requested.reliability != Reliability::BestAvailable,
        ),
        (
            QosPolicy::Durability,
            !is_latched(offered) && requested.durability == Durability::TransientLocal,
        ),
        (
            QosPolicy::Deadline,
            longer(offered.deadline, requested.deadline),
        ),
        (QosPolicy::Liveliness, liveliness),
    ]
    .into_iter()
    .filter(|(_, falls_short)| *falls_short)
    .map(|(policy, _)| Incompatibility { policy })
    .collect()
}

/// The strongest request that every offer meets; a recorder subscribes with it.
///
/// As rosbag2 does: reliable if all publishers are, transient local if all are; deadline, lifespan and
/// liveliness are not requested, so that no publisher is left out by them.
pub fn adapt_to_offers(offers: &[QosProfile]) -> QosProfile {
    let all = |wanted: fn(&QosProfile) -> bool| !offers.is_empty() && offers.iter().all(wanted);
    QosProfile {
        reliability: if all(is_reliable) {
            Reliability::Reliable
        } else {
            Reliability::BestEffort
        },
        durability: if all(is_latched) {
            Durability::TransientLocal
        } else {
            Durability::Volatile
        },
        depth: offers
            .iter()
            .filter(|offer| offer.history == History::KeepLast)
            .map(|offer| offer.depth)
            .max()
            .unwrap_or(0)
            .max(QosProfile::DEFAULT.depth),
        ..QosProfile::DEFAULT
    }
}

pub(crate) fn is_reliable(qos: &QosProfile) -> bool {
    qos.reliability != Reliability::BestEffort
}

pub(crate) fn is_latched(qos: &QosProfile) -> bool {
    matches!(
        qos.durability,
        Durability::TransientLocal | Durability::BestAvailable
    )
}

/// Whether an offered duration is longer than the requested one; one without a limit is the longest.
fn longer(offered: QosDuration, requested: QosDuration) -> bool {
    match (offered.limit(), requested.limit()) {
        (_, None) => false,
        (None, Some(_)) => true,
        (Some(offered), Some(requested)) => offered > requested,
    }
}

fn rank(liveliness: Liveliness) -> u8 {
    u8::from(liveliness == Liveliness::ManualByTopic)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn policies(offered: &QosProfile, requested: &QosProfile) -> Vec<QosPolicy> {
        compatible(offered, requested)
            .into_iter()
            .map(|found| found.policy)
            .collect()
    }

    #[test]
    fn a_strong_offer_matches_a_weak_request_and_not_the_reverse() {
        let weak = QosProfile {
            reliability: Reliability::BestEffort,
            ..QosProfile::DEFAULT
        };
        let latched = QosProfile {
            durability: Durability::TransientLocal,
            ..QosProfile::DEFAULT
        };
        assert!(policies(&QosProfile::DEFAULT, &weak).is_empty());
        assert_eq!(
            policies(&weak, &QosProfile::DEFAULT),
            [QosPolicy::Reliability]
        );
        assert!(policies(&latched, &QosProfile::DEFAULT).is_empty());
        assert_eq!(
            policies(&QosProfile::DEFAULT, &latched),
            [QosPolicy::Durability]
        );
    }

    #[test]
    fn a_deadline_must_be_offered_at_least_as_short() {
        let with = |millis: u64| QosProfile {
            deadline: QosDuration::from_nanos(millis * 1_000_000),
            ..QosProfile::DEFAULT
        };
        assert!(policies(&with(100), &with(100)).is_empty());
        assert_eq!(policies(&with(101), &with(100)), [QosPolicy::Deadline]);
        assert_eq!(
            policies(&QosProfile::DEFAULT, &with(100)),
            [QosPolicy::Deadline]
        );
        assert!(policies(&with(100), &QosProfile::DEFAULT).is_empty());
    }

    #[test]
    fn best_available_matches_everything() {
        let best = QosProfile {
            reliability: Reliability::BestAvailable,
            durability: Durability::BestAvailable,
            ..QosProfile::DEFAULT
        };
        let latched = QosProfile {
            durability: Durability::TransientLocal,
            ..QosProfile::DEFAULT
        };
        for other in [latched, QosProfile::DEFAULT, QosProfile::SENSOR_DATA] {
            assert!(policies(&other, &best).is_empty());
            assert!(policies(&best, &other).is_empty());
        }
    }

    #[test]
    fn a_recorder_requests_what_all_publishers_offer() {
        let latched = QosProfile {
            durability: Durability::TransientLocal,
            depth: 500,
            ..QosProfile::DEFAULT
        };
        assert_eq!(
            adapt_to_offers(&[latched]).durability,
            Durability::TransientLocal
        );
        assert_eq!(adapt_to_offers(&[latched]).depth, 500);
        let mixed = adapt_to_offers(&[latched, QosProfile::SENSOR_DATA]);
        assert_eq!(mixed.durability, Durability::Volatile);
        assert_eq!(mixed.reliability, Reliability::BestEffort);
        for offer in [latched, QosProfile::SENSOR_DATA] {
            assert!(compatible(&offer, &mixed).is_empty());
        }
        assert_eq!(adapt_to_offers(&[]).reliability, Reliability::BestEffort);
    }
}
