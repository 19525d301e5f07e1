use std::sync::Arc;

use timeloom_msg::qos::{Durability, Liveliness, QosDuration};
use timeloom_msg::{QosProfile, TypeName};
use timeloom_wire::{EndpointEvent, QosPolicy, TopicSpec};

use crate::transport::check_context::{CheckContext, plain};
use crate::transport::collector::{Collector, EventLog};
use crate::transport::payload::payload;

/// Each policy with what is offered and what is asked for in vain.
fn incompatible() -> [(QosPolicy, QosProfile, QosProfile); 4] {
    let base = QosProfile::DEFAULT;
    let deadline = |millis: u64| QosProfile {
        deadline: QosDuration::from_nanos(millis * 1_000_000),
        ..base
    };
    let liveliness = |liveliness| QosProfile {
        liveliness,
        liveliness_lease_duration: QosDuration { sec: 1, nsec: 0 },
        ..base
    };
    let latched = QosProfile {
        durability: Durability::TransientLocal,
        ..base
    };
    [
        (QosPolicy::Reliability, CheckContext::best_effort(10), base),
        (QosPolicy::Durability, base, latched),
        (QosPolicy::Deadline, deadline(200), deadline(100)),
        (
            QosPolicy::Liveliness,
            liveliness(Liveliness::Automatic),
            liveliness(Liveliness::ManualByTopic),
        ),
    ]
}

pub(crate) fn incompatible_qos_does_not_match_and_both_hear_it(context: &CheckContext<'_>) {
    let quirks = context.quirks();
    if quirks.matches_incompatible {
        // Then at least data must flow.
        let (near, far) = context.two_nodes();
        let (publisher, _subscription, collector) = context.pair(
            &near,
            &far,
            &context.topic("data", CheckContext::best_effort(10)),
        );
        publisher
            .publish(payload(0, 8), plain())
            .expect("a sample is published");
        return context.until("the sample arrives", || collector.count() > 0);
    }
    let (near, far) = context.two_nodes();
    for (policy, offered, requested) in incompatible() {
        let topic = context.topic(&policy.to_string(), offered);
        let (log, collector) = (EventLog::new(), Collector::new());
        let publisher = near
            .publish_observed(&topic, log.observer())
            .expect("a publisher is made");
        let asks = TopicSpec {
            qos: requested,
            ..topic
        };
        let subscription = far
            .subscribe(&asks, Arc::clone(&collector) as _)
            .expect("a subscription is made");
        let said = |event: &EndpointEvent| matches!(event, EndpointEvent::IncompatibleQos { policy: heard, total: 1.. } if *heard == policy);
        if !quirks.silent_about_incompatible {
            context.until("the publisher hears it", || log.any(said));
            context.until("the subscription hears it", || collector.events.any(said));
        }
        publisher
            .publish(payload(0, 8), plain())
            .expect("a sample is published");
        context.quiet();
        assert_eq!(
            (publisher.matched(), subscription.matched()),
            (0, 0),
            "{policy}"
        );
        assert_eq!(collector.count(), 0, "{policy}");
    }
}

pub(crate) fn matched_counts_go_up_and_down(context: &CheckContext<'_>) {
    let (near, far) = context.two_nodes();
    let topic = context.topic("data", QosProfile::DEFAULT);
    let log = EventLog::new();
    let publisher = near
        .publish_observed(&topic, log.observer())
        .expect("a publisher is made");
    let collectors = [Collector::new(), Collector::new()];
    let mut subscriptions: Vec<_> = collectors
        .iter()
        .map(|collector| {
            far.subscribe(&topic, Arc::clone(collector) as _)
                .expect("a subscription is made")
        })
        .collect();
    if context.quirks().no_matched_counts {
        publisher
            .publish(payload(0, 8), plain())
            .expect("a sample is published");
        return;
    }
    context.until("two subscriptions match", || publisher.matched() == 2);
    context.until("the publisher hears of two", || log.last_matched() == 2);
    drop(subscriptions.pop());
    context.until("one is left", || {
        publisher.matched() == 1 && log.last_matched() == 1
    });
    let heard = &collectors[0].events;
    context.until("the subscription hears of its publisher", || {
        subscriptions[0].matched() == 1 && heard.last_matched() == 1
    });
    drop(publisher);
    context.until("the subscription hears that it went", || {
        subscriptions[0].matched() == 0 && heard.last_matched() == 0
    });
    let changes: isize = log
        .all()
        .iter()
        .map(|event| match event {
            EndpointEvent::Matched { change, .. } => *change,
            _ => 0,
        })
        .sum();
    assert_eq!(changes, 1, "the changes add up to what was left at the end");
}

pub(crate) fn types_that_differ_do_not_match(context: &CheckContext<'_>) {
    let (near, far) = context.two_nodes();
    let topic = context.topic("data", QosProfile::DEFAULT);
    let publisher = near.publish(&topic).expect("a publisher is made");
    let other = TopicSpec {
        type_name: TypeName::parse("std_msgs/msg/Int32").expect("a valid type"),
        ..topic.clone()
    };
    let (stranger, friend) = (Collector::new(), Collector::new());
    let subscription = far.subscribe(&other, Arc::clone(&stranger) as _);
    // A middleware may refuse a second type on a topic at once.
    let (_, matching) = (
        subscription.is_ok(),
        far.subscribe(&topic, Arc::clone(&friend) as _)
            .expect("a subscription is made"),
    );
    context.matched((&*publisher, 1), (&*matching, 1));
    publisher
        .publish(payload(0, 8), plain())
        .expect("a sample is published");
    context.until("the right one gets it", || friend.count() > 0);
    context.quiet();
    assert_eq!(stranger.count(), 0);
}
