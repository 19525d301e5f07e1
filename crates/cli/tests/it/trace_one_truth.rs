//! One bag through everything that shows lineage: the same numbers everywhere.

use std::collections::BTreeMap;
use std::path::Path;

use serde_json::Value;
use timeloom_bag::{BagReader, Query, StorageReader as _};
use timeloom_msg::{QosProfile, TypeName};
use timeloom_node::{LineageMonitor, MonitorOptions, NodeOptions, RosNode};
use timeloom_time::{Clock, Duration, VirtualTime};
use timeloom_trace::{Deadline, DeadlineEvent, EngineOptions, Report, TAG_TYPE};
use timeloom_wire::loopback::LoopbackNetwork;
use timeloom_wire::{NodeName, PublishOptions, TopicSpec};

use crate::live_node::until;
use crate::support::{Run, Sandbox};
use crate::trace_bag::Robot;
use crate::view::Viewer;

/// A hop or a path, and its numbers in milliseconds.
type Numbers = BTreeMap<String, Vec<f64>>;

fn sandbox() -> Sandbox {
    let sandbox = Sandbox::new();
    Robot::default().record(&sandbox.path("robot"));
    sandbox
}

fn report(sandbox: &Sandbox) -> Value {
    let text = sandbox.ok("trace report robot --format json");
    serde_json::from_str(&text).unwrap()
}

fn ms(value: &Value) -> f64 {
    value.as_f64().unwrap() / 1e6
}

fn hop_name(hop: &Value) -> String {
    let text = |key: &str| hop[key].as_str().unwrap().to_owned();
    format!("{} → {}", text("from"), text("to"))
}

fn near(found: &Numbers, expected: &Numbers) {
    assert_eq!(
        found.keys().collect::<Vec<_>>(),
        expected.keys().collect::<Vec<_>>()
    );
    for (name, numbers) in expected {
        let pairs = numbers.iter().zip(&found[name]);
        for (expected, found) in pairs {
            // A mean in whole nanoseconds.
            let difference = (expected - found).abs();
            assert!(difference < 2e-6, "{name}: {expected} {found}");
        }
    }
}

fn query(sandbox: &Sandbox, sql: &str) -> Vec<Vec<String>> {
    let mut command = sandbox.command("query");
    command.args([sql, "robot", "--format", "csv"]);
    let run = Run::new(&command.output().unwrap());
    assert_eq!(run.code, 0, "{run}");
    let rows = run.stdout.lines().skip(1);
    rows.map(|row| row.split(',').map(str::to_owned).collect())
        .collect()
}

fn rows(sandbox: &Sandbox, sql: &str) -> Numbers {
    let rows = query(sandbox, sql).into_iter();
    rows.map(|row| {
        let numbers = row[1..].iter().map(|cell| cell.parse().unwrap());
        (row[0].clone(), numbers.collect())
    })
    .collect()
}

#[test]
fn a_query_has_the_numbers_of_the_report() {
    let sandbox = sandbox();
    let report = report(&sandbox);
    let hops = report["hops"].as_array().unwrap().iter();
    let hops: Numbers = hops
        .map(|hop| {
            let parts = ["total", "transport", "node"].map(|part| &hop[part]);
            let counts = parts.iter().map(|part| part["count"].as_f64().unwrap());
            let means = parts.iter().map(|part| ms(&part["mean_ns"]));
            let most = parts.iter().map(|part| ms(&part["max_ns"]));
            (hop_name(hop), counts.chain(means).chain(most).collect())
        })
        .collect();
    let sql = "SELECT input_topic || ' → ' || topic AS hop, count(total_ms), count(transport_ms), \
               count(node_ms), avg(total_ms), avg(transport_ms), avg(node_ms), max(total_ms), max(transport_ms), \
               max(node_ms) FROM lineage WHERE input_topic IS NOT NULL GROUP BY hop";
    near(&rows(&sandbox, sql), &hops);
    let paths = report["targets"][0]["paths"].as_array().unwrap().iter();
    let of = |part: &str| -> Numbers {
        let numbers = paths.clone().map(|path| {
            let topics = path["topics"].as_array().unwrap().iter();
            let topics: Vec<_> = topics.map(|topic| topic.as_str().unwrap()).collect();
            let part = &path[part];
            let numbers = [
                ms(&part["min_ns"]),
                ms(&part["mean_ns"]),
                ms(&part["max_ns"]),
            ];
            let count = part["count"].as_f64().unwrap();
            (topics.join(" → "), [&[count], &numbers[..]].concat())
        });
        numbers.collect()
    };
    let sql =
        "SELECT path, count(*), min(latency_ms), avg(latency_ms), max(latency_ms) FROM latency";
    near(
        &rows(&sandbox, &format!("{sql} WHERE first GROUP BY path")),
        &of("best"),
    );
    near(
        &rows(&sandbox, &format!("{sql} GROUP BY path")),
        &of("data_age"),
    );
}

#[test]
fn the_page_has_the_numbers_of_the_report() {
    let sandbox = sandbox();
    let report = report(&sandbox);
    let hops = report["hops"].as_array().unwrap().iter();
    let hops: Numbers = hops
        .map(|hop| {
            let links: f64 = hop["known_by"]
                .as_object()
                .unwrap()
                .values()
                .map(|count| count.as_f64().unwrap())
                .sum();
            let parts = ["total", "transport", "node"];
            let medians = parts.map(|part| ms(&hop[part]["p50_ns"]));
            (hop_name(hop), [&[links], &medians[..]].concat())
        })
        .collect();
    let viewer = Viewer::start(&mut sandbox.command("view robot --rate 20"));
    until("the bag is played", || viewer.status()["state"] == "ended");
    let status = viewer.status();
    let edges = status["lineage"].as_array().unwrap().iter();
    let edges: Numbers = edges
        .map(|edge| {
            let keys = ["count", "latencyMs", "transportMs", "nodeMs"];
            let numbers = keys.map(|key| edge[key].as_f64().unwrap());
            (hop_name(edge), numbers.to_vec())
        })
        .collect();
    near(&edges, &hops);
}

/// Plays the tags of a bag to a monitor on a loopback network, each at its time.
fn live(bag: &Path) -> (Report, Vec<DeadlineEvent>) {
    let time = VirtualTime::new();
    let base = time.base();
    let _here = time.enter();
    let network = LoopbackNetwork::new(&base);
    let clock: Clock<timeloom_time::Steady> = Clock::on(&base);
    let mut reader = BagReader::open(bag).unwrap();
    let topics = reader.info().topics.clone();
    let player = network.participant("player").unwrap();
    let player = player.node(NodeName::new("/", "player").unwrap()).unwrap();
    let publishers: Vec<_> = topics
        .iter()
        .map(|topic| {
            let spec = TopicSpec {
                name: topic.name.clone(),
                type_name: TypeName::parse(TAG_TYPE).unwrap(),
                type_hash: None,
                qos: QosProfile::DEFAULT,
            };
            player.publish(&spec).unwrap()
        })
        .collect();
    let options = MonitorOptions {
        engine: EngineOptions {
            deadlines: vec![Deadline {
                name: "everything is late".into(),
                source: Some("/points".into()),
                via: Vec::new(),
                target: "/cmd".into(),
                limit: Duration::from_nanos(1),
            }],
            ..EngineOptions::default()
        },
        ..MonitorOptions::default()
    };
    let node = network.participant("monitor").unwrap();
    let node = RosNode::new(node, NodeOptions::new("monitor")).unwrap();
    let mut monitor = LineageMonitor::new(node, options).unwrap();
    let pass = |nanos: i64| {
        let _woke = clock.sleep_for(Duration::from_nanos(nanos));
    };
    pass(100_000_000);
    let mut events = monitor.tick().unwrap();
    pass(100_000_000);
    reader.start(&Query::default()).unwrap();
    let mut last = None;
    while let Some(message) = reader.next_message().unwrap() {
        let before = last.replace(message.log_time_ns);
        pass(before.map_or(0, |before| message.log_time_ns - before));
        let payload = message.data.to_vec().into();
        let publisher = &publishers[message.topic.index()];
        publisher
            .publish(payload, PublishOptions::default())
            .unwrap();
        pass(1000);
        events.extend(monitor.tick().unwrap());
    }
    (monitor.report(), events)
}

#[test]
fn live_and_its_notifications_have_the_numbers_of_the_report() {
    let sandbox = sandbox();
    let expected = report(&sandbox);
    let (live, events) = live(&sandbox.path("robot"));
    let found = serde_json::to_value(&live).unwrap();
    assert_eq!(found["hops"], expected["hops"]);
    let paths = &found["targets"][0]["paths"];
    assert_eq!(paths, &expected["targets"][0]["paths"]);
    // What a notification says of each message is what a row of the query says of it.
    let sql = "SELECT latency_ms FROM latency WHERE path = '/points → /filtered → /fused → /cmd'";
    let mut rows: Vec<f64> = query(&sandbox, sql)
        .iter()
        .map(|row| row[0].parse().unwrap())
        .collect();
    let came = events.iter().filter(|event| event.missing_hop.is_none());
    let notified = came.map(DeadlineEvent::notification);
    let sources = notified.flat_map(|notification| notification.sources);
    let mut reported: Vec<f64> = sources
        .map(|source| source.elapsed.nanos() as f64 / 1e6)
        .collect();
    rows.sort_by(f64::total_cmp);
    reported.sort_by(f64::total_cmp);
    assert_eq!((reported.len(), reported), (48, rows));
}
