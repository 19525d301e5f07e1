//! Sessions over golden and made-up bags.

use std::path::Path;
use std::sync::Arc;

use datafusion::arrow::array::RecordBatch;
use timeloom_bag::{BagOptions, BagWriter, Message, MessageDefinition, TopicInfo};
use timeloom_msg::{Definitions, Schema, Value};
use timeloom_query::{Format, LocalBags, Session, SessionOptions, TextLayout, Writer};

/// Bags that the real rosbag2 recorded, of both storages and all compressions.
pub(crate) const GOLDEN: [&str; 9] = [
    "fastrtps_mcap",
    "mcap_fastwrite",
    "mcap_file_zstd",
    "mcap_msg_zstd",
    "mcap_plain",
    "mcap_split_dur",
    "mcap_zstd_fast",
    "sqlite3_file_zstd",
    "sqlite3_plain",
];

pub(crate) fn golden(name: &str) -> String {
    let bags = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../testdata/bags");
    bags.join(name).display().to_string()
}

pub(crate) fn open(bags: &[String]) -> Session {
    let options = SessionOptions {
        threads: Some(2),
        ..SessionOptions::default()
    };
    Session::open(Arc::new(LocalBags), bags, options).unwrap()
}

/// All rows of a query.
pub(crate) fn rows(session: &Session, sql: &str) -> Vec<RecordBatch> {
    let answer = session
        .query(sql)
        .unwrap_or_else(|error| panic!("{sql}: {error}"));
    answer.collect::<Result<_, _>>().unwrap()
}

/// The result as CSV lines, without the names.
pub(crate) fn csv(session: &Session, sql: &str) -> Vec<String> {
    let text = written(session, sql, Format::Csv);
    text.lines().skip(1).map(str::to_owned).collect()
}

pub(crate) fn written(session: &Session, sql: &str, format: Format) -> String {
    let mut answer = session
        .query(sql)
        .unwrap_or_else(|error| panic!("{sql}: {error}"));
    let mut writer = Writer::new(format, TextLayout::default(), &answer.schema());
    let mut out = Vec::new();
    for batch in &mut answer {
        writer.write(&batch.unwrap(), &mut out).unwrap();
    }
    writer.finish(&mut out).unwrap();
    String::from_utf8(out).unwrap()
}

/// A topic of a made-up bag.
pub(crate) fn topic(name: &str, type_name: &str, definition: Option<&str>) -> (TopicInfo, Schema) {
    let schema = match definition {
        Some(text) => Schema::parse_ros2msg(type_name, text).unwrap(),
        None => Definitions::builtin().schema(type_name).unwrap(),
    };
    let mut info = TopicInfo::new(name, type_name);
    info.definition = MessageDefinition {
        encoding: "ros2msg".into(),
        text: schema.ros2msg().unwrap(),
    };
    (info, schema)
}

/// Writes a bag of one topic: payload `n` at second `n`.
pub(crate) fn record(path: impl AsRef<Path>, topic: &TopicInfo, payloads: &[Vec<u8>]) -> String {
    record_with(path.as_ref(), topic, payloads, BagOptions::default())
}

pub(crate) fn record_with(
    path: &Path,
    topic: &TopicInfo,
    payloads: &[Vec<u8>],
    options: BagOptions,
) -> String {
    let mut writer = BagWriter::create(path, options).unwrap();
    let id = writer.add_topic(topic).unwrap();
    for (second, data) in (0_i64..).zip(payloads) {
        let message = Message {
            topic: id,
            log_time_ns: second * 1_000_000_000,
            publish_time_ns: second * 1_000_000_000 - 1_000_000,
            sequence: 0,
            data,
        };
        writer.write(&[message], 0).into_result().unwrap();
    }
    writer.finish().unwrap().1.into_result().unwrap();
    path.display().to_string()
}

/// A `std_msgs/msg/Float64` with this number.
pub(crate) fn float(schema: &Schema, number: f64) -> Vec<u8> {
    let mut value = schema.default_value().unwrap();
    value.set("data", Value::Float64(number)).unwrap();
    schema.encode(&value).unwrap()
}
