//! Losses, by the gaps in each writer's numbers.

use std::sync::Arc;

use serde_json::json;
use timeloom_testkit::transport::Collector;
use timeloom_time::{Event, TimeBase};
use timeloom_wire::{
    EndpointEvent, Gid, LossTracker, PublishOptions, Receiver, Sample, WriterAccount,
};

use crate::blob::{best_effort, blob, node, on, publish, reliable, topic, with};
use crate::local::{PATIENCE, router, until};
use crate::peer::Peer;

/// The losses of a writer, by the numbers of its samples.
fn account_of(collector: &Collector, writer: Gid) -> WriterAccount {
    let mut losses = LossTracker::default();
    for sample in collector.samples() {
        losses.sample(sample.writer, sample.sequence.unwrap());
    }
    *losses.account(&writer).unwrap()
}

#[test]
fn samples_that_a_peer_skips_are_counted_per_writer() {
    let (_router, at) = router();
    let Some(mut peer) = Peer::start(&at) else {
        return;
    };
    let collector = Collector::new();
    let subscription = node(&at)
        .subscribe(&topic("/data", reliable()), Arc::clone(&collector) as _)
        .unwrap();
    // Samples skipped before the first and after the last one cannot be detected.
    let one = json!([null, 1, 2, null, null, 5, null, 7, null]);
    let two = json!([0, null, null, null, 4, 5]);
    for (name, gid, marks) in [("one", "11", &one), ("two", "22", &two)] {
        let gid = gid.repeat(16);
        peer.ask(&with(
            on("publisher", name, "/data"),
            &json!({ "gid": gid }),
        ));
        peer.ask(&json!({"do": "matched", "name": name}));
        peer.ask(&json!({"do": "publish", "name": name, "size": 16, "marks": marks}));
    }
    until("all that was sent arrives", || collector.count() == 7);
    assert_eq!(account_of(&collector, Gid([0x11; 16])).lost, 3);
    assert_eq!(account_of(&collector, Gid([0x22; 16])).lost, 3);
    drop(subscription);
}

/// A receiver that blocks with its first sample until it is released.
struct Blocked {
    entered: Event,
    release: Event,
    collector: Arc<Collector>,
}

impl Receiver for Blocked {
    fn sample(&self, sample: Sample) {
        self.collector.sample(sample);
        self.entered.set();
        self.release.wait();
    }

    fn event(&self, event: EndpointEvent) {
        self.collector.event(event);
    }
}

#[test]
fn a_flood_that_overflows_is_counted_exactly() {
    const SIZE: usize = 60_000;
    let (_router, at) = router();
    let base = TimeBase::machine();
    let receiver = Arc::new(Blocked {
        entered: Event::new(&base),
        release: Event::new(&base),
        collector: Collector::new(),
    });
    let collector = Arc::clone(&receiver.collector);
    let publisher = node(&at).publish(&topic("/flood", best_effort())).unwrap();
    let subscription = node(&at)
        .subscribe(&topic("/flood", best_effort()), Arc::clone(&receiver) as _)
        .unwrap();
    until("they match", || {
        publisher.matched() == 1 && subscription.matched() == 1
    });
    publish(&*publisher, 0, SIZE);
    assert!(receiver.entered.wait_for(PATIENCE));
    // More than all buffers of both sides hold.
    for mark in 1..1_000 {
        publish(&*publisher, mark, SIZE);
    }
    receiver.release.set();
    // The account ends with a sample that is known to have arrived.
    let mut last = 0;
    until("the last one arrives", || {
        let payload = blob(5_000, 16);
        let arrived = collector
            .samples()
            .iter()
            .any(|sample| sample.payload == payload);
        if !arrived {
            last = publisher
                .publish(payload, PublishOptions::default())
                .unwrap()
                .unwrap();
        }
        arrived
    });
    let samples = collector.samples();
    let account = account_of(&collector, publisher.gid());
    assert_eq!((account.first, account.duplicates), (1, 0));
    assert!(account.last <= last);
    assert!(
        account.lost > 0,
        "everything fitted: {} samples",
        samples.len()
    );
    assert_eq!(account.received, samples.len() as u64);
    assert_eq!(account.received + account.lost, account.last);
}
