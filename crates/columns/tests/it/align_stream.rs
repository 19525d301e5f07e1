//! Aligned rows in batches are those of the whole.

use std::path::Path;

use timeloom_bag::{BagOptions, BagReader, BagWriter, Message, TopicInfo};
use timeloom_columns::{
    AlignOptions, AlignStream, Method, RecordBatch, Samples, TimeBase, TopicReader, TopicRequest,
    TopicTimes, align,
};
use timeloom_msg::{Definitions, TypeResolver};
use timeloom_testkit::mcap::BagScratch;

const MILLISECOND: i64 = 1_000_000;

/// Points whose stamps are out of order: log time and stamp differ by up to 300 messages.
fn record(path: &Path, messages: i64) {
    let schema = Definitions::builtin()
        .schema("geometry_msgs/msg/PointStamped")
        .unwrap();
    let mut writer = BagWriter::create(path, BagOptions::default()).unwrap();
    let topic = writer
        .add_topic(&TopicInfo::new("/p", schema.name().to_string()))
        .unwrap();
    for number in 0..messages {
        let stamp = (number + (number * 7919) % 300) * MILLISECOND;
        let mut value = schema.default_value().unwrap();
        let sec = i32::try_from(stamp / 1_000_000_000).unwrap();
        let nanosec = u32::try_from(stamp % 1_000_000_000).unwrap();
        value.set("header.stamp.sec", sec).unwrap();
        value.set("header.stamp.nanosec", nanosec).unwrap();
        value.set("point.x", number as f64).unwrap();
        value.set("header.frame_id", format!("{number}")).unwrap();
        let mut data = schema.encode(&value).unwrap();
        if number % 50 == 7 {
            // It cannot be decoded, so it is no partner.
            data.truncate(20);
        }
        let message = Message {
            topic,
            log_time_ns: number * MILLISECOND,
            publish_time_ns: number * MILLISECOND,
            sequence: 0,
            data: &data,
        };
        assert!(writer.write(&[message], 0).is_ok());
    }
    assert!(writer.finish().unwrap().1.is_ok());
}

fn reader(path: &Path) -> TopicReader {
    let bag = BagReader::open(path).unwrap();
    TopicReader::new(bag, &TypeResolver::default(), &TopicRequest::new("/p")).unwrap()
}

#[test]
fn a_stream_has_the_rows_of_the_whole_also_for_times_out_of_order() {
    let scratch = BagScratch::new();
    let path = scratch.path().join("bag");
    record(&path, 9_000);
    let frames: Vec<i64> = (-50..10_000)
        .map(|frame| frame * MILLISECOND + (frame * 104_729) % MILLISECOND)
        .collect();
    for base in [TimeBase::LogTime, TimeBase::HeaderStamp] {
        let samples = Samples::read("/p", &mut reader(&path), base).unwrap();
        for method in [Method::Nearest, Method::Previous, Method::Interpolate] {
            for tolerance_ns in [None, Some(MILLISECOND / 2)] {
                let options = AlignOptions {
                    method,
                    tolerance_ns,
                };
                let whole = align(&frames, std::slice::from_ref(&samples), options).unwrap();
                let times = TopicTimes::read("/p", &mut reader(&path), base).unwrap();
                assert_eq!(times.missing(), 180);
                let topics = vec![(times, reader(&path))];
                let stream = AlignStream::new(frames.clone(), topics, options).unwrap();
                assert_eq!(stream.unmatched(), whole.unmatched);
                assert_eq!(stream.schema(), whole.rows.schema());
                let batches: Vec<RecordBatch> = stream.map(Result::unwrap).collect();
                assert!(batches.len() > 1, "{} batches", batches.len());
                let mut row = 0;
                for batch in batches {
                    let expected = whole.rows.slice(row, batch.num_rows());
                    assert_eq!(batch, expected, "{base:?} {options:?} from row {row}");
                    row += batch.num_rows();
                }
                assert_eq!(row, frames.len());
            }
        }
    }
}

#[test]
fn without_frames_or_messages_there_is_a_schema() {
    let scratch = BagScratch::new();
    let path = scratch.path().join("bag");
    record(&path, 0);
    let options = AlignOptions {
        method: Method::Nearest,
        tolerance_ns: None,
    };
    let topic = || {
        let times = TopicTimes::read("/p", &mut reader(&path), TimeBase::LogTime).unwrap();
        vec![(times, reader(&path))]
    };
    let mut none = AlignStream::new(Vec::new(), topic(), options).unwrap();
    assert_eq!(none.schema().fields().len(), 2);
    assert!(none.next().is_none());
    let mut one = AlignStream::new(vec![5], topic(), options).unwrap();
    assert_eq!(one.unmatched(), [("/p".to_owned(), 1)]);
    assert_eq!(one.next().unwrap().unwrap().num_rows(), 1);
}
