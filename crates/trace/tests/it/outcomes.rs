//! The outcome of every message of a source.

use timeloom_time::{Duration, Time};
use timeloom_trace::{AccountOf, AccountScope, EngineOptions, Outcomes, RecorderAccount};

use crate::world::{MS, World, ms, source, target};

fn outcomes(world: &mut World) -> Outcomes {
    let report = world.engine.report();
    let source = source(target(&report, "/c"), "/a");
    assert_eq!(source.published, source.outcomes.total());
    source.outcomes.clone()
}

/// `cycles` whole cycles of `/a`, `/b`, `/c`, 100 ms apart, from cycle `first` on.
fn cycles(world: &mut World, first: i64, cycles: i64) {
    for cycle in first..first + cycles {
        let at = cycle * 100;
        world.tag("/a", at, at, &[]);
        world.tag("/b", at, at + 10, &[("/a", at, at + 2)]);
        world.tag("/c", at, at + 30, &[("/b", at, at + 12)]);
    }
}

#[test]
fn messages_lost_between_nodes_and_stuck_half_way() {
    let mut world = World::new(EngineOptions::default());
    cycles(&mut world, 1, 5);
    // An output was made of it, but no target: the next one was made of a newer one.
    world.tag("/a", 600, 600, &[]);
    world.tag("/b", 600, 610, &[("/a", 600, 602)]);
    // No output was made of it: a newer one was used.
    world.tag("/a", 650, 650, &[]);
    cycles(&mut world, 7, 5);
    // An output was made of it, and nothing followed.
    world.tag("/a", 1200, 1200, &[]);
    world.tag("/b", 1200, 1210, &[("/a", 1200, 1202)]);
    world.engine.advance(60_000 * MS);
    let found = outcomes(&mut world);
    assert_eq!(
        (found.completed, found.partial, found.superseded),
        (10, 1, 2)
    );
    assert_eq!(
        found.missing_hops.iter().collect::<Vec<_>>(),
        [(&"/c".to_owned(), &1)]
    );
    let superseded: Vec<_> = found.superseded_at.iter().collect();
    assert_eq!(superseded, [(&"/b".to_owned(), &1), (&"/c".to_owned(), &1)]);
    assert_eq!(found.total(), 13);
}

#[test]
fn a_message_that_a_subscriber_missed_is_lost_in_transport() {
    let mut world = World::new(EngineOptions::default());
    cycles(&mut world, 1, 5);
    world.tag("/a", 650, 650, &[]);
    world
        .engine
        .lost_in_transport("/a", Time::from_nanos(650 * MS));
    cycles(&mut world, 7, 5);
    let found = outcomes(&mut world);
    assert_eq!(
        (found.completed, found.lost_in_transport, found.superseded),
        (10, 1, 0)
    );
}

fn account(recorded: u64, in_transport: u64, in_recorder: u64) -> RecorderAccount {
    RecorderAccount {
        recorded,
        in_transport,
        in_recorder,
    }
}

#[test]
fn gaps_are_losses_of_the_recorder_up_to_its_account() {
    let mut world = World::new(EngineOptions::default());
    cycles(&mut world, 1, 5);
    for _ in 0..5 {
        world.lose("/a");
    }
    cycles(&mut world, 11, 5);
    let found = outcomes(&mut world);
    assert_eq!((found.lost_in_transport, found.lost_in_recorder), (5, 0));
    let whole = AccountScope::Whole;
    world
        .engine
        .recorder_account("/a", AccountOf::Tags, account(10, 3, 2), whole);
    let found = outcomes(&mut world);
    assert_eq!((found.lost_in_transport, found.lost_in_recorder), (3, 2));
    assert_eq!(found.total(), 15);
}

#[test]
fn losses_at_the_end_leave_no_gap_and_still_count() {
    let mut world = World::new(EngineOptions::default());
    cycles(&mut world, 1, 5);
    let whole = AccountScope::Whole;
    world
        .engine
        .recorder_account("/a", AccountOf::Tags, account(5, 1, 4), whole);
    let found = outcomes(&mut world);
    assert_eq!((found.lost_in_transport, found.lost_in_recorder), (1, 4));
    assert_eq!(found.total(), 10);
    // For a part of a bag, the times of losses are unknown: gaps only.
    let mut world = World::new(EngineOptions::default());
    cycles(&mut world, 1, 5);
    for _ in 0..3 {
        world.lose("/a");
    }
    cycles(&mut world, 11, 5);
    let part = AccountScope::Part;
    world
        .engine
        .recorder_account("/a", AccountOf::Tags, account(900, 50, 2), part);
    let found = outcomes(&mut world);
    assert_eq!((found.lost_in_transport, found.lost_in_recorder), (1, 2));
}

/// Ten cycles over a lossy link to the recorder: of each fourth message of `/a` the record, the tag, both or none is
/// lost.
fn lossy(used: bool) -> (World, u64) {
    let mut world = World::new(EngineOptions::default());
    let (mut recorded, mut tags) = (0, 0);
    for cycle in 1..=40_i64 {
        let at = cycle * 100;
        let (main_lost, tag_lost) = (cycle % 4 == 1 || cycle % 4 == 3, cycle % 4 >= 2);
        if tag_lost {
            world.lose("/a");
        } else {
            world.tag("/a", at, at, &[]);
            tags += 1;
        }
        if !main_lost {
            let stamp = Some(Time::from_nanos(at * MS));
            let sent = timeloom_trace::Moment::from_nanos(ms(at).ros.nanos(), 0);
            world.engine.message("/a", stamp, sent, at * MS);
            recorded += 1;
        }
        if used {
            world.tag("/b", at, at + 10, &[("/a", at, at + 2)]);
            world.tag("/c", at, at + 30, &[("/b", at, at + 12)]);
        } else if cycle % 8 == 0 {
            // Only this one is used: record and tag exist.
            world.tag("/b", at, at + 10, &[("/a", at, at + 2)]);
            world.tag("/c", at, at + 30, &[("/b", at, at + 12)]);
        }
    }
    let whole = AccountScope::Whole;
    let engine = &mut world.engine;
    let of_messages = account(recorded, 40 - recorded, 0);
    engine.recorder_account("/a", AccountOf::Messages, of_messages, whole);
    engine.recorder_account("/a", AccountOf::Tags, account(tags, 40 - tags, 0), whole);
    (world, recorded)
}

#[test]
fn a_lost_tag_or_a_lost_record_alone_is_not_a_lost_message() {
    // Everything was used, as the tags of the outputs show: nothing is lost, whatever the recorder missed.
    let (mut world, recorded) = lossy(true);
    assert_eq!(recorded, 20);
    let found = outcomes(&mut world);
    assert_eq!((found.total(), found.completed), (40, 40), "{found:?}");
    let report = world.engine.report();
    let target = target(&report, "/c");
    // Without record and tag, the time of publication is not known: no latency, but an outcome.
    assert_eq!((target.messages, target.complete), (40, 30));
    let path = crate::world::path(target, &["/a", "/b", "/c"]);
    assert_eq!(
        (path.best.count, path.best.min_ns, path.best.max_ns),
        (30, 30_000_000, 30_000_000)
    );
    assert_eq!(report.hops[0].transport.min_ns, 2_000_000);
}

#[test]
fn only_messages_without_any_record_are_lost() {
    let (mut world, _) = lossy(false);
    let found = outcomes(&mut world);
    // Ten were lost twice, record and tag, and no output was made of them.
    assert_eq!(
        (found.total(), found.lost_in_transport),
        (40, 10),
        "{found:?}"
    );
    assert_eq!((found.completed, found.superseded), (5, 25), "{found:?}");
}

#[test]
fn a_lost_tag_in_the_middle_counts_as_no_tag_and_not_for_its_neighbours() {
    let mut world = World::new(EngineOptions::default());
    cycles(&mut world, 1, 5);
    // Superseded: before the lost tag, and after it.
    world.tag("/a", 550, 550, &[]);
    world.tag("/a", 600, 600, &[]);
    world.tag("/b", 600, 610, &[("/a", 600, 602)]);
    world.tag("/c", 600, 630, &[("/b", 600, 612)]);
    // The tag of `/b` is lost; `/c` names it.
    world.tag("/a", 700, 700, &[]);
    world.lose("/b");
    world.tag("/c", 700, 730, &[("/b", 700, 712)]);
    world.tag("/a", 750, 750, &[]);
    cycles(&mut world, 8, 5);
    world.engine.advance(2_000 * MS);
    let found = outcomes(&mut world);
    assert_eq!(
        (
            found.completed,
            found.no_tag,
            found.superseded,
            found.partial
        ),
        (11, 1, 2, 0)
    );
    assert_eq!(found.missing_hops.get("/b"), Some(&1));
    let notes = world.engine.report().notes;
    let lost = "1 tags of /b are missing: 1 lost in transport, 0 in the recorder";
    assert!(notes.iter().any(|note| note == lost), "{notes:?}");
}

#[test]
fn the_end_of_the_data_is_not_a_loss() {
    let mut world = World::new(EngineOptions::default());
    cycles(&mut world, 1, 5);
    world.tag("/a", 600, 600, &[]);
    world.tag("/b", 600, 610, &[("/a", 600, 602)]);
    let found = outcomes(&mut world);
    assert_eq!((found.completed, found.in_flight, found.partial), (5, 1, 0));
    // It never arrives.
    world.engine.advance(5_000 * MS);
    let found = outcomes(&mut world);
    assert_eq!((found.completed, found.in_flight, found.partial), (5, 0, 1));
}

#[test]
fn a_message_without_tag_breaks_the_path() {
    let mut world = World::new(EngineOptions::default());
    cycles(&mut world, 1, 5);
    world.tag("/a", 600, 600, &[]);
    // `/b` was published, as the bag shows, but its tag is missing.
    let stamp = Some(Time::from_nanos(600 * MS));
    world.engine.message("/b", stamp, ms(610), 610 * MS);
    world.tag("/c", 600, 630, &[("/b", 600, 612)]);
    cycles(&mut world, 7, 5);
    world.engine.advance(2_000 * MS);
    let found = outcomes(&mut world);
    assert_eq!((found.completed, found.no_tag), (10, 1));
    assert_eq!(found.missing_hops.get("/b"), Some(&1));
    let report = world.engine.report();
    let target = target(&report, "/c");
    assert_eq!((target.messages, target.complete), (11, 10));
}

#[test]
fn too_many_messages_at_once_are_expired() {
    let mut world = World::new(EngineOptions {
        messages: 50,
        ..EngineOptions::default()
    });
    cycles(&mut world, 1, 5);
    for extra in 0..100 {
        world.tag("/a", 1000 + extra, 1000 + extra, &[]);
    }
    let found = outcomes(&mut world);
    assert_eq!(found.total(), 105);
    assert_eq!(found.completed, 5);
    assert!(found.expired >= 50, "{found:?}");
    assert!(world.engine.remembered() <= 60);
}

#[test]
fn old_messages_are_judged_when_they_are_dropped() {
    let mut world = World::new(EngineOptions {
        keep: Duration::from_millis(250),
        ..EngineOptions::default()
    });
    cycles(&mut world, 1, 100);
    assert!(world.engine.remembered() < 20);
    let found = outcomes(&mut world);
    assert_eq!((found.completed, found.total()), (100, 100));
}
