//! Links of messages without tags.

use timeloom_time::Time;
use timeloom_trace::{
    Confidence, Direction, Engine, EngineOptions, Evidence, LinkRule, Linker, ModelNode, Moment,
    NodeModel, ObservedEndpoint, ObservedGraph, Origin, PlainMessage, PublishedTime,
};

use crate::world::{MS, path, source, target};

fn plain(topic: &str, stamp_ms: Option<i64>, published_ms: i64) -> PlainMessage<'_> {
    PlainMessage {
        topic,
        stamp: stamp_ms.map(|ms| Time::from_nanos(ms * MS)),
        published: Moment::from_nanos(published_ms * MS, 0),
    }
}

fn node(name: &str, inputs: &[&str], output: &str, rule: LinkRule, origin: Origin) -> ModelNode {
    ModelNode {
        name: name.into(),
        inputs: inputs.iter().map(ToString::to_string).collect(),
        outputs: vec![output.into()],
        rule,
        origin,
    }
}

fn found(linker: &mut Linker, message: &PlainMessage<'_>) -> Vec<(String, i64, Evidence)> {
    let linked = linker.link(message);
    let inputs = linked.inputs.into_iter();
    inputs
        .map(|(topic, stamp, evidence)| {
            let stamp = stamp.map_or(-1, |stamp| stamp.nanos() / MS);
            (topic, stamp, evidence)
        })
        .collect()
}

#[test]
fn equal_stamps_are_linked_only_to_a_single_topic() {
    let mut linker = Linker::by_stamp();
    assert_eq!(found(&mut linker, &plain("/raw", Some(10), 11)), []);
    let expected = [("/raw".to_owned(), 10, Evidence::StampAlone)];
    assert_eq!(
        found(&mut linker, &plain("/filtered", Some(10), 15)),
        expected
    );
    // It may be made of either.
    assert_eq!(found(&mut linker, &plain("/fused", Some(10), 20)), []);
    assert_eq!(linker.not_known(), 1);
    // A topic that repeats a stamp is not made of itself, and zero is not a stamp.
    assert_eq!(found(&mut linker, &plain("/raw", Some(10), 21)), []);
    assert_eq!(found(&mut linker, &plain("/a", Some(0), 22)), []);
    assert_eq!(found(&mut linker, &plain("/b", Some(0), 23)), []);
    assert_eq!(found(&mut linker, &plain("/c", None, 24)), []);
}

#[test]
fn a_model_finds_the_same_stamp_or_the_latest_by_its_rule() {
    let rules = [
        (LinkRule::Latest, 20, Evidence::OnlyInput),
        (LinkRule::Stamp, 10, Evidence::EqualStamp),
        (LinkRule::Auto, 10, Evidence::EqualStamp),
    ];
    for (rule, stamp, evidence) in rules {
        let model = NodeModel {
            nodes: vec![node("/n", &["/in"], "/out", rule, Origin::Graph)],
        };
        let mut linker = Linker::with_model(model);
        linker.link(&plain("/in", Some(10), 11));
        linker.link(&plain("/in", Some(20), 21));
        // Published after the output: it cannot be an input.
        linker.link(&plain("/in", Some(30), 99));
        let output = plain("/out", Some(10), 25);
        assert_eq!(
            found(&mut linker, &output),
            [("/in".to_owned(), stamp, evidence)]
        );
        assert_eq!(linker.link(&output).node, "/n");
        // A new stamp: only the latest remains, or nothing.
        let renewed = found(&mut linker, &plain("/out", Some(77), 26));
        match rule {
            // Its messages carry the stamp of their input: that of this one is missing.
            LinkRule::Stamp | LinkRule::Auto => assert_eq!(renewed, []),
            LinkRule::Latest => {
                assert_eq!(renewed, [("/in".to_owned(), 20, Evidence::OnlyInput)]);
            }
        }
    }
}

#[test]
fn declared_links_have_the_evidence_of_a_declaration() {
    let model = NodeModel {
        nodes: vec![
            node(
                "/filter",
                &["/raw"],
                "/filtered",
                LinkRule::Auto,
                Origin::Declared,
            ),
            node(
                "/fusion",
                &["/filtered", "/odom"],
                "/fused",
                LinkRule::Latest,
                Origin::Declared,
            ),
        ],
    };
    let mut linker = Linker::with_model(model);
    let mut engine = Engine::new(EngineOptions::default());
    for cycle in 1..=10 {
        let at = cycle * 100;
        for (topic, stamp, published) in [
            ("/raw", Some(at), at),
            ("/odom", None, at + 1),
            ("/filtered", Some(at), at + 5),
            ("/fused", Some(at + 7), at + 9),
        ] {
            linker.feed(&plain(topic, stamp, published), &mut engine, published * MS);
        }
    }
    let report = engine.report();
    for hop in &report.hops {
        // By the declared rule, or by the stamps.
        let expected = match hop.to.as_str() {
            "/filtered" => Evidence::EqualStamp,
            _ => Evidence::Declared,
        };
        assert!(hop.known_by.keys().eq([&expected]), "{hop:?}");
    }
    let target = target(&report, "/fused");
    let lidar = path(target, &["/raw", "/filtered", "/fused"]);
    assert_eq!((lidar.best.count, lidar.best.max_ns), (10, 9_000_000));
    // No stamps on /odom: joined by time.
    let odom = path(target, &["/odom", "/fused"]);
    assert_eq!((odom.best.count, odom.best.max_ns), (10, 8_000_000));
    assert_eq!(source(target, "/raw").outcomes.completed, 10);
}

#[test]
fn publish_times_of_autoware_make_a_source_exact() {
    let mut engine = Engine::new(EngineOptions::default());
    for cycle in 1..=5_i64 {
        let at = cycle * 100;
        let stamp = Time::from_nanos(at * MS);
        // The bag has the message 30 ms late; Autoware has the time of sending.
        let seen = Moment::from_nanos((at + 30) * MS, 0);
        engine.message("/points", Some(stamp), seen, (at + 30) * MS);
        let note = PublishedTime {
            stamp,
            published: Time::from_nanos(at * MS),
        };
        engine.published_time("/points", note, (at + 31) * MS);
        let mut tag = crate::world::tag("/out", at, 0, &[("/points", at, 0)]);
        tag.output.published = Moment::from_nanos((at + 40) * MS, 0);
        tag.inputs[0].received = Moment::from_nanos((at + 2) * MS, 0);
        let payload = tag.encode();
        let view = timeloom_trace::TagView::parse(&payload).unwrap();
        engine.tag(&view, (at + 41) * MS);
    }
    let report = engine.report();
    let path = path(target(&report, "/out"), &["/points", "/out"]);
    assert_eq!(
        (path.best.count, path.best.min_ns, path.best.max_ns),
        (5, 40_000_000, 40_000_000)
    );
}

fn seen(node: &str, direction: Direction, topic: &str) -> ObservedEndpoint {
    ObservedEndpoint {
        node: node.into(),
        topic: topic.into(),
        direction,
        appeared_ns: 0,
        vanished_ns: None,
    }
}

/// The demo's robot: a lidar, a filter and odometry, which keep the stamp of the scan.
fn robot() -> Vec<ObservedEndpoint> {
    use Direction::{Publishes, Subscribes};
    vec![
        seen("/lidar", Publishes, "/scan"),
        seen("/filter", Subscribes, "/scan"),
        seen("/filter", Publishes, "/scan_filtered"),
        seen("/odometry", Subscribes, "/scan_filtered"),
        seen("/odometry", Publishes, "/odometry"),
        seen("/rviz", Subscribes, "/scan"),
        seen("/rviz", Subscribes, "/odometry"),
        seen("/rviz", Publishes, "/goal"),
    ]
}

#[test]
fn a_graph_distinguishes_a_chain_from_a_star() {
    let graph = ObservedGraph::new(robot());
    let mut linker = Linker::with_graph(NodeModel::default(), graph);
    let mut engine = Engine::new(EngineOptions::default());
    for cycle in 1..=10 {
        let at = cycle * 100;
        for (topic, published) in [
            ("/scan", at),
            ("/scan_filtered", at + 5),
            ("/odometry", at + 9),
        ] {
            linker.at(published * MS);
            let message = plain(topic, Some(at), published);
            linker.feed(&message, &mut engine, published * MS);
        }
    }
    let report = engine.report();
    let hops: Vec<_> = report
        .hops
        .iter()
        .map(|hop| (&*hop.from, &*hop.to, hop.nodes.join(""), hop.confidence))
        .collect();
    let likely = Confidence::Likely;
    assert_eq!(
        hops,
        [
            ("/scan", "/scan_filtered", "/filter".to_owned(), likely),
            (
                "/scan_filtered",
                "/odometry",
                "/odometry".to_owned(),
                likely
            ),
        ]
    );
    assert_eq!(linker.not_known(), 0);
}

#[test]
fn a_link_that_the_graph_excludes_is_not_made() {
    let mut endpoints = robot();
    // The filter's subscription leaves after a minute.
    endpoints[1].vanished_ns = Some(60_000 * MS);
    let mut linker = Linker::with_graph(NodeModel::default(), ObservedGraph::new(endpoints));
    let mut links = |second: i64| {
        let at = second * 1000;
        linker.at(at * MS);
        linker.link(&plain("/scan", Some(at), at));
        found(&mut linker, &plain("/scan_filtered", Some(at), at + 5)).len()
    };
    assert_eq!([links(1), links(59), links(70)], [1, 1, 0]);
    // The goal has no stamp of its own, and a node without a name may publish anything.
    let mut endpoints = robot();
    endpoints.push(seen("", Direction::Publishes, "/odometry"));
    let mut linker = Linker::with_graph(NodeModel::default(), ObservedGraph::new(endpoints));
    linker.link(&plain("/scan_filtered", Some(10), 10));
    assert_eq!(found(&mut linker, &plain("/odometry", Some(11), 12)), []);
    assert_eq!(linker.not_known(), 1);
    let by_stamp = found(&mut linker, &plain("/odometry", Some(10), 13));
    assert_eq!(
        by_stamp,
        [("/scan_filtered".to_owned(), 10, Evidence::EqualStamp)]
    );
}

#[test]
fn several_inputs_without_a_common_stamp_are_guesses() {
    let graph = ObservedGraph::new(robot());
    let mut linker = Linker::with_graph(NodeModel::default(), graph);
    linker.link(&plain("/scan", Some(10), 10));
    linker.link(&plain("/odometry", Some(20), 20));
    let goal = found(&mut linker, &plain("/goal", Some(33), 34));
    let guess = Evidence::LatestBefore;
    let both = [
        ("/odometry".to_owned(), 20, guess),
        ("/scan".to_owned(), 10, guess),
    ];
    assert_eq!(goal, both);
    assert_eq!(guess.confidence(), Confidence::Guess);
    // With the stamp of one of them it is made of that one.
    let goal = found(&mut linker, &plain("/goal", Some(20), 35));
    assert_eq!(goal, [("/odometry".to_owned(), 20, Evidence::EqualStamp)]);
    // Then the next one without is not made of both: its input is missing.
    assert_eq!(found(&mut linker, &plain("/goal", Some(44), 45)), []);
    assert_eq!(linker.not_known(), 1);
}

#[test]
fn declared_nodes_take_precedence_over_the_graph() {
    let declared = NodeModel {
        nodes: vec![node(
            "/filter",
            &["/points"],
            "/scan_filtered",
            LinkRule::Latest,
            Origin::Declared,
        )],
    };
    let mut linker = Linker::with_graph(declared, ObservedGraph::new(robot()));
    linker.link(&plain("/points", Some(7), 7));
    linker.link(&plain("/scan", Some(10), 10));
    let filtered = found(&mut linker, &plain("/scan_filtered", Some(10), 12));
    assert_eq!(filtered, [("/points".to_owned(), 7, Evidence::Declared)]);
    let odometry = found(&mut linker, &plain("/odometry", Some(10), 13));
    assert_eq!(
        odometry,
        [("/scan_filtered".to_owned(), 10, Evidence::EqualStamp)]
    );
}
