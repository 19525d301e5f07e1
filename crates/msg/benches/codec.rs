//! Skip-programs against full decode and against a copy of the payload, in one run.
//!
//! Prints `ratio msg.<id> <value> bar <bound> ok|short` and `note` lines; exits with 1 when a bar is missed.

use std::hint::black_box;
use std::process::ExitCode;
use std::time::Duration;

use timeloom_msg::value::Array;
use timeloom_msg::{Definitions, Schema, StampProgram, TypeHash, Value};

/// Rounds of each measurement; the fastest counts, as others use the machine too.
const ROUNDS: u32 = 15;

#[expect(
    clippy::disallowed_methods,
    reason = "a benchmark measures the machine's own time"
)]
fn now() -> std::time::Instant {
    std::time::Instant::now()
}

/// The least time of one call, of `calls` in each round.
fn fastest<T>(calls: u32, mut call: impl FnMut() -> T) -> Duration {
    let mut best = Duration::MAX;
    for _ in 0..ROUNDS {
        let start = now();
        for _ in 0..calls {
            black_box(call());
        }
        best = best.min(start.elapsed());
    }
    best / calls.max(1)
}

/// Times too short for [`Duration`]: nanoseconds of one call.
fn nanos<T>(calls: u32, mut call: impl FnMut() -> T) -> f64 {
    let mut best = f64::MAX;
    for _ in 0..ROUNDS {
        let start = now();
        for _ in 0..calls {
            black_box(call());
        }
        best = best.min(start.elapsed().as_secs_f64() * 1e9 / f64::from(calls));
    }
    best
}

#[expect(clippy::print_stdout, reason = "the output of a benchmark")]
fn line(text: &str) {
    println!("{text}");
}

/// Prints a ratio that must reach its bar; says whether it does.
fn at_least(id: &str, value: f64, bar: f64) -> bool {
    let ok = value >= bar;
    line(&format!(
        "ratio msg.{id} {value:.2} bar >={bar} {}",
        if ok { "ok" } else { "short" }
    ));
    ok
}

/// Prints a ratio that must stay below its bar; says whether it does.
fn at_most(id: &str, value: f64, bar: f64) -> bool {
    let ok = value <= bar;
    line(&format!(
        "ratio msg.{id} {value:.3} bar <={bar} {}",
        if ok { "ok" } else { "short" }
    ));
    ok
}

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

fn stamps() -> bool {
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
    let mut ok = true;
    let cases = [
        ("imu", &imu, &imu_bytes, 30.0),
        ("late_header", &late, &late_bytes, 8.0),
        ("image_1mb", &image, &image_bytes, 1000.0),
    ];
    for (id, schema, bytes, bar) in cases {
        let program = StampProgram::compile(schema).expect("a stamp");
        let calls = if bytes.len() > 100_000 { 50 } else { 20_000 };
        let skip = nanos(200_000, || program.read(black_box(bytes)));
        let decode = nanos(calls, || schema.decode(black_box(bytes)));
        let mut copy = vec![0; bytes.len()];
        let memcpy = nanos(calls.max(1000), || {
            copy.copy_from_slice(black_box(bytes));
            copy.first().copied()
        });
        line(&format!(
            "note msg.{id} stamp {skip:.1} ns, decode {decode:.1} ns, memcpy {memcpy:.1} ns, {} bytes",
            bytes.len()
        ));
        ok &= at_least(&format!("stamp_vs_decode.{id}"), decode / skip, bar);
        if bytes.len() > 100_000 {
            ok &= at_most(&format!("stamp_vs_memcpy.{id}"), skip / memcpy, 0.01);
            ok &= at_most(&format!("decode_vs_memcpy.{id}"), decode / memcpy, 2.5);
        }
    }
    ok
}

fn definitions() {
    let builtin = Definitions::builtin();
    let imu = builtin.schema("sensor_msgs/msg/Imu").expect("a schema");
    let text = imu.ros2msg().expect("a text");
    let parse = fastest(200, || Schema::parse_ros2msg("sensor_msgs/msg/Imu", &text));
    let bytes_per_second = text.len() as f64 / parse.as_secs_f64();
    line(&format!(
        "note msg.parse_imu {parse:?} for {} bytes, {:.1} MB/s",
        text.len(),
        bytes_per_second / 1e6
    ));
    let description = imu.type_description().expect("a description");
    let hash = fastest(200, || TypeHash::of(&description));
    line(&format!("note msg.rihs01_imu {hash:?}"));
    let compile = fastest(200, || builtin.schema("sensor_msgs/msg/Imu"));
    line(&format!("note msg.compile_imu {compile:?}"));
    let value = imu.default_value().expect("a default");
    let bytes = imu.encode(&value).expect("a payload");
    line(&format!(
        "note msg.encode_imu {:.0} ns",
        nanos(5000, || imu.encode(&value))
    ));
    line(&format!(
        "note msg.json_imu {:.0} ns",
        nanos(5000, || imu.decode(&bytes).map(|value| value.to_json()))
    ));
}

fn main() -> ExitCode {
    let ok = stamps();
    definitions();
    if ok {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    }
}
