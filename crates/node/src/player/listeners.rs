use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex};

use timeloom_msg::QosProfile;
use timeloom_time::{Clock, Steady, Time};
use timeloom_wire::backend::lock;
use timeloom_wire::{
    EndpointInfo, EndpointKind, Gid, GraphEvent, GraphWatch, NodeName, compatible,
};

use super::mailbox::Mailbox;
use super::notice::{Notice, Reporter};
use crate::RosNode;

/// The subscriptions and servers in the graph that match a player's topics and services.
pub(super) struct Listeners {
    known: Arc<Mutex<Known>>,
    since: Time<Steady>,
    _watch: GraphWatch,
}

/// A topic or service that a player sends to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Offer {
    /// A topic that is published.
    Topic {
        name: String,
        type_name: String,
        qos: QosProfile,
    },
    /// A service that is called.
    Service { name: String },
}

/// The matching endpoints of the graph. Sans I/O: it takes events and returns notices.
struct Known {
    offers: Vec<Offer>,
    /// The player's node, whose own subscriptions do not count.
    own: NodeName,
    /// Subscriptions and servers on the names of the offers.
    endpoints: BTreeMap<Gid, EndpointInfo>,
    /// Subscriptions whose mismatch was reported.
    reported: BTreeSet<Gid>,
    changed: Time<Steady>,
}

impl Listeners {
    /// Watches the graph until dropped; a subscription with incompatible `QoS` is reported once.
    pub(super) fn watch(
        node: &RosNode,
        offers: Vec<Offer>,
        mailbox: &Arc<Mailbox>,
        reporter: &Reporter,
    ) -> Self {
        let participant = node.participant();
        let clock: Clock<Steady> = Clock::on(&participant.time_base());
        let since = clock.now();
        let own = node.name().clone();
        let known = Arc::new(Mutex::new(Known::new(offers, own, since)));
        let (inside, bell, reporter) = (Arc::clone(&known), Arc::clone(mailbox), reporter.clone());
        let watch = participant.watch_graph(Box::new(move |event| {
            let mut known = lock(&inside);
            let concerned = known.apply(event, clock.now());
            let notices = if concerned {
                known.mismatches(Names::Known)
            } else {
                Vec::new()
            };
            drop(known);
            for notice in notices {
                reporter.report(notice);
            }
            if concerned {
                bell.ring();
            }
        }));
        Self {
            known,
            since,
            _watch: watch,
        }
    }

    /// The start of the watch.
    pub(super) fn since(&self) -> Time<Steady> {
        self.since
    }

    /// The last change of the graph.
    pub(super) fn changed(&self) -> Time<Steady> {
        lock(&self.known).changed
    }

    /// The nodes that match an offer; an endpoint whose node is not known is named by its GID.
    pub(super) fn of(&self, offer: &Offer) -> Vec<String> {
        lock(&self.known).of(offer).map(node_of).collect()
    }

    /// Mismatches that were not reported yet, because the name of the node did not arrive.
    pub(super) fn unnamed_mismatches(&self) -> Vec<Notice> {
        lock(&self.known).mismatches(Names::Any)
    }
}

/// Whether an endpoint is reported before its node is known.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Names {
    Known,
    Any,
}

impl Known {
    fn new(offers: Vec<Offer>, own: NodeName, now: Time<Steady>) -> Self {
        Self {
            offers,
            own,
            endpoints: BTreeMap::new(),
            reported: BTreeSet::new(),
            changed: now,
        }
    }

    /// Applies an event; true if it concerns an offer.
    fn apply(&mut self, event: &GraphEvent, now: Time<Steady>) -> bool {
        self.changed = now;
        match event {
            GraphEvent::EndpointChanged(info) if info.node.as_ref() == Some(&self.own) => {
                self.endpoints.remove(&info.gid).is_some()
            }
            GraphEvent::EndpointChanged(info)
                if self.offers.iter().any(|offer| offer.is_for(info)) =>
            {
                let before = self.endpoints.insert(info.gid, (**info).clone());
                before.as_ref() != Some(&**info)
            }
            GraphEvent::EndpointRemoved(gid) => {
                self.reported.remove(gid);
                self.endpoints.remove(gid).is_some()
            }
            _ => false,
        }
    }

    fn of(&self, offer: &Offer) -> impl Iterator<Item = &EndpointInfo> {
        self.endpoints
            .values()
            .filter(move |info| offer.is_for(info) && offer.shortfall(info).is_empty())
    }

    /// Subscriptions that no publisher of their topic satisfies, each reported once.
    fn mismatches(&mut self, names: Names) -> Vec<Notice> {
        let mut notices = Vec::new();
        for info in self.endpoints.values() {
            let nameless = info.node.is_none() && names == Names::Known;
            if nameless || self.reported.contains(&info.gid) {
                continue;
            }
            let offers = self.offers.iter().filter(|offer| offer.is_for(info));
            for offer in offers {
                let reasons = offer.shortfall(info);
                if !reasons.is_empty() {
                    self.reported.insert(info.gid);
                    notices.push(Notice::IncompatibleQos {
                        topic: info.topic.clone(),
                        node: node_of(info),
                        reason: reasons.join("; "),
                    });
                }
            }
        }
        notices
    }
}

impl Offer {
    fn is_for(&self, info: &EndpointInfo) -> bool {
        match self {
            Self::Topic {
                name, type_name, ..
            } => {
                info.kind == EndpointKind::Subscription
                    && info.topic == *name
                    && info.type_name == *type_name
            }
            Self::Service { name } => info.kind == EndpointKind::Server && info.topic == *name,
        }
    }

    /// The reasons why an endpoint does not match; empty if it does.
    fn shortfall(&self, info: &EndpointInfo) -> Vec<String> {
        match self {
            Self::Topic { qos, .. } => compatible(qos, &info.qos)
                .iter()
                .map(ToString::to_string)
                .collect(),
            Self::Service { .. } => Vec::new(),
        }
    }
}

fn node_of(info: &EndpointInfo) -> String {
    let name = info.node.as_ref().map(NodeName::full);
    name.unwrap_or_else(|| info.gid.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn known() -> Known {
        let own = NodeName::new("/", "player").unwrap();
        Known::new(vec![scan()], own, Time::MIN)
    }

    fn subscription(n: u8, node: Option<&str>, qos: QosProfile) -> GraphEvent {
        GraphEvent::EndpointChanged(Box::new(EndpointInfo {
            gid: Gid([n; 16]),
            kind: EndpointKind::Subscription,
            node: node.map(|name| NodeName::new("/", name).unwrap()),
            topic: "/scan".into(),
            type_name: "a/msg/A".into(),
            type_hash: None,
            qos,
        }))
    }

    fn scan() -> Offer {
        Offer::Topic {
            name: "/scan".into(),
            type_name: "a/msg/A".into(),
            qos: QosProfile::SENSOR_DATA,
        }
    }

    #[test]
    fn an_incompatible_subscription_is_reported_once_with_its_node() {
        let mut known = known();
        let strict = |node| subscription(1, node, QosProfile::DEFAULT);
        assert!(known.apply(&strict(None), Time::MIN));
        assert_eq!(known.mismatches(Names::Known), [], "its name may come");
        assert!(known.apply(&strict(Some("strict")), Time::MIN));
        let notices = known.mismatches(Names::Known);
        assert_eq!(notices.len(), 1);
        let text = notices[0].to_string();
        assert!(
            text.starts_with("/scan does not reach /strict: the publisher is best effort"),
            "{text}"
        );
        assert_eq!(known.mismatches(Names::Any), []);
        assert_eq!(known.of(&scan()).count(), 0);
        known.apply(
            &subscription(2, Some("content"), QosProfile::SENSOR_DATA),
            Time::MIN,
        );
        assert_eq!(known.mismatches(Names::Any), []);
        assert_eq!(known.of(&scan()).count(), 1);
        known.apply(&subscription(3, None, QosProfile::DEFAULT), Time::MIN);
        assert_eq!(known.mismatches(Names::Any).len(), 1);
    }

    #[test]
    fn only_endpoints_on_the_offers_count() {
        let mut known = known();
        let own = subscription(1, Some("player"), QosProfile::DEFAULT);
        assert!(!known.apply(&own, Time::MIN));
        let publisher = |event: GraphEvent| match event {
            GraphEvent::EndpointChanged(mut info) => {
                info.kind = EndpointKind::Publisher;
                GraphEvent::EndpointChanged(info)
            }
            other => other,
        };
        let other = publisher(subscription(1, Some("a"), QosProfile::DEFAULT));
        assert!(!known.apply(&other, Time::MIN));
        assert!(!known.apply(&GraphEvent::EndpointRemoved(Gid([1; 16])), Time::MIN));
        assert_eq!(known.of(&scan()).count(), 0);
    }
}
