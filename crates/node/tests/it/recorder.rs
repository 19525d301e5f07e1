//! Selection and writing of messages.

use std::collections::BTreeSet;
use std::sync::Arc;

use timeloom_bag::BagOptions;
use timeloom_msg::QosProfile;
use timeloom_msg::qos::Reliability;
use timeloom_node::recorder::{Control, DiscoveryMode, EndReason, Phase, Selection};
use timeloom_time::Duration;
use timeloom_wire::loopback::{Chance, Faults, Scope};

use crate::recorder_world::{
    BEST_EFFORT, LATCHED, RELIABLE, STRING, World, account, finish, names, recorded, spec, topic,
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
fn a_weaker_publisher_is_recorded_and_the_others_keep_their_qos() {
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
fn earlier_latched_messages_are_recorded_beside_other_publishers() {
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
    let notes = world.notes();
    let notes: Vec<_> = notes.iter().filter(|note| note.contains("QoS")).collect();
    assert_eq!(notes.len(), 1, "{notes:?}");
    assert!(
        notes[0].starts_with("/data of /weak is not recorded") && notes[0].contains("best effort"),
        "{notes:?}"
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
    assert_eq!(chatter.statistics.left_out.paused, 8);
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
    assert_eq!(imu.statistics.left_out.throttled, 990);
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
    assert!(second.ends_with("bag_1"), "{}", second.display());
    assert_eq!(recorded(second)["/chatter"].len(), 5);
    let unknown = topic(&reports[1].topics, "/chatter").statistics.unknown;
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
fn without_discovery_only_existing_topics_are_recorded() {
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
