//! Message tracking tags as evidence, and the bounds of latencies between hosts.

use std::path::Path;

use timeloom_bag::{BagOptions, BagReader, BagWriter, HOST_CLOCK_KEY, Message, TopicInfo};
use timeloom_merge::{MergeOptions, survey, write};
use timeloom_time::Time;
use timeloom_trace::{
    BagFeed, Engine, EngineOptions, InputInfo, MessageTrackingTag, Moment, OutputInfo, TAG_TYPE,
};

use crate::fleet::{MILLISECOND, SECOND, START};

/// The clock of `arm` is ahead by so much.
const AHEAD: i64 = 300_000;
/// When the steady clocks of the hosts began, by their system clocks.
const CAR_BOOT: i64 = START - 5_000 * SECOND;
const ARM_BOOT: i64 = START - 777 * SECOND;

fn car(true_ns: i64) -> Moment {
    Moment::from_nanos(true_ns, true_ns - CAR_BOOT)
}

fn arm(true_ns: i64) -> Moment {
    let system = true_ns + AHEAD;
    Moment::from_nanos(system, system - ARM_BOOT)
}

fn tag(
    topic: &str,
    node: &str,
    number: i64,
    published: Moment,
    input: Option<(&str, Moment)>,
) -> Vec<u8> {
    let stamp = Some(Time::from_nanos(START + number * 100 * MILLISECOND));
    let inputs = input.map(|(topic, received)| InputInfo {
        topic: topic.into(),
        received,
        stamp,
    });
    let tag = MessageTrackingTag {
        header_stamp: published.ros,
        output: OutputInfo {
            topic: topic.into(),
            node: node.into(),
            sequence: number,
            published,
            stamp,
        },
        inputs: inputs.into_iter().collect(),
    };
    tag.encode()
}

/// A recording with the state of its host's clock and some messages: topic, type, log time, payload.
fn record(path: &Path, boot_ns: i64, messages: &[(&str, &str, i64, Vec<u8>)]) {
    let steady_ns = START - boot_ns;
    let state = format!(
        "system_ns={START} steady_ns={steady_ns} reason=start source=none synchronised=false tai_s=0\n"
    );
    let options = BagOptions {
        custom_data: vec![(HOST_CLOCK_KEY.to_owned(), state)],
        ..BagOptions::default()
    };
    let mut writer = BagWriter::create(path, options).unwrap();
    for (topic, type_name, time_ns, data) in messages {
        let topic = writer
            .add_topic(&TopicInfo::new(*topic, *type_name))
            .unwrap();
        let message = Message {
            topic,
            log_time_ns: *time_ns,
            publish_time_ns: *time_ns,
            sequence: 0,
            data,
        };
        assert!(writer.write(&[message], 0).is_ok());
    }
    let (_summary, outcome) = writer.finish().unwrap();
    assert!(outcome.is_ok());
}

/// `/scan` goes from the car to the arm, which publishes `/fused`; the car answers with `/cmd`.
fn record_both(directory: &Path) {
    let mut messages = Vec::new();
    for number in 0..300_i64 {
        let sent = START + number * 100 * MILLISECOND;
        let jitter = number * 7_919 % 101 * 3_000;
        let at_arm = sent + 400_000 + jitter;
        let fused = at_arm + 2 * MILLISECOND;
        let at_car = fused + 500_000 + jitter;
        let command = at_car + MILLISECOND;
        messages.extend([
            (
                "/scan/message_tracking_tag",
                TAG_TYPE,
                sent + 60_000,
                tag("/scan", "/lidar", number, car(sent), None),
            ),
            (
                "/fused/message_tracking_tag",
                TAG_TYPE,
                fused + 600_000,
                tag(
                    "/fused",
                    "/fusion",
                    number,
                    arm(fused),
                    Some(("/scan", arm(at_arm))),
                ),
            ),
            (
                "/cmd/message_tracking_tag",
                TAG_TYPE,
                command + 60_000,
                tag(
                    "/cmd",
                    "/control",
                    number,
                    car(command),
                    Some(("/fused", car(at_car))),
                ),
            ),
        ]);
    }
    record(&directory.join("car"), CAR_BOOT, &messages);
    let own = vec![0, 1, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0];
    let own: Vec<_> = (0..300)
        .map(|number| {
            (
                "/joints",
                "std_msgs/msg/Int64",
                START + AHEAD + number * 100 * MILLISECOND,
                own.clone(),
            )
        })
        .collect();
    record(&directory.join("arm"), ARM_BOOT, &own);
}

#[test]
fn tags_bound_the_offset_and_latencies_of_the_merged_bag() {
    let directory = tempfile::tempdir().unwrap();
    record_both(directory.path());
    let paths = ["car", "arm"].map(|name| directory.path().join(name));
    let names = ["car".to_owned(), "arm".to_owned()];
    let options = MergeOptions::default();
    let mut reader = BagReader::open_all(&paths).unwrap();
    let hosts = survey(&mut reader, &names, &options, &mut |_| {}).unwrap();
    let hosts = hosts.solve(&options).unwrap();
    let middle = hosts.hosts[1].middle().unwrap();
    let (lower, upper) = (middle.lower_ns.unwrap(), middle.upper_ns.unwrap());
    assert!(lower <= -AHEAD && -AHEAD <= upper, "{middle:?}");
    assert!(upper - lower < 1_500_000, "{middle:?}");
    assert!(hosts.hosts[1].assumptions.is_empty());
    assert_eq!(hosts.hosts[0].nodes, ["/control", "/lidar"]);
    assert_eq!(hosts.hosts[1].nodes, ["/fusion"]);

    let output = directory.path().join("both");
    write(
        reader,
        &hosts,
        &output,
        BagOptions::default(),
        &options,
        &mut |_| {},
    )
    .unwrap();
    let mut merged = BagReader::open(&output).unwrap();
    // From the car to the arm.
    let mut engine = Engine::new(EngineOptions {
        targets: vec!["/fused".to_owned()],
        ..EngineOptions::default()
    });
    BagFeed::default()
        .run(&mut merged, &mut engine, &mut ())
        .unwrap();
    let report = engine.report();
    let paths = report.targets.iter().flat_map(|target| &target.paths);
    let path = paths.max_by_key(|path| path.topics.len()).unwrap();
    assert_eq!(path.topics.len(), 2, "{:?}", path.topics);
    assert_eq!(path.unbounded, 0);
    let bound = path.bound_ns;
    assert!((300_000..3_000_000).contains(&bound), "{bound}");
}
