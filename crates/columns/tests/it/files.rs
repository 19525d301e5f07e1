//! Files of Parquet and Arrow.

use std::fs::{self, File};
use std::sync::Arc;

use arrow_array::{ArrayRef, Int64Array, StringViewArray, StructArray};
use arrow_schema::{DataType, Field, Fields};
use parquet::file::metadata::RowGroupMetaData;
use parquet::file::reader::FileReader as _;
use timeloom_bag::convert::OnDamage;
use timeloom_bag::{
    BagOptions, BagReader, BagWriter, Decoder, Message, Query, StorageReader as _, TopicInfo,
};
use timeloom_columns::{
    ExportTablesOptions, RecordBatch, RowOrder, TableFile, TableFormat, export_tables,
};
use timeloom_msg::TypeResolver;
use timeloom_testkit::mcap::BagScratch;

const FORMATS: [TableFormat; 2] = [TableFormat::Parquet, TableFormat::Arrow];

fn batch(rows: i64) -> RecordBatch {
    let numbers: ArrayRef = Arc::new((0..rows).collect::<Int64Array>());
    let texts = (0..rows).map(|row| Some(format!("text {row}")));
    let texts: ArrayRef = Arc::new(texts.collect::<StringViewArray>());
    let fields = Fields::from(vec![Field::new("text", DataType::Utf8View, true)]);
    let nested: ArrayRef = Arc::new(StructArray::new(fields, vec![texts], None));
    RecordBatch::try_from_iter([("number", numbers), ("nested", nested)]).unwrap()
}

#[test]
fn a_file_that_is_not_finished_is_removed() {
    let scratch = BagScratch::new();
    for format in FORMATS {
        let path = scratch.path().join("table");
        let batch = batch(10);
        let create =
            || TableFile::create(&path, format, &batch.schema(), RowOrder::Any, Vec::new());
        let mut file = create().unwrap();
        file.write(&batch).unwrap();
        let error = create().err().unwrap().to_string();
        assert!(error.starts_with("cannot create "), "{error}");
        assert!(path.exists(), "the file that exists is not touched");
        drop(file);
        assert!(!path.exists());
        let mut file = create().unwrap();
        file.write(&batch).unwrap();
        assert_eq!(file.rows(), 10);
        file.finish(Vec::new()).unwrap();
        assert!(path.exists());
        fs::remove_file(&path).unwrap();
    }
}

#[test]
fn row_groups_are_limited_and_sorted_and_metadata_is_kept() {
    let scratch = BagScratch::new();
    let path = scratch.path().join("table.parquet");
    let batch = batch(300_000);
    let pairs = |key: &str| vec![(key.to_owned(), "value".to_owned())];
    let mut file = TableFile::create(
        &path,
        TableFormat::Parquet,
        &batch.schema(),
        RowOrder::FirstColumn,
        pairs("begin"),
    )
    .unwrap();
    file.write(&batch).unwrap();
    assert!(file.buffered() > 0);
    file.flush().unwrap();
    assert_eq!(file.buffered(), 0);
    file.finish(pairs("end")).unwrap();
    let file = File::open(&path).unwrap();
    let reader = parquet::file::reader::SerializedFileReader::new(file).unwrap();
    let metadata = reader.metadata();
    let rows: Vec<i64> = metadata
        .row_groups()
        .iter()
        .map(RowGroupMetaData::num_rows)
        .collect();
    assert_eq!(rows, [131_072, 131_072, 37_856]);
    assert!(metadata.row_group(0).sorting_columns().is_some());
    let keys = metadata.file_metadata().key_value_metadata().unwrap();
    let keys: Vec<&str> = keys.iter().map(|it| it.key.as_str()).collect();
    assert!(keys.contains(&"begin") && keys.contains(&"end"), "{keys:?}");
}

/// Images of 1 MB: a topic is written while it is read.
#[test]
fn large_messages_are_written_in_row_groups() {
    let scratch = BagScratch::new();
    let path = scratch.path().join("bag");
    let mut writer = BagWriter::create(&path, BagOptions::default()).unwrap();
    let topic = TopicInfo::new("/image", "std_msgs/msg/UInt8MultiArray");
    let topic = writer.add_topic(&topic).unwrap();
    let mut data = vec![0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 16, 0];
    for number in 0..140_i64 {
        data.truncate(16);
        // Bytes that do not compress, so that the size of a row group is that of its messages.
        let mut state = u64::try_from(number).unwrap() + 1;
        data.extend((0..1 << 20).map(|_| {
            state = state
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1);
            state.to_be_bytes()[0]
        }));
        let message = Message {
            topic,
            log_time_ns: number,
            publish_time_ns: number,
            sequence: 0,
            data: &data,
        };
        assert!(writer.write(&[message], 0).is_ok());
    }
    assert!(writer.finish().unwrap().1.is_ok());
    let mut reader = BagReader::open(&path).unwrap();
    let decoder = Decoder::new(reader.info(), &TypeResolver::default());
    let options = ExportTablesOptions {
        query: Query::default(),
        on_damage: OnDamage::Fail,
        format: TableFormat::Parquet,
        reserved: Vec::new(),
    };
    let directory = scratch.path().join("tables");
    let report = export_tables(&mut reader, &decoder, &directory, &options, &mut |_| {}).unwrap();
    assert_eq!((report.messages, report.files), (140, 1));
    let file = File::open(directory.join("image.parquet")).unwrap();
    let reader = parquet::file::reader::SerializedFileReader::new(file).unwrap();
    let groups = reader.metadata().row_groups();
    assert!(groups.len() >= 2, "{}", groups.len());
    assert!(groups.iter().all(|group| group.num_rows() <= 80));
}
