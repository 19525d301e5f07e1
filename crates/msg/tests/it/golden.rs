//! Values of real messages against another decoder (`PyPI` rosbags 0.11.9).

use serde_json::Value as Json;
use timeloom_msg::Schema;

use crate::bags;

/// Numbers compare as numbers: 1e-05 is 0.00001 and 0.0 is 0.
fn same(ours: &Json, theirs: &Json) -> bool {
    match (ours, theirs) {
        (Json::Object(a), Json::Object(b)) => {
            a.len() == b.len()
                && a.iter()
                    .all(|(key, value)| b.get(key).is_some_and(|other| same(value, other)))
        }
        (Json::Array(a), Json::Array(b)) => {
            a.len() == b.len() && a.iter().zip(b).all(|(a, b)| same(a, b))
        }
        (Json::Number(a), Json::Number(b)) => a == b || a.as_f64() == b.as_f64(),
        _ => ours == theirs,
    }
}

#[test]
fn values_equal_those_of_rosbags() {
    let mut compared = 0;
    for bag in bags::BAGS {
        let path = format!(
            "{}/tests/data/golden/{bag}.ndjson",
            env!("CARGO_MANIFEST_DIR")
        );
        let Ok(golden) = std::fs::read_to_string(path) else {
            continue;
        };
        let messages = bags::messages(bag);
        for line in golden.lines() {
            let expected: Json = serde_json::from_str(line).unwrap();
            let message = messages
                .iter()
                .find(|m| {
                    expected["topic"] == m.topic.as_str() && expected["log_time"] == m.log_time
                })
                .unwrap();
            let schema =
                Schema::parse_ros2msg(&message.schema.name, bags::schema_text(message)).unwrap();
            let json = schema.decode(&message.payload).unwrap().to_json();
            let ours: Json = serde_json::from_str(&json).unwrap();
            assert!(
                same(&ours, &expected["value"]),
                "{bag} {}:\n{ours}\n{}",
                message.topic,
                expected["value"]
            );
            compared += 1;
        }
    }
    assert_eq!(compared, 22);
}

#[test]
fn a_real_imu_as_json() {
    let message = bags::messages("jazzy_zstd_fast")
        .into_iter()
        .find(|m| m.topic == "/imu/data")
        .unwrap();
    let schema = Schema::parse_ros2msg(&message.schema.name, bags::schema_text(&message)).unwrap();
    let value = schema.decode(&message.payload).unwrap();
    assert_eq!(value.get("header.frame_id").unwrap().as_str(), Some("imu"));
    assert!(
        value
            .to_json()
            .starts_with(r#"{"header":{"stamp":{"sec":17"#),
        "{}",
        value.to_json()
    );
}
