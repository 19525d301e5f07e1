//! Schemas that rosbag2 stored, and the payloads beside them.

use std::collections::BTreeSet;

use timeloom_msg::{Definitions, Schema, StampProgram, TypeName, Value};

use crate::bags;

#[test]
fn every_stored_schema_parses_to_the_stored_hash() {
    let mut hashed = BTreeSet::new();
    for bag in bags::BAGS {
        for message in bags::messages(bag) {
            let schema =
                Schema::parse_ros2msg(&message.schema.name, bags::schema_text(&message)).unwrap();
            if let Some(hash) = &message.type_hash {
                assert_eq!(
                    &schema.type_hash().unwrap().to_string(),
                    hash,
                    "{bag} {}",
                    message.topic
                );
                hashed.insert(message.schema.name.clone());
            }
        }
    }
    assert!(
        hashed.contains("test_msgs/srv/BasicTypes_Event"),
        "{hashed:?}"
    );
    assert!(hashed.contains("sensor_msgs/msg/PointCloud2"), "{hashed:?}");
    assert!(hashed.len() >= 15, "{hashed:?}");
}

#[test]
fn the_hash_of_strings_with_defaults_and_bounds() {
    // convert_b stores no hash, the real one is in another bag's metadata.
    let message = bags::messages("convert_b")
        .into_iter()
        .find(|m| m.schema.name == "test_msgs/msg/Strings")
        .unwrap();
    let schema = Schema::parse_ros2msg(&message.schema.name, bags::schema_text(&message)).unwrap();
    let real = "RIHS01_eee55533636293ac7c94c62432eedb5777eb849847d2a17b4dcead8c4a20ab32";
    assert_eq!(schema.type_hash().unwrap().to_string(), real);
}

#[test]
fn every_payload_decodes_and_encodes_to_the_same_bytes() {
    let mut count = 0;
    for bag in bags::BAGS {
        for message in bags::messages(bag) {
            let schema =
                Schema::parse_ros2msg(&message.schema.name, bags::schema_text(&message)).unwrap();
            let (value, rest) = schema.decode_prefix(&message.payload).unwrap();
            assert!(rest <= 3, "{bag} {}: {rest} bytes left", message.topic);
            let used = message.payload.len() - rest;
            let written = schema.encode(&value).unwrap();
            if bag == "talker" {
                // Writers of 2020 left old bytes in the padding.
                assert_eq!(written.len(), used);
                assert_eq!(schema.decode(&written).unwrap(), value);
            } else {
                assert_eq!(written, message.payload[..used], "{bag} {}", message.topic);
            }
            count += 1;
        }
    }
    assert!(count > 500, "{count}");
}

#[test]
fn stamps_of_real_messages() {
    let mut stamped = BTreeSet::new();
    for message in bags::messages("jazzy_zstd_fast") {
        let schema =
            Schema::parse_ros2msg(&message.schema.name, bags::schema_text(&message)).unwrap();
        let Some(program) = StampProgram::compile(&schema) else {
            continue;
        };
        let stamp = program.read(&message.payload).unwrap();
        let value = schema.decode(&message.payload).unwrap();
        let sec = value
            .get("header.stamp.sec")
            .or_else(|| value.get("stamp.sec"));
        assert_eq!(sec, Some(Value::Int32(stamp.sec)), "{}", message.topic);
        stamped.insert(message.topic);
    }
    assert!(stamped.len() >= 6, "{stamped:?}");
}

/// Our own text of the built-in types against that of rosbag2: the same sections in the same order, the same fields.
#[test]
fn our_definition_texts_have_the_structure_of_rosbag2() {
    let headers = |text: &str| -> Vec<String> {
        text.lines()
            .filter(|l| l.starts_with("MSG: ") || l.starts_with("===="))
            .map(str::to_owned)
            .collect()
    };
    let mut compared = BTreeSet::new();
    for message in bags::messages("jazzy_zstd_fast") {
        let name = TypeName::parse(&message.schema.name).unwrap();
        if !compared.insert(name.clone()) || name.name().ends_with("_Event") {
            continue;
        }
        let theirs = bags::schema_text(&message);
        let ours = Definitions::builtin().ros2msg(&name).unwrap();
        assert_eq!(headers(&ours), headers(theirs), "{name}");
        let parsed = |text: &str| Definitions::parse_ros2msg(&name, text).unwrap();
        assert_eq!(parsed(&ours), parsed(theirs), "{name}");
    }
    assert!(compared.len() >= 12, "{compared:?}");
}

#[test]
fn service_events_decode_with_the_text_of_the_service() {
    let events: Vec<_> = bags::messages("jazzy_zstd_fast")
        .into_iter()
        .filter(|m| m.topic == "/add_two_ints/_service_event")
        .collect();
    assert!(!events.is_empty());
    for message in events {
        let schema =
            Schema::parse_ros2msg(&message.schema.name, bags::schema_text(&message)).unwrap();
        let value = schema.decode(&message.payload).unwrap();
        assert!(
            value
                .get("info.event_type")
                .and_then(|v| v.as_u64())
                .unwrap()
                < 4
        );
        let ours = Definitions::builtin().ros2msg(schema.name()).unwrap();
        assert_eq!(ours, "int64 a\nint64 b\n---\nint64 sum\n");
    }
}
