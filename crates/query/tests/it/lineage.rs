//! The tables of lineage, on tags whose times are known.

use std::path::Path;

use timeloom_testkit::mcap::BagScratch;
use timeloom_time::Time;
use timeloom_trace::{InputInfo, MessageTrackingTag, Moment, OutputInfo, TAG_TYPE, tag_topic};

use crate::support::{csv, open, record, topic};

const MS: i64 = 1_000_000;

fn at(ms: i64) -> Moment {
    Moment::from_nanos(ms * MS, ms * MS)
}

fn tag(topic: &str, published: i64, stamp: i64, inputs: &[(&str, i64, i64)]) -> Vec<u8> {
    let input = |(topic, stamp, received): &(&str, i64, i64)| InputInfo {
        topic: (*topic).to_owned(),
        received: at(*received),
        stamp: Some(Time::from_nanos(*stamp * MS)),
    };
    let tag = MessageTrackingTag {
        header_stamp: at(published).ros,
        output: OutputInfo {
            topic: topic.to_owned(),
            node: format!("{topic}_node"),
            sequence: stamp,
            published: at(published),
            stamp: Some(Time::from_nanos(stamp * MS)),
        },
        inputs: inputs.iter().map(input).collect(),
    };
    tag.encode()
}

/// `/points → /filtered → /cmd`, and `/odom` into `/cmd`; of `/odom`, only the receptions are known.
fn robot(directory: &Path, broken: bool) -> String {
    let (info, _) = topic(&tag_topic("/cmd"), TAG_TYPE, None);
    let mut payloads = Vec::new();
    for cycle in 1..=10 {
        let start = cycle * 100;
        payloads.push(tag("/points", start, start, &[]));
        payloads.push(tag(
            "/filtered",
            start + 8,
            start,
            &[("/points", start, start + 2)],
        ));
        let inputs = [
            ("/filtered", start, start + 10),
            ("/odom", start, start + 5),
        ];
        payloads.push(tag("/cmd", start + 30, start, &inputs));
    }
    if broken {
        payloads.push(vec![0, 1, 0, 0, 9]);
    }
    record(directory.join("robot"), &info, &payloads)
}

#[test]
fn each_link_is_a_row() {
    let directory = BagScratch::new();
    let session = open(&[robot(directory.path(), false)]);
    let sql = "SELECT topic, node, input_topic, count(*), avg(node_ms) FROM lineage \
               GROUP BY topic, node, input_topic ORDER BY topic, input_topic";
    let expected = [
        "/cmd,/cmd_node,/filtered,10,20.0",
        "/cmd,/cmd_node,/odom,10,25.0",
        "/filtered,/filtered_node,/points,10,6.0",
        "/points,/points_node,,10,",
    ];
    assert_eq!(csv(&session, sql), expected);
}

#[test]
fn latencies_go_from_source_to_target() {
    let directory = BagScratch::new();
    let session = open(&[robot(directory.path(), false)]);
    let sql = "SELECT source, target, path, counted_from, count(*), min(latency_ms), max(latency_ms) \
               FROM latency GROUP BY source, target, path, counted_from ORDER BY source";
    let expected = [
        "/odom,/cmd,/odom → /cmd,received,10,25.0,25.0",
        "/points,/cmd,/points → /filtered → /cmd,published,10,30.0,30.0",
    ];
    assert_eq!(csv(&session, sql), expected);
    assert!(session.findings().is_empty());
}

#[test]
fn broken_tags_are_counted() {
    let directory = BagScratch::new();
    let session = open(&[robot(directory.path(), true)]);
    assert_eq!(csv(&session, "SELECT count(*) FROM latency"), ["20"]);
    let undecoded = session.findings().undecoded();
    assert_eq!(undecoded[0].2, 1, "{undecoded:?}");
}
