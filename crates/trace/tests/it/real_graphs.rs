//! Graphs and tags of real robots: hundreds of topics, loops, tags that are duplicated, late or out of order.

use timeloom_time::{Duration, Time};
use timeloom_trace::{EngineOptions, MessageTrackingTag, Moment};

use crate::world::{MS, World, ms, path, source, tag, target};

/// `ends` chains of `length` topics each, from one source.
fn chains(ends: usize, length: usize) -> timeloom_trace::Report {
    let mut world = World::new(EngineOptions::default());
    for cycle in 1..=3 {
        let at = cycle * 1000;
        world.tag("/source", at, at, &[]);
        for chain in 0..ends {
            let mut before = "/source".to_owned();
            for (place, step) in (1..length).zip(1_i64..) {
                let topic = format!("/chain_{chain}/step_{place}");
                let input = (before.as_str(), at, at + step - 1);
                world.tag(&topic, at, at + step, &[input]);
                before = topic;
            }
        }
    }
    world.engine.report()
}

#[test]
fn all_ends_of_many_topics_are_found() {
    // One source and 19 chains: 134 topics, and 115 of them are not ends.
    let report = chains(19, 8);
    assert_eq!(report.targets.len(), 19);
    for target in &report.targets {
        assert!(target.topic.ends_with("/step_7"), "{}", target.topic);
        assert_eq!((target.messages, target.complete), (3, 3));
        assert_eq!(target.paths.len(), 1);
        assert_eq!(source(target, "/source").outcomes.completed, 3);
    }
    assert_eq!(report.notes, [""; 0]);
    let report = chains(300, 2);
    assert_eq!(report.targets.len(), 300);
    let complete = report.targets.iter().map(|target| target.complete);
    assert_eq!(complete.sum::<u64>(), 900);
}

#[test]
fn a_chain_of_66_topics_is_one_path() {
    let report = chains(1, 66);
    let target = target(&report, "/chain_0/step_65");
    assert_eq!((target.paths.len(), target.more_paths), (1, false));
    assert_eq!(target.paths[0].topics.len(), 66);
    assert_eq!(target.paths[0].best.max_ns, 65_000_000);
}

#[test]
fn a_closed_loop_has_a_named_end() {
    let mut world = World::new(EngineOptions::default());
    for cycle in 1..=20 {
        let at = cycle * 100;
        world.tag("/lidar", at, at, &[]);
        let ndt = [("/ekf", at - 100, at - 40), ("/lidar", at, at + 5)];
        world.tag("/ndt", at, at + 20, &ndt);
        world.tag("/ekf", at, at + 50, &[("/ndt", at, at + 30)]);
    }
    let report = world.engine.report();
    let target = target(&report, "/ekf");
    assert_eq!((report.targets.len(), target.messages), (1, 20));
    let path = path(target, &["/lidar", "/ndt", "/ekf"]);
    assert_eq!((path.best.count, path.best.max_ns), (20, 50_000_000));
    assert_eq!(report.loops, [["/ekf", "/ndt"]]);
    let hint = "its paths end at /ekf; choose another end with --to";
    assert!(
        report.notes.iter().any(|note| note.contains(hint)),
        "{:?}",
        report.notes
    );
}

/// 200 cycles of `/a`, `/b`, `/c`, 100 ms apart: the tags with their arrivals.
fn cycles() -> Vec<(i64, MessageTrackingTag)> {
    let mut tags = Vec::new();
    for cycle in 0..200 {
        let at = 1000 + cycle * 100;
        let steps = [
            ("/a", at, None),
            ("/b", at + 10, Some(("/a", at + 2))),
            ("/c", at + 30, Some(("/b", at + 12))),
        ];
        for (topic, published, input) in steps {
            let inputs: Vec<_> = input
                .iter()
                .map(|(topic, received)| (*topic, at, *received))
                .collect();
            let mut tag = tag(topic, at, published, &inputs);
            tag.output.sequence = cycle;
            tags.push((published, tag));
        }
    }
    tags
}

fn report_of(tags: &[(i64, MessageTrackingTag)], options: EngineOptions) -> timeloom_trace::Report {
    let mut world = World::new(options);
    for (now, tag) in tags {
        world.feed(tag, *now);
    }
    world.engine.report()
}

#[test]
fn duplicated_tags_count_once() {
    let mut tags = cycles();
    let again: Vec<_> = tags.iter().step_by(10).cloned().collect();
    for (now, tag) in again {
        tags.push((now + 40, tag));
    }
    tags.sort_by_key(|(now, _)| *now);
    let report = report_of(&tags, EngineOptions::default());
    let target = target(&report, "/c");
    assert_eq!((target.messages, target.complete), (200, 200));
    let outcomes = &source(target, "/a").outcomes;
    assert_eq!((outcomes.completed, outcomes.total()), (200, 200));
    assert_eq!(path(target, &["/a", "/b", "/c"]).best.count, 200);
    assert_eq!(report.notes, ["60 tags received twice, counted once"]);
}

/// The report does not depend on the order inside the topics.
#[test]
fn tags_out_of_order_inside_a_topic_give_the_same_report() {
    let expected = report_of(&cycles(), EngineOptions::default());
    // Each seventh tag is 700 ms late, each eleventh 1.5 s.
    let mut tags = cycles();
    for (place, (now, _)) in tags.iter_mut().enumerate() {
        *now += match place {
            _ if place % 7 == 3 => 700,
            _ if place % 11 == 5 => 1500,
            _ => 0,
        };
    }
    tags.sort_by_key(|(now, _)| *now);
    let mut found = report_of(&tags, EngineOptions::default());
    assert_eq!(found.clocks, expected.clocks);
    assert_eq!(found.hops, expected.hops);
    assert_eq!(found.notes, expected.notes);
    let late = target(&found, "/c").completed_late;
    assert!(late > 0, "{late}");
    found.targets[0].completed_late = 0;
    assert_eq!(found.targets, expected.targets);
}

#[test]
fn late_tags_are_linked_in_the_end() {
    let mut world = World::new(EngineOptions::default());
    for topic in ["/a", "/b"] {
        world.engine.expect_topic(topic);
    }
    for cycle in 1..=10 {
        let at = cycle * 100;
        world.tag("/b", at, at + 10, &[("/a", at, at + 2)]);
    }
    assert_eq!(world.engine.report().hops[0].unresolved, 10);
    for cycle in 1..=10 {
        world.late_tag("/a", cycle * 100, cycle * 100, &[], 1100);
    }
    let report = world.engine.report();
    let hop = &report.hops[0];
    assert_eq!((hop.unresolved, hop.total.count), (0, 10));
}

#[test]
fn tags_later_than_the_retention_are_not_lost_in_transport() {
    let keep = Duration::from_secs(2);
    for late_topic in ["/a", "/b", "/c"] {
        let mut tags = cycles();
        for (now, tag) in &mut tags {
            if tag.output.topic == late_topic {
                *now += 5000;
            }
        }
        tags.sort_by_key(|(now, _)| *now);
        let options = EngineOptions {
            keep,
            ..EngineOptions::default()
        };
        let report = report_of(&tags, options);
        let outcomes = &source(target(&report, "/c"), "/a").outcomes;
        assert_eq!(
            (outcomes.lost_in_transport, outcomes.total()),
            (0, 200),
            "{late_topic}: {outcomes:?}"
        );
    }
}

#[test]
fn a_node_that_starts_later_is_not_a_loss() {
    let mut world = World::new(EngineOptions {
        keep: Duration::from_secs(1),
        ..EngineOptions::default()
    });
    for cycle in 1..=100 {
        let at = cycle * 100;
        world.tag("/a", at, at, &[]);
        if cycle > 50 {
            world.tag("/b", at, at + 10, &[("/a", at, at + 2)]);
        }
    }
    let report = world.engine.report();
    let outcomes = &source(target(&report, "/b"), "/a").outcomes;
    assert_eq!(
        (outcomes.completed, outcomes.superseded, outcomes.total()),
        (50, 50, 100)
    );
}

#[test]
fn equal_stamps_cost_no_more_than_others() {
    let mut world = World::new(EngineOptions::default());
    // Each is compared with a few, not with all before it.
    for cycle in 1..=20_000 {
        let mut tag = tag("/a", 0, cycle, &[]);
        tag.output.sequence = cycle;
        world.feed(&tag, cycle);
    }
    let report = world.engine.report();
    assert_eq!(report.tags, 20_000);
}

#[test]
fn the_transport_of_a_source_without_tags_is_not_known() {
    let mut world = World::new(EngineOptions::default());
    for cycle in 1..=5 {
        let at = cycle * 100;
        world.tag("/out", at, at + 30, &[("/raw", at, at + 2)]);
    }
    let report = world.engine.report();
    let hop = &report.hops[0];
    assert_eq!((hop.transport.count, hop.node.count), (0, 5));
    assert_eq!(hop.node.max_ns, 28_000_000);
    let path = path(target(&report, "/out"), &["/raw", "/out"]);
    assert_eq!(path.steps[0].transport_ns, None);
    assert_eq!(path.steps[0].node_ns, Some(28_000_000));
}

/// Two hosts; the clock of the second is set by some milliseconds after half of the cycles.
fn with_step(step_ms: i64) -> timeloom_trace::Report {
    let mut world = World::new(EngineOptions::default());
    for cycle in 1..=40_i64 {
        let at = cycle * 100;
        let mut car = tag("/a", at, at, &[]);
        car.output.node = "/car".into();
        world.feed(&car, at);
        let set = if cycle > 20 { step_ms } else { 0 };
        let arm = |after: i64| {
            let moment = ms(at + after);
            let steady = moment.steady.nanos() + 900_000 * MS;
            Moment::from_nanos(moment.ros.nanos() + set * MS, steady)
        };
        let mut output = tag("/b", at, at, &[("/a", at, at)]);
        output.output.node = "/arm".into();
        output.output.published = arm(20);
        output.inputs[0].received = arm(5);
        world.feed(&output, at + 20);
    }
    world.engine.report()
}

#[test]
fn a_clock_that_is_set_is_flagged_in_both_directions() {
    assert_eq!(with_step(0).clocks.steps, []);
    for step in [500, -300] {
        let report = with_step(step);
        let [found] = report.clocks.steps.as_slice() else {
            panic!("{:?}", report.clocks);
        };
        assert_eq!((found.host.as_str(), found.by_ns), ("host 2", step * MS));
        assert_eq!(report.clocks.jumps, 0);
    }
}

#[test]
fn a_late_tag_is_not_a_jump_of_a_clock() {
    let mut tags = cycles();
    for (now, _) in tags.iter_mut().step_by(9) {
        *now += 4000;
    }
    tags.sort_by_key(|(now, _)| *now);
    let report = report_of(&tags, EngineOptions::default());
    assert_eq!((report.clocks.jumps, report.clocks.steps.len()), (0, 0));
    assert_eq!(report.clocks.negative, []);
}

#[test]
fn duplicated_messages_without_stamp_count_once() {
    let mut world = World::new(EngineOptions::default());
    for cycle in 0..10 {
        let at = 100 + cycle * 100;
        for _ in 0..2 {
            let mut source = tag("/a", 0, at, &[]);
            (source.output.stamp, source.output.sequence) = (None, cycle);
            world.feed(&source, at);
            let mut output = tag("/b", at, at + 20, &[("/a", 0, at + 2)]);
            (output.inputs[0].stamp, output.output.sequence) = (None, cycle);
            output.output.stamp = Some(Time::from_nanos(at * MS));
            world.feed(&output, at + 20);
        }
    }
    let report = world.engine.report();
    let target = target(&report, "/b");
    assert_eq!(target.messages, 10);
    assert_eq!(source(target, "/a").published, 10);
}
