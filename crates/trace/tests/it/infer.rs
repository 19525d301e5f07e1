//! Links of messages that say nothing about their inputs.

use timeloom_time::Time;
use timeloom_trace::{
    Engine, EngineOptions, Evidence, LinkRule, Linker, ModelNode, Moment, NodeModel, Origin,
    PlainMessage, PublishedTime,
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
fn equal_stamps_lead_back_to_the_first_topic() {
    let mut linker = Linker::by_stamp();
    assert_eq!(found(&mut linker, &plain("/raw", Some(10), 11)), []);
    let expected = [("/raw".to_owned(), 10, Evidence::EqualStamp)];
    assert_eq!(
        found(&mut linker, &plain("/filtered", Some(10), 15)),
        expected
    );
    assert_eq!(found(&mut linker, &plain("/fused", Some(10), 20)), expected);
    // A topic that repeats a stamp is not made of itself, and zero is no stamp at all.
    assert_eq!(found(&mut linker, &plain("/raw", Some(10), 21)), []);
    assert_eq!(found(&mut linker, &plain("/a", Some(0), 22)), []);
    assert_eq!(found(&mut linker, &plain("/b", Some(0), 23)), []);
    assert_eq!(found(&mut linker, &plain("/c", None, 24)), []);
}

#[test]
fn a_model_finds_the_same_stamp_or_the_latest_as_its_rule_says() {
    let rules = [
        (LinkRule::Latest, 20, Evidence::LatestBefore),
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
        // A new stamp: only the latest is left, or nothing.
        let renewed = found(&mut linker, &plain("/out", Some(77), 26));
        match rule {
            LinkRule::Stamp => assert_eq!(renewed, []),
            LinkRule::Latest | LinkRule::Auto => {
                assert_eq!(renewed, [("/in".to_owned(), 20, Evidence::LatestBefore)]);
            }
        }
    }
}

#[test]
fn what_somebody_declared_says_so() {
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
    assert!(
        report
            .hops
            .iter()
            .all(|hop| hop.known_by.keys().eq([&Evidence::Declared]))
    );
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
        // The bag has the message 30 ms late; Autoware says when it was sent.
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
