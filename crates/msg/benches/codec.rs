//! Skip-programs against full decode and against a copy of the payload, in one run.

use std::hint::black_box;
use std::io::Stdout;
use std::time::Duration;

use timeloom_msg::value::Array;
use timeloom_msg::{Definitions, Schema, StampProgram, TypeHash, Value};
use timeloom_testkit::bench::{Bench, Rounds, Variant};

fn payload(schema: &Schema, fill: impl Fn(&mut Value)) -> Vec<u8> {
    let mut value = schema.default_value().expect("a default");
    fill(&mut value);
    schema.encode(&value).expect("a payload")
}

/// A header behind a string and a sequence, so that lengths have to be read.
fn late_header() -> (Schema, Vec<u8>) {
    let text = "string name\nfloat64[] v\nstd_msgs/Header header\nuint8[] data\n====\nMSG: std_msgs/Header\nbuiltin_interfaces/Time stamp\nstring frame_id\n";
    let schema = Schema::parse_ros2msg("demo/msg/Late", text).expect("a schema");
    let bytes = payload(&schema, |value| {
        value.set("name", "hello").expect("a field");
        value
            .set("v", Array::Float64(vec![0.0, 1.0, 2.0]))
            .expect("a field");
        value
            .set("data", Array::Uint8(vec![7; 64]))
            .expect("a field");
    });
    (schema, bytes)
}

/// A message whose stamp is read: its name, type, payload, and the expected ratio to decoding it.
struct Case {
    id: &'static str,
    schema: Schema,
    bytes: Vec<u8>,
    bar: f64,
}

fn cases() -> [Case; 3] {
    let builtin = Definitions::builtin();
    let imu = builtin.schema("sensor_msgs/msg/Imu").expect("a schema");
    let imu_bytes = payload(&imu, |value| {
        value.set("header.frame_id", "imu_link").expect("a field");
    });
    let image = builtin.schema("sensor_msgs/msg/Image").expect("a schema");
    let image_bytes = payload(&image, |value| {
        value
            .set("data", Array::Uint8(vec![1; 1 << 20]))
            .expect("a field");
    });
    let (late, late_bytes) = late_header();
    [
        Case {
            id: "imu",
            schema: imu,
            bytes: imu_bytes,
            bar: 30.0,
        },
        Case {
            id: "late_header",
            schema: late,
            bytes: late_bytes,
            bar: 8.0,
        },
        Case {
            id: "image_1mb",
            schema: image,
            bytes: image_bytes,
            bar: 1000.0,
        },
    ]
}

fn rounds() -> Rounds {
    Rounds::new(15, Duration::from_millis(4))
}

fn stamp(bench: &mut Bench<Stdout>, case: &Case) {
    let (id, bytes) = (case.id, &case.bytes);
    let program = StampProgram::compile(&case.schema).expect("a stamp");
    let mut copy = vec![0; bytes.len()];
    let measured = rounds().run(&mut [
        Variant::looped("stamp", || program.read(black_box(bytes))),
        Variant::looped("decode", || case.schema.decode(black_box(bytes))),
        Variant::looped("memcpy", || {
            copy.copy_from_slice(black_box(bytes));
            copy.first().copied()
        }),
    ]);
    let [stamp, decode, memcpy] = &measured[..] else {
        unreachable!("invariant: three variants, three measurements")
    };
    let (s, d, m) = (stamp.median(), decode.median(), memcpy.median());
    bench.note(
        &format!("msg.{id}"),
        format!(
            "stamp {s:.1} ns, decode {d:.1} ns, memcpy {m:.1} ns, {} bytes",
            bytes.len()
        ),
    );
    bench.ratio_at_least(
        &format!("msg.stamp_vs_decode.{id}"),
        decode.ratio_to(stamp),
        case.bar,
    );
    if bytes.len() > 100_000 {
        bench.ratio_at_most(
            &format!("msg.stamp_vs_memcpy.{id}"),
            stamp.ratio_to(memcpy),
            0.01,
        );
        bench.ratio_at_most(
            &format!("msg.decode_vs_memcpy.{id}"),
            decode.ratio_to(memcpy),
            2.5,
        );
    }
}

fn definitions(bench: &mut Bench<Stdout>) {
    let builtin = Definitions::builtin();
    let imu = builtin.schema("sensor_msgs/msg/Imu").expect("a schema");
    let text = imu.ros2msg().expect("a text");
    let description = imu.type_description().expect("a description");
    let value = imu.default_value().expect("a default");
    let bytes = imu.encode(&value).expect("a payload");
    let measured = rounds().run(&mut [
        Variant::looped("parse", || {
            Schema::parse_ros2msg("sensor_msgs/msg/Imu", &text)
        }),
        Variant::looped("rihs01", || TypeHash::of(&description)),
        Variant::looped("compile", || builtin.schema("sensor_msgs/msg/Imu")),
        Variant::looped("encode", || imu.encode(&value)),
        Variant::looped("decode and json", || {
            imu.decode(&bytes).map(|value| value.to_json())
        }),
    ]);
    for variant in measured {
        bench.note(
            "msg.imu",
            format!(
                "{} of sensor_msgs/msg/Imu {:.0} ns",
                variant.name(),
                variant.median()
            ),
        );
    }
}

fn main() {
    let mut bench = Bench::from_env();
    for case in cases() {
        stamp(&mut bench, &case);
    }
    definitions(&mut bench);
}
