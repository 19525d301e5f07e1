use std::collections::BTreeMap;

use timeloom_msg::QosProfile;
use timeloom_time::{Duration, Steady, Time};
use timeloom_wire::{EndpointInfo, Gid, NodeName, compatible};

/// Time to wait for the node name of a publisher: names arrive apart from endpoints, mostly a moment later.
const NAMING: Duration = Duration::from_secs(1);

/// Publishers of a topic that do not reach the recorder, each reported once.
///
/// Only a QoS that was asked for can fall apart from what is offered: otherwise the recorder adapts to each publisher.
#[derive(Debug, Default)]
pub(super) struct Mismatches {
    publishers: BTreeMap<Gid, Mismatch>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Mismatch {
    /// Its node was not known then.
    Unnamed(Time<Steady>),
    Reported,
}

impl Mismatches {
    /// A sentence for each publisher that offers less than is requested and was not reported before.
    pub(super) fn look(
        &mut self,
        requested: &QosProfile,
        publishers: &[&EndpointInfo],
        now: Time<Steady>,
    ) -> Vec<String> {
        let there = |gid: &Gid| publishers.iter().any(|info| info.gid == *gid);
        self.publishers.retain(|gid, _| there(gid));
        let mut sentences = Vec::new();
        for info in publishers {
            let reasons = compatible(&info.qos, requested);
            if reasons.is_empty() {
                self.publishers.remove(&info.gid);
                continue;
            }
            let state = self.publishers.entry(info.gid);
            let state = state.or_insert(Mismatch::Unnamed(now));
            let due = match (*state, &info.node) {
                (Mismatch::Reported, _) => false,
                (Mismatch::Unnamed(_), Some(_)) => true,
                (Mismatch::Unnamed(since), None) => now - since >= NAMING,
            };
            if due {
                *state = Mismatch::Reported;
                let node = info.node.as_ref().map(NodeName::full);
                let node = node.unwrap_or_else(|| info.gid.to_string());
                sentences.extend(reasons.iter().map(|reason| {
                    format!(
                        "{} of {node} is not recorded, the QoS asked for does not fit: {reason}",
                        info.topic
                    )
                }));
            }
        }
        sentences
    }

    /// Whether a publisher that was not named yet is still to be reported.
    pub(super) fn is_pending(&self) -> bool {
        let mut states = self.publishers.values();
        states.any(|state| *state != Mismatch::Reported)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use timeloom_wire::EndpointKind;

    fn publisher(n: u8, node: Option<&str>, qos: QosProfile) -> EndpointInfo {
        EndpointInfo {
            gid: Gid([n; 16]),
            kind: EndpointKind::Publisher,
            node: node.map(|name| NodeName::new("/", name).unwrap()),
            topic: "/scan".into(),
            type_name: "a/msg/A".into(),
            type_hash: None,
            qos,
        }
    }

    #[test]
    fn a_publisher_that_offers_less_is_reported_once_when_its_name_is_known() {
        let mut mismatches = Mismatches::default();
        let at = |millis: i64| Time::<Steady>::from_nanos(millis * 1_000_000);
        let weak = |node| publisher(1, node, QosProfile::SENSOR_DATA);
        let strong = publisher(2, Some("strong"), QosProfile::DEFAULT);
        let mut look = |weak: &EndpointInfo, now| {
            let found = mismatches.look(&QosProfile::DEFAULT, &[weak, &strong], at(now));
            (found, mismatches.is_pending())
        };
        assert_eq!(look(&weak(None), 0), (vec![], true));
        assert_eq!(look(&weak(None), 900), (vec![], true));
        let (found, pending) = look(&weak(Some("camera")), 950);
        assert_eq!((found.len(), pending), (1, false));
        assert!(
            found[0].starts_with("/scan of /camera is not recorded"),
            "{found:?}"
        );
        assert!(found[0].contains("best effort"), "{found:?}");
        assert_eq!(look(&weak(Some("camera")), 3000), (vec![], false));
    }

    #[test]
    fn a_publisher_without_a_name_is_reported_after_a_second_and_again_when_it_comes_back() {
        let mut mismatches = Mismatches::default();
        let at = |millis: i64| Time::<Steady>::from_nanos(millis * 1_000_000);
        let weak = publisher(1, None, QosProfile::SENSOR_DATA);
        let mut look = |publishers: &[&EndpointInfo], now| {
            let found = mismatches.look(&QosProfile::DEFAULT, publishers, at(now));
            found.len()
        };
        assert_eq!(look(&[&weak], 0), 0);
        assert_eq!(look(&[&weak], 1000), 1);
        assert_eq!(look(&[], 2000), 0);
        assert_eq!(look(&[&weak], 3000) + look(&[&weak], 4000), 1);
    }
}
