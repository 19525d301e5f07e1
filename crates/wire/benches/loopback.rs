//! Cost per message of the parts of `wire`: the loopback, the loss account, the queue.

use std::collections::VecDeque;
use std::hint::black_box;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration as StdDuration;

use bytes::Bytes;
use timeloom_msg::qos::History;
use timeloom_msg::{QosProfile, TypeName};
use timeloom_testkit::bench::{Bench, Rounds, Variant};
use timeloom_time::sync::lock;
use timeloom_time::{Clock, Duration, Event, Steady, Time, TimeBase, VirtualTime};
use timeloom_wire::loopback::LoopbackNetwork;
use timeloom_wire::queue::{Overflow, QueueLimits, SampleQueue};
use timeloom_wire::{
    Gid, LossTracker, NodeName, PublishOptions, Publisher, Receiver, Sample, Subscription,
    TopicSpec,
};

const SLICE: StdDuration = StdDuration::from_millis(2);
/// Number of samples between two pauses.
const BATCH: u64 = 32;

fn main() {
    let mut bench = Bench::from_env();
    if bench.wants("wire.queue") {
        queue(&mut bench);
    }
    if bench.wants("wire.loss") {
        loss(&mut bench);
    }
    if bench.wants("wire.loopback") {
        loopback(&mut bench);
    }
}

fn sample(number: u64) -> Sample {
    Sample {
        payload: Bytes::from_static(&[0; 100]),
        source_time: Some(Time::from_nanos(1)),
        receive_time: Time::from_nanos(2),
        writer: Gid([7; 16]),
        sequence: Some(number),
    }
}

/// Samples through the bounded, counting, waking queue, and through a mutex around a plain one.
fn queue(bench: &mut Bench) {
    let limits = QueueLimits {
        messages: 1_024,
        bytes: 1 << 20,
    };
    let ours = SampleQueue::new(&TimeBase::machine(), limits, Overflow::DropOldest);
    let plain: Mutex<VecDeque<Sample>> = Mutex::default();
    let (mut taken, mut drained) = (Vec::new(), Vec::new());
    let measured = Rounds::new(31, SLICE).run(&mut [
        Variant::looped("SampleQueue", || {
            for number in 0..BATCH {
                ours.sample(sample(number));
            }
            ours.pause();
            ours.take(&mut taken);
            black_box(&mut taken).clear();
        }),
        Variant::looped("Mutex<VecDeque>", || {
            let lock = || lock(&plain);
            for number in 0..BATCH {
                lock().push_back(sample(number));
            }
            drained.extend(lock().drain(..));
            black_box(&mut drained).clear();
        }),
    ]);
    bench.ratio_at_most("wire.queue", measured[0].ratio_to(&measured[1]), 2.0);
    bench.note(
        "wire.queue",
        format_args!(
            "{:.1} ns per sample, pushed and taken {BATCH} at a time, against {:.1} ns of a mutex around a plain queue",
            measured[0].median() / BATCH as f64,
            measured[1].median() / BATCH as f64
        ),
    );
}

/// The account of losses for a recorder with fifty writers, one sample in ten missing.
fn loss(bench: &mut Bench) {
    let writers: Vec<_> = (0..50_u8).map(|n| Gid([n; 16])).collect();
    let mut losses = LossTracker::default();
    let mut number = 0;
    let mut next = 0;
    let measured = Rounds::new(31, SLICE).run(&mut [
        Variant::looped("all there", || {
            next = (next + 1) % writers.len();
            number += u64::from(next == 0);
            losses.sample(writers[next], number)
        }),
        Variant::looped("every tenth missing", {
            let mut losses = LossTracker::default();
            let mut number = 0;
            let writer = writers[25];
            move || {
                number += 1 + u64::from(number % 10 == 0);
                losses.sample(writer, number)
            }
        }),
    ]);
    bench.note(
        "wire.loss",
        format_args!(
            "{:.1} ns per sample of 50 writers, {:.1} ns with every tenth missing; wanted: 50 ns",
            measured[0].median(),
            measured[1].median()
        ),
    );
}

/// Counts samples, and signals when all have arrived.
struct Counter {
    received: AtomicU64,
    wanted: AtomicU64,
    all: Event,
}

impl Receiver for Counter {
    fn sample(&self, sample: Sample) {
        black_box(sample);
        self.received.fetch_add(1, Ordering::AcqRel);
    }

    fn pause(&self) {
        if self.received.load(Ordering::Acquire) >= self.wanted.load(Ordering::Acquire) {
            self.all.set();
        }
    }
}

struct Pair {
    publisher: Box<dyn Publisher>,
    _subscription: Box<dyn Subscription>,
    counter: Arc<Counter>,
}

impl Pair {
    fn new(base: &TimeBase) -> Self {
        let network = LoopbackNetwork::new(base);
        let node = |label: &str| {
            let participant = network.participant(label).expect("a participant joins");
            let name = NodeName::new("/", label).expect("a valid name");
            participant.node(name).expect("a node")
        };
        let topic = TopicSpec {
            name: "/data".to_owned(),
            type_name: TypeName::parse("std_msgs/msg/String").expect("a valid type"),
            type_hash: None,
            qos: QosProfile {
                history: History::KeepAll,
                ..QosProfile::DEFAULT
            },
        };
        let counter = Arc::new(Counter {
            received: AtomicU64::new(0),
            wanted: AtomicU64::new(0),
            all: Event::new(base),
        });
        let subscription = node("far").subscribe(&topic, Arc::clone(&counter) as _);
        Self {
            publisher: node("near").publish(&topic).expect("a publisher"),
            _subscription: subscription.expect("a subscription"),
            counter,
        }
    }

    /// Sends `count` samples and waits until all have arrived.
    fn carry(&self, count: u64, payload: &Bytes) {
        self.counter.all.clear();
        self.counter.wanted.fetch_add(count, Ordering::AcqRel);
        for _ in 0..count {
            let options = PublishOptions::default();
            let sent = self.publisher.publish(payload.clone(), options);
            sent.expect("it is sent");
        }
        let wanted = self.counter.wanted.load(Ordering::Acquire);
        while self.counter.received.load(Ordering::Acquire) < wanted {
            self.counter.all.wait_for(Duration::from_millis(10));
            self.counter.all.clear();
        }
    }
}

fn loopback(bench: &mut Bench) {
    let world = VirtualTime::new();
    let _here = world.enter();
    let machine = Pair::new(&TimeBase::machine());
    let virtually = Pair::new(&world.base());
    let clock = Clock::<Steady>::on(&world.base());
    let small = Bytes::from(vec![0; 100]);
    let large = Bytes::from(vec![0; 1_000_000]);
    let measured = Rounds::new(15, StdDuration::from_millis(10)).run(&mut [
        Variant::batch("machine, 100 B", |count| machine.carry(count, &small)),
        Variant::batch("machine, 1 MB", |count| machine.carry(count, &large)),
        Variant::batch("virtual, 100 B", |count| virtually.carry(count, &small)),
    ]);
    black_box(clock.now());
    bench.note(
        "wire.loopback",
        format_args!(
            "{:.0} ns per message of 100 B published and received, {:.0} ns of 1 MB (shared, not copied), {:.0} ns on virtual time",
            measured[0].median(),
            measured[1].median(),
            measured[2].median()
        ),
    );
}
