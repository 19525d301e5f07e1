//! Windows of triggers: exact to the message, with an exact account.

use std::path::Path;
use std::sync::Arc;

use timeloom_bag::{BagOptions, CompressionMode, StorageId, StorageOptions, TriggerWindow};
use timeloom_msg::QosProfile;
use timeloom_msg::qos::QosDuration;
use timeloom_node::recorder::{DropPolicy, EndReason, Options, Report, TriggerOptions};
use timeloom_node::trigger::{Trigger, TriggerDefaults};
use timeloom_time::Duration;
use timeloom_wire::loopback::{Chance, Faults, Scope};
use timeloom_wire::{PublishOptions, Publisher};

use crate::recorder_world::{
    BEST_EFFORT, LATCHED, RELIABLE, World, account, finish, recorded, spec, text, topic,
};

pub(crate) const NUMBER: &str = "std_msgs/msg/UInt32";

/// Options with these triggers: 50 ms before and 30 ms after.
pub(crate) fn with_triggers(world: &World, triggers: &[&str]) -> Options {
    let defaults = TriggerDefaults {
        before: Duration::from_millis(50),
        after: Duration::from_millis(30),
        cooldown: Duration::ZERO,
    };
    let triggers = triggers
        .iter()
        .map(|text| Trigger::parse(text, &defaults).unwrap());
    let mut options = world.options();
    options.triggers = Some(TriggerOptions {
        triggers: triggers.collect(),
        max_windows: 0,
    });
    options
}

pub(crate) fn numbers(world: &World, topic: &str) -> Box<dyn Publisher> {
    world
        .node(&topic.replace('/', "n"))
        .publish(&spec(topic, NUMBER, RELIABLE))
        .unwrap()
}

/// Publishes these numbers, one every 10 ms.
pub(crate) fn count(world: &World, publisher: &dyn Publisher, numbers: std::ops::Range<u32>) {
    for number in numbers {
        publisher
            .publish(text(number, 8), PublishOptions::default())
            .unwrap();
        world.pass(10);
    }
}

pub(crate) fn windows(report: &Report) -> Vec<TriggerWindow> {
    TriggerWindow::all(&report.metadata.custom_data)
}

/// All messages that were received are recorded, lost or left out.
pub(crate) fn check_account(report: &Report, name: &str, published: u64) {
    let statistics = topic(&report.topics, name).statistics;
    let repeated = topic(&report.topics, name).repeated;
    assert_eq!(
        statistics.messages_published(),
        published + repeated,
        "{name}: {statistics:?}"
    );
}

pub(crate) fn messages_of_files(bag: &Path, report: &Report) -> Vec<Vec<u32>> {
    let files = report.metadata.relative_file_paths.iter();
    let numbers = files.map(|file| {
        let all = recorded(&bag.join(file));
        all.get("/count").cloned().unwrap_or_default()
    });
    numbers.collect()
}

#[test]
fn a_window_has_the_messages_before_and_after_and_no_other() {
    let world = World::new();
    let talker = numbers(&world, "/count");
    let recorder = world.record(with_triggers(&world, &["hundred: /count.data == 100"]));
    count(&world, &*talker, 0..200);
    let status = recorder.status().triggers.unwrap();
    assert_eq!((status.windows, status.is_open), (1, false));
    assert_eq!(status.triggers[0].fired, 1);
    let report = finish(&recorder);
    assert_eq!(
        recorded(&world.bag())["/count"],
        (95..=103).collect::<Vec<_>>()
    );
    let chatter = topic(&report.topics, "/count");
    assert_eq!(account(chatter), (9, 0, 0));
    assert_eq!(chatter.statistics.left_out.overwritten, 191);
    let windows = windows(&report);
    let [window] = windows.as_slice() else {
        panic!("{windows:?}");
    };
    assert_eq!(window.end_ns - window.begin_ns, 80_000_000);
    assert_eq!((window.end.as_str(), window.lost), ("complete", 0));
    assert_eq!(window.file, report.metadata.relative_file_paths[0]);
    let firing = &window.firings[0];
    assert_eq!(firing.trigger, "hundred");
    assert_eq!(firing.condition, "/count.data == 100");
    assert_eq!(firing.reason, "/count.data is 100");
    assert_eq!(firing.time_ns - window.begin_ns, 50_000_000);
    let notes = world.notes();
    assert!(
        notes.contains(&"trigger hundred fired, window 1: /count.data is 100".to_owned()),
        "{notes:?}"
    );
}

#[test]
fn windows_that_overlap_are_merged_and_others_are_files_of_their_own() {
    for storage in [StorageId::Mcap, StorageId::Sqlite3] {
        let world = World::new();
        let talker = numbers(&world, "/count");
        let mut options = with_triggers(
            &world,
            &[
                "first: /count.data == 100",
                "inside: /count.data == 102",
                "near: /count.data == 110",
                "far: /count.data == 150",
            ],
        );
        options.bag = Arc::new(move || BagOptions {
            storage: StorageOptions::preset(storage, "").unwrap(),
            ..BagOptions::default()
        });
        let recorder = world.record(options);
        count(&world, &*talker, 0..200);
        let report = finish(&recorder);
        let windows = windows(&report);
        assert_eq!(windows.len(), 2);
        let fired: Vec<_> = windows[0]
            .firings
            .iter()
            .map(|firing| &*firing.trigger)
            .collect();
        assert_eq!(fired, ["first", "inside", "near"]);
        let files = messages_of_files(&world.bag(), &report);
        assert_eq!(files[0], (95..=113).collect::<Vec<_>>());
        assert_eq!(files[1], (145..=153).collect::<Vec<_>>());
        assert!(files[2..].iter().all(Vec::is_empty));
        check_account(&report, "/count", 200);
        assert_eq!(
            topic(&report.topics, "/count").statistics.messages_lost(),
            0
        );
        for (window, file) in windows.iter().zip(&report.metadata.relative_file_paths) {
            assert_eq!(window.file, *file);
        }
        let stored = timeloom_bag::metadata::read_metadata_file(&world.bag()).unwrap();
        assert_eq!(stored.custom_data, report.metadata.custom_data);
    }
}

#[test]
fn a_trigger_with_a_longer_time_before_extends_the_window_into_the_past() {
    let world = World::new();
    let talker = numbers(&world, "/count");
    let mut options = with_triggers(&world, &["a: /count.data == 100", "b: /count.data == 101"]);
    if let Some(triggers) = &mut options.triggers {
        triggers.triggers[1].before = Duration::from_millis(200);
    }
    let recorder = world.record(options);
    count(&world, &*talker, 0..200);
    let report = finish(&recorder);
    let mut in_bag = recorded(&world.bag())["/count"].clone();
    in_bag.sort_unstable();
    assert_eq!(in_bag, (81..=104).collect::<Vec<_>>());
    assert_eq!(windows(&report).len(), 1);
    check_account(&report, "/count", 200);
}

#[test]
fn a_silent_topic_opens_a_window_without_a_message() {
    let world = World::new();
    let talker = numbers(&world, "/count");
    let other = numbers(&world, "/other");
    let recorder = world.record(with_triggers(&world, &["quiet: silent(/count, 100ms)"]));
    count(&world, &*talker, 0..50);
    count(&world, &*other, 0..5);
    world.pass(1_000);
    let status = recorder.status().triggers.unwrap();
    assert_eq!((status.windows, status.is_open), (1, false));
    let report = finish(&recorder);
    let windows = windows(&report);
    assert_eq!(
        windows[0].firings[0].reason,
        "no message on /count for 100ms"
    );
    // The last message came 10 ms before the others; silence 90 ms after those began, 50 ms of which are in the window.
    assert_eq!(recorded(&world.bag()).get("/count"), None);
    assert_eq!(recorded(&world.bag())["/other"], [4]);
    check_account(&report, "/count", 50);
    check_account(&report, "/other", 5);
}

#[test]
fn latched_topics_are_at_the_start_of_every_window() {
    let world = World::new();
    let talker = numbers(&world, "/count");
    let map = world.publisher("map", "/map", LATCHED);
    world.publish(&*map, 1, 1_000);
    let recorder = world.record(with_triggers(
        &world,
        &["a: /count.data == 50", "b: /count.data == 150"],
    ));
    count(&world, &*talker, 0..200);
    let report = finish(&recorder);
    let map = topic(&report.topics, "/map");
    assert_eq!((map.statistics.messages_recorded, map.repeated), (2, 2));
    check_account(&report, "/map", 1);
    for file in &report.metadata.relative_file_paths[..2] {
        let all = recorded(&world.bag().join(file));
        assert_eq!(all["/map"], [0]);
        assert_eq!(all["/count"].len(), 9);
    }
}

#[test]
fn messages_that_did_not_fit_into_the_ring_are_lost_only_within_a_window() {
    let world = World::new();
    let talker = numbers(&world, "/count");
    let mut options = with_triggers(&world, &["a: /count.data == 100"]);
    if let Some(triggers) = &mut options.triggers {
        triggers.triggers[0].before = Duration::from_millis(100);
    }
    // A message costs 100 bytes: three quarters are room for six of them.
    options.max_cache_bytes = 8 * 110;
    let recorder = world.record(options);
    count(&world, &*talker, 0..200);
    let report = finish(&recorder);
    let in_bag = recorded(&world.bag())["/count"].clone();
    assert_eq!(in_bag, (94..=103).collect::<Vec<_>>());
    let count = topic(&report.topics, "/count");
    assert_eq!(account(count), (10, 0, 4), "90 to 93");
    assert_eq!(count.statistics.left_out.overwritten, 186);
    check_account(&report, "/count", 200);
    assert_eq!(windows(&report)[0].lost, 4);
    let notes = world.notes().join("\n");
    assert!(
        notes.contains("window 1: 4 messages before the trigger did not fit into the cache"),
        "{notes}"
    );
}

#[test]
fn the_end_of_the_recording_ends_an_open_window() {
    let world = World::new();
    let talker = numbers(&world, "/count");
    let recorder = world.record(with_triggers(&world, &["a: /count.data == 100"]));
    count(&world, &*talker, 0..102);
    assert!(recorder.status().triggers.unwrap().is_open);
    let report = finish(&recorder);
    assert_eq!(
        recorded(&world.bag())["/count"],
        (95..=101).collect::<Vec<_>>()
    );
    assert_eq!(windows(&report)[0].end, "recording ended");
    check_account(&report, "/count", 102);
    let notes = world.notes().join("\n");
    assert!(notes.contains("window 1 ends early"), "{notes}");
}

#[test]
fn after_the_last_window_the_recording_ends() {
    let world = World::new();
    let talker = numbers(&world, "/count");
    let mut options = with_triggers(&world, &["a: /count.data == 50", "b: /count.data == 100"]);
    if let Some(triggers) = &mut options.triggers {
        triggers.max_windows = 1;
    }
    let recorder = world.record(options);
    count(&world, &*talker, 0..200);
    assert_eq!(recorder.ended(), Some(EndReason::Windows));
    let report = finish(&recorder);
    assert_eq!(
        recorded(&world.bag())["/count"],
        (45..=53).collect::<Vec<_>>()
    );
    check_account(&report, "/count", 200);
}

#[test]
fn a_deadline_that_the_publisher_offers_is_watched() {
    let world = World::new();
    let qos = QosProfile {
        deadline: QosDuration::from_nanos(40_000_000),
        ..RELIABLE
    };
    let talker = world
        .node("late")
        .publish(&spec("/count", NUMBER, qos))
        .unwrap();
    let recorder = world.record(with_triggers(&world, &["late: deadline_missed(/count)"]));
    count(&world, &*talker, 0..20);
    world.pass(100);
    count(&world, &*talker, 20..30);
    let report = finish(&recorder);
    let windows = windows(&report);
    assert_eq!(windows.len(), 1);
    assert_eq!(
        windows[0].firings[0].reason,
        "no message on /count for 40ms"
    );
    check_account(&report, "/count", 30);
}

#[test]
fn compressed_windows_and_a_full_queue_keep_the_account() {
    for (compression, policy) in [
        (CompressionMode::Message, DropPolicy::Newest),
        (CompressionMode::File, DropPolicy::Oldest),
        (CompressionMode::None, DropPolicy::Block),
    ] {
        let world = World::new();
        let talker = numbers(&world, "/count");
        let mut options =
            with_triggers(&world, &["a: /count.data == 100", "b: /count.data == 150"]);
        options.drop_policy = policy;
        options.bag = Arc::new(move || BagOptions {
            compression,
            ..BagOptions::default()
        });
        let recorder = world.record(options);
        count(&world, &*talker, 0..200);
        let mut reports = recorder.finish().unwrap();
        let report = reports.remove(0);
        let count = topic(&report.topics, "/count");
        assert_eq!(account(count), (18, 0, 0), "{compression:?}");
        check_account(&report, "/count", 200);
        assert_eq!(windows(&report).len(), 2);
    }
}

#[test]
fn a_loss_on_the_wire_opens_a_window() {
    let world = World::new();
    let talker = world
        .node("talker")
        .publish(&spec("/count", NUMBER, BEST_EFFORT))
        .unwrap();
    let recorder = world.record(with_triggers(&world, &["lost: lost(/count)"]));
    count(&world, &*talker, 0..50);
    let faults = Faults {
        drop: Chance::EveryNth(1),
        ..Faults::NONE
    };
    world.network.set_faults(Scope::topic("/count"), faults);
    count(&world, &*talker, 50..53);
    world
        .network
        .set_faults(Scope::topic("/count"), Faults::NONE);
    count(&world, &*talker, 53..100);
    let report = finish(&recorder);
    let windows = windows(&report);
    assert_eq!(windows.len(), 1, "{windows:?}");
    assert_eq!(windows[0].firings[0].reason, "3 messages of /count lost");
    check_account(&report, "/count", 100);
}
