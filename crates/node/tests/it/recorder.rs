//! What the recorder takes, leaves and writes.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use timeloom_bag::{BagOptions, MessageDefinition};
use timeloom_msg::qos::Reliability;
use timeloom_msg::{QosProfile, TypeHash};
use timeloom_node::Error;
use timeloom_node::recorder::{
    Control, DiscoveryMode, DropPolicy, EndReason, FoundType, Limits, Phase, Recorder, Selection,
    TypeSource,
};
use timeloom_time::{Clock, Duration, Steady};
use timeloom_wire::loopback::{Chance, Faults, Scope};
use timeloom_wire::{EndpointInfo, PublishOptions};

use crate::recorder_world::{
    BEST_EFFORT, LATCHED, RELIABLE, STRING, World, account, finish, names, recorded, spec, text,
    topic,
};

#[test]
fn a_healthy_run_has_every_message() {
    let world = World::new();
    let talker = world.publisher("talker", "/chatter", RELIABLE);
    let recorder = world.record(world.options());
    world.publish(&*talker, 500, 1_000);
    let report = finish(&recorder);
    assert_eq!(account(topic(&report.topics, "/chatter")), (500, 0, 0));
    let numbers: Vec<u32> = (0..500).collect();
    assert_eq!(recorded(&world.bag())["/chatter"], numbers);
    assert_eq!(report.reason, EndReason::Asked);
    let record = &report.metadata.topics[0].topic;
    assert!(
        record
            .offered_qos_profiles
            .contains("reliability: reliable")
    );
    assert!(record.type_description_hash.starts_with("RIHS01_df668c74"));
    assert_eq!(world.notes(), Vec::<String>::new());
    assert!(!world.bag().join(".reserved_for_the_end").exists());
}

#[test]
fn topics_that_come_later_are_recorded_and_those_that_are_not_asked_for_are_not() {
    let world = World::new();
    let selection = Selection {
        topics: BTreeSet::from(["/a".to_owned(), "/late".to_owned()]),
        ..Selection::default()
    };
    let a = world.publisher("a", "/a", RELIABLE);
    let b = world.publisher("b", "/b", RELIABLE);
    let recorder = world.record(world.options_for(selection));
    let late = world.publisher("late", "/late", LATCHED);
    for publisher in [&a, &b, &late] {
        world.publish(&**publisher, 3, 1_000);
    }
    let report = finish(&recorder);
    assert_eq!(account(topic(&report.topics, "/a")), (3, 0, 0));
    assert_eq!(
        account(topic(&report.topics, "/late")),
        (3, 0, 0),
        "latched messages come even if the subscription is late"
    );
    assert_eq!(report.topics.len(), 2);
}

#[test]
fn a_weaker_publisher_is_heard_and_the_others_keep_their_strength() {
    let world = World::new();
    let strong = world.publisher("strong", "/data", RELIABLE);
    let recorder = world.record(world.options());
    world.publish(&*strong, 10, 1_000);
    let weak = world.publisher("weak", "/data", BEST_EFFORT);
    let latched = world.publisher("latched", "/data", LATCHED);
    world.pass(10);
    // From now on every third packet is lost: repaired for the strong, lost for the weak.
    let faults = Faults {
        drop: Chance::EveryNth(3),
        ..Faults::NONE
    };
    world.network.set_faults(Scope::everywhere(), faults);
    for _ in 0..30 {
        world.publish(&*strong, 1, 500);
        world.publish(&*weak, 1, 500);
        world.publish(&*latched, 1, 500);
    }
    world.network.set_faults(Scope::everywhere(), Faults::NONE);
    world.pass(100);
    world.publish(&*weak, 1, 500);
    world.pass(100);
    let report = finish(&recorder);
    let data = topic(&report.topics, "/data");
    let (kept, lost, dropped) = account(data);
    assert_eq!((kept + lost, dropped), (10 + 30 + 31 + 30, 0), "{data:?}");
    assert_eq!(lost, 10, "only the weak one loses");
}

#[test]
fn latched_messages_from_before_are_recorded_whatever_else_is_published() {
    let world = World::new();
    let latched = world.publisher("latched", "/tf_static", LATCHED);
    let volatile = world.publisher("volatile", "/tf_static", BEST_EFFORT);
    world.publish(&*latched, 5, 1_000);
    let recorder = world.record(world.options());
    world.publish(&*volatile, 2, 1_000);
    let report = finish(&recorder);
    assert_eq!(account(topic(&report.topics, "/tf_static")), (7, 0, 0));
}

#[test]
fn an_override_decides_alone() {
    let world = World::new();
    let weak = world.publisher("weak", "/data", BEST_EFFORT);
    let mut options = world.options();
    options
        .qos_overrides
        .insert("/data".into(), QosProfile::DEFAULT);
    let recorder = world.record(options);
    world.publish(&*weak, 5, 1_000);
    let report = finish(&recorder);
    assert_eq!(
        account(topic(&report.topics, "/data")),
        (0, 0, 0),
        "a reliable request does not match a best-effort offer"
    );
    assert_eq!(QosProfile::DEFAULT.reliability, Reliability::Reliable);
}

#[test]
fn static_topics_are_there_before_their_publishers() {
    let world = World::new();
    let mut options = world.options_for(Selection::default());
    let type_name = spec("/s", STRING, RELIABLE).type_name;
    options.static_topics = vec![("/s".into(), type_name)];
    let recorder = world.record(options);
    assert_eq!(names(&recorder.status()), ["/s"]);
    let talker = world.publisher("talker", "/s", RELIABLE);
    world.publish(&*talker, 2_000, 1_000);
    let report = finish(&recorder);
    let (kept, lost, dropped) = account(topic(&report.topics, "/s"));
    assert_eq!((kept, lost, dropped), (2_000, 0, 0));
}

#[test]
fn while_paused_nothing_is_recorded_and_nothing_is_lost() {
    let world = World::new();
    let talker = world.publisher("talker", "/chatter", RELIABLE);
    let mut options = world.options();
    options.start_paused = true;
    let recorder = world.record(options);
    assert_eq!(recorder.status().phase, Phase::Paused);
    world.publish(&*talker, 3, 1_000);
    recorder.control(&Control::Resume).unwrap();
    world.publish(&*talker, 4, 1_000);
    recorder.control(&Control::TogglePaused).unwrap();
    world.publish(&*talker, 5, 1_000);
    let report = finish(&recorder);
    let chatter = topic(&report.topics, "/chatter");
    assert_eq!(account(chatter), (4, 0, 0));
    assert_eq!(chatter.skipped.paused, 8);
}

#[test]
fn a_throttled_topic_has_its_rate() {
    let world = World::new();
    let talker = world.publisher("talker", "/imu", RELIABLE);
    let mut options = world.options();
    options
        .throttle
        .insert("/imu".into(), Duration::from_millis(100));
    let recorder = world.record(options);
    world.publish(&*talker, 1_000, 1_000);
    let report = finish(&recorder);
    let imu = topic(&report.topics, "/imu");
    assert_eq!(account(imu), (10, 0, 0));
    assert_eq!(imu.skipped.throttled, 990);
}

#[test]
fn files_are_split_without_loss_and_latched_messages_repeated() {
    let world = World::new();
    let talker = world.publisher("talker", "/chatter", RELIABLE);
    let latched = world.publisher("latched", "/map", LATCHED);
    world.publish(&*latched, 3, 1_000);
    let mut options = world.options();
    options.bag = Arc::new(|| BagOptions {
        max_file_duration_ns: 1_000_000_000,
        ..BagOptions::default()
    });
    options.repeat.insert("/map".into(), 1);
    let recorder = world.record(options);
    world.publish(&*talker, 450, 10_000);
    recorder.control(&Control::Split).unwrap();
    world.publish(&*talker, 10, 1_000);
    let report = finish(&recorder);
    assert_eq!(account(topic(&report.topics, "/chatter")), (460, 0, 0));
    let map = topic(&report.topics, "/map");
    let files = report.metadata.files.len() as u64;
    assert_eq!(files, 6);
    assert_eq!(map.repeated, files - 1);
    assert_eq!(account(map), (3 + files - 1, 0, 0));
    for file in &report.metadata.files {
        let of_map = file
            .topics_statistics
            .iter()
            .find(|(name, _)| name == "/map");
        assert!(of_map.unwrap().1.messages_recorded >= 1, "{}", file.path);
    }
}

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
    assert_eq!(account(topic(&report.topics, "/chatter")), (550, 0, 0));
    assert_eq!(report.metadata.files.len(), 2);
    assert_eq!(report.deleted_files, 4);
    let left = recorded(&world.bag())["/chatter"].len() as u64;
    assert_eq!(left, report.metadata.message_count);
    assert_eq!(left + report.deleted_messages, 550);
    let start = report.metadata.files[0].starting_time_ns;
    assert_eq!(report.metadata.starting_time_ns, start);
}

#[test]
fn a_snapshot_has_what_the_buffer_held() {
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
    assert_eq!(kept + chatter.skipped.overwritten, 250);
    assert_eq!(recorded(&world.bag())["/map"], [0]);
    assert!(matches!(
        recorder.control(&Control::Snapshot),
        Err(Error::NotRecording)
    ));
}

#[test]
fn it_ends_by_itself_where_it_is_told_to() {
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
        assert_eq!(kept + chatter.skipped.paused, 2_000);
        if limits.messages > 0 {
            assert_eq!(kept, 42);
        } else {
            assert!((100..1_500).contains(&kept), "{kept} {reason}");
        }
    }
}

#[test]
fn it_stops_and_records_again_beside_the_first_bag() {
    let world = World::new();
    let talker = world.publisher("talker", "/chatter", RELIABLE);
    let recorder = world.record(world.options());
    let again = Control::Record { output: None };
    let error = recorder.control(&again).unwrap_err().to_string();
    assert!(
        error.ends_with("is being recorded: stop it first"),
        "{error}"
    );
    world.publish(&*talker, 3, 1_000);
    recorder.control(&Control::Stop).unwrap();
    assert_eq!(recorder.status().phase, Phase::Stopped);
    world.publish(&*talker, 4, 1_000);
    recorder.control(&again).unwrap();
    world.pass(1);
    world.publish(&*talker, 5, 1_000);
    let reports = recorder.finish().unwrap();
    let kept: Vec<u64> = reports
        .iter()
        .map(|r| r.total().messages_recorded)
        .collect();
    assert_eq!(kept, [3, 5]);
    let second = &reports[1].directory;
    assert!(second.ends_with("bag(1)"), "{}", second.display());
    assert_eq!(recorded(second)["/chatter"].len(), 5);
    let unknown = topic(&reports[1].topics, "/chatter").unknown;
    assert_eq!(
        unknown.before_first, 7,
        "published before: not zero, not lost"
    );
}

#[test]
fn discovery_can_be_stopped_and_started() {
    let world = World::new();
    let _first = world.publisher("a", "/a", RELIABLE);
    let recorder = world.record(world.options());
    recorder.control(&Control::StopDiscovery).unwrap();
    let _second = world.publisher("b", "/b", RELIABLE);
    world.pass(1_000);
    assert_eq!(names(&recorder.status()), ["/a"]);
    assert!(!recorder.status().discovery);
    recorder.control(&Control::StartDiscovery).unwrap();
    world.pass(10);
    assert_eq!(names(&recorder.status()), ["/a", "/b"]);
    finish(&recorder);
}

#[test]
fn with_one_look_only_what_is_there_is_taken() {
    let world = World::new();
    let _first = world.publisher("a", "/a", RELIABLE);
    let mut options = world.options();
    options.discovery = DiscoveryMode::Once;
    let recorder = world.record(options);
    world.pass(2_000);
    let _second = world.publisher("b", "/b", RELIABLE);
    world.pass(2_000);
    assert_eq!(names(&recorder.status()), ["/a"]);
    finish(&recorder);
}

/// Knows a type only when it is asked, and only after a while.
struct Slow {
    clock: Clock<Steady>,
    takes: Duration,
    asked: AtomicU64,
}

impl TypeSource for Slow {
    fn at_hand(&self, _type_name: &str, _hash: Option<&TypeHash>) -> Option<FoundType> {
        None
    }

    fn ask(&self, publisher: &EndpointInfo) -> Result<FoundType, String> {
        self.asked.fetch_add(1, Ordering::Relaxed);
        let _woke = self.clock.sleep_for(self.takes);
        Ok(FoundType {
            definition: MessageDefinition {
                encoding: "ros2msg".into(),
                text: "int32 n\n".into(),
            },
            hash: publisher.type_hash,
        })
    }
}

fn record_own_type(takes_millis: i64) -> (World, Recorder, u64) {
    let world = World::new();
    let hash = TypeHash::from_bytes([7; 32]);
    let own = timeloom_wire::TopicSpec {
        type_hash: Some(hash),
        ..spec("/own", "own/msg/Thing", RELIABLE)
    };
    let talker = world.node("talker").publish(&own).unwrap();
    let mut options = world.options();
    let slow = Arc::new(Slow {
        clock: world.clock.clone(),
        takes: Duration::from_millis(takes_millis),
        asked: AtomicU64::new(0),
    });
    options.types = Arc::clone(&slow) as _;
    let recorder = world.record(options);
    world.publish(&*talker, 500, 10_000);
    let asked = slow.asked.load(Ordering::Relaxed);
    (world, recorder, asked)
}

#[test]
fn messages_wait_for_the_definition_of_their_type() {
    let (world, recorder, asked) = record_own_type(1_000);
    let report = finish(&recorder);
    assert_eq!((report.metadata.files.len(), asked), (1, 1));
    assert_eq!(account(topic(&report.topics, "/own")), (500, 0, 0));
    let reader = timeloom_bag::BagReader::open(&world.bag()).unwrap();
    let info = &timeloom_bag::StorageReader::info(&reader).topics[0];
    assert_eq!(info.definition.text, "int32 n\n");
    assert_eq!(world.notes(), Vec::<String>::new());
}

#[test]
fn a_definition_that_comes_late_begins_a_new_file() {
    let (world, recorder, _asked) = record_own_type(4_000);
    let report = finish(&recorder);
    assert_eq!(account(topic(&report.topics, "/own")), (500, 0, 0));
    assert_eq!(report.metadata.files.len(), 2);
    let notes = world.notes();
    assert!(notes[0].contains("/own is recorded raw"), "{notes:?}");
    assert!(notes[1].contains("came late"), "{notes:?}");
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
fn a_directory_that_vanishes_ends_the_recording_and_counts_what_is_gone() {
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
    assert_eq!(dropped + chatter.skipped.paused, 400);
    assert_eq!(chatter.statistics.lost_in_recorder.storage, dropped);
    assert!(dropped >= 100);
}
