//! Paths and latencies: TILDE's tests of its estimator and viewer (tilde.md §2), and cases that they leave out.

use timeloom_time::Time;
use timeloom_trace::{EngineOptions, Evidence, Input, Moment, Publication, TagView};

use crate::world::{In, MS, World, ms, path, source, tag, target};

fn ns(ms: i64) -> u64 {
    (ms * MS).unsigned_abs()
}

#[test]
fn a_straight_flow_with_stamps_kept_or_renewed() {
    for shift in [0, 3] {
        let mut world = World::new(EngineOptions::default());
        for cycle in 1..=10 {
            let (start, stamp) = (cycle * 100, cycle * 100);
            world.tag("/a", stamp, start, &[]);
            world.tag("/b", stamp + shift, start + 10, &[("/a", stamp, start + 2)]);
            world.tag(
                "/c",
                stamp + 2 * shift,
                start + 30,
                &[("/b", stamp + shift, start + 15)],
            );
        }
        let report = world.engine.report();
        assert_eq!((report.tags, report.targets.len()), (30, 1));
        let target = target(&report, "/c");
        assert_eq!((target.messages, target.complete), (10, 10));
        let path = path(target, &["/a", "/b", "/c"]);
        assert_eq!(
            (path.best.min_ns, path.best.max_ns, path.best.count),
            (ns(30), ns(30), 10)
        );
        assert_eq!(path.reaction.max_ns, ns(130));
        assert_eq!(
            (path.data_age.max_ns, path.data_age_at_end.max_ns),
            (ns(30), ns(130))
        );
        let steps: Vec<_> = path
            .steps
            .iter()
            .map(|step| {
                (
                    step.total_ns,
                    step.transport_ns,
                    step.queue_ns,
                    step.node_ns,
                )
            })
            .collect();
        let first = (ns(10), Some(ns(2)), None, Some(ns(8)));
        assert_eq!(steps, [first, (ns(20), Some(ns(5)), None, Some(ns(15)))]);
        let slowest = path.slowest.as_ref().unwrap();
        assert_eq!(slowest.steps.len(), 3);
        assert_eq!(
            (&*slowest.steps[0].node, slowest.steps[0].evidence),
            ("/node_of/a", None)
        );
        assert_eq!(slowest.steps[1].evidence, Some(Evidence::Tag));
        let hop = &report.hops[0];
        assert_eq!(
            (&*hop.from, &*hop.to, hop.known_by[&Evidence::Tag]),
            ("/a", "/b", 10)
        );
        assert_eq!(hop.nodes, ["/node_of/b"]);
    }
}

/// Feeds the tags of one cycle in any order and returns the counts of the target.
fn in_order(order: &[usize]) -> (u64, u64, u64) {
    let tags: [(&str, i64, i64, &[In<'_>]); 4] = [
        ("/a", 1, 1, &[]),
        ("/b", 2, 2, &[]),
        ("/c", 3, 10, &[("/a", 1, 4), ("/b", 2, 5)]),
        ("/d", 4, 20, &[("/c", 3, 12)]),
    ];
    let mut world = World::new(EngineOptions {
        targets: vec!["/d".into()],
        ..EngineOptions::default()
    });
    for topic in ["/a", "/b", "/c"] {
        world.engine.expect_topic(topic);
    }
    for number in order {
        let (topic, stamp, published, inputs) = tags[*number];
        world.late_tag(topic, stamp, published, inputs, 30);
    }
    let report = world.engine.report();
    let target = target(&report, "/d");
    let reached = target
        .sources
        .iter()
        .map(|source| source.outcomes.completed);
    (target.complete, target.completed_late, reached.sum())
}

#[test]
fn tags_are_accepted_in_any_order() {
    assert_eq!(in_order(&[0, 1, 2, 3]), (1, 0, 2));
    for order in [
        [3, 2, 1, 0],
        [3, 0, 1, 2],
        [2, 3, 0, 1],
        [1, 3, 0, 2],
        [3, 2, 0, 1],
    ] {
        assert_eq!(in_order(&order), (1, 1, 2), "{order:?}");
    }
    // The tag of one source is missing: it is still known that it was used.
    assert_eq!(in_order(&[3, 2, 0]), (0, 0, 2));
    // The tag in the middle is missing: its inputs are unknown, and it counts as a source.
    assert_eq!(in_order(&[3, 1, 0]), (0, 0, 1));
}

#[test]
fn a_merge_has_one_path_from_each_source() {
    let mut world = World::new(EngineOptions::default());
    for cycle in 1..=5 {
        let at = cycle * 100;
        world.tag("/a", at, at, &[]);
        world.tag("/b", at + 1, at + 11, &[]);
        world.tag(
            "/c",
            at + 2,
            at + 22,
            &[("/a", at, at + 20), ("/b", at + 1, at + 21)],
        );
    }
    let report = world.engine.report();
    let target = target(&report, "/c");
    assert_eq!(path(target, &["/a", "/c"]).best.max_ns, ns(22));
    assert_eq!(path(target, &["/b", "/c"]).best.max_ns, ns(11));
    assert_eq!(target.paths[0].topics, ["/a", "/c"], "the slowest first");
}

#[test]
fn several_messages_of_one_input_are_all_flows() {
    let mut world = World::new(EngineOptions::default());
    for cycle in 1..=5 {
        let at = cycle * 100;
        for part in 0..3 {
            world.tag("/twist", at + part, at + part * 10, &[]);
        }
        let used = [
            ("/twist", at, at + 1),
            ("/twist", at + 1, at + 11),
            ("/twist", at + 2, at + 21),
        ];
        world.tag("/out", at, at + 30, &used);
    }
    let report = world.engine.report();
    let path = path(target(&report, "/out"), &["/twist", "/out"]);
    // The newest is 10 ms old, the oldest 30.
    assert_eq!((path.best.min_ns, path.best.max_ns), (ns(10), ns(10)));
    assert_eq!(
        (path.all.min_ns, path.all.max_ns, path.all.count),
        (ns(10), ns(30), 10)
    );
    assert_eq!(
        source(target(&report, "/out"), "/twist").outcomes.completed,
        15
    );
}

#[test]
fn best_worst_and_reaction_differ_where_messages_are_dropped() {
    let mut world = World::new(EngineOptions::default());
    // A source every 10 ms; a node that uses the latest every 30 ms and needs 5 ms.
    for step in 0..30 {
        let at = 1000 + step * 10;
        world.tag("/fast", at, at, &[]);
        if step % 3 == 2 {
            world.tag("/slow", at, at + 5, &[("/fast", at, at + 1)]);
        }
    }
    let report = world.engine.report();
    let target = target(&report, "/slow");
    let path = path(target, &["/fast", "/slow"]);
    assert_eq!((path.best.min_ns, path.best.max_ns), (ns(5), ns(5)));
    // Two were dropped since the one before: the oldest waited 20 ms more.
    assert_eq!((path.worst.min_ns, path.worst.max_ns), (ns(25), ns(25)));
    assert_eq!(
        (path.reaction.min_ns, path.reaction.max_ns),
        (ns(35), ns(35))
    );
    let outcomes = &source(target, "/fast").outcomes;
    assert_eq!((outcomes.completed, outcomes.superseded), (10, 20));
}

#[test]
fn data_that_is_used_again_gets_older() {
    let mut world = World::new(EngineOptions::default());
    world.tag("/map", 1, 100, &[]);
    for cycle in 1..=50 {
        let at = cycle * 1000;
        world.tag("/scan", at, at, &[]);
        world.tag(
            "/pose",
            at,
            at + 10,
            &[("/map", 1, 101), ("/scan", at, at + 1)],
        );
    }
    let report = world.engine.report();
    let target = target(&report, "/pose");
    // The map was sent once, much longer ago than the retention: it is still in use.
    assert_eq!((target.messages, target.complete), (50, 50));
    let map = path(target, &["/map", "/pose"]);
    assert_eq!((map.best.count, map.data_age.count), (1, 50));
    assert_eq!(map.data_age.max_ns, ns(50_010 - 100));
    assert_eq!(source(target, "/map").outcomes.completed, 1);
}

#[test]
fn a_diamond_is_one_source_and_two_paths() {
    let mut world = World::new(EngineOptions::default());
    for cycle in 1..=3 {
        let at = cycle * 100;
        world.tag("/a", at, at, &[]);
        world.tag("/b", at, at + 1, &[("/a", at, at + 1)]);
        world.tag("/c", at, at + 2, &[("/a", at, at + 1)]);
        world.tag("/d", at, at + 9, &[("/b", at, at + 3), ("/c", at, at + 3)]);
    }
    let report = world.engine.report();
    let target = target(&report, "/d");
    assert_eq!((target.sources.len(), target.paths.len()), (1, 2));
    assert_eq!(source(target, "/a").outcomes.completed, 3);
    assert!(target.paths.iter().all(|path| path.best.max_ns == ns(9)));
}

#[test]
fn a_loop_is_cut_and_reported() {
    let mut world = World::new(EngineOptions::default());
    for cycle in 1..=20 {
        let at = cycle * 100;
        world.tag("/scan", at, at, &[]);
        let back = at - 100;
        let ndt = [("/ekf", back, back + 60), ("/scan", at, at + 5)];
        world.tag("/ndt", at, at + 20, &ndt);
        world.tag("/ekf", at, at + 50, &[("/ndt", at, at + 30)]);
        world.tag("/cmd", at, at + 70, &[("/ekf", at, at + 60)]);
    }
    let report = world.engine.report();
    let target = target(&report, "/cmd");
    assert_eq!(report.loops, [["/ekf", "/ndt"]]);
    assert_eq!(target.paths.len(), 1);
    let path = path(target, &["/scan", "/ndt", "/ekf", "/cmd"]);
    assert_eq!((path.best.count, path.best.max_ns), (20, ns(70)));
}

#[test]
fn a_chain_without_stamps_is_joined_by_time() {
    let mut world = World::new(EngineOptions::default());
    for cycle in 1..=5 {
        let at = cycle * 100;
        let bare = |topic: &str, published, inputs: &[In<'_>]| {
            let mut tag = tag(topic, 0, published, inputs);
            tag.output.stamp = None;
            tag.output.sequence = cycle;
            tag.inputs.iter_mut().for_each(|input| input.stamp = None);
            tag
        };
        world.feed(&bare("/a", at, &[]), at);
        world.feed(&bare("/b", at + 10, &[("/a", 0, at + 4)]), at + 10);
        world.feed(&bare("/c", at + 30, &[("/b", 0, at + 14)]), at + 30);
    }
    let report = world.engine.report();
    let path = path(target(&report, "/c"), &["/a", "/b", "/c"]);
    assert_eq!(
        (path.best.count, path.best.min_ns, path.best.max_ns),
        (5, ns(30), ns(30))
    );
    assert_eq!(report.hops[0].known_by[&Evidence::TagAndTime], 5);
}

#[test]
fn of_equal_stamps_the_existing_message_is_linked() {
    let mut world = World::new(EngineOptions::default());
    for cycle in 1..=5 {
        let at = cycle * 100;
        // The same stamp twice, as from a driver that stalls; the second is too late for the first output.
        world.tag("/a", at, at, &[]);
        world.tag("/a", at, at + 50, &[]);
        world.tag("/b", at, at + 20, &[("/a", at, at + 10)]);
        world.tag("/b", at + 1, at + 70, &[("/a", at, at + 60)]);
    }
    let report = world.engine.report();
    let target = target(&report, "/b");
    let path = path(target, &["/a", "/b"]);
    assert_eq!(
        (path.best.min_ns, path.best.max_ns, path.best.count),
        (ns(20), ns(20), 10)
    );
    assert_eq!(source(target, "/a").outcomes.completed, 10);
    assert!(
        report
            .notes
            .iter()
            .any(|note| note.contains("share topic and stamp")),
        "{:?}",
        report.notes
    );
}

#[test]
fn two_nodes_that_publish_one_topic_are_not_a_loss() {
    let mut world = World::new(EngineOptions::default());
    for cycle in 0..10 {
        let at = 100 + cycle * 100;
        for (node, shift) in [("", 0), ("", 7)] {
            let mut tag = tag("/a", at + shift, at + shift, &[]);
            tag.output.node = node.into();
            tag.output.sequence = cycle;
            world.feed(&tag, at + shift);
        }
        world.tag(
            "/b",
            at,
            at + 20,
            &[("/a", at, at + 10), ("/a", at + 7, at + 11)],
        );
    }
    let report = world.engine.report();
    let outcomes = &source(target(&report, "/b"), "/a").outcomes;
    assert_eq!((outcomes.completed, outcomes.lost_in_transport), (20, 0));
    assert!(
        report.notes.contains(&"/a has 2 publishers".to_owned()),
        "{:?}",
        report.notes
    );
}

#[test]
fn a_topic_without_tags_counts_from_its_reception() {
    let mut world = World::new(EngineOptions::default());
    for cycle in 1..=5 {
        let at = cycle * 100;
        world.tag("/filtered", at, at + 10, &[("/raw", at, at + 2)]);
        world.tag("/out", at, at + 30, &[("/filtered", at, at + 12)]);
    }
    let report = world.engine.report();
    let path = path(target(&report, "/out"), &["/raw", "/filtered", "/out"]);
    assert_eq!((path.best.count, path.best.max_ns), (5, ns(28)));
    assert!(
        report
            .notes
            .iter()
            .any(|note| note.contains("first reception")),
        "{:?}",
        report.notes
    );
}

#[test]
fn plain_messages_are_sources_too() {
    let mut world = World::new(EngineOptions::default());
    for cycle in 1..=5 {
        let at = cycle * 100;
        let stamp = Some(Time::from_nanos(at * MS));
        // A bag has the time of sending, by the system clock only.
        let sent = Moment::from_nanos(ms(at).ros.nanos(), 0);
        world.engine.message("/raw", stamp, sent, at * MS);
        world.tag("/out", at, at + 30, &[("/raw", at, at + 2)]);
        // The message of a tag that is stored already adds nothing.
        world
            .engine
            .message("/out", stamp, ms(at + 30), (at + 31) * MS);
    }
    let report = world.engine.report();
    assert_eq!(
        path(target(&report, "/out"), &["/raw", "/out"]).best.max_ns,
        ns(30)
    );
    assert_eq!((report.tags, report.messages), (5, 10));
}

#[test]
fn links_of_other_kinds_have_their_evidence() {
    let mut world = World::new(EngineOptions::default());
    for cycle in 1..=3 {
        let at = cycle * 100;
        let stamp = Some(Time::from_nanos(at * MS));
        let mut publish = |topic, published, inputs: &[Input<'_>]| {
            let publication = Publication {
                topic,
                node: "/n",
                sequence: None,
                stamp,
                published: ms(published),
                inputs,
            };
            world.engine.publication(&publication, published * MS);
        };
        publish("/a", at, &[]);
        let input = |topic, evidence| Input {
            topic,
            stamp,
            received: ms(at + 5),
            arrived: Some(ms(at + 3)),
            evidence,
        };
        publish("/b", at + 10, &[input("/a", Evidence::EqualStamp)]);
        publish("/c", at + 20, &[input("/b", Evidence::Declared)]);
    }
    let report = world.engine.report();
    assert_eq!(report.hops[0].known_by[&Evidence::EqualStamp], 3);
    assert_eq!(report.hops[1].known_by[&Evidence::Declared], 3);
    // Here the arrival is known separately from the callback.
    assert_eq!(
        (report.hops[0].transport.max_ns, report.hops[0].queue.max_ns),
        (ns(3), ns(2))
    );
    let path = path(target(&report, "/c"), &["/a", "/b", "/c"]);
    assert_eq!(path.steps[0].queue_ns, Some(ns(2)));
}

#[test]
fn sources_stops_and_ignored_topics() {
    let run = |options: EngineOptions| {
        let mut world = World::new(options);
        for cycle in 1..=5 {
            let at = cycle * 100;
            world.tag("/a", at, at, &[]);
            world.tag("/b", at, at + 10, &[("/a", at, at + 2)]);
            world.tag("/c", at, at + 30, &[("/b", at, at + 12)]);
        }
        let report = world.engine.report();
        let path = report.targets[0].paths[0].clone();
        (path.topics, path.best.max_ns)
    };
    let stops = EngineOptions {
        stops: vec!["/b".into()],
        ..EngineOptions::default()
    };
    assert_eq!(run(stops), (vec!["/b".into(), "/c".into()], ns(20)));
    let ignored = EngineOptions {
        ignored: vec!["/a".into()],
        ..EngineOptions::default()
    };
    assert_eq!(run(ignored), (vec!["/b".into(), "/c".into()], ns(20)));
    let targets = EngineOptions {
        targets: vec!["/b".into()],
        ..EngineOptions::default()
    };
    assert_eq!(run(targets), (vec!["/a".into(), "/b".into()], ns(10)));
}

#[test]
fn a_tag_of_tilde_itself_without_a_node_name() {
    let mut world = World::new(EngineOptions::default());
    let mut sensor = tag("/a", 100, 100, &[]);
    let mut output = tag("/b", 100, 120, &[("/a", 100, 105)]);
    for tag in [&mut sensor, &mut output] {
        tag.output.node.clear();
        let payload = tag.encode();
        world.engine.tag(&TagView::parse(&payload).unwrap(), 0);
    }
    let report = world.engine.report();
    assert_eq!(
        path(target(&report, "/b"), &["/a", "/b"]).best.max_ns,
        ns(20)
    );
    assert!(report.hops[0].nodes.is_empty());
}

#[test]
fn a_node_that_does_not_tag_is_skipped_by_equal_stamps() {
    let mut world = World::new(EngineOptions {
        skips: vec![("/rectified".into(), "/image".into())],
        ..EngineOptions::default()
    });
    for cycle in 1..=5 {
        let at = cycle * 100;
        world.tag("/image", at, at, &[]);
        // /rectified has no tags and keeps the stamps of /image.
        world.tag("/objects", at + 1, at + 30, &[("/rectified", at, at + 12)]);
    }
    let report = world.engine.report();
    let path = path(target(&report, "/objects"), &["/image", "/objects"]);
    assert_eq!((path.best.count, path.best.max_ns), (5, ns(30)));
    assert_eq!(report.hops[0].known_by[&Evidence::Declared], 5);
}
