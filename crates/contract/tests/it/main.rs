//! Bags held against contracts.
#![expect(
    clippy::unwrap_used,
    reason = "in helpers of tests too a failure is a failed test"
)]

use std::path::Path;

use proptest::prelude::*;
use tempfile::tempdir;
use timeloom_bag::{
    BagOptions, BagReader, BagWriter, HOST_CLOCK_KEY, HostClockRecord, Message, TopicInfo,
};
use timeloom_contract::{Check, Checker, Contract, Error, Recording, check_bag, learn_bag};
use timeloom_msg::TypeResolver;

/// A `geometry_msgs/msg/PointStamped`: log time, stamp, frame of one letter, x.
type Point = (i64, i64, u8, f64);

fn write(path: &Path, points: &[Point], lost: u64) {
    let mut writer = BagWriter::create(path, BagOptions::default()).unwrap();
    let topic = TopicInfo::new("/point", "geometry_msgs/msg/PointStamped");
    let id = writer.add_topic(&topic).unwrap();
    for (time_ns, stamp_ns, frame, x) in points {
        let mut data = vec![0, 1, 0, 0];
        data.extend(
            i32::try_from(stamp_ns / 1_000_000_000)
                .unwrap()
                .to_le_bytes(),
        );
        data.extend(
            u32::try_from(stamp_ns % 1_000_000_000)
                .unwrap()
                .to_le_bytes(),
        );
        data.extend([2, 0, 0, 0, *frame, 0, 0, 0]);
        for value in [*x, 0.0, 0.0] {
            data.extend(value.to_le_bytes());
        }
        let message = Message {
            topic: id,
            log_time_ns: *time_ns,
            publish_time_ns: *time_ns,
            sequence: 1,
            data: &data,
        };
        assert!(writer.write(&[message], *time_ns).is_ok());
    }
    if lost > 0 {
        writer.lost_in_transport(id, lost, 0);
    }
    let (_summary, outcome) = writer.finish().unwrap();
    assert!(outcome.is_ok());
}

fn good() -> Vec<Point> {
    (0..100)
        .map(|n| (n * 10_000_000, n * 10_000_000, b'a', n as f64))
        .collect()
}

/// The checks of a bag against a contract for `/point`.
fn checks(points: &[Point], lost: u64, contract: &str) -> Vec<Check> {
    let directory = tempdir().unwrap();
    let path = directory.path().join("bag");
    write(&path, points, lost);
    let contract = Contract::parse(&format!("topics: {{/point: {{{contract}}}}}")).unwrap();
    let mut bag = BagReader::open(&path).unwrap();
    check_bag(&mut bag, &contract, &TypeResolver::default())
        .unwrap()
        .checks
}

/// The one check that is not kept: what, actual, the place in words.
fn violated(points: &[Point], lost: u64, contract: &str) -> (String, String, String) {
    let all = checks(points, lost, contract);
    let broken: Vec<_> = all.iter().filter(|check| !check.kept).collect();
    let [check] = broken.as_slice() else {
        panic!("{all:#?}")
    };
    (check.what.clone(), check.actual.clone(), check.place_text())
}

#[test]
fn a_good_bag_keeps_its_contract() {
    let contract = "type: geometry_msgs/msg/PointStamped, count: {min: 100, max: 100}, rate: {min: 99, max: 101}, \
        max_gap: 10ms, stamps: {monotonic: true, max_age: 0, max_future: 0}, frame_id: a, values: {point.x: {min: 0, max: 99}}, \
        max_lost: 0, max_unknown: 0";
    let checks = checks(&good(), 0, contract);
    assert_eq!(checks.len(), 12);
    assert!(checks.iter().all(|check| check.kept), "{checks:#?}");
}

#[test]
fn violations_name_their_place() {
    let mut points = good();
    points[40].3 = 500.0;
    points[60].3 = f64::NAN;
    let (what, actual, place) = violated(&points, 0, "values: {point.x: {max: 99}}");
    assert_eq!(
        (what.as_str(), actual.as_str()),
        ("point.x", "0 to 500, 1 NaN")
    );
    assert_eq!(place, "at 0.400 s, message 41, 2 in all");

    let mut points = good();
    points[7].2 = b'b';
    let (_, actual, place) = violated(&points, 0, "frame_id: a");
    assert_eq!(
        (actual.as_str(), place.as_str()),
        ("b", "at 0.070 s, message 8")
    );

    let mut points = good();
    points.drain(20..25);
    let (_, actual, place) = violated(&points, 0, "max_gap: 20ms");
    assert_eq!(
        (actual.as_str(), place.as_str()),
        ("60.0 ms", "at 0.190 s, message 20")
    );
}

#[test]
fn stamps_are_checked_for_order_age_and_future() {
    let mut points = good();
    points[50].1 -= 30_000_000;
    let (what, actual, place) = violated(&points, 0, "stamps: {monotonic: true}");
    assert_eq!(
        (what.as_str(), actual.as_str()),
        ("stamps.monotonic", "go back 1 times")
    );
    assert_eq!(place, "at 0.500 s, message 51");
    let (what, actual, _) = violated(&points, 0, "stamps: {max_age: 29ms}");
    assert_eq!(
        (what.as_str(), actual.as_str()),
        ("stamps.max_age", "30.0 ms")
    );
    points[50].1 += 40_000_000;
    let (what, actual, _) = violated(&points, 0, "stamps: {max_future: 9ms}");
    assert_eq!(
        (what.as_str(), actual.as_str()),
        ("stamps.max_future", "10.0 ms")
    );
}

#[test]
fn a_topic_that_falls_silent_has_a_gap_at_its_end() {
    let directory = tempdir().unwrap();
    let path = directory.path().join("bag");
    let mut writer = BagWriter::create(&path, BagOptions::default()).unwrap();
    let ids = ["/silent", "/alive"].map(|name| {
        writer
            .add_topic(&TopicInfo::new(name, "std_msgs/msg/Empty"))
            .unwrap()
    });
    for number in 0..100 {
        let topic = if number < 30 { ids[0] } else { ids[1] };
        let time = number * 10_000_000;
        let message = Message {
            topic,
            log_time_ns: time,
            publish_time_ns: time,
            sequence: 1,
            data: &[0, 1, 0, 0, 0],
        };
        assert!(writer.write(&[message], time).is_ok());
    }
    let (_summary, outcome) = writer.finish().unwrap();
    assert!(outcome.is_ok());
    let contract =
        Contract::parse("topics: {/silent: {max_gap: 100ms}, /alive: {max_gap: 400ms}}").unwrap();
    let mut bag = BagReader::open(&path).unwrap();
    let report = check_bag(&mut bag, &contract, &TypeResolver::default()).unwrap();
    let broken: Vec<_> = report.checks.iter().filter(|check| !check.kept).collect();
    assert_eq!(broken.len(), 1);
    assert_eq!(
        (broken[0].topic.as_str(), broken[0].actual.as_str()),
        ("/silent", "700 ms")
    );
}

#[test]
fn nothing_passes_without_being_checked() {
    // No message, no rate.
    assert_eq!(
        violated(&good()[..1], 0, "rate: {min: 0}").1,
        "no rate: 1 messages"
    );
    assert_eq!(violated(&good(), 3, "max_lost: 2").1, "3");
    assert_eq!(
        violated(&good(), 0, "qos: {reliability: reliable}").1,
        "no profile in the bag"
    );
    assert_eq!(
        violated(&good(), 0, "type: my/msg/Other").1,
        "geometry_msgs/msg/PointStamped"
    );
}

#[test]
fn missing_and_forbidden_topics_are_violations() {
    let directory = tempdir().unwrap();
    let path = directory.path().join("bag");
    write(&path, &good(), 0);
    let mut bag = BagReader::open(&path).unwrap();
    let mut kept = |yaml: &str| {
        let contract = Contract::parse(yaml).unwrap();
        let report = check_bag(&mut bag, &contract, &TypeResolver::default()).unwrap();
        report.is_kept()
    };
    assert!(!kept("topics: {/imu: {}}"));
    assert!(kept("topics: {/imu: {optional: true}}"));
    assert!(kept("topics: {/point: {}}\nother_topics: forbidden"));
    assert!(!kept(
        "topics: {/imu: {optional: true}}\nother_topics: forbidden"
    ));
}

#[test]
fn a_field_that_does_not_exist_is_an_error() {
    let directory = tempdir().unwrap();
    let path = directory.path().join("bag");
    write(&path, &good(), 0);
    let contract = Contract::parse("topics: {/point: {values: {point.q: {min: 0}}}}").unwrap();
    let mut bag = BagReader::open(&path).unwrap();
    let error = check_bag(&mut bag, &contract, &TypeResolver::default());
    let Err(error @ Error::Field { .. }) = error else {
        panic!("{error:?}")
    };
    assert!(
        error
            .to_string()
            .starts_with("invalid contract: /point: values: point.q: "),
        "{error}"
    );
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 32, ..ProptestConfig::default() })]
    /// A bag keeps the contract that was learned from it, also after the contract went through its text.
    #[test]
    fn a_bag_keeps_what_was_learned_from_it(
        steps in prop::collection::vec((0_i64..5_000_000_000, -2_000_000_000_i64..2_000_000_000, 97_u8..100), 0..40),
        lost in 0_u64..3,
    ) {
        let mut time = 10_000_000_000;
        let points: Vec<Point> = steps.iter().map(|(step, offset, frame)| {
            time += step;
            (time, time + offset, *frame, 0.0)
        }).collect();
        let directory = tempdir().unwrap();
        let path = directory.path().join("bag");
        write(&path, &points, lost);
        let mut bag = BagReader::open(&path).unwrap();
        let learned = learn_bag(&mut bag, &TypeResolver::default()).unwrap();
        let read = Contract::parse(&learned.to_yaml()).unwrap();
        prop_assert_eq!(&read, &learned);
        let report = check_bag(&mut bag, &read, &TypeResolver::default()).unwrap();
        prop_assert!(report.is_kept(), "{:#?}", report);
    }
}

fn point(stamp_ns: i64, x: f64) -> Vec<u8> {
    let mut data = vec![0, 1, 0, 0, 0, 0, 0, 0];
    data.extend(u32::try_from(stamp_ns).unwrap().to_le_bytes());
    data.extend([2, 0, 0, 0, b'a', 0, 0, 0]);
    for value in [x, 0.0, 0.0] {
        data.extend(value.to_le_bytes());
    }
    data
}

const MS: i64 = 1_000_000;

#[test]
fn a_running_robot_is_checked_as_its_messages_come() {
    let contract = Contract::parse(
        "topics: {/point: {max_gap: 50ms, values: {point.x: {max: 5}}}, /other: {}}\nother_topics: forbidden\n",
    )
    .unwrap();
    let resolver = TypeResolver::default();
    let mut checker = Checker::live(&contract);
    let topic = TopicInfo::new("/point", "geometry_msgs/msg/PointStamped");
    let index = checker.add_topic(&topic, &resolver, 10 * MS).unwrap();
    let words = |checker: &mut Checker<'_>| -> Vec<String> {
        let found = checker.new_violations();
        let words = found.iter();
        words
            .map(|check| format!("{} {} {}", check.topic, check.what, check.place_text()))
            .collect()
    };
    // The first message may be late.
    checker.pass_time(200 * MS);
    checker.message(index, 210 * MS, 210 * MS, &point(0, 1.0));
    checker.pass_time(250 * MS);
    assert_eq!(words(&mut checker), Vec::<String>::new());
    // Silence is noticed before the next message, and is one gap with it.
    checker.pass_time(270 * MS);
    assert_eq!(
        words(&mut checker),
        ["/point max_gap at 0.210 s, message 1"]
    );
    checker.pass_time(280 * MS);
    checker.message(index, 300 * MS, 300 * MS, &point(0, 9.0));
    assert_eq!(
        words(&mut checker),
        ["/point point.x at 0.300 s, message 2"]
    );
    let stranger = TopicInfo::new("/stranger", "std_msgs/msg/String");
    checker.add_topic(&stranger, &resolver, 300 * MS).unwrap();
    assert_eq!(words(&mut checker), ["/stranger present "]);
    assert_eq!(words(&mut checker), Vec::<String>::new(), "once");
    let report = checker.finish(&Recording {
        duration_ns: 310 * MS,
        ..Recording::default()
    });
    let gap = report
        .checks
        .iter()
        .find(|check| check.what == "max_gap")
        .unwrap();
    assert_eq!((gap.violations, gap.actual.as_str()), (1, "90.0 ms"));
    let place = gap.places[0];
    assert_eq!((place.time_ns, place.length_ns), (210 * MS, 90 * MS as u64));
    let absent = report.checks.iter().find(|check| check.topic == "/other");
    assert_eq!(absent.map(|check| check.actual.as_str()), Some("no"));
}

#[test]
fn the_clock_of_the_host_is_checked_and_learned() {
    let record = |system_ns: i64, synchronised: bool, error_ns: Option<i64>| HostClockRecord {
        system_ns,
        source: "chrony".into(),
        synchronised,
        error_ns,
        offset_ns: Some(-2_000),
        step_ns: (system_ns == 2_000 * MS).then_some(-5 * MS),
        ..HostClockRecord::default()
    };
    let violated = |history: &[HostClockRecord], clock: &str| -> Vec<String> {
        let contract = Contract::parse(&format!("clock: {clock}\n")).unwrap();
        let recording = Recording {
            start_ns: 1_000 * MS,
            host_clock: history.to_vec(),
            ..Recording::default()
        };
        let report = Checker::live(&contract).finish(&recording);
        let broken = report.checks.iter().filter(|check| !check.kept);
        broken
            .map(|check| format!("{}: {} {}", check.what, check.actual, check.place_text()))
            .collect()
    };
    let good = [
        record(1_000 * MS, true, Some(10_000)),
        record(1_500 * MS, true, Some(20_000)),
    ];
    let all =
        "{synchronised: true, sources: [chrony], max_offset: 2us, max_error: 20us, max_step: 1ms}";
    assert_eq!(violated(&good, all), Vec::<String>::new());
    assert_eq!(
        violated(
            &good,
            "{sources: [ptp4l], max_error: 15us, max_offset: 1us}"
        ),
        [
            "clock.sources: chrony at 0.000 s, 2 in all",
            "clock.max_offset: 2.00 µs at 0.000 s, 2 in all",
            "clock.max_error: 20.0 µs at 0.500 s",
        ]
    );
    let bad = [good[0].clone(), record(2_000 * MS, false, None)];
    assert_eq!(
        violated(&bad, all),
        [
            "clock.synchronised: not at 1 of 2 looks at 1.000 s",
            "clock.max_error: 10.0 µs, unknown at 1 looks at 1.000 s",
            "clock.max_step: 5.00 ms at 1.000 s",
        ]
    );
    assert_eq!(
        violated(&[], all),
        ["clock: the recording has no state of the host clock "]
    );
}

#[test]
fn the_clock_state_of_a_bag_is_read_from_its_metadata() {
    let directory = tempdir().unwrap();
    let path = directory.path().join("bag");
    let state = "system_ns=1000000000 reason=start source=ptp4l synchronised=true offset_ns=100 error_ns=2000 tai_s=37\n";
    let mut writer = BagWriter::create(&path, BagOptions::default()).unwrap();
    writer.set_custom_data(HOST_CLOCK_KEY, state).unwrap();
    let topic = TopicInfo::new("/point", "geometry_msgs/msg/PointStamped");
    let topic = writer.add_topic(&topic).unwrap();
    let message = Message {
        topic,
        log_time_ns: 1_000_000_000,
        publish_time_ns: 1_000_000_000,
        sequence: 1,
        data: &point(0, 1.0),
    };
    assert!(writer.write(&[message], 0).is_ok());
    assert!(writer.finish().unwrap().1.is_ok());
    let mut bag = BagReader::open(&path).unwrap();
    let resolver = TypeResolver::default();
    let learned = learn_bag(&mut bag, &resolver).unwrap();
    let yaml = learned.to_yaml();
    assert!(
        yaml.contains("clock: {synchronised: true, max_error: 1ms}"),
        "{yaml}"
    );
    assert!(check_bag(&mut bag, &learned, &resolver).unwrap().is_kept());
    let strict = Contract::parse("clock: {max_error: 1us}\n").unwrap();
    assert!(!check_bag(&mut bag, &strict, &resolver).unwrap().is_kept());
}
