use bytes::Bytes;
use timeloom_msg::QosProfile;

use crate::transport::collector::Collector;
use crate::transport::payload::{is_payload, payload};
use crate::transport::stage::{Stage, plain};

/// Nothing but the header, a usual size, and sizes that are no multiple of four.
pub(crate) fn small_payloads_arrive_as_sent(stage: &Stage<'_>) {
    arrive(stage, &[0, 100, 1, 2, 3, 101, 1_000]);
}

pub(crate) fn payloads_of_64_kib_arrive_as_sent(stage: &Stage<'_>) {
    arrive(stage, &[64 << 10; 8]);
}

pub(crate) fn payloads_of_1_mb_arrive_as_sent(stage: &Stage<'_>) {
    arrive(stage, &[1_000_000; 4]);
}

pub(crate) fn payloads_of_8_mb_arrive_as_sent(stage: &Stage<'_>) {
    arrive(stage, &[8_000_000; 2]);
}

fn arrive(stage: &Stage<'_>, lengths: &[usize]) {
    let (near, far) = stage.two_nodes();
    let (publisher, _subscription, collector) =
        stage.pair(&near, &far, &stage.topic("data", Stage::reliable()));
    for (mark, length) in (0..).zip(lengths) {
        publisher
            .publish(payload(mark, *length), plain())
            .expect("a sample is published");
    }
    stage.until("all samples arrive", || collector.count() >= lengths.len());
    for ((mark, length), sample) in (0..).zip(lengths).zip(collector.samples()) {
        assert!(
            is_payload(&sample.payload, mark, *length),
            "sample {mark} of {length} bytes came as {} bytes that differ",
            sample.payload.len()
        );
        assert_eq!(sample.writer, publisher.gid(), "sample {mark}");
    }
}

pub(crate) fn a_payload_without_encapsulation_is_refused(stage: &Stage<'_>) {
    let (near, far) = stage.two_nodes();
    let (publisher, _subscription, collector) =
        stage.pair(&near, &far, &stage.topic("data", Stage::reliable()));
    for length in 0..4 {
        let cut = Bytes::from(vec![0; length]);
        assert!(publisher.publish(cut, plain()).is_err(), "{length} bytes");
    }
    publisher
        .publish(payload(1, 8), plain())
        .expect("a whole sample is published");
    stage.until("the whole sample arrives", || collector.count() > 0);
    assert!(is_payload(&collector.samples()[0].payload, 1, 8));
}

pub(crate) fn names_that_ros_forbids_are_refused(stage: &Stage<'_>) {
    let participant = stage.participant();
    let node = stage.node(&participant, "node");
    for name in ["", "relative", "/two words", "/ends/", "/1st"] {
        let mut topic = stage.topic("data", QosProfile::DEFAULT);
        name.clone_into(&mut topic.name);
        assert!(node.publish(&topic).is_err(), "publish on {name:?}");
        let receiver = Collector::new();
        assert!(
            node.subscribe(&topic, receiver).is_err(),
            "subscribe to {name:?}"
        );
    }
}
