//! Events of endpoints: deadlines and liveliness.

use timeloom_msg::QosProfile;
use timeloom_msg::qos::{Liveliness, QosDuration};
use timeloom_testkit::transport::{Collector, EventLog};
use timeloom_wire::EndpointEvent;

use crate::local::{new_domain, until};
use crate::python::{node, publish, topic};

const MILLIS_200: QosDuration = QosDuration {
    sec: 0,
    nsec: 200_000_000,
};

#[test]
fn both_sides_are_notified_of_a_missed_deadline() {
    let domain = new_domain();
    let qos = QosProfile {
        deadline: MILLIS_200,
        ..QosProfile::DEFAULT
    };
    let (log, collector) = (EventLog::new(), Collector::new());
    let publisher = node(domain)
        .publish_observed(&topic("/data", qos), log.observer())
        .unwrap();
    let _subscription = node(domain)
        .subscribe(&topic("/data", qos), collector.clone())
        .unwrap();
    until("they match", || publisher.matched() == 1);
    publish(&*publisher, 0, 8);
    let missed =
        |event: &EndpointEvent| matches!(event, EndpointEvent::DeadlineMissed { total: 1.. });
    until("the publisher hears it", || log.any(missed));
    until("the subscription hears it", || collector.events.any(missed));
}

#[test]
fn both_sides_are_notified_of_lost_liveliness() {
    let domain = new_domain();
    let qos = QosProfile {
        liveliness: Liveliness::ManualByTopic,
        liveliness_lease_duration: MILLIS_200,
        ..QosProfile::DEFAULT
    };
    let (log, collector) = (EventLog::new(), Collector::new());
    let publisher = node(domain)
        .publish_observed(&topic("/data", qos), log.observer())
        .unwrap();
    let _subscription = node(domain)
        .subscribe(&topic("/data", qos), collector.clone())
        .unwrap();
    until("they match", || publisher.matched() == 1);
    publisher.assert_liveliness().unwrap();
    let alive = |event: &EndpointEvent| {
        matches!(
            event,
            EndpointEvent::LivelinessChanged { alive: 1, dead: 0 }
        )
    };
    let dead = |event: &EndpointEvent| {
        matches!(
            event,
            EndpointEvent::LivelinessChanged { alive: 0, dead: 1 }
        )
    };
    until("it is alive", || collector.events.any(alive));
    until("it is dead after its lease", || collector.events.any(dead));
    until("the publisher hears it", || log.any(dead));
    let before = collector.events.all().len();
    // From a writer that was not alive, Cyclone DDS accepts only a sample as a sign of life.
    publish(&*publisher, 0, 8);
    until("it lives again", || {
        collector
            .events
            .all()
            .get(before..)
            .is_some_and(|new| new.iter().any(alive))
    });
}
