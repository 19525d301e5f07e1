//! Bags, topics, messages and losses.

use std::collections::BTreeMap;

use timeloom_bag::{BagInfo, BagOptions, BagWriter, HOST_CLOCK_KEY, LeftOutCause, Message};
use timeloom_query::Format;
use timeloom_testkit::mcap::BagScratch;

use crate::support::{GOLDEN, csv, float, golden, open, record_with, topic, written};

#[test]
fn counts_of_all_kinds_equal_those_of_info() {
    for bag in GOLDEN {
        let session = open(&[golden(bag)]);
        let info = BagInfo::open(golden(bag).as_ref()).unwrap();
        let expected: BTreeMap<String, u64> = info
            .topics
            .iter()
            .map(|topic| (topic.name.clone(), topic.message_count))
            // Service events are messages of a topic, which `info` shows apart.
            .chain(info.services.iter().map(|service| {
                let topic = format!("{}/_service_event", service.name);
                (topic, service.event_count)
            }))
            .collect();
        let count = "SELECT topic, count(*) FROM messages GROUP BY topic ORDER BY topic";
        let counted = csv(&session, count);
        let with_any = expected.iter().filter(|(_, count)| **count > 0);
        let lines: Vec<String> = with_any.map(|(name, n)| format!("{name},{n}")).collect();
        assert_eq!(counted, lines, "{bag}");
        let said = csv(
            &session,
            "SELECT topic, messages FROM topics ORDER BY topic",
        );
        let lines: Vec<String> = expected
            .iter()
            .map(|(name, n)| format!("{name},{n}"))
            .collect();
        assert_eq!(said, lines, "{bag}");
        // Each query plans for itself, which takes a debug build its time.
        for (name, n) in expected.iter().step_by(5) {
            let by_index = csv(&session, &format!("SELECT count(*) FROM \"{name}\""));
            assert_eq!(by_index, [n.to_string()], "{bag} {name}");
            let by_rows = format!("SELECT count(*) FROM \"{name}\" WHERE log_time >= 0::timestamp");
            assert_eq!(csv(&session, &by_rows), [n.to_string()], "{bag} {name}");
        }
        let total = csv(&session, "SELECT messages FROM bags");
        assert_eq!(total, [expected.values().sum::<u64>().to_string()]);
    }
}

#[test]
fn many_bags_are_one_table() {
    let session = open(&GOLDEN.map(golden));
    let sql = "SELECT b.bag, b.messages = count(*) FROM bags b JOIN messages m ON b.bag = m.bag \
               GROUP BY b.bag, b.messages ORDER BY b.bag";
    let mut names = GOLDEN;
    names.sort_unstable();
    assert_eq!(csv(&session, sql), names.map(|name| format!("{name},true")));
}

#[test]
fn the_columns_of_the_small_tables() {
    let session = open(&[golden("mcap_plain")]);
    let bags = written(&session, "SELECT * FROM bags", Format::Csv);
    let names = "bag,path,storage,ros_distro,start_time,end_time,duration_s,messages,topics,files,size,damaged";
    assert_eq!(bags.lines().next().unwrap(), names);
    assert!(bags.contains("mcap_plain,"), "{bags}");
    assert!(bags.contains(",4.116726244,474,"), "{bags}");
    let topic = "SELECT topic, type, hz > 49 AND hz < 51, reliability, durability, format FROM topics \
                 WHERE topic = '/imu/data'";
    assert_eq!(
        csv(&session, topic),
        ["/imu/data,sensor_msgs/msg/Imu,true,best_effort,volatile,cdr"]
    );
}

#[test]
fn losses_obey_the_law() {
    let directory = BagScratch::new();
    let path = directory.path().join("lossy");
    let (info, schema) = topic("/n", "std_msgs/msg/Float64", None);
    let mut writer = BagWriter::create(&path, BagOptions::default()).unwrap();
    let id = writer.add_topic(&info).unwrap();
    let data = float(&schema, 1.0);
    for time in 0..7 {
        let message = Message {
            topic: id,
            log_time_ns: time,
            publish_time_ns: time,
            sequence: 0,
            data: &data,
        };
        writer.write(&[message], 0).into_result().unwrap();
    }
    writer.lost_in_transport(id, 3, 5_000_000_000);
    writer.left_out(id, LeftOutCause::Paused, 2, 5_000_000_000);
    writer.finish().unwrap().1.into_result().unwrap();
    let session = open(&[path.display().to_string()]);
    let sql =
        "SELECT topic, published, recorded, lost, lost_in_transport, lost_in_recorder FROM losses";
    assert_eq!(csv(&session, sql), ["/n,12,7,3,3,0"]);
    let law = "SELECT bool_and(published = recorded + lost_in_transport + lost_in_recorder + left_out) FROM losses";
    assert_eq!(csv(&session, law), ["true"]);
    let causes = "SELECT percent_lost, left_out_paused, unknown_unplaced, interrupted FROM losses";
    assert_eq!(csv(&session, causes), ["25.0,2,0,false"]);
    let times = "SELECT topic, start_time, end_time, cause, lost, messages FROM loss_times";
    assert_eq!(
        csv(&session, times),
        [
            "/n,1970-01-01T00:00:05Z,1970-01-01T00:00:06Z,transport,true,3",
            "/n,1970-01-01T00:00:05Z,1970-01-01T00:00:06Z,paused,false,2"
        ]
    );
}

#[test]
fn the_clock_of_the_host_is_a_table() {
    let directory = BagScratch::new();
    let (info, schema) = topic("/x", "std_msgs/msg/Float64", None);
    let history = "system_ns=1000000000 reason=start source=none synchronised=false tai_s=0\n\
        system_ns=2000000000 reason=step step_ns=-5 source=chrony synchronised=true \
        reference=10.0.0.1_(stratum_2) offset_ns=-3 error_ns=250 tai_s=37\n";
    let options = BagOptions {
        custom_data: vec![(HOST_CLOCK_KEY.to_owned(), history.to_owned())],
        ..BagOptions::default()
    };
    let payload = float(&schema, 1.0);
    let with = record_with(
        &directory.path().join("with"),
        &info,
        std::slice::from_ref(&payload),
        options,
    );
    let without = record_with(
        &directory.path().join("without"),
        &info,
        &[payload],
        BagOptions::default(),
    );
    let session = open(&[with, without]);
    let sql = "SELECT bag, time::bigint AS ns, reason, source, synchronised, reference, offset_ns, error_ns, step_ns, \
               tai_offset_s FROM host_clock ORDER BY time";
    let expected = [
        "with,1000000000,start,none,false,,,,,0",
        "with,2000000000,step,chrony,true,10.0.0.1 (stratum 2),-3,250,-5,37",
    ];
    assert_eq!(csv(&session, sql), expected);
}
