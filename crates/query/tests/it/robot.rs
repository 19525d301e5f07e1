//! The tables `parameters` and `graph`: the state of the robot in a bag.

use timeloom_bag::{
    BagOptions, BagWriter, EndpointRole, GraphEndpoint, MessagePublishers, NodeParameters,
    ParameterEntry, PublisherRun, RobotGraph, RobotParameters,
};
use timeloom_msg::{ParameterValue, QosProfile};

use crate::support::{csv, golden, open};

fn bag(path: &std::path::Path) -> String {
    let mut writer = BagWriter::create(path, BagOptions::default()).unwrap();
    let mut talker = NodeParameters {
        asked_ns: 1_000_000_000,
        ..NodeParameters::default()
    };
    for (time_ns, value) in [
        (1_000_000_000, Some(ParameterValue::Integer(10))),
        (2_000_000_000, Some(0.5.into())),
        (3_000_000_000, None),
    ] {
        talker.add("rate", ParameterEntry { time_ns, value });
    }
    let silent = NodeParameters {
        unanswered: Some("no answer".into()),
        ..NodeParameters::default()
    };
    let parameters = RobotParameters {
        nodes: [
            ("/talker".to_owned(), talker),
            ("/silent".to_owned(), silent),
        ]
        .into(),
    };
    assert!(writer.update_parameters(&parameters).is_ok());
    let endpoint = GraphEndpoint {
        id: "01".into(),
        node: "/talker".into(),
        role: EndpointRole::Publisher,
        topic: "/chatter".into(),
        type_name: "std_msgs/msg/String".into(),
        type_hash: String::new(),
        qos: QosProfile::SENSOR_DATA,
        appeared_ns: 1_000_000_000,
        vanished_ns: None,
    };
    let graph: RobotGraph = [endpoint].into_iter().collect();
    assert!(writer.update_graph(&graph).is_ok());
    let mut publishers = MessagePublishers::default();
    for (from_ns, gid) in [(1_000_000_000, "01"), (2_000_000_000, "02")] {
        let gid = gid.to_owned();
        publishers.add("/chatter", PublisherRun { from_ns, gid });
    }
    assert!(writer.update_publishers(&publishers).is_ok());
    drop(writer.finish().unwrap());
    path.display().to_string()
}

#[test]
fn every_value_is_a_row_and_nodes_that_did_not_answer_are_rows_too() {
    let directory = tempfile::tempdir().unwrap();
    let session = open(&[bag(&directory.path().join("run"))]);
    let sql = "SELECT node, name, time, type, value, first, last, unanswered FROM parameters ORDER BY node, time";
    assert_eq!(
        csv(&session, sql),
        [
            "/silent,,1970-01-01T00:00:00Z,,,,,no answer",
            "/talker,rate,1970-01-01T00:00:01Z,integer,10,true,false,",
            "/talker,rate,1970-01-01T00:00:02Z,double,0.5,false,false,",
            "/talker,rate,1970-01-01T00:00:03Z,,,false,true,",
        ]
    );
    let sql = "SELECT bag, node, role, topic, type, gid, reliability, durability, depth, vanished FROM graph";
    assert_eq!(
        csv(&session, sql),
        ["run,/talker,publisher,/chatter,std_msgs/msg/String,01,best_effort,volatile,5,"]
    );
}

#[test]
fn the_publishers_of_a_topic_are_rows_with_the_names_of_their_nodes() {
    let directory = tempfile::tempdir().unwrap();
    let session = open(&[bag(&directory.path().join("run"))]);
    let sql = "SELECT topic, from_time, gid, node FROM publishers ORDER BY from_time";
    assert_eq!(
        csv(&session, sql),
        [
            "/chatter,1970-01-01T00:00:01Z,01,/talker",
            "/chatter,1970-01-01T00:00:02Z,02,",
        ]
    );
}

#[test]
fn bags_of_others_have_no_rows() {
    let session = open(&[golden("mcap_plain")]);
    for table in ["parameters", "graph", "publishers"] {
        let sql = format!("SELECT count(*) FROM {table}");
        assert_eq!(csv(&session, &sql), ["0"], "{table}");
    }
}
