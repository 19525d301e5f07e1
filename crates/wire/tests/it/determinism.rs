//! The same seed gives the same run, every time.

use std::fmt::Write as _;
use std::sync::{Arc, Mutex};

use timeloom_testkit::transport::payload;
use timeloom_time::{Clock, Duration, Event, Steady, System};
use timeloom_wire::loopback::{Chance, Faults, LoopbackOptions, Scope};
use timeloom_wire::{EndpointEvent, GraphEvent, PublishOptions, Publisher, Receiver, Sample};

use crate::world::{BEST_EFFORT, TOPIC, World, topic};
use timeloom_msg::QosProfile;

type Trace = Arc<Mutex<String>>;

/// Logs what arrives, wakes a worker, and forwards some of it.
struct Relay {
    name: &'static str,
    trace: Trace,
    clock: Clock<System>,
    onward: Option<Box<dyn Publisher>>,
    worker: Event,
}

impl Receiver for Relay {
    fn sample(&self, sample: Sample) {
        let number = sample.sequence.unwrap_or(0);
        let now = self.clock.now().nanos();
        let mut trace = self.trace.lock().expect("no panic");
        let came = sample.receive_time.nanos();
        writeln!(
            trace,
            "{now} {} {} {number} {came}",
            self.name, sample.writer
        )
        .expect("memory");
        drop(trace);
        if let Some(onward) = self.onward.as_ref().filter(|_| number.is_multiple_of(3)) {
            let sent = onward.publish(sample.payload, PublishOptions::default());
            sent.expect("it is sent on");
        }
    }

    fn pause(&self) {
        self.worker.set();
    }

    fn event(&self, event: EndpointEvent) {
        let now = self.clock.now().nanos();
        let mut trace = self.trace.lock().expect("no panic");
        writeln!(trace, "{now} {} {event:?}", self.name).expect("memory");
    }
}

/// Three talkers at odd rates, two relays that answer each other's topic, a worker thread that is woken, faults of all
/// kinds: all events as text.
fn trace(seed: u64) -> String {
    let world = World::with(LoopbackOptions {
        seed,
        ..LoopbackOptions::default()
    });
    let base = world.time.base();
    let trace = Trace::default();
    world.network.set_faults(
        Scope::topic(TOPIC),
        Faults {
            drop: Chance::Fraction(0.2),
            delay: Duration::from_millis(1),
            jitter: Duration::from_millis(3),
            duplicate: Chance::Fraction(0.1),
            reorder: Chance::Fraction(0.1),
            reorder_by: Duration::from_millis(4),
            slow_receiver: Duration::from_micros(700),
            ..Faults::NONE
        },
    );
    let back = timeloom_wire::TopicSpec {
        name: "/back".into(),
        ..topic(QosProfile::DEFAULT)
    };
    let nodes = ["a", "b", "c"].map(|label| world.node(label));
    let watcher = world.participant("watcher");
    let watch = {
        let (trace, clock) = (Arc::clone(&trace), Clock::<System>::on(&base));
        watcher.watch_graph(Box::new(move |event: &GraphEvent| {
            let mut trace = trace.lock().expect("no panic");
            writeln!(trace, "{} {event:?}", clock.now().nanos()).expect("memory");
        }))
    };
    let worker = Event::new(&base);
    let relay = |name, onward| {
        Arc::new(Relay {
            name,
            trace: Arc::clone(&trace),
            clock: Clock::on(&base),
            onward,
            worker: worker.clone(),
        })
    };
    let shallow = QosProfile {
        depth: 2,
        history: timeloom_msg::qos::History::KeepLast,
        ..BEST_EFFORT
    };
    let onward = nodes[1].publish(&back).expect("a publisher");
    let _subscriptions = [
        nodes[1].subscribe(&topic(shallow), relay("one", Some(onward))),
        nodes[2].subscribe(&topic(BEST_EFFORT), relay("two", None)),
        nodes[0].subscribe(&back, relay("three", None)),
    ];
    let working = work(&world, &worker, &trace);
    let talkers: Vec<_> = [1, 2, 3]
        .map(|period| {
            talk(
                &world,
                nodes[0].publish(&topic(BEST_EFFORT)).expect("a publisher"),
                period,
            )
        })
        .into_iter()
        .collect();
    for talker in talkers {
        talker.join().expect("no panic");
    }
    world.pass(50);
    drop(watch);
    working.join().expect("no panic");
    drop(nodes);
    let mut whole = trace.lock().expect("no panic");
    std::mem::take(&mut *whole)
}

fn talk(
    world: &World,
    publisher: Box<dyn Publisher>,
    period: i64,
) -> timeloom_time::BaseThread<()> {
    let clock = Clock::<Steady>::on(&world.time.base());
    world.time.spawn("talker", move || {
        for mark in 0..30 {
            let sent = publisher.publish(payload(mark, 8), PublishOptions::default());
            sent.expect("it is sent");
            let _woke = clock.sleep_for(Duration::from_millis(period));
        }
    })
}

/// Woken by receivers; works for a while; ends when nothing arrives for a long time.
fn work(world: &World, wake: &Event, trace: &Trace) -> timeloom_time::BaseThread<()> {
    let (wake, trace) = (wake.clone(), Arc::clone(trace));
    let clock = Clock::<Steady>::on(&world.time.base());
    world.time.spawn("worker", move || {
        while wake.wait_for(Duration::from_secs(1)) {
            wake.clear();
            let now = clock.now().nanos();
            writeln!(trace.lock().expect("no panic"), "{now} works").expect("memory");
            let _woke = clock.sleep_for(Duration::from_millis(1));
        }
    })
}

#[test]
fn the_same_seed_leaves_the_same_trace_fifty_times() {
    let first = trace(42);
    assert!(first.lines().count() > 150, "{first}");
    for run in 1..50 {
        let again = trace(42);
        assert!(first == again, "run {run}: {}", difference(&first, &again));
    }
    assert_ne!(first, trace(43), "another seed does something else");
}

fn difference(one: &str, two: &str) -> String {
    let differ = one
        .lines()
        .zip(two.lines())
        .enumerate()
        .find(|(_, (a, b))| a != b);
    format!("{differ:?}")
}
