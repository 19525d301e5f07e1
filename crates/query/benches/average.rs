//! The average of a field over a million messages: SQL compared with a hand-written loop.
//!
//! Both open the bag, read all of it and decode one number of each message. Where `TIMELOOM_PYTHON` names a Python with
//! the package `rosbags`, a script does the same.

use std::path::Path;
use std::process::Command;
use std::sync::Arc;

use timeloom_bag::{BagOptions, BagReader, BagWriter, Message, StorageReader as _, TopicInfo};
use timeloom_msg::{Definitions, FieldProgram, Schema, Value};
use timeloom_query::{LocalBags, Session, SessionOptions};
use timeloom_testkit::bench::{Bench, Samples, Stopwatch};

const ID: &str = "query.average";
const MESSAGES: u32 = 1_000_000;
const ROUNDS: usize = 5;
const FIELD: &str = "linear_acceleration.z";

const SCRIPT: &str = "
import sys
from pathlib import Path
from rosbags.highlevel import AnyReader
total = count = 0
with AnyReader([Path(sys.argv[1])]) as reader:
    for connection, _, raw in reader.messages():
        total += reader.deserialize(raw, connection.msgtype).linear_acceleration.z
        count += 1
print(total / count)
";

fn main() {
    let mut bench = Bench::from_env();
    if !bench.wants(ID) {
        return;
    }
    let directory = tempfile::TempDir::new().expect("a place for the bag");
    let bag = directory.path().join("million");
    record(&bag);
    let mut times: [Vec<f64>; 2] = Default::default();
    let mut results = [0.0; 2];
    for _ in 0..ROUNDS {
        let sides: [fn(&Path) -> f64; 2] = [by_hand, by_query];
        for ((side, times), result) in sides.iter().zip(&mut times).zip(&mut results) {
            let watch = Stopwatch::start();
            *result = side(&bag);
            times.push(watch.wall());
        }
    }
    assert!((results[0] - results[1]).abs() < 1e-6, "{results:?}");
    let [hand, query] = times.map(|times| times.into_iter().collect::<Samples>());
    bench.ratio_at_most(ID, query.median() / hand.median(), 1.5);
    let text = format_args!(
        "{MESSAGES} Imu messages: SQL {:.0} ms, loop over the reader {:.0} ms",
        query.median() / 1e6,
        hand.median() / 1e6
    );
    bench.note(ID, text);
    if let Some(python) = std::env::var_os("TIMELOOM_PYTHON") {
        let watch = Stopwatch::start();
        let script = Command::new(python).args(["-c", SCRIPT]).arg(&bag).output();
        let script = script.expect("the Python of TIMELOOM_PYTHON");
        assert!(script.status.success(), "{script:?}");
        let ratio = watch.wall() / query.median();
        bench.ratio_at_least("query.average.rosbags", ratio, 5.0);
    }
}

fn schema() -> Schema {
    let schema = Definitions::builtin().schema("sensor_msgs/msg/Imu");
    schema.expect("invariant: it is built in")
}

/// A million samples of an accelerometer at 1 kHz.
fn record(path: &Path) {
    let schema = schema();
    let mut info = TopicInfo::new("/imu", "sensor_msgs/msg/Imu");
    info.definition.encoding = "ros2msg".into();
    info.definition.text = schema.ros2msg().expect("a definition");
    let mut writer = BagWriter::create(path, BagOptions::default()).expect("a new bag");
    let topic = writer.add_topic(&info).expect("a new topic");
    let mut value = schema.default_value().expect("a value");
    value.set("header.frame_id", "imu_link").expect("a text");
    for number in 0..MESSAGES {
        let z = Value::Float64(9.81 + f64::from(number % 100) / 1000.0);
        value.set(FIELD, z).expect("a number");
        let data = schema.encode(&value).expect("a payload");
        let time = i64::from(number) * 1_000_000;
        let message = Message {
            topic,
            log_time_ns: time,
            publish_time_ns: time,
            sequence: number,
            data: &data,
        };
        let written = writer.write(&[message], time);
        written.into_result().expect("a written message");
    }
    let (_, outcome) = writer.finish().expect("a finished bag");
    outcome.into_result().expect("no loss");
}

fn by_hand(bag: &Path) -> f64 {
    let mut reader = BagReader::open(bag).expect("the bag");
    let program = FieldProgram::compile(&schema(), FIELD).expect("a field");
    let query = reader.query_for(&["/imu"]);
    reader.start(&query).expect("a query");
    let (mut sum, mut count) = (0.0, 0.0);
    while let Some(message) = reader.next_message().expect("a whole bag") {
        if let Ok(Value::Float64(z)) = program.read(message.data) {
            sum += z;
            count += 1.0;
        }
    }
    sum / count
}

fn by_query(bag: &Path) -> f64 {
    use datafusion::arrow::array::AsArray as _;
    use datafusion::arrow::datatypes::Float64Type;
    let bags = [bag.display().to_string()];
    let session = Session::open(Arc::new(LocalBags), &bags, SessionOptions::default());
    let session = session.expect("the bag");
    let answer = session.query(&format!("SELECT avg({FIELD}) FROM \"/imu\""));
    let mut answer = answer.expect("a query");
    let batch = answer.next().expect("a row").expect("an answer");
    batch.column(0).as_primitive::<Float64Type>().value(0)
}
