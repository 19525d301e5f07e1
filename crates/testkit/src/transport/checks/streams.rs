use std::sync::Arc;

use timeloom_time::{Event, Time};
use timeloom_wire::{EndpointEvent, Gid, LossTracker, PublishOptions, Publisher, Receiver, Sample};

use crate::transport::check_context::{CheckContext, plain};
use crate::transport::collector::Collector;
use crate::transport::payload::{is_payload, payload};

fn publish(publisher: &dyn Publisher, marks: std::ops::Range<u32>) {
    for mark in marks {
        publisher
            .publish(payload(mark, 100), plain())
            .expect("a sample is published");
    }
}

pub(crate) fn samples_come_in_order_with_consecutive_numbers(context: &CheckContext<'_>) {
    let (near, far) = context.two_nodes();
    let (publisher, _subscription, collector) = context.pair(
        &near,
        &far,
        &context.topic("data", CheckContext::reliable()),
    );
    publish(&*publisher, 0..200);
    context.until("all samples arrive", || collector.count() >= 200);
    let samples = collector.samples();
    for (mark, sample) in (0..).zip(&samples) {
        assert!(
            is_payload(&sample.payload, mark, 100),
            "sample {mark} is another"
        );
    }
    if context.capabilities().sequence_numbers {
        let numbers: Vec<_> = samples
            .iter()
            .filter_map(|sample| sample.sequence)
            .collect();
        assert_eq!(numbers.len(), 200, "every sample has a number");
        assert!(numbers.windows(2).all(|two| two[0] + 1 == two[1]));
    }
}

pub(crate) fn best_effort_samples_arrive(context: &CheckContext<'_>) {
    let (near, far) = context.two_nodes();
    let (publisher, _subscription, collector) = context.pair(
        &near,
        &far,
        &context.topic("data", CheckContext::best_effort(5)),
    );
    // One at a time: so there is no reason to lose any.
    for mark in 0..20 {
        publish(&*publisher, mark..mark + 1);
        context.until("a best-effort sample arrives", || {
            collector.count() > mark as usize
        });
    }
    assert!(
        (0..)
            .zip(collector.samples())
            .all(|(mark, sample)| { is_payload(&sample.payload, mark, 100) })
    );
}

pub(crate) fn several_writers_reach_several_readers(context: &CheckContext<'_>) {
    let (near, far) = context.two_nodes();
    let topic = context.topic("data", CheckContext::reliable());
    let publishers: Vec<_> = [&near, &near, &far]
        .map(|node| node.publish(&topic).expect("a publisher is made"))
        .into();
    let readers: Vec<_> = [&near, &far, &far]
        .map(|node| {
            let collector = Collector::new();
            let subscription = node.subscribe(&topic, Arc::clone(&collector) as _);
            (subscription.expect("a subscription is made"), collector)
        })
        .into();
    for publisher in &publishers {
        for (subscription, _) in &readers {
            context.matched((&**publisher, 3), (&**subscription, 3));
        }
    }
    for mark in 0..20 {
        for publisher in &publishers {
            publish(&**publisher, mark..mark + 1);
        }
    }
    for (_, collector) in &readers {
        context.until("samples of all writers arrive", || collector.count() >= 60);
        for publisher in &publishers {
            of_one_writer_in_order(collector, publisher.gid());
        }
    }
}

fn of_one_writer_in_order(collector: &Collector, writer: Gid) {
    let samples = collector.samples();
    let own: Vec<_> = samples
        .iter()
        .filter(|sample| sample.writer == writer)
        .collect();
    assert_eq!(own.len(), 20, "samples of {writer}");
    for (mark, sample) in (0..).zip(own) {
        assert!(
            is_payload(&sample.payload, mark, 100),
            "sample {mark} of {writer}"
        );
    }
}

pub(crate) fn publisher_and_subscription_of_one_participant_match(context: &CheckContext<'_>) {
    let node = context.node(&context.participant(), "node");
    let (publisher, _subscription, collector) = context.pair(
        &node,
        &node,
        &context.topic("data", CheckContext::reliable()),
    );
    publish(&*publisher, 0..3);
    context.until("our own samples arrive", || collector.count() >= 3);
}

pub(crate) fn the_given_source_time_is_received(context: &CheckContext<'_>) {
    let (near, far) = context.two_nodes();
    let (publisher, _subscription, collector) = context.pair(
        &near,
        &far,
        &context.topic("data", CheckContext::reliable()),
    );
    // To the microsecond: RTPS counts in fractions of 2^-32 s.
    let given = Time::from_nanos(1_700_000_000_123_456_000);
    let options = PublishOptions {
        source_time: Some(given),
        ..plain()
    };
    publisher
        .publish(payload(0, 8), options)
        .expect("a sample is published");
    publish(&*publisher, 1..2);
    context.until("both samples arrive", || collector.count() >= 2);
    if context.capabilities().source_times {
        let samples = collector.samples();
        let received = samples[0].source_time.expect("a source time");
        assert!(
            (received.nanos() - given.nanos()).abs() <= 1,
            "{received:?} instead of {given:?}"
        );
        let own = samples[1].source_time.expect("the time of sending");
        assert!(own.nanos() > 0 && own <= samples[1].receive_time);
    }
}

pub(crate) fn a_pause_follows_the_last_sample(context: &CheckContext<'_>) {
    let (near, far) = context.two_nodes();
    let (publisher, _subscription, collector) = context.pair(
        &near,
        &far,
        &context.topic("data", CheckContext::reliable()),
    );
    for end in [1, 8, 50_u32] {
        let begin = u32::try_from(collector.count()).expect("few samples");
        publish(&*publisher, begin..end);
        context.until("a pause after the last sample", || {
            collector.paused_at() == end as usize
        });
    }
}

/// A receiver that blocks on its first sample until it is released.
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

pub(crate) fn keep_last_overflow_is_a_gap(context: &CheckContext<'_>) {
    const ALL: u32 = 60;
    let (near, far) = context.two_nodes();
    let topic = context.topic("data", CheckContext::best_effort(5));
    let receiver = Arc::new(Blocked {
        entered: context.event(),
        release: context.event(),
        collector: Collector::new(),
    });
    let collector = Arc::clone(&receiver.collector);
    let publisher = near.publish(&topic).expect("a publisher is made");
    let subscription = far
        .subscribe(&topic, Arc::clone(&receiver) as _)
        .expect("a subscription is made");
    context.matched((&*publisher, 1), (&*subscription, 1));
    publish(&*publisher, 0..1);
    assert!(receiver.entered.wait_for(context.patience()));
    publish(&*publisher, 1..ALL - 1);
    context.quiet();
    receiver.release.set();
    // Whatever was lost meanwhile, the account closes with a sample that is known to arrive.
    let last = payload(ALL, 100);
    context.until("the last sample arrives", || {
        let arrived = |sample: &Sample| sample.payload == last;
        if collector.samples().iter().any(arrived) {
            return true;
        }
        publisher
            .publish(last.clone(), plain())
            .expect("a sample is published");
        context.quiet();
        false
    });
    let received = collector.count();
    let may_keep_all = context.quirks().keeps_beyond_depth;
    assert!(
        may_keep_all || received < ALL as usize,
        "nothing was lost with depth 5"
    );
    if context.capabilities().sequence_numbers {
        let mut losses = LossTracker::default();
        for sample in collector.samples() {
            losses.sample(sample.writer, sample.sequence.expect("a number"));
        }
        let account = losses.account(&publisher.gid()).expect("samples came");
        assert_eq!(account.duplicates, 0);
        assert!(account.last >= u64::from(ALL));
        assert_eq!(
            account.received + account.lost,
            account.last - account.first + 1
        );
        assert!(may_keep_all || account.lost > 0, "the loss shows as a gap");
    }
}

pub(crate) fn a_batch_waits_for_its_flush(context: &CheckContext<'_>) {
    let (near, far) = context.two_nodes();
    let (publisher, _subscription, collector) = context.pair(
        &near,
        &far,
        &context.topic("data", CheckContext::reliable()),
    );
    let batch = PublishOptions {
        batch: true,
        ..plain()
    };
    let fill = |marks: std::ops::Range<u32>| {
        for mark in marks {
            publisher
                .publish(payload(mark, 16), batch)
                .expect("a sample joins the batch");
        }
    };
    fill(0..10);
    publisher.flush().expect("a flush");
    context.until("the flushed batch arrives", || collector.count() >= 10);
    fill(10..15);
    publisher
        .publish(payload(15, 16), plain())
        .expect("a sample is published");
    context.until("a sample without the mark takes the batch along", || {
        collector.count() >= 16
    });
    fill(16..18);
    drop(publisher);
    context.until("the end of the publisher takes the batch along", || {
        collector.count() >= 18
    });
    assert!(
        (0..)
            .zip(collector.samples())
            .all(|(mark, sample)| { is_payload(&sample.payload, mark, 16) })
    );
}

pub(crate) fn acknowledgements_can_be_waited_for(context: &CheckContext<'_>) {
    let (near, far) = context.two_nodes();
    let (publisher, _subscription, collector) = context.pair(
        &near,
        &far,
        &context.topic("data", CheckContext::reliable()),
    );
    publish(&*publisher, 0..30);
    let acknowledged = publisher.wait_for_acknowledgements(context.patience());
    if context.capabilities().acknowledgements {
        assert!(
            acknowledged.expect("the transport can"),
            "no acknowledgement"
        );
    } else {
        assert!(acknowledged.is_err(), "it cannot, and says so");
    }
    context.until("all samples arrive", || collector.count() >= 30);
}
