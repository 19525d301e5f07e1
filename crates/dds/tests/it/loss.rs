//! A flood on best effort: the gaps are exactly the missing samples.

use std::collections::BTreeMap;
use std::sync::Arc;

use timeloom_testkit::transport::Collector;
use timeloom_time::{Event, TimeBase};
use timeloom_wire::{
    EndpointEvent, Gid, LossTracker, Node, NodeName, Participant, Publisher, Receiver, Sample,
};

use timeloom_dds::{DdsParticipant, Options};

use crate::local::{LOOPBACK, new_domain, options, participant, until};
use crate::python::{best_effort, mark_of, publish, topic};

/// Blocks with the first sample until it is released, so that the socket overflows.
struct Slow {
    collector: Arc<Collector>,
    entered: Event,
    release: Event,
}

impl Receiver for Slow {
    fn sample(&self, sample: Sample) {
        self.collector.sample(sample);
        self.entered.set();
        self.release.wait();
    }

    fn event(&self, event: EndpointEvent) {
        self.collector.event(event);
    }
}

/// A participant with the smallest socket buffer that the kernel grants.
fn with_small_buffer(domain: u32) -> DdsParticipant {
    let small = "<CycloneDDS><Domain Id=\"any\"><Internal><SocketReceiveBufferSize max=\"16KiB\"/></Internal></Domain></CycloneDDS>";
    DdsParticipant::new(&Options {
        configuration: format!("{LOOPBACK},{small}"),
        ..options(domain)
    })
    .unwrap()
}

#[test]
fn gaps_are_exact_between_the_first_and_the_last_sample_of_each_writer() {
    const FLOOD: u32 = 20_000;
    let domain = new_domain();
    let base = TimeBase::machine();
    let receiver = Arc::new(Slow {
        collector: Collector::new(),
        entered: Event::new(&base),
        release: Event::new(&base),
    });
    let sender = participant(domain)
        .node(NodeName::new("/", "sender").unwrap())
        .unwrap();
    let writers = [(); 2].map(|()| sender.publish(&topic("/flood", best_effort())).unwrap());
    let node: Arc<dyn Node> = with_small_buffer(domain)
        .node(NodeName::new("/", "receiver").unwrap())
        .unwrap();
    let subscription = node
        .subscribe(&topic("/flood", best_effort()), Arc::clone(&receiver) as _)
        .unwrap();
    until("both are matched, on both sides", || {
        subscription.matched() == 2 && writers.iter().all(|writer| writer.matched() == 1)
    });
    // One for each, so that the losses are between samples.
    let mut sent = [0; 2];
    let mut flood = |count: u32| {
        for _ in 0..count {
            for (writer, next) in writers.iter().zip(&mut sent) {
                publish(&**writer, *next, 100);
                *next += 1;
            }
        }
    };
    until("the first sample holds the receiver", || {
        // Best effort: a sample sent before the reader knows the writer is gone, so samples are sent until one arrives.
        flood(1);
        receiver.entered.is_set()
    });
    flood(FLOOD);
    receiver.release.set();
    let collector = &receiver.collector;
    until("samples come after the flood", || {
        flood(1);
        let last = sent_before_the_end(collector);
        last.len() == 2 && last.values().all(|last| *last > FLOOD)
    });
    // No call begins after the drop: samples and events are from the same moment.
    drop(subscription);
    check(collector, &writers);
}

/// The highest mark of each writer.
fn sent_before_the_end(collector: &Collector) -> BTreeMap<Gid, u32> {
    let mut last = BTreeMap::new();
    for sample in collector.samples() {
        last.insert(sample.writer, mark_of(&sample).unwrap());
    }
    last
}

fn check(collector: &Collector, writers: &[Box<dyn Publisher>]) {
    let samples = collector.samples();
    let mut losses = LossTracker::default();
    for sample in &samples {
        // The sequence number is authoritative: the writer counts from 1, while marks count from 0.
        assert_eq!(
            sample.sequence,
            Some(u64::from(mark_of(sample).unwrap()) + 1)
        );
        losses.sample(sample.writer, sample.sequence.unwrap());
    }
    for writer in writers {
        let of_writer: Vec<_> = samples
            .iter()
            .filter(|sample| sample.writer == writer.gid())
            .collect();
        let (first, last) = (
            of_writer[0].sequence.unwrap(),
            of_writer[of_writer.len() - 1].sequence.unwrap(),
        );
        let missing = last - first + 1 - of_writer.len() as u64;
        assert!(missing > 0, "the flood lost nothing");
        let account = losses.account(&writer.gid()).unwrap();
        assert_eq!((account.lost, account.duplicates), (missing, 0));
    }
}
