use std::collections::BTreeSet;

use timeloom_msg::QosProfile;
use timeloom_msg::qos::{Durability, Reliability};

/// The part of a publisher's QoS that decides about matching: there is one subscription for each class.
///
/// So every publisher is received with the QoS that it offers: a best-effort publisher that joins later does not cost
/// the resent and latched messages of the others. Duplicates are recognised by their sequence number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) struct QosClass {
    reliable: bool,
    latched: bool,
}

/// The smallest history depth of a subscription: bursts must not be lost before they are taken.
const DEPTH: u64 = 1000;

impl QosClass {
    /// The class that matches every publisher.
    pub(super) const WEAKEST: Self = Self {
        reliable: false,
        latched: false,
    };

    pub(super) fn of(offer: &QosProfile) -> Self {
        Self {
            reliable: offer.reliability != Reliability::BestEffort,
            latched: matches!(
                offer.durability,
                Durability::TransientLocal | Durability::BestAvailable
            ),
        }
    }

    /// The classes of some offers.
    pub(super) fn all(offers: &[QosProfile]) -> BTreeSet<Self> {
        offers.iter().map(Self::of).collect()
    }

    /// The class that all of some offers match.
    pub(super) fn common(offers: &[QosProfile]) -> Self {
        Self {
            reliable: !offers.is_empty() && offers.iter().all(|offer| Self::of(offer).reliable),
            latched: !offers.is_empty() && offers.iter().all(|offer| Self::of(offer).latched),
        }
    }

    pub(super) fn is_reliable(self) -> bool {
        self.reliable
    }

    pub(super) fn is_latched(self) -> bool {
        self.latched
    }

    /// The QoS of a subscription, with the longest history of the offers.
    pub(super) fn profile(self, offers: &[QosProfile]) -> QosProfile {
        let depth = timeloom_wire::adapt_to_offers(offers).depth.max(DEPTH);
        QosProfile {
            depth,
            reliability: if self.reliable {
                Reliability::Reliable
            } else {
                Reliability::BestEffort
            },
            durability: if self.latched {
                Durability::TransientLocal
            } else {
                Durability::Volatile
            },
            ..QosProfile::DEFAULT
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use timeloom_wire::compatible;

    #[test]
    fn every_publisher_is_received_with_the_qos_it_offers() {
        let latched = QosProfile {
            durability: Durability::TransientLocal,
            depth: 5_000,
            ..QosProfile::DEFAULT
        };
        let offers = [latched, QosProfile::DEFAULT, QosProfile::SENSOR_DATA];
        let classes = QosClass::all(&offers);
        assert_eq!(classes.len(), 3);
        for offer in &offers {
            let own = QosClass::of(offer).profile(&offers);
            assert!(compatible(offer, &own).is_empty());
            assert_eq!(own.depth, 5_000);
        }
        let weakest = QosClass::common(&offers);
        assert_eq!(weakest, QosClass::WEAKEST);
        for offer in &offers {
            assert!(compatible(offer, &weakest.profile(&offers)).is_empty());
        }
        assert_eq!(QosClass::common(&[]), QosClass::WEAKEST);
    }
}
