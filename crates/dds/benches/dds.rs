//! Our traits against the bare library: sending, receiving, discovery, and idling.
//!
//! Both sides are in one process, as two instances of Cyclone DDS that talk over 127.0.0.1. Costs are the CPU time of
//! the whole process: the machine may be busy with other things.

#![expect(
    unsafe_code,
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "the bare library is C"
)]

#[path = "support/bare.rs"]
mod bare;

use std::sync::Arc;
use std::time::Duration as StdDuration;

use bare::Bare;
use bytes::Bytes;
use rustix::time::ClockId;
use timeloom_dds::{DdsParticipant, Options};
use timeloom_msg::qos::History;
use timeloom_msg::{QosProfile, TypeHash, TypeName};
use timeloom_testkit::bench::{Bench, Measured, Rounds, Stopwatch, Variant};
use timeloom_testkit::transport::Arrivals;
use timeloom_time::{Clock, Duration, Steady};
use timeloom_wire::{
    EndpointInfo, Node, NodeName, Participant as _, PublishOptions, Publisher, Subscription,
    TopicSpec, WatchedGraph,
};

const LOOPBACK: &str = "<CycloneDDS><Domain Id=\"any\"><General><Interfaces>\
    <NetworkInterface name=\"lo\" multicast=\"false\"/></Interfaces><AllowMulticast>false</AllowMulticast></General>\
    <Discovery><ParticipantIndex>auto</ParticipantIndex><MaxAutoParticipantIndex>40</MaxAutoParticipantIndex>\
    <Peers><Peer Address=\"127.0.0.1\"/></Peers></Discovery>\
    <Internal><SocketReceiveBufferSize max=\"8MB\"/></Internal></Domain></CycloneDDS>";
/// Not used by the tests, which may run at the same time.
const DOMAIN: u32 = 110;
const TYPE: &str = "timeloom_test::msg::dds_::Blob_";

fn main() {
    bare::keep_memory();
    let mut bench = Bench::from_env();
    for (name, size, burst) in [("100b", 100, 64), ("64k", 65_536, 8), ("1mb", 1_000_000, 2)] {
        if bench.wants(&format!("dds.receive.{name}"))
            || bench.wants(&format!("dds.publish.{name}"))
        {
            streams(&mut bench, name, size, burst);
        }
    }
    if bench.wants("dds.idle") {
        idle(&mut bench);
    }
    if bench.wants("dds.discovery") {
        discovery(&mut bench);
    }
}

/// CPU time of this process, in nanoseconds.
fn process_cpu() -> f64 {
    let time = rustix::time::clock_gettime(ClockId::ProcessCPUTime); // tidy: allow clock
    time.tv_sec as f64 * 1e9 + time.tv_nsec as f64
}

fn node(domain: u32) -> Arc<dyn Node> {
    let options = Options {
        domain,
        configuration: LOOPBACK.into(),
        ..Options::default()
    };
    let participant = DdsParticipant::new(&options).expect("a participant");
    let name = NodeName::new("/", "bench").expect("a name");
    participant.node(name).expect("a node")
}

fn topic(name: &str) -> TopicSpec {
    TopicSpec {
        name: name.into(),
        type_name: TypeName::parse("timeloom_test/msg/Blob").expect("a type"),
        type_hash: Some(TypeHash::from_bytes([0x5a; 32])),
        qos: QosProfile {
            history: History::KeepAll,
            depth: 0,
            ..QosProfile::DEFAULT
        },
    }
}

fn wait_until(mut condition: impl FnMut() -> bool) {
    let clock = Clock::<Steady>::new();
    while !condition() {
        let _woke = clock.sleep_for(Duration::from_millis(1));
    }
}

/// One stream in four ways: each side bare or ours.
fn streams(bench: &mut Bench, name: &str, size: usize, burst: u64) {
    let (from, to) = (
        Bare::new(70_000, DOMAIN, LOOPBACK),
        Bare::new(70_001, DOMAIN, LOOPBACK),
    );
    let (ours_from, ours_to) = (node(DOMAIN), node(DOMAIN));
    let arrivals = [(); 4].map(|()| Arc::new(Arrivals::default()));
    let payload: Bytes = [&[0, 1, 0, 0][..], &vec![7; size]].concat().into();
    let names = ["/bare", "/receive", "/publish", "/ours"];
    let bare_topic = |side: &Bare, name: &str| side.topic(&format!("rt{name}"), TYPE);
    // The readers: bare for the first and the third, ours for the others.
    to.reader(bare_topic(&to, names[0]), &arrivals[0]);
    to.reader(bare_topic(&to, names[2]), &arrivals[2]);
    let subscribe = |n: usize| {
        ours_to
            .subscribe(&topic(names[n]), Arc::clone(&arrivals[n]) as _)
            .expect("a subscription")
    };
    let _subscriptions = [subscribe(1), subscribe(3)];
    let bare = [0, 1].map(|n| from.writer(bare_topic(&from, names[n])));
    let ours = [2, 3].map(|n| ours_from.publish(&topic(names[n])).expect("a publisher"));
    wait_until(|| {
        bare.iter().all(|writer| writer.matched() == 1)
            && ours.iter().all(|writer| writer.matched() == 1)
    });
    let publish = |n: usize| {
        let sent = ours[n].publish(payload.clone(), PublishOptions::default());
        sent.expect("a sample is sent");
    };
    let measure = |n: usize, send: &dyn Fn(), iterations: u64| {
        let before = process_cpu();
        for _ in 0..iterations {
            arrivals[n].after(burst, send);
        }
        process_cpu() - before
    };
    let measured = Rounds::new(41, StdDuration::from_millis(60)).run(&mut [
        Variant::timed("bare", |n| measure(0, &|| bare[0].write(&payload), n)),
        Variant::timed("receive", |n| measure(1, &|| bare[1].write(&payload), n)),
        Variant::timed("publish", |n| measure(2, &|| publish(0), n)),
        Variant::timed("ours", |n| measure(3, &|| publish(1), n)),
    ]);
    let [bare, receive, publish, ours] = &measured[..] else {
        unreachable!("four variants were measured");
    };
    let micros = |measured: &Measured| measured.median() / burst as f64 / 1000.0;
    for (what, measured) in [("receive", receive), ("publish", publish)] {
        let id = format!("dds.{what}.{name}");
        bench.ratio_at_most(&id, measured.ratio_to(bare), 1.15);
        bench.note(
            &id,
            format_args!(
                "{:.1} against {:.1} µs CPU per message, both sides",
                micros(measured),
                micros(bare)
            ),
        );
    }
    let both = format!("dds.both.{name}");
    bench.note(
        &both,
        format_args!(
            "{:.1} µs CPU per message, {:.3} of bare",
            micros(ours),
            ours.ratio_to(bare)
        ),
    );
}

/// Cost of an idle participant.
fn idle(bench: &mut Bench) {
    let node = node(DOMAIN + 1);
    let arrivals = Arc::new(Arrivals::default());
    let subscriptions: Vec<_> = (0..20)
        .map(|n| node.subscribe(&topic(&format!("/idle{n}")), Arc::clone(&arrivals) as _))
        .collect();
    assert!(subscriptions.iter().all(Result::is_ok));
    let clock = Clock::<Steady>::new();
    // Waits for the end of the first announcements.
    let _woke = clock.sleep_for(Duration::from_secs(2));
    let (stopwatch, before) = (Stopwatch::start(), process_cpu());
    let _woke = clock.sleep_for(Duration::from_secs(5));
    let share = (process_cpu() - before) / stopwatch.wall();
    bench.ratio_at_most("dds.idle", share, 0.005);
    bench.note(
        "dds.idle",
        "share of a core, with 20 subscriptions, over 5 s",
    );
}

const TOPICS: usize = 200;
/// As many writers as readers of each topic.
const PAIRS: usize = 25;

/// The CPU time until all endpoints of a participant are known to another.
///
/// The judged figure is the cost of seeing endpoints that the bare library created, by it and by us. Creating them is a
/// remark: we also announce their node, follow their matches and see ourselves, which the bare library does not.
fn discovery(bench: &mut Bench) {
    let mut ratios = Vec::new();
    for round in 0..5 {
        let domain = DOMAIN + 2 + round * 3;
        let bare = bare_sees_bare(domain);
        let seen = we_see(domain + 1, Maker::Bare);
        let both = we_see(domain + 2, Maker::Ours);
        ratios.push(seen / bare);
        let [bare, seen, both] = [bare, seen, both].map(|nanos| nanos / 1e6);
        let note = format!(
            "{seen:.0} against {bare:.0} ms CPU for {ENDPOINTS} endpoints; {both:.0} ms when they are ours as well"
        );
        bench.note("dds.discovery", note);
    }
    ratios.sort_by(f64::total_cmp);
    bench.ratio_at_most("dds.discovery", ratios[ratios.len() / 2], 1.5);
}

const ENDPOINTS: usize = TOPICS * PAIRS * 2;

#[derive(Clone, Copy)]
enum Maker {
    Bare,
    Ours,
}

fn make_bare(from: &Bare) {
    for n in 0..TOPICS {
        let topic = from.topic(&format!("rt/topic{n}"), TYPE);
        for _ in 0..PAIRS {
            from.writer(topic);
            from.silent_reader(topic);
        }
    }
}

fn bare_sees_bare(domain: u32) -> f64 {
    let before = process_cpu();
    let from = Bare::new(70_010, domain, LOOPBACK);
    let to = Bare::new(70_011, domain, LOOPBACK);
    let mut count = to.count_endpoints();
    make_bare(&from);
    wait_until(|| count.so_far() >= ENDPOINTS);
    process_cpu() - before
}

fn we_see(domain: u32, maker: Maker) -> f64 {
    let before = process_cpu();
    let options = Options {
        domain,
        configuration: LOOPBACK.into(),
        ..Options::default()
    };
    let watcher = DdsParticipant::new(&options).expect("a participant");
    let graph = WatchedGraph::new(&watcher);
    let wait = |known: fn(&EndpointInfo) -> bool| {
        wait_until(|| {
            let graph = graph.lock();
            graph.endpoints().filter(|info| known(info)).count() >= ENDPOINTS
        });
        process_cpu() - before
    };
    match maker {
        Maker::Bare => {
            let from = Bare::new(70_012, domain, LOOPBACK);
            make_bare(&from);
            wait(|_| true)
        }
        Maker::Ours => {
            let node = node(domain);
            let _ends = make_ours(&node);
            wait(|info| info.node.is_some())
        }
    }
}

type Ends = (Vec<Box<dyn Publisher>>, Vec<Box<dyn Subscription>>);

fn make_ours(node: &Arc<dyn Node>) -> Ends {
    let arrivals = Arc::new(Arrivals::default());
    let mut ends = Ends::default();
    for n in 0..TOPICS {
        let topic = topic(&format!("/topic{n}"));
        for _ in 0..PAIRS {
            ends.0.push(node.publish(&topic).expect("a publisher"));
            let subscription = node.subscribe(&topic, Arc::clone(&arrivals) as _);
            ends.1.push(subscription.expect("a subscription"));
        }
    }
    ends
}
