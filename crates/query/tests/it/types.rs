//! A topic with different types, and unknown types.

use timeloom_bag::{MessageDefinition, TopicInfo};
use timeloom_msg::{Schema, Value};
use timeloom_query::Error;
use timeloom_testkit::mcap::BagScratch;

use crate::support::{csv, float, open, record, topic};

#[test]
fn a_topic_of_two_types_is_two_tables() {
    let directory = BagScratch::new();
    let (info, schema) = topic("/n", "std_msgs/msg/Float64", None);
    let one = record(directory.path().join("one"), &info, &[float(&schema, 1.5)]);
    let (info, schema) = topic("/n", "std_msgs/msg/String", None);
    let mut value = schema.default_value().unwrap();
    value.set("data", "text").unwrap();
    let payload = schema.encode(&value).unwrap();
    let two = record(directory.path().join("two"), &info, &[payload]);
    let session = open(&[one, two]);
    match session.query(r#"SELECT * FROM "/n""#).err().unwrap() {
        Error::SeveralTypes { topic, tables } => {
            assert_eq!(topic, "/n");
            let expected = ["/n@std_msgs/msg/Float64", "/n@std_msgs/msg/String"];
            assert_eq!(tables, expected);
        }
        other => panic!("{other}"),
    }
    let float = csv(
        &session,
        r#"SELECT bag, data FROM "/n@std_msgs/msg/Float64""#,
    );
    assert_eq!(float, ["one,1.5"]);
    let text = csv(
        &session,
        r#"SELECT bag, data FROM "/n@std_msgs/msg/String""#,
    );
    assert_eq!(text, ["two,text"]);
    let both = "SELECT bag, type FROM messages WHERE topic = '/n' ORDER BY bag";
    let expected = ["one,std_msgs/msg/Float64", "two,std_msgs/msg/String"];
    assert_eq!(csv(&session, both), expected);
}

#[test]
fn two_layouts_of_a_type_are_two_tables() {
    let directory = BagScratch::new();
    let (info, schema) = topic("/n", "my/msg/N", Some("float64 data\n"));
    let one = record(directory.path().join("one"), &info, &[float(&schema, 1.5)]);
    let (info, schema) = topic("/n", "my/msg/N", Some("uint8 new\nfloat64 data\n"));
    let two = record(directory.path().join("two"), &info, &[float(&schema, 2.5)]);
    let session = open(&[one, two]);
    assert_eq!(csv(&session, r#"SELECT data FROM "/n@my/msg/N""#), ["1.5"]);
    let second = r#"SELECT new, data FROM "/n@my/msg/N@2""#;
    assert_eq!(csv(&session, second), ["0,2.5"]);
}

#[test]
fn an_unknown_type_is_its_bytes() {
    let directory = BagScratch::new();
    let info = TopicInfo {
        definition: MessageDefinition::default(),
        ..TopicInfo::new("/own", "my/msg/Own")
    };
    let bag = record(
        directory.path().join("own"),
        &info,
        &[vec![0, 1, 0, 0, 255]],
    );
    let session = open(&[bag]);
    let sql = r#"SELECT data FROM "/own""#;
    assert_eq!(csv(&session, sql), ["00010000ff"]);
    assert!(session.findings().is_empty());
}

#[test]
fn fields_that_are_called_like_our_columns_get_another_name() {
    let directory = BagScratch::new();
    let (info, schema) = topic(
        "/n",
        "my/msg/N",
        Some("int32 bag\nwstring w\nint32 behind\n"),
    );
    let mut value = schema.default_value().unwrap();
    value.set("bag", Value::Int32(7)).unwrap();
    value.set("w", Value::WString("wide".into())).unwrap();
    value.set("behind", Value::Int32(8)).unwrap();
    let payload = schema.encode(&value).unwrap();
    let session = open(&[record(directory.path().join("b"), &info, &[payload])]);
    // What stands behind a wide string is found by decoding all of the message.
    assert_eq!(
        csv(&session, r#"SELECT bag, bag_, w, behind FROM "/n""#),
        ["b,7,wide,8"]
    );
}

#[test]
fn empty_messages_have_no_columns_of_their_own() {
    let directory = BagScratch::new();
    let info = TopicInfo::new("/e", "std_msgs/msg/Empty");
    let schema = Schema::parse_ros2msg("std_msgs/msg/Empty", "").unwrap();
    let payload = schema.encode(&schema.default_value().unwrap()).unwrap();
    let session = open(&[record(directory.path().join("e"), &info, &[payload])]);
    assert_eq!(csv(&session, r#"SELECT * FROM "/e""#).len(), 1);
}
