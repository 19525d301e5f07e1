//! Payloads: the first byte chooses a type, the rest is a payload.

use timeloom_msg::cdr::WideChars;
use timeloom_msg::{Definitions, FieldProgram, Schema, StampPlace, StampProgram};

/// Types that cover every kind of field.
pub const TYPES: [&str; 10] = [
    "sensor_msgs/msg/Imu",
    "sensor_msgs/msg/PointCloud2",
    "sensor_msgs/msg/JointState",
    "tf2_msgs/msg/TFMessage",
    "diagnostic_msgs/msg/DiagnosticArray",
    "rcl_interfaces/msg/ParameterEvent",
    "type_description_interfaces/msg/TypeDescription",
    "visualization_msgs/msg/MarkerArray",
    "example_interfaces/srv/AddTwoInts_Event",
    "tilde_msg/msg/MessageTrackingTag",
];

/// Decodes, encodes again, and compares the skip-programs with the full decode.
pub fn fuzz_cdr(data: &[u8]) {
    let Some((choice, payload)) = data.split_first() else {
        return;
    };
    let name = TYPES[usize::from(*choice) % TYPES.len()];
    let schema = Definitions::builtin()
        .schema(name)
        .expect("a built-in type");
    check_payload(&schema, payload);
}

/// What must hold for any payload of any type.
pub fn check_payload(schema: &Schema, payload: &[u8]) {
    let decoded = schema.decode_with(payload, WideChars::FourBytes);
    let stamp = StampProgram::compile(schema);
    let Ok((value, rest)) = decoded else {
        // The programs may reach their field in a payload that is damaged behind it, but must not panic.
        if let Some(Ok(stamp)) = stamp.map(|program| program.read(payload)) {
            assert!(stamp.nanos() < i64::MAX);
        }
        return;
    };
    assert!(rest <= payload.len());
    let json = value.to_json();
    let written = schema.encode(&value).expect("a decoded value encodes");
    let again = schema.decode(&written).expect("an encoded value decodes");
    assert_eq!(again.to_json(), json);
    if let Some(program) = stamp {
        let path = if program.place() == StampPlace::Header {
            "header.stamp"
        } else {
            "stamp"
        };
        let stamp = program
            .read(payload)
            .expect("a stamp in a payload that decodes");
        let sec = value
            .get(&format!("{path}.sec"))
            .and_then(|sec| sec.as_i64());
        assert_eq!(sec, Some(i64::from(stamp.sec)));
    }
    for field in schema.root().fields() {
        if let Ok(program) = FieldProgram::compile(schema, field.name()) {
            let read = program
                .read(payload)
                .expect("a field in a payload that decodes");
            assert_eq!(
                Some(read.to_json()),
                value.get(field.name()).map(|value| value.to_json())
            );
        }
    }
}
