use std::sync::Arc;

use timeloom_msg::QosProfile;
use timeloom_wire::TopicSpec;

use crate::transport::check_context::{CheckContext, plain};
use crate::transport::collector::Collector;
use crate::transport::payload::{is_payload, payload};

/// What a subscription with `joins` gets that comes after twelve samples of a publisher with `offers`, when a
/// thirteenth follows.
fn joined_late(context: &CheckContext<'_>, offers: QosProfile, joins: QosProfile) -> Vec<u32> {
    let (near, far) = context.two_nodes();
    let topic = context.topic("data", offers);
    let publisher = near.publish(&topic).expect("a publisher is made");
    for mark in 0..12 {
        publisher
            .publish(payload(mark, 32), plain())
            .expect("a sample is published");
    }
    context.quiet();
    let collector = Collector::new();
    let subscription = far
        .subscribe(
            &TopicSpec {
                qos: joins,
                ..topic
            },
            Arc::clone(&collector) as _,
        )
        .expect("a subscription is made");
    context.matched((&*publisher, 1), (&*subscription, 1));
    context.quiet();
    publisher
        .publish(payload(12, 32), plain())
        .expect("a sample is published");
    let last = |collector: &Collector| {
        let samples = collector.samples();
        samples
            .last()
            .is_some_and(|sample| is_payload(&sample.payload, 12, 32))
    };
    context.until("the new sample arrives", || last(&collector));
    context.quiet();
    let mark_of = |sample: &timeloom_wire::Sample| {
        (0..13)
            .find(|mark| is_payload(&sample.payload, *mark, 32))
            .expect("a sample that was sent")
    };
    collector.samples().iter().map(mark_of).collect()
}

pub(crate) fn a_late_joiner_gets_exactly_the_depth(context: &CheckContext<'_>) {
    let got = joined_late(context, CheckContext::latched(5), CheckContext::latched(20));
    assert_eq!(got, [7, 8, 9, 10, 11, 12]);
}

pub(crate) fn a_volatile_late_joiner_gets_nothing_old(context: &CheckContext<'_>) {
    let got = joined_late(context, CheckContext::latched(5), QosProfile::DEFAULT);
    assert_eq!(got, [12]);
}

pub(crate) fn a_volatile_writer_keeps_nothing_for_late_joiners(context: &CheckContext<'_>) {
    let got = joined_late(context, QosProfile::DEFAULT, QosProfile::DEFAULT);
    assert_eq!(got, [12]);
}
