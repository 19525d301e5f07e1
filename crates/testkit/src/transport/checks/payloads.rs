use bytes::Bytes;
use timeloom_msg::QosProfile;

use crate::transport::check_context::{CheckContext, plain};
use crate::transport::collector::Collector;
use crate::transport::payload::{is_payload, payload};

/// Nothing but the header, a usual size, and sizes that are no multiple of four.
pub(crate) fn small_payloads_arrive_as_sent(context: &CheckContext<'_>) {
    arrive(context, &[0, 100, 1, 2, 3, 101, 1_000]);
}

pub(crate) fn payloads_of_64_kib_arrive_as_sent(context: &CheckContext<'_>) {
    arrive(context, &[64 << 10; 8]);
}

pub(crate) fn payloads_of_1_mb_arrive_as_sent(context: &CheckContext<'_>) {
    arrive(context, &[1_000_000; 4]);
}

pub(crate) fn payloads_of_8_mb_arrive_as_sent(context: &CheckContext<'_>) {
    arrive(context, &[8_000_000; 2]);
}

fn arrive(context: &CheckContext<'_>, lengths: &[usize]) {
    let (near, far) = context.two_nodes();
    let (publisher, _subscription, collector) = context.pair(
        &near,
        &far,
        &context.topic("data", CheckContext::reliable()),
    );
    for (mark, length) in (0..).zip(lengths) {
        publisher
            .publish(payload(mark, *length), plain())
            .expect("a sample is published");
    }
    context.until("all samples arrive", || collector.count() >= lengths.len());
    for ((mark, length), sample) in (0..).zip(lengths).zip(collector.samples()) {
        assert!(
            is_payload(&sample.payload, mark, *length),
            "sample {mark} of {length} bytes came as {} bytes that differ",
            sample.payload.len()
        );
        assert_eq!(sample.writer, publisher.gid(), "sample {mark}");
    }
}

pub(crate) fn a_payload_without_encapsulation_is_refused(context: &CheckContext<'_>) {
    let (near, far) = context.two_nodes();
    let (publisher, _subscription, collector) = context.pair(
        &near,
        &far,
        &context.topic("data", CheckContext::reliable()),
    );
    for length in 0..4 {
        let cut = Bytes::from(vec![0; length]);
        assert!(publisher.publish(cut, plain()).is_err(), "{length} bytes");
    }
    publisher
        .publish(payload(1, 8), plain())
        .expect("a whole sample is published");
    context.until("the whole sample arrives", || collector.count() > 0);
    assert!(is_payload(&collector.samples()[0].payload, 1, 8));
}

pub(crate) fn names_that_ros_forbids_are_refused(context: &CheckContext<'_>) {
    let participant = context.participant();
    let node = context.node(&participant, "node");
    for name in ["", "relative", "/two words", "/ends/", "/1st"] {
        let mut topic = context.topic("data", QosProfile::DEFAULT);
        name.clone_into(&mut topic.name);
        assert!(node.publish(&topic).is_err(), "publish on {name:?}");
        let receiver = Collector::new();
        assert!(
            node.subscribe(&topic, receiver).is_err(),
            "subscribe to {name:?}"
        );
    }
}
