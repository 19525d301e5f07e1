//! Memory and work are bounded for any input.

use proptest::prelude::*;
use timeloom_time::Duration;
use timeloom_trace::{AnyTag, EngineOptions};

use crate::world::{World, source, target};

#[test]
fn many_tags_need_the_memory_of_a_few() {
    let mut world = World::new(EngineOptions {
        keep: Duration::from_secs(3600),
        messages: 1000,
        ..EngineOptions::default()
    });
    for cycle in 1..=20_000 {
        world.tag("/a", cycle, cycle, &[]);
        world.tag("/b", cycle, cycle, &[("/a", cycle, cycle)]);
        assert!(world.engine.remembered() <= 1002);
    }
    let report = world.engine.report();
    let source = source(target(&report, "/b"), "/a");
    assert_eq!(source.outcomes.completed, 20_000);
}

#[test]
fn targets_wait_for_missing_inputs_for_a_bounded_time() {
    let mut world = World::new(EngineOptions {
        keep: Duration::from_millis(100),
        ..EngineOptions::default()
    });
    world.engine.expect_topic("/lost");
    for cycle in 1..=5000 {
        world.tag("/b", cycle, cycle, &[("/lost", cycle, cycle)]);
    }
    // A hundred of each, and as many of their inputs.
    assert!(world.engine.remembered() < 300);
    let report = world.engine.report();
    assert_eq!(
        (
            target(&report, "/b").messages,
            target(&report, "/b").complete
        ),
        (5000, 0)
    );
}

#[test]
fn a_16_level_diamond_is_a_walk_of_49_messages() {
    let mut world = World::new(EngineOptions::default());
    for cycle in 1..=5 {
        let at = cycle * 100;
        world.tag("/t0", at, at, &[]);
        for level in 0..16 {
            let (top, next) = (format!("/t{level}"), format!("/t{}", level + 1));
            let (left, right) = (format!("/l{level}"), format!("/r{level}"));
            world.tag(&left, at, at + level, &[(&top, at, at + level)]);
            world.tag(&right, at, at + level, &[(&top, at, at + level)]);
            let both = [
                (left.as_str(), at, at + level),
                (right.as_str(), at, at + level),
            ];
            world.tag(&next, at, at + level, &both);
        }
    }
    let report = world.engine.report();
    let target = target(&report, "/t16");
    assert_eq!((target.complete, target.sources.len()), (5, 1));
    assert_eq!((target.paths.len(), target.more_paths), (256, true));
    assert_eq!(source(target, "/t0").outcomes.completed, 5);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    /// Any graph with any loops, any stamps and any times: it ends, and every message of every source is accounted for.
    #[test]
    fn any_tags_are_survived(
        tags in proptest::collection::vec(
            (0..6_usize, -5..5_i64, -50..50_i64, proptest::collection::vec((0..6_usize, -5..5_i64, -50..50_i64), 0..4)),
            0..120,
        ),
    ) {
        const TOPICS: [&str; 6] = ["/a", "/b", "/c", "/d", "/e", "/f"];
        let mut world = World::new(EngineOptions { messages: 40, ..EngineOptions::default() });
        for (now, (topic, stamp, published, inputs)) in (0_i64..).zip(&tags) {
            let inputs: Vec<_> = inputs.iter().map(|(topic, stamp, at)| (TOPICS[*topic], *stamp, *at)).collect();
            world.late_tag(TOPICS[*topic], *stamp, *published, &inputs, now);
        }
        let report = world.engine.report();
        prop_assert_eq!(report.tags, tags.len() as u64);
        for source in report.targets.iter().flat_map(|target| &target.sources) {
            prop_assert_eq!(source.published, source.outcomes.total());
        }
    }

    #[test]
    fn wild_payloads_are_survived(payloads in proptest::collection::vec(proptest::collection::vec(any::<u8>(), 0..120), 0..20)) {
        let mut world = World::new(EngineOptions::default());
        for payload in &payloads {
            if let Ok(AnyTag::Full(tag)) = AnyTag::parse(payload) {
                world.engine.tag(&tag, 0);
            }
        }
        prop_assert!(world.engine.report().tags <= payloads.len() as u64);
    }
}
