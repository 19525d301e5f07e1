use std::cell::OnceCell;
use std::sync::Arc;

use timeloom_msg::qos::{Durability, History, Reliability};
use timeloom_msg::{QosProfile, TypeHash, TypeName};
use timeloom_time::{Clock, Duration, Event, Steady, TimeBase};
use timeloom_wire::{
    Caller, Capabilities, Node, NodeName, Participant, PublishOptions, Publisher, ServiceSpec,
    Subscription, TopicSpec,
};

use super::collector::Collector;
use super::harness::{Harness, Quirks};

/// Interval of polling.
const LOOK_AGAIN: Duration = Duration::from_millis(1);

/// The context of a check: the transport, unique names, and ways to wait.
pub struct CheckContext<'a> {
    harness: &'a dyn Harness,
    check: &'static str,
    capabilities: OnceCell<Capabilities>,
}

impl<'a> CheckContext<'a> {
    /// A context for the check of that name.
    pub fn new(harness: &'a dyn Harness, check: &'static str) -> Self {
        Self {
            harness,
            check,
            capabilities: OnceCell::new(),
        }
    }

    /// A new participant.
    pub fn participant(&self) -> Arc<dyn Participant> {
        self.harness.participant()
    }

    /// The capabilities of the transport.
    pub fn capabilities(&self) -> Capabilities {
        *self
            .capabilities
            .get_or_init(|| self.participant().capabilities())
    }

    /// The quirks of the transport.
    pub fn quirks(&self) -> Quirks {
        self.harness.quirks()
    }

    /// The time to wait on.
    pub fn base(&self) -> TimeBase {
        self.harness.base()
    }

    /// Limit for waiting for an expected event.
    pub fn patience(&self) -> Duration {
        self.harness.patience()
    }

    /// A name that no other check uses.
    pub fn name(&self, name: &str) -> String {
        format!("{}_{name}", self.check)
    }

    /// A node name that no other check uses.
    pub fn node_name(&self, name: &str) -> NodeName {
        NodeName::new("/conformance", &self.name(name)).expect("a valid node name")
    }

    /// A node.
    pub fn node(&self, participant: &Arc<dyn Participant>, name: &str) -> Arc<dyn Node> {
        participant
            .node(self.node_name(name))
            .expect("a node is made")
    }

    /// Two nodes in participants of their own.
    pub fn two_nodes(&self) -> (Arc<dyn Node>, Arc<dyn Node>) {
        let near = self.node(&self.participant(), "near");
        let far = self.node(&self.participant(), "far");
        (near, far)
    }

    /// A topic that no other check uses.
    pub fn topic(&self, name: &str, qos: QosProfile) -> TopicSpec {
        TopicSpec {
            name: format!("/conformance/{}", self.name(name)),
            type_name: TypeName::parse("std_msgs/msg/String").expect("a valid type"),
            type_hash: Some(TypeHash::from_bytes([0x5a; 32])),
            qos,
        }
    }

    /// A service that no other check uses.
    pub fn service(&self, name: &str) -> ServiceSpec {
        ServiceSpec {
            name: format!("/conformance/{}", self.name(name)),
            type_name: TypeName::parse("example_interfaces/srv/AddTwoInts").expect("a valid type"),
            type_hash: Some(TypeHash::from_bytes([1; 32])),
            request_hash: Some(TypeHash::from_bytes([2; 32])),
            response_hash: Some(TypeHash::from_bytes([3; 32])),
            qos: QosProfile::SERVICES,
        }
    }

    /// A caller that has discovered its server.
    pub fn caller(&self, node: &Arc<dyn Node>, service: &ServiceSpec) -> Caller {
        let caller = Caller::new(&**node, service, &self.base()).expect("a client is made");
        assert!(
            caller.wait_for_server(self.patience()),
            "no server of {} was discovered",
            service.name
        );
        caller
    }

    /// Reliable, with full history.
    pub fn reliable() -> QosProfile {
        QosProfile {
            history: History::KeepAll,
            depth: 0,
            ..QosProfile::DEFAULT
        }
    }

    /// Best effort with a depth.
    pub fn best_effort(depth: u64) -> QosProfile {
        QosProfile {
            reliability: Reliability::BestEffort,
            depth,
            ..QosProfile::DEFAULT
        }
    }

    /// Transient local, reliable, with a depth.
    pub fn latched(depth: u64) -> QosProfile {
        QosProfile {
            durability: Durability::TransientLocal,
            depth,
            ..QosProfile::DEFAULT
        }
    }

    /// Waits until publisher and subscription have that many peers.
    pub fn matched(
        &self,
        publisher: (&dyn Publisher, usize),
        subscription: (&dyn Subscription, usize),
    ) {
        if self.quirks().no_matched_counts {
            // Without counts, wait as long as discovery may take.
            return self.quiet();
        }
        self.until("publisher and subscription match", || {
            publisher.0.matched() == publisher.1 && subscription.0.matched() == subscription.1
        });
    }

    /// A matched publisher and subscription with its collector, between two nodes.
    pub fn pair(
        &self,
        from: &Arc<dyn Node>,
        to: &Arc<dyn Node>,
        topic: &TopicSpec,
    ) -> (Box<dyn Publisher>, Box<dyn Subscription>, Arc<Collector>) {
        let collector = Collector::new();
        let publisher = from.publish(topic).expect("a publisher is made");
        let subscription = to
            .subscribe(topic, Arc::clone(&collector) as _)
            .expect("a subscription is made");
        self.matched((&*publisher, 1), (&*subscription, 1));
        (publisher, subscription, collector)
    }

    /// Waits until the condition holds.
    ///
    /// # Panics
    /// When the harness's patience runs out.
    pub fn until(&self, what: &str, mut condition: impl FnMut() -> bool) {
        let clock = Clock::<Steady>::on(&self.base());
        let end = clock.now().saturating_add(self.patience());
        while !condition() {
            assert!(
                clock.now() < end,
                "{}: not within {}: {what}",
                self.check,
                self.patience()
            );
            let _woke = clock.sleep_for(LOOK_AGAIN);
        }
    }

    /// Lets time pass in which nothing should happen.
    pub fn quiet(&self) {
        let _woke = Clock::<Steady>::on(&self.base()).sleep_for(self.harness.quiet());
    }

    /// An event to hand over with.
    pub fn event(&self) -> Event {
        Event::new(&self.base())
    }
}

/// Default options of publishing.
pub(crate) fn plain() -> PublishOptions {
    PublishOptions::default()
}
