//! Every value of every golden bag, held against the decoder of whole messages.

use std::sync::Arc;

use datafusion::arrow::array::{Array as _, ArrayRef, AsArray as _, RecordBatch};
use datafusion::arrow::datatypes::{
    DataType, DurationNanosecondType, Float32Type, Float64Type, Int8Type, Int16Type, Int32Type,
    Int64Type, TimestampNanosecondType, UInt8Type, UInt16Type, UInt32Type, UInt64Type,
};
use timeloom_bag::{BagReader, StorageReader as _};
use timeloom_msg::value::Array;
use timeloom_msg::{Schema, Value};
use timeloom_query::{BagSource as _, LocalBags};

use crate::support::{GOLDEN, golden, open, rows};

/// The elements of a list in one row.
fn elements(array: &ArrayRef, row: usize) -> ArrayRef {
    match array.data_type() {
        DataType::FixedSizeList(..) => array.as_fixed_size_list().value(row),
        _ => array.as_list::<i32>().value(row),
    }
}

/// Compares one value; returns how many plain values were in it.
fn check(array: &ArrayRef, row: usize, value: &Value, path: &str) -> u64 {
    macro_rules! number {
        ($kind:ty, $number:expr) => {{
            let found = array.as_primitive::<$kind>().value(row);
            assert_eq!(found.to_ne_bytes(), $number.to_ne_bytes(), "{path}");
            1
        }};
    }
    assert!(array.is_valid(row), "{path} is null");
    match value {
        Value::Bool(b) => {
            assert_eq!(array.as_boolean().value(row), *b, "{path}");
            1
        }
        Value::Int8(n) => number!(Int8Type, n),
        Value::Uint8(n) => number!(UInt8Type, n),
        Value::Int16(n) => number!(Int16Type, n),
        Value::Uint16(n) => number!(UInt16Type, n),
        Value::Int32(n) => number!(Int32Type, n),
        Value::Uint32(n) => number!(UInt32Type, n),
        Value::Int64(n) => number!(Int64Type, n),
        Value::Uint64(n) => number!(UInt64Type, n),
        Value::Float32(n) => number!(Float32Type, n),
        Value::Float64(n) => number!(Float64Type, n),
        Value::String(text) => {
            let found = array.as_string::<i32>().value(row);
            assert_eq!(found, text.to_string_lossy(), "{path}");
            1
        }
        Value::WString(text) => {
            let found = array.as_string::<i32>().value(row);
            assert_eq!(found, text.to_string_lossy(), "{path}");
            1
        }
        Value::Array(Array::Uint8(bytes)) => {
            assert_eq!(array.as_binary::<i32>().value(row), bytes, "{path}");
            1
        }
        Value::Array(items) => {
            let found = elements(array, row);
            assert_eq!(found.len(), items.len(), "{path}");
            let one = |index| check(&found, index, &items.get(index).unwrap(), path);
            (0..items.len()).map(one).sum()
        }
        Value::Struct(message) => {
            let two = |names: [&str; 2]| {
                let number = |name| message.get(name).unwrap().clone();
                match names.map(number) {
                    [Value::Int32(sec), Value::Uint32(nanosec)] => {
                        i64::from(sec) * 1_000_000_000 + i64::from(nanosec)
                    }
                    other => panic!("{path}: {other:?}"),
                }
            };
            match array.data_type() {
                DataType::Timestamp(..) => {
                    let found = array.as_primitive::<TimestampNanosecondType>().value(row);
                    assert_eq!(found, two(["sec", "nanosec"]), "{path}");
                    1
                }
                DataType::Duration(_) => {
                    let found = array.as_primitive::<DurationNanosecondType>().value(row);
                    assert_eq!(found, two(["sec", "nanosec"]), "{path}");
                    1
                }
                _ => {
                    let found = array.as_struct();
                    let one = |(name, value): (&str, &Value)| {
                        let column = found.column_by_name(name);
                        let column = column.unwrap_or_else(|| panic!("{path}.{name}"));
                        check(column, row, value, &format!("{path}.{name}"))
                    };
                    message.fields().map(one).sum()
                }
            }
        }
    }
}

/// The types of the columns are those of tables in Python, Parquet and Arrow files.
fn check_types(batch: &RecordBatch, schema: &Arc<Schema>, topic: &str) {
    let rows = timeloom_columns::Rows::new(Arc::clone(schema), None).unwrap();
    for field in rows.empty().schema().fields() {
        let found = batch.schema();
        let found = found.field_with_name(field.name()).unwrap();
        assert_eq!(found.data_type(), field.data_type(), "{topic}: {field}");
    }
}

fn check_row(batch: &RecordBatch, row: usize, value: &Value, topic: &str) -> u64 {
    let Value::Struct(message) = value else {
        panic!("{topic}");
    };
    let one = |(name, value): (&str, &Value)| {
        let column = batch.column_by_name(name);
        let column = column.unwrap_or_else(|| panic!("{topic}: {name}"));
        check(column, row, value, &format!("{topic}: {name}"))
    };
    message.fields().map(one).sum()
}

#[test]
fn every_value_is_that_of_the_whole_message() {
    let mut values = 0;
    for bag in GOLDEN {
        let session = open(&[golden(bag)]);
        let mut reader = BagReader::open(golden(bag).as_ref()).unwrap();
        let info = reader.info().clone();
        for topic in &info.topics {
            let types = LocalBags.types().for_distro(&info.ros_distro);
            let schema = Arc::new(topic.schema(&types).unwrap());
            let batches = rows(&session, &format!("SELECT * FROM \"{}\"", topic.name));
            if let Some(batch) = batches.first() {
                check_types(batch, &schema, &topic.name);
            }
            let mut cells = batches
                .iter()
                .flat_map(|batch| (0..batch.num_rows()).map(move |row| (batch, row)));
            let query = reader.query_for(&[&topic.name]);
            reader.start(&query).unwrap();
            while let Some(message) = reader.next_message().unwrap() {
                let (batch, row) = cells.next().unwrap();
                let time = batch.column_by_name("log_time").unwrap();
                let time = time.as_primitive::<TimestampNanosecondType>().value(row);
                assert_eq!(time, message.log_time_ns);
                let value = schema.decode(message.data).unwrap();
                values += check_row(batch, row, &value, &topic.name);
            }
            assert!(cells.next().is_none(), "{bag} {}", topic.name);
        }
        assert!(session.findings().is_empty());
    }
    assert!(values > 100_000, "{values}");
}
