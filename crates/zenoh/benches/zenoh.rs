//! Our traits against the bare library: sending, receiving, discovery, and idling.
//!
//! Both sides are in one process, as two sessions that talk over 127.0.0.1. Costs are the CPU time of the whole
//! process: the machine may be busy with other things.

#[path = "support/bare.rs"]
mod bare;

use std::sync::atomic::Ordering;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration as StdDuration;

use bare::{Bare, put};
use bytes::Bytes;
use rustix::time::ClockId;
use timeloom_msg::qos::History;
use timeloom_msg::{QosProfile, TypeHash, TypeName};
use timeloom_testkit::bench::{Bench, Measured, Rounds, Stopwatch, Variant};
use timeloom_testkit::transport::Arrivals;
use timeloom_time::{Clock, Duration, Steady};
use timeloom_wire::{Graph, Node, NodeName, Participant as _, PublishOptions, TopicSpec};
use timeloom_zenoh::{Options, ZenohParticipant, ZenohRouter};

fn main() {
    let mut bench = Bench::from_env();
    for (name, size, burst) in [
        ("100b", 100, 256),
        ("64k", 65_536, 8),
        ("1mb", 1_000_000, 2),
    ] {
        if bench.wants(&format!("zenoh.receive.{name}"))
            || bench.wants(&format!("zenoh.publish.{name}"))
        {
            streams(&mut bench, name, size, burst);
        }
    }
    if bench.wants("zenoh.idle") {
        idle(&mut bench);
    }
    if bench.wants("zenoh.discovery") {
        discovery(&mut bench);
    }
}

/// CPU time of this process, in nanoseconds.
fn process_cpu() -> f64 {
    let time = rustix::time::clock_gettime(ClockId::ProcessCPUTime); // tidy: allow clock
    time.tv_sec as f64 * 1e9 + time.tv_nsec as f64
}

fn router() -> (ZenohRouter, String) {
    let router = ZenohRouter::start("tcp/127.0.0.1:0").expect("a router");
    let endpoint = router.endpoints().remove(0);
    (router, endpoint)
}

fn participant(endpoint: &str) -> ZenohParticipant {
    ZenohParticipant::new(&Options::default().only_at(endpoint)).expect("a participant")
}

fn node(endpoint: &str) -> Arc<dyn Node> {
    let name = NodeName::new("/", "bench").expect("a name");
    participant(endpoint).node(name).expect("a node")
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

/// The key expression of [`topic`].
fn key(name: &str) -> String {
    let hash = TypeHash::from_bytes([0x5a; 32]);
    format!("0{name}/timeloom_test::msg::dds_::Blob_/{hash}")
}

fn wait_until(mut condition: impl FnMut() -> bool) {
    let clock = Clock::<Steady>::new();
    while !condition() {
        let _woke = clock.sleep_for(Duration::from_millis(1));
    }
}

/// One stream in four ways: each side bare or ours.
fn streams(bench: &mut Bench, name: &str, size: usize, burst: u64) {
    let (_router, at) = router();
    let (from, to) = (Bare::new(&at), Bare::new(&at));
    let (ours_from, ours_to) = (node(&at), node(&at));
    let arrivals = [(); 4].map(|()| Arc::new(Arrivals::default()));
    let payload: Bytes = [&[0, 1, 0, 0][..], &vec![7; size]].concat().into();
    let names = ["/bare", "/receive", "/publish", "/ours"];
    // The readers: bare for the first and the third, ours for the others.
    let _readers = [0, 2].map(|n| to.subscriber(&key(names[n]), &arrivals[n]));
    let subscribe = |n: usize| {
        ours_to
            .subscribe(&topic(names[n]), Arc::clone(&arrivals[n]) as _)
            .expect("a subscription")
    };
    let _subscriptions = [subscribe(1), subscribe(3)];
    let bare = [0, 1].map(|n| from.publisher(&key(names[n])));
    let ours = [2, 3].map(|n| ours_from.publish(&topic(names[n])).expect("a publisher"));
    // The attachment that our receivers need: a number, a time and a gid.
    let mut attachment = [1; 33];
    attachment[16] = 16;
    let matched = |n: usize| {
        use zenoh::Wait as _;
        bare[n]
            .matching_status()
            .wait()
            .is_ok_and(|status| status.matching())
    };
    wait_until(|| matched(0) && matched(1) && ours[1].matched() == 1);
    // The bare reader is not announced: the first sample that arrives shows that it is ready.
    wait_until(|| {
        ours[0]
            .publish(payload.clone(), PublishOptions::default())
            .expect("a sample is sent");
        arrivals[2].count() > 0
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
        Variant::timed("bare", |n| {
            measure(0, &|| put(&bare[0], &payload, Some(attachment)), n)
        }),
        Variant::timed("receive", |n| {
            measure(1, &|| put(&bare[1], &payload, Some(attachment)), n)
        }),
        Variant::timed("publish", |n| measure(2, &|| publish(0), n)),
        Variant::timed("ours", |n| measure(3, &|| publish(1), n)),
        Variant::timed("naked", |n| {
            measure(0, &|| put(&bare[0], &payload, None), n)
        }),
    ]);
    tell(bench, name, burst, &measured);
}

fn tell(bench: &mut Bench, name: &str, burst: u64, measured: &[Measured]) {
    let [bare, receive, publish, ours, naked] = measured else {
        unreachable!("five variants were measured");
    };
    let micros = |measured: &Measured| measured.median() / burst as f64 / 1000.0;
    for (what, measured) in [("receive", receive), ("publish", publish)] {
        let id = format!("zenoh.{what}.{name}");
        bench.ratio_at_most(&id, measured.ratio_to(bare), 1.15);
        bench.note(
            &id,
            format_args!(
                "{:.2} against {:.2} µs CPU per message, both sides",
                micros(measured),
                micros(bare)
            ),
        );
    }
    let both = format!("zenoh.both.{name}");
    bench.note(
        &both,
        format_args!(
            "{:.2} µs CPU per message, {:.3} of bare, {:.3} of bare without the attachment of ROS",
            micros(ours),
            ours.ratio_to(bare),
            ours.ratio_to(naked)
        ),
    );
}

/// Cost of an idle participant.
fn idle(bench: &mut Bench) {
    let (_router, at) = router();
    let node = node(&at);
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
    bench.ratio_at_most("zenoh.idle", share, 0.005);
    bench.note(
        "zenoh.idle",
        "share of a core, with 20 subscriptions and the router, over 5 s",
    );
}

const TOPICS: usize = 200;
const PER_TOPIC: usize = 10;
const ENDPOINTS: usize = TOPICS * PER_TOPIC;

/// The tokens of the publishers.
fn tokens() -> impl Iterator<Item = String> {
    let hash = TypeHash::from_bytes([0x5a; 32]);
    (0..ENDPOINTS).map(move |n| {
        let topic = n % TOPICS;
        format!("@ros2_lv/0/abcdef/0/{n}/MP/%/%/bench/%topic{topic}/timeloom_test::msg::dds_::Blob_/{hash}/::,10:,:,:,,")
    })
}

/// The CPU time until all endpoints of a session are known to another: created by the bare library, seen by it and by
/// us.
fn discovery(bench: &mut Bench) {
    let mut ratios = Vec::new();
    for _ in 0..5 {
        let bare = {
            let (_router, at) = router();
            let (from, to) = (Bare::new(&at), Bare::new(&at));
            let before = process_cpu();
            let (_subscriber, count) = to.count_tokens("@ros2_lv/0/**");
            let _tokens = from.tokens(tokens());
            wait_until(|| count.load(Ordering::Relaxed) >= ENDPOINTS);
            process_cpu() - before
        };
        let seen = {
            let (_router, at) = router();
            let (from, to) = (Bare::new(&at), participant(&at));
            let before = process_cpu();
            let graph = Arc::new(Mutex::new(Graph::default()));
            let inside = Arc::clone(&graph);
            let lock = |graph: &Mutex<Graph>| {
                graph
                    .lock()
                    .unwrap_or_else(PoisonError::into_inner)
                    .endpoints()
                    .count()
            };
            let _watch = to.watch_graph(Box::new(move |event| {
                inside
                    .lock()
                    .unwrap_or_else(PoisonError::into_inner)
                    .apply(event);
            }));
            let _tokens = from.tokens(tokens());
            wait_until(|| lock(&graph) >= ENDPOINTS);
            process_cpu() - before
        };
        ratios.push(seen / bare);
        let note = format!(
            "{:.0} against {:.0} ms CPU for {ENDPOINTS} endpoints",
            seen / 1e6,
            bare / 1e6
        );
        bench.note("zenoh.discovery", note);
    }
    ratios.sort_by(f64::total_cmp);
    bench.ratio_at_most("zenoh.discovery", ratios[ratios.len() / 2], 1.5);
}
