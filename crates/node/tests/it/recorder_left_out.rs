//! Messages that were left out or lost by the recorder have a count and a time.

use std::sync::Arc;

use timeloom_bag::{BagOptions, LeftOut, LeftOutCause, MissingCause};
use timeloom_msg::QosProfile;
use timeloom_node::recorder::{Control, DropPolicy};
use timeloom_time::Duration;
use timeloom_wire::PublishOptions;
use timeloom_wire::loopback::{Chance, Faults, Scope};

use crate::recorder_world::{
    BEST_EFFORT, LATCHED, RELIABLE, STRING, World, account, finish, recorded, spec, text, topic,
};

const UINT64: &str = "std_msgs/msg/UInt64";

/// Each `finish` also holds the bag's own account against the report.
#[test]
fn gaps_while_paused_are_left_out_and_gaps_before_and_after_are_lost() {
    let world = World::new();
    let talker = world.publisher("talker", "/chatter", BEST_EFFORT);
    let recorder = world.record(world.options());
    let lossy = Faults {
        drop: Chance::EveryNth(3),
        ..Faults::NONE
    };
    world.network.set_faults(Scope::everywhere(), lossy);
    world.publish(&*talker, 300, 1_000);
    recorder.control(&Control::Pause).unwrap();
    world.publish(&*talker, 3_000, 1_000);
    recorder.control(&Control::Resume).unwrap();
    world.publish(&*talker, 300, 1_000);
    world.network.set_faults(Scope::everywhere(), Faults::NONE);
    world.publish(&*talker, 1, 1_000);
    world.pass(200);
    let live = recorder.status();
    let live = topic(&live.topics, "/chatter").statistics;
    let report = finish(&recorder);
    let chatter = topic(&report.topics, "/chatter").statistics;
    assert_eq!(chatter.messages_published(), 3_601, "{chatter:?}");
    assert!((2_995..=3_005).contains(&chatter.left_out.paused));
    assert!((195..=205).contains(&chatter.messages_lost_in_transport));
    assert_eq!(live.left_out, chatter.left_out);
    assert_eq!(live.messages_lost(), chatter.messages_lost());
    let record = &report.metadata.topics[0];
    for cause in [
        MissingCause::Transport,
        MissingCause::LeftOut(LeftOutCause::Paused),
    ] {
        let total = record.timeline.total(cause);
        assert_eq!(total, chatter.missing(cause), "{cause:?} has times");
    }
    let paused = record
        .timeline
        .intervals()
        .filter(|interval| interval.cause == MissingCause::LeftOut(LeftOutCause::Paused));
    assert!((3..=5).contains(&paused.count()), "in three seconds");
}

#[test]
fn a_throttle_and_a_ring_match_the_account_of_the_bag() {
    let world = World::new();
    let talker = world.publisher("talker", "/chatter", RELIABLE);
    let mut options = world.options();
    options.snapshot_mode = true;
    options.max_cache_duration = Duration::from_millis(100);
    options
        .throttle
        .insert("/chatter".into(), Duration::from_millis(10));
    let recorder = world.record(options);
    world.publish(&*talker, 1_000, 1_000);
    recorder.control(&Control::Snapshot).unwrap();
    world.publish(&*talker, 500, 1_000);
    let report = finish(&recorder);
    let chatter = topic(&report.topics, "/chatter").statistics;
    assert_eq!(chatter.messages_published(), 1_500, "{chatter:?}");
    assert_eq!(chatter.left_out.throttled, 1_350);
    assert_eq!(
        chatter.messages_recorded + chatter.left_out.overwritten,
        150
    );
    assert!((10..=12).contains(&chatter.messages_recorded));
}

#[test]
fn copies_in_a_snapshot_after_the_last_message_are_not_left_out_again() {
    let world = World::new();
    let map = world.publisher("map", "/map", LATCHED);
    let talker = world.publisher("talker", "/chatter", RELIABLE);
    let mut options = world.options();
    options.snapshot_mode = true;
    options.max_cache_duration = Duration::from_millis(10);
    options.repeat.insert("/map".into(), 1);
    options.limits.messages = 5;
    let recorder = world.record(options);
    world.publish(&*map, 1, 1_000);
    for _ in 0..2 {
        world.publish(&*talker, 50, 1_000);
        recorder.control(&Control::Snapshot).unwrap();
        world.pass(200);
    }
    let report = finish(&recorder);
    let chatter = topic(&report.topics, "/chatter").statistics;
    assert_eq!(chatter.messages_recorded, 5, "a copy is not one of them");
    let map = topic(&report.topics, "/map");
    assert_eq!((account(map), map.repeated), ((1, 0, 0), 1));
    let left_out = LeftOut {
        overwritten: 1,
        ..LeftOut::default()
    };
    assert_eq!(map.statistics.left_out, left_out);
}

#[test]
fn messages_of_deleted_files_do_not_count_as_recorded() {
    let world = World::new();
    let talker = world.publisher("talker", "/chatter", RELIABLE);
    let mut options = world.options();
    options.bag = Arc::new(|| BagOptions {
        max_file_duration_ns: 1_000_000_000,
        max_files: 2,
        ..BagOptions::default()
    });
    let recorder = world.record(options);
    world.publish(&*talker, 550, 10_000);
    world.pass(200);
    let live = recorder.status();
    let live = topic(&live.topics, "/chatter").statistics;
    let report = finish(&recorder);
    let chatter = topic(&report.topics, "/chatter").statistics;
    let left = recorded(&world.bag())["/chatter"].len() as u64;
    assert!((100..=200).contains(&left));
    assert_eq!(chatter.messages_recorded, left);
    assert_eq!(chatter.left_out.deleted, 550 - left);
    assert_eq!(report.deleted_messages, 550 - left);
    // Files are closed and deleted beside virtual time: where the border is, is open; the sum is not.
    assert_eq!(live.messages_published(), 550, "{live:?}");
}

#[test]
fn messages_of_another_type_are_counted() {
    let world = World::new();
    let texts = world.publisher("texts", "/twofold", RELIABLE);
    let recorder = world.record(world.options());
    world.publish(&*texts, 100, 1_000);
    let node = world.node("numbers");
    let numbers = node.publish(&spec("/twofold", UINT64, RELIABLE)).unwrap();
    world.pass(5);
    world.publish(&*numbers, 50, 1_000);
    world.publish(&*texts, 10, 1_000);
    world.pass(200);
    let live = recorder.status();
    let live = topic(&live.topics, "/twofold").statistics;
    let report = finish(&recorder);
    let twofold = topic(&report.topics, "/twofold").statistics;
    assert_eq!(twofold.messages_recorded, 110);
    let left_out = LeftOut {
        type_conflict: 50,
        ..LeftOut::default()
    };
    assert_eq!((live.left_out, twofold.left_out), (left_out, left_out));
    assert!(twofold.unknown.is_none(), "{:?}", twofold.unknown);
    assert_eq!(recorded(&world.bag())["/twofold"].len(), 110);
    assert_eq!(world.notes().len(), 1, "{:?}", world.notes());
}

#[test]
fn a_topic_with_two_types_from_the_start_is_in_the_account() {
    let world = World::new();
    let texts = world.publisher("texts", "/twofold", RELIABLE);
    let node = world.node("numbers");
    let numbers = node
        .publish(&spec("/twofold", UINT64, BEST_EFFORT))
        .unwrap();
    world.pass(5);
    let recorder = world.record(world.options());
    world.pass(5);
    world.publish(&*texts, 20, 1_000);
    world.publish(&*numbers, 30, 1_000);
    let report = finish(&recorder);
    let twofold = topic(&report.topics, "/twofold");
    assert_eq!(account(twofold), (0, 0, 0));
    assert_eq!(twofold.statistics.left_out.type_conflict, 50);
    assert_eq!(twofold.type_name, STRING);
    let unknown = twofold.statistics.unknown;
    assert_eq!(unknown.open_publishers, 1, "the best-effort one");
}

/// Gaps that the recorder caused by blocking the middleware are not counted as transport losses.
#[test]
fn losses_while_the_recorder_blocks_are_its_own() {
    let world = World::new();
    let hasty = QosProfile {
        depth: 5,
        ..BEST_EFFORT
    };
    let image = world.publisher("camera", "/image", hasty);
    let mut options = world.options();
    options.max_cache_bytes = 20_000;
    options.drop_policy = DropPolicy::Block;
    let clock = world.clock.clone();
    options.before_write = Some(Arc::new(move |_| {
        let _woke = clock.sleep_for(Duration::from_millis(50));
    }));
    let recorder = world.record(options);
    world.pass(5);
    let lossy = Faults {
        drop: Chance::EveryNth(10),
        ..Faults::NONE
    };
    world.network.set_faults(Scope::everywhere(), lossy);
    let send = |number, size| {
        let sent = image.publish(text(number, size), PublishOptions::default());
        sent.unwrap();
    };
    // Slow enough for the disk: what is lost is lost on the wire.
    for number in 0..100 {
        send(number, 100);
        world.pass(10);
    }
    let on_the_wire = topic(&recorder.status().topics, "/image").statistics;
    assert!(on_the_wire.messages_lost_in_transport >= 9);
    assert_eq!(on_the_wire.messages_lost_in_recorder(), 0);
    for number in 100..1_000 {
        send(number, 10_000);
        world.pass(1);
    }
    world.network.set_faults(Scope::everywhere(), Faults::NONE);
    world.pass(60_000);
    send(1_000, 100);
    world.pass(1_000);
    let report = finish(&recorder);
    let image = topic(&report.topics, "/image").statistics;
    assert_eq!(image.messages_published(), 1_001, "{image:?}");
    assert!(image.lost_in_recorder.backpressure >= 80, "{image:?}");
    assert!(
        image.messages_lost_in_transport <= on_the_wire.messages_lost_in_transport + 2,
        "{image:?}"
    );
}
