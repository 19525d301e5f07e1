//! Deadlines: at arrival, at a late tag, and without a target.

use timeloom_time::{Duration, Time};
use timeloom_trace::{DeadlineEvent, FoundBy, Moment};

use crate::world::{MS, World, ms, tag};

fn limit(ms: i64) -> Duration {
    Duration::from_millis(ms)
}

/// A source and a target that is published this many nanoseconds later.
fn after(nanos: i64, deadline: Duration) -> Vec<DeadlineEvent> {
    let mut world = World::deadline(Some("/sensor"), "/target", deadline);
    world.feed(&tag("/sensor", 100, 100, &[]), 100);
    let mut output = tag("/target", 200, 0, &[("/sensor", 100, 105)]);
    let moment = ms(100);
    output.output.published =
        Moment::from_nanos(moment.ros.nanos() + nanos, moment.steady.nanos() + nanos);
    world.feed(&output, 101);
    world.engine.take_events()
}

#[test]
fn exactly_the_deadline_is_too_late() {
    assert_eq!(after(50 * MS - 1, limit(50)), []);
    let events = after(50 * MS, limit(50));
    let [event] = events.as_slice() else {
        panic!("{events:?}");
    };
    assert_eq!(
        (event.target.as_str(), event.found_by),
        ("/target", FoundBy::Arrival)
    );
    let notification = event.notification();
    assert_eq!(notification.topic, "/target");
    assert_eq!(notification.stamp, Time::from_nanos(200 * MS));
    assert_eq!(notification.deadline, limit(50));
    let [source] = notification.sources.as_slice() else {
        panic!("{notification:?}");
    };
    assert_eq!(
        (source.topic.as_str(), source.elapsed),
        ("/sensor", limit(50))
    );
    assert_eq!(
        (source.stamp, source.is_overrun),
        (Time::from_nanos(100 * MS), true)
    );
}

#[test]
fn zero_means_no_deadline() {
    assert_eq!(after(50 * MS, Duration::ZERO), []);
}

#[test]
fn only_the_late_source_is_marked() {
    let mut world = World::deadline(None, "/target", limit(50));
    world.tag("/early", 100, 100, &[]);
    world.tag("/late", 140, 140, &[]);
    world.tag(
        "/target",
        160,
        160,
        &[("/early", 100, 150), ("/late", 140, 150)],
    );
    let events = world.engine.take_events();
    let marks: Vec<_> = events[0]
        .sources
        .iter()
        .map(|source| (source.topic.as_str(), source.is_overrun))
        .collect();
    assert_eq!(events.len(), 1);
    assert!(
        marks.contains(&("/early", true)) && marks.contains(&("/late", false)),
        "{marks:?}"
    );
}

#[test]
fn a_source_that_is_known_late_is_checked_at_that_time() {
    let mut world = World::deadline(None, "/target", limit(50));
    world.engine.expect_topic("/sensor");
    world.tag("/target", 200, 200, &[("/sensor", 100, 150)]);
    assert_eq!(world.engine.take_events(), []);
    world.late_tag("/sensor", 100, 100, &[], 220);
    let events = world.engine.take_events();
    assert_eq!((events.len(), events[0].found_by), (1, FoundBy::LateLink));
    let report = world.engine.report();
    assert_eq!(report.deadlines[0].missed_by_late_link, 1);
}

#[test]
fn a_path_that_never_completes_is_reported_by_the_timer_with_the_missing_hop() {
    let mut world = World::deadline(Some("/a"), "/c", limit(50));
    for cycle in 1..=3 {
        let at = cycle * 100;
        world.tag("/a", at, at, &[]);
        world.tag("/b", at, at + 10, &[("/a", at, at + 2)]);
        world.tag("/c", at, at + 30, &[("/b", at, at + 12)]);
    }
    assert_eq!(world.engine.take_events(), []);
    // The node of /c hangs.
    world.tag("/a", 400, 400, &[]);
    world.tag("/b", 400, 410, &[("/a", 400, 402)]);
    world.engine.advance(449 * MS);
    assert_eq!(world.engine.take_events(), []);
    world.engine.advance(450 * MS);
    let events = world.engine.take_events();
    assert_eq!((events.len(), events[0].found_by), (1, FoundBy::Timer));
    assert_eq!(events[0].missing_hop.as_deref(), Some("/c"));
    // Then the node of /b hangs too.
    world.tag("/a", 500, 500, &[]);
    world.engine.advance(600 * MS);
    let events = world.engine.take_events();
    assert_eq!(events[0].missing_hop.as_deref(), Some("/b"));
    let report = world.engine.report();
    assert_eq!(
        (
            report.deadlines[0].missed_by_timer,
            report.deadlines[0].longest_streak
        ),
        (2, 2)
    );
}

#[test]
fn a_target_after_its_time_expired_is_missed_once() {
    let mut world = World::deadline(Some("/a"), "/b", limit(50));
    world.tag("/a", 100, 100, &[]);
    world.tag("/b", 100, 110, &[("/a", 100, 101)]);
    world.tag("/a", 200, 200, &[]);
    world.engine.advance(260 * MS);
    world.tag("/b", 200, 300, &[("/a", 200, 201)]);
    let found: Vec<_> = world.engine.take_events();
    let found: Vec<_> = found.iter().map(|event| event.found_by).collect();
    assert_eq!(found, [FoundBy::Timer, FoundBy::Arrival]);
    let report = &world.engine.report().deadlines[0];
    assert_eq!(
        (report.checked, report.missed, report.missed_by_timer),
        (2, 1, 0)
    );
    assert_eq!(report.longest_streak, 1);
}

#[test]
fn a_source_superseded_by_a_newer_one_in_time_is_not_missed() {
    let mut world = World::deadline(Some("/a"), "/b", limit(50));
    for step in 0..20 {
        let at = 100 + step * 10;
        world.tag("/a", at, at, &[]);
        // Only every second one is used.
        if step % 2 == 1 {
            world.tag("/b", at, at + 5, &[("/a", at, at + 1)]);
        }
    }
    world.engine.advance(310 * MS);
    assert_eq!(world.engine.take_events(), []);
}

#[test]
fn events_that_are_not_taken_are_bounded() {
    let mut world = World::deadline(Some("/a"), "/b", Duration::from_nanos(1));
    for step in 0..12_000 {
        world.tag("/a", step, step, &[]);
        world.tag("/b", step, step, &[("/a", step, step)]);
    }
    world.tag("/a", 20_000, 20_000, &[]);
    assert!(world.engine.take_events().len() <= 10_000);
}
