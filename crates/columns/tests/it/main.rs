//! Payloads become columns.
#![expect(
    clippy::unwrap_used,
    reason = "in helpers of tests too a failure is a failed test"
)]

mod align_stream;
#[cfg(feature = "files")]
mod files;

use std::sync::Arc;

use arrow_array::cast::AsArray as _;
use arrow_array::types::{Float64Type, Int32Type, TimestampNanosecondType, UInt16Type};
use arrow_array::{Array as _, RecordBatch};
use timeloom_bag::{Message, TopicId};
use timeloom_columns::{
    AlignOptions, Error, Method, Rows, Samples, TopicRequest, Undecoded, align,
};
use timeloom_msg::cdr::{EncodeOptions, Endian};
use timeloom_msg::{Schema, Value};

const TEXT: &str = "\
bool flag
Time stamp
string name
float64[2] pair
uint16[] many
uint8[] raw
Inner inner
Inner[] inners
Empty empty
wstring wide
int32 last
================================================================================
MSG: builtin_interfaces/Time
int32 sec
uint32 nanosec
================================================================================
MSG: p/Inner
int8 small
float64 large
================================================================================
MSG: p/Empty
";

fn schema(text: &str) -> Arc<Schema> {
    let text = text.replace("Time stamp", "builtin_interfaces/Time stamp");
    Arc::new(Schema::parse_ros2msg("p/msg/T", &text).unwrap())
}

fn message(data: &[u8], time: i64) -> Message<'_> {
    Message {
        topic: TopicId(0),
        log_time_ns: time,
        publish_time_ns: time - 1,
        sequence: 0,
        data,
    }
}

/// A message with a value in each field.
fn value(schema: &Schema) -> Value {
    use timeloom_msg::value::Array;
    let mut value = schema.default_value().unwrap();
    value.set("flag", true).unwrap();
    value.set("stamp.sec", 3_i32).unwrap();
    value.set("stamp.nanosec", 7_u32).unwrap();
    value.set("name", "é").unwrap();
    value.set("pair", Array::Float64(vec![1.0, 2.0])).unwrap();
    value.set("many", Array::Uint16(vec![4, 5, 6])).unwrap();
    value.set("raw", Array::Uint8(vec![9, 8])).unwrap();
    value.set("inner.large", 0.5).unwrap();
    value.set("last", -5_i32).unwrap();
    value
}

fn table(rows: &mut Rows) -> RecordBatch {
    rows.take().into_record_batch().unwrap()
}

#[test]
fn every_kind_of_field_is_read_in_both_byte_orders() {
    let schema = schema(&TEXT.replace("wstring", "string"));
    for endian in [Endian::Little, Endian::Big] {
        let options = EncodeOptions {
            endian,
            ..EncodeOptions::default()
        };
        let payload = schema.encode_with(&value(&schema), options).unwrap();
        let mut rows = Rows::new(Arc::clone(&schema), None).unwrap();
        rows.push(&message(&payload, 10)).unwrap();
        rows.push(&message(&payload, 20)).unwrap();
        let batch = table(&mut rows);
        let column = |name: &str| batch.column_by_name(name).unwrap();
        assert_eq!(batch.num_rows(), 2);
        assert!(batch.column_by_name("empty").is_none(), "it holds nothing");
        assert!(column("flag").as_boolean().value(1));
        let stamps = column("stamp").as_primitive::<TimestampNanosecondType>();
        assert_eq!(stamps.value(1), 3_000_000_007);
        assert_eq!(column("name").as_string::<i32>().value(1), "é");
        let pair = column("pair").as_fixed_size_list().value(1);
        assert_eq!(pair.as_primitive::<Float64Type>().values(), &[1.0, 2.0]);
        let many = column("many").as_list::<i32>().value(1);
        assert_eq!(many.as_primitive::<UInt16Type>().values(), &[4, 5, 6]);
        assert_eq!(column("raw").as_binary::<i32>().value(1), [9, 8]);
        let large = column("inner").as_struct().column(1);
        assert!((large.as_primitive::<Float64Type>().value(1) - 0.5).abs() < f64::EPSILON);
        assert_eq!(column("inners").as_list::<i32>().value(1).len(), 0);
        assert_eq!(column("last").as_primitive::<Int32Type>().value(1), -5);
    }
}

#[test]
fn wide_strings_before_a_field_do_not_hide_it() {
    let schema = schema(TEXT);
    let payload = schema.encode(&value(&schema)).unwrap();
    let mut rows = Rows::new(Arc::clone(&schema), Some(&["last".to_owned()])).unwrap();
    rows.push(&message(&payload, 1)).unwrap();
    let batch = table(&mut rows);
    assert_eq!(batch.column(2).as_primitive::<Int32Type>().value(0), -5);
}

#[test]
fn a_message_that_ends_early_is_null_or_left_out_and_the_next_one_is_read() {
    let schema = schema(&TEXT.replace("wstring", "string"));
    let payload = schema.encode(&value(&schema)).unwrap();
    for length in 0..payload.len() {
        let mut rows = Rows::new(Arc::clone(&schema), None).unwrap();
        rows.push(&message(&payload, 1)).unwrap();
        rows.push(&message(&payload[..length], 2)).unwrap_err();
        rows.push(&message(&payload, 3)).unwrap();
        let batch = table(&mut rows);
        let last = batch.column_by_name("last").unwrap();
        let last = last.as_primitive::<Int32Type>();
        assert!(last.is_null(1), "{length}");
        assert_eq!((last.value(0), last.value(2)), (-5, -5), "{length}");
        assert!(batch.column_by_name("inner").unwrap().is_null(1));
        let mut rows = rows.with_undecoded(Undecoded::LeaveOut);
        rows.push(&message(&payload[..length], 2)).unwrap_err();
        rows.push(&message(&payload, 3)).unwrap();
        let batch = rows.take();
        assert_eq!(batch.log_times, [3]);
    }
}

#[test]
fn announced_lengths_take_no_memory() {
    let huge = [0, 1, 0, 0, 255, 255, 255, 255, 0, 0];
    for text in [
        "float64[] a",
        "string a",
        "string[] a",
        "bool[] a",
        "uint8[] a",
    ] {
        let mut rows = Rows::new(schema(text), None).unwrap();
        let error = rows.push(&message(&huge, 1)).unwrap_err().to_string();
        assert!(error.contains("payload too short"), "{text}: {error}");
    }
}

#[test]
fn fields_are_chosen_by_their_path() {
    let schema = schema(&TEXT.replace("wstring", "string"));
    let paths = |paths: &[&str]| paths.iter().map(|&it| it.to_owned()).collect::<Vec<_>>();
    let chosen = paths(&["inner.large", "name"]);
    let rows = Rows::new(Arc::clone(&schema), Some(&chosen)).unwrap();
    let names = rows.empty().schema();
    let names: Vec<&str> = names.fields().iter().map(|it| it.name().as_str()).collect();
    assert_eq!(names, ["log_time", "publish_time", "inner.large", "name"]);
    let wrong = |chosen: &[&str]| Rows::new(Arc::clone(&schema), Some(&paths(chosen))).unwrap_err();
    assert!(matches!(wrong(&["inner.x"]), Error::UnknownField { .. }));
    assert!(matches!(
        wrong(&["inners.small"]),
        Error::UnknownField { .. }
    ));
    assert!(matches!(
        wrong(&["inner", "inner.small"]),
        Error::Overlap { .. }
    ));
}

#[test]
fn an_unknown_topic_lists_the_known_ones() {
    use timeloom_bag::TopicInfo;
    let topics = [
        TopicInfo::new("/a", "p/msg/A"),
        TopicInfo::new("/b", "p/msg/A"),
        TopicInfo::new("/b", "p/msg/B"),
    ];
    assert_eq!(TopicRequest::new("/a").find(&topics).unwrap(), 0);
    let unknown = TopicRequest::new("/c").find(&topics).unwrap_err();
    assert_eq!(unknown.to_string(), "the bag has no topic /c");
    let several = TopicRequest::new("/b").find(&topics).unwrap_err();
    assert_eq!(
        several.to_string(),
        "topic /b has several types: p/msg/A, p/msg/B"
    );
    let one = TopicRequest {
        type_name: Some("p/msg/B".to_owned()),
        ..TopicRequest::new("/b")
    };
    assert_eq!(one.find(&topics).unwrap(), 2);
}

#[test]
fn interpolation_blends_numbers_and_takes_the_nearer_of_the_rest() {
    let schema = schema("float64 x\nfloat64[2] pair\nstring name\n");
    let mut rows = Rows::new(Arc::clone(&schema), None).unwrap();
    for (time, x, name) in [(100, 1.0, "a"), (200, 2.0, "b")] {
        use timeloom_msg::value::Array;
        let mut value = schema.default_value().unwrap();
        value.set("x", x).unwrap();
        value.set("pair", Array::Float64(vec![x, -x])).unwrap();
        value.set("name", name).unwrap();
        rows.push(&message(&schema.encode(&value).unwrap(), time))
            .unwrap();
    }
    let times = [Some(100), Some(200)];
    let samples = Samples::sorted("/t", &times, &table(&mut rows)).unwrap();
    let options = AlignOptions {
        method: Method::Interpolate,
        tolerance_ns: None,
    };
    let aligned = align(&[50, 100, 175], &[samples], options).unwrap();
    assert_eq!(aligned.unmatched, [("/t".to_owned(), 1)]);
    let topic = aligned
        .rows
        .column_by_name("/t")
        .unwrap()
        .as_struct()
        .clone();
    assert!(topic.is_null(0));
    let x = topic
        .column_by_name("x")
        .unwrap()
        .as_primitive::<Float64Type>()
        .clone();
    assert_eq!((x.value(1), x.value(2)), (1.0, 1.75));
    let pair = topic
        .column_by_name("pair")
        .unwrap()
        .as_fixed_size_list()
        .value(2);
    assert_eq!(pair.as_primitive::<Float64Type>().values(), &[1.75, -1.75]);
    assert_eq!(
        topic
            .column_by_name("name")
            .unwrap()
            .as_string::<i32>()
            .value(2),
        "b"
    );
    let distance = topic.column_by_name("distance").unwrap();
    let distance = distance.as_primitive::<arrow_array::types::DurationNanosecondType>();
    assert_eq!((distance.value(1), distance.value(2)), (0, 25));
}
