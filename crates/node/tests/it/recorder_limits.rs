//! Where the recorder ends, what it forgets, and what it does when it cannot keep up.

use std::sync::Arc;

use timeloom_bag::BagOptions;
use timeloom_node::Error;
use timeloom_node::recorder::{Control, DropPolicy, EndReason, Limits, Phase};
use timeloom_time::Duration;
use timeloom_wire::PublishOptions;

use crate::recorder_world::{LATCHED, RELIABLE, World, account, finish, recorded, text, topic};

#[test]
fn only_the_newest_files_are_kept() {
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
    let reports = recorder.finish().unwrap();
    let report = &reports[0];
    assert_eq!(report.metadata.files.len(), 2);
    assert_eq!(report.deleted_files, 4);
    let left = recorded(&world.bag())["/chatter"].len() as u64;
    assert_eq!(account(topic(&report.topics, "/chatter")), (left, 0, 0));
    assert_eq!(left, report.metadata.message_count);
    assert_eq!(left + report.deleted_messages, 550);
    let start = report.metadata.files[0].starting_time_ns;
    assert_eq!(report.metadata.starting_time_ns, start);
}

#[test]
fn a_snapshot_has_the_messages_of_the_buffer() {
    let world = World::new();
    let talker = world.publisher("talker", "/chatter", RELIABLE);
    let latched = world.publisher("latched", "/map", LATCHED);
    world.publish(&*latched, 1, 1_000);
    let mut options = world.options();
    options.snapshot_mode = true;
    options.max_cache_duration = Duration::from_millis(100);
    options.repeat_all = Some(1);
    let recorder = world.record(options);
    world.publish(&*talker, 200, 10_000);
    recorder.control(&Control::Snapshot).unwrap();
    world.publish(&*talker, 50, 10_000);
    let report = finish(&recorder);
    let chatter = topic(&report.topics, "/chatter");
    let in_bag = &recorded(&world.bag())["/chatter"];
    assert_eq!(in_bag.last(), Some(&199));
    assert!((10..=12).contains(&in_bag.len()), "{in_bag:?}");
    let (kept, lost, dropped) = account(chatter);
    assert_eq!((lost, dropped), (0, 0));
    assert_eq!(kept + chatter.statistics.left_out.overwritten, 250);
    assert_eq!(recorded(&world.bag())["/map"], [0]);
    assert!(matches!(
        recorder.control(&Control::Snapshot),
        Err(Error::NotRecording)
    ));
}

#[test]
fn it_stops_at_each_limit() {
    let cases = [
        (
            Limits {
                messages: 42,
                ..Limits::default()
            },
            EndReason::Messages,
        ),
        (
            Limits {
                duration: Duration::from_secs(1),
                ..Limits::default()
            },
            EndReason::Duration,
        ),
        (
            Limits {
                bytes: 20_000,
                ..Limits::default()
            },
            EndReason::Size,
        ),
    ];
    for (limits, reason) in cases {
        let world = World::new();
        let talker = world.publisher("talker", "/chatter", RELIABLE);
        let mut options = world.options();
        options.limits = limits;
        let recorder = world.record(options);
        world.publish(&*talker, 2_000, 1_000);
        assert_eq!(recorder.ended(), Some(reason.clone()));
        let report = finish(&recorder);
        assert_eq!(report.reason, reason);
        let chatter = topic(&report.topics, "/chatter");
        let (kept, lost, dropped) = account(chatter);
        assert_eq!((lost, dropped), (0, 0));
        assert_eq!(kept + chatter.statistics.left_out.paused, 2_000);
        if limits.messages > 0 {
            assert_eq!(kept, 42);
        } else {
            assert!((100..1_500).contains(&kept), "{kept} {reason}");
        }
    }
}

#[test]
fn a_slow_disk_drops_by_policy_and_small_topics_keep_their_share() {
    for policy in [DropPolicy::Newest, DropPolicy::Oldest] {
        let world = World::new();
        let image = world.publisher("camera", "/image", RELIABLE);
        let tf = world.publisher("tf", "/tf", RELIABLE);
        let mut options = world.options();
        options.max_cache_bytes = 1 << 20;
        options.drop_policy = policy;
        let clock = world.clock.clone();
        // 1 MB/s.
        options.before_write = Some(Arc::new(move |bytes| {
            let micros = i64::try_from(bytes).unwrap();
            let _woke = clock.sleep_for(Duration::from_micros(micros));
        }));
        let recorder = world.record(options);
        for number in 0..300 {
            image
                .publish(text(number, 100_000), PublishOptions::default())
                .unwrap();
            tf.publish(text(number, 100), PublishOptions::default())
                .unwrap();
            world.pass(10);
        }
        let report = finish(&recorder);
        let (kept, lost, dropped) = account(topic(&report.topics, "/image"));
        assert_eq!((kept + dropped, lost), (300, 0));
        assert!(dropped > 100, "{dropped} {policy}");
        assert_eq!(
            topic(&report.topics, "/image")
                .statistics
                .lost_in_recorder
                .queue,
            dropped
        );
        assert_eq!(
            account(topic(&report.topics, "/tf")),
            (300, 0, 0),
            "{policy}"
        );
        let numbers = &recorded(&world.bag())["/image"];
        assert_eq!(numbers.contains(&299), policy == DropPolicy::Oldest);
    }
}

#[test]
fn with_the_policy_block_nothing_is_dropped() {
    let world = World::new();
    let image = world.publisher("camera", "/image", RELIABLE);
    let mut options = world.options();
    options.max_cache_bytes = 0;
    let clock = world.clock.clone();
    options.before_write = Some(Arc::new(move |_| {
        let _woke = clock.sleep_for(Duration::from_millis(3));
    }));
    let recorder = world.record(options);
    world.publish(&*image, 200, 1_000);
    world.pass(2_000);
    let report = finish(&recorder);
    assert_eq!(account(topic(&report.topics, "/image")), (200, 0, 0));
}

#[test]
fn a_deleted_directory_ends_the_recording_and_counts_its_messages() {
    let world = World::new();
    let talker = world.publisher("talker", "/chatter", RELIABLE);
    let recorder = world.record(world.options());
    world.publish(&*talker, 100, 1_000);
    std::fs::remove_dir_all(world.bag()).unwrap();
    world.publish(&*talker, 300, 10_000);
    assert_eq!(recorder.ended(), Some(EndReason::Vanished));
    let reports = recorder.finish().unwrap();
    let chatter = topic(&reports[0].topics, "/chatter");
    let (kept, lost, dropped) = account(chatter);
    assert_eq!((kept, lost), (0, 0));
    assert_eq!(dropped + chatter.statistics.left_out.paused, 400);
    assert_eq!(chatter.statistics.lost_in_recorder.storage, dropped);
    assert!(dropped >= 100);
}

#[test]
fn the_status_does_not_wait_for_a_slow_disk() {
    for slow in [Control::Split, Control::Stop] {
        let world = World::new();
        let talker = world.publisher("talker", "/chatter", RELIABLE);
        let mut options = world.options();
        let clock = world.clock.clone();
        options.before_write = Some(Arc::new(move |_| {
            let _woke = clock.sleep_for(Duration::from_secs(60));
        }));
        let recorder = world.record(options);
        world.publish(&*talker, 3, 1_000);
        world.pass(100);
        let (other, control) = (recorder.clone(), slow.clone());
        let waits = world
            .base
            .spawn("waits", move || other.control(&control))
            .unwrap();
        world.pass(100);
        let now = world.clock.now();
        let status = recorder.status();
        assert_eq!(world.clock.now(), now, "{slow:?}");
        assert_eq!(status.phase, Phase::Recording, "{slow:?}");
        let found = topic(&status.topics, "/chatter");
        assert_eq!((account(found), found.in_flight), ((0, 0, 0), 3));
        waits.join().unwrap().unwrap();
        assert!(world.clock.now() - now > Duration::from_secs(50));
        let phase = recorder.status().phase;
        assert_eq!(phase == Phase::Stopped, slow == Control::Stop);
        assert_eq!(recorder.finish().unwrap().len(), 1);
    }
}
