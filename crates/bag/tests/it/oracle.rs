//! The `mcap` crate as a reference: it reads our files, and we read its files.

use std::collections::BTreeMap;
use std::io::Cursor;

use timeloom_bag::conformance::read_all;
use timeloom_bag::mcap::{McapCompression, McapLimits, McapOptions, McapReader, McapWriter};
use timeloom_bag::{BagMetadata, Message, Order, Query, StorageReader, StorageWriter, TopicId};
use timeloom_testkit::mcap::BagScratch;

use crate::support::{payload, test_topics};

fn options() -> Vec<McapOptions> {
    let base = McapOptions {
        chunk_size: 3000,
        ..McapOptions::default()
    };
    vec![
        base.clone(),
        McapOptions {
            compression: McapCompression::Zstd(1),
            ..base.clone()
        },
        McapOptions {
            compression: McapCompression::Lz4,
            ..base.clone()
        },
        McapOptions {
            threads: 2,
            compression: McapCompression::Zstd(-5),
            ..base.clone()
        },
        McapOptions {
            chunking: false,
            ..base
        },
    ]
}

#[test]
fn the_crate_reads_our_files_with_summary_and_index() {
    for options in options() {
        let directory = BagScratch::new();
        let path = directory.path().join("x.mcap");
        let chunking = options.chunking;
        let mut writer = Box::new(McapWriter::create(&path, options, None).unwrap());
        for topic in test_topics() {
            writer.add_topic(&topic).unwrap();
        }
        for k in 0..500u32 {
            let data = payload(k);
            let time = i64::from(k) * 10 - i64::from(k % 7) * 15 + 1000;
            let message = Message {
                topic: TopicId(k % 2),
                log_time_ns: time,
                publish_time_ns: time,
                sequence: k,
                data: &data,
            };
            assert!(writer.write(&[message], 0).is_ok());
        }
        let (_, outcome) = writer.finish(&mut |_| BagMetadata::default());
        assert!(outcome.is_ok());
        let bytes = std::fs::read(&path).unwrap();
        let ours = read_all(&mut McapReader::open(&path).unwrap(), &Query::default()).unwrap();
        let in_file = Query {
            order: Order::File,
            ..Query::default()
        };
        let in_file = read_all(&mut McapReader::open(&path).unwrap(), &in_file).unwrap();
        let theirs: Vec<_> = mcap::MessageStream::new(&bytes)
            .unwrap()
            .map(Result::unwrap)
            .collect();
        assert_eq!(theirs.len(), 500);
        for (theirs, ours) in theirs.iter().zip(&in_file) {
            assert_eq!(theirs.channel.topic, ours.topic);
            assert_eq!(
                (theirs.log_time, theirs.sequence),
                (ours.log_time_ns.cast_unsigned(), ours.sequence)
            );
            assert!(*theirs.data == *ours.data);
        }
        let summary = mcap::Summary::read(&bytes).unwrap().unwrap();
        assert_eq!(summary.stats.as_ref().unwrap().message_count, 500);
        assert_eq!(summary.channels.len(), 3);
        let channel = &summary.channels[&1];
        assert_eq!(
            channel.metadata["topic_type_hash"],
            test_topics()[0].type_description_hash
        );
        assert_eq!(summary.metadata_indexes.len(), 1);
        if chunking {
            let indexed = indexed_times(&bytes, &summary);
            assert_eq!(
                indexed,
                ours.iter()
                    .map(|message| message.log_time_ns.cast_unsigned())
                    .collect::<Vec<_>>()
            );
            for index in &summary.chunk_indexes {
                let messages = summary.read_message_indexes(&bytes, index).unwrap();
                assert_eq!(messages.len(), index.message_index_offsets.len());
            }
        }
    }
}

/// Times in the order of the crate's indexed reader.
fn indexed_times(bytes: &[u8], summary: &mcap::Summary) -> Vec<u64> {
    let mut reader = mcap::sans_io::IndexedReader::new(summary).unwrap();
    let mut times = Vec::new();
    while let Some(event) = reader.next_event() {
        match event.unwrap() {
            mcap::sans_io::IndexedReadEvent::ReadChunkRequest { offset, length } => {
                let from = usize::try_from(offset).unwrap();
                reader
                    .insert_chunk_record_data(offset, &bytes[from..from + length])
                    .unwrap();
            }
            mcap::sans_io::IndexedReadEvent::Message { header, .. } => times.push(header.log_time),
        }
    }
    times
}

#[test]
fn we_read_files_of_the_crate() {
    use mcap::Compression;
    for compression in [None, Some(Compression::Zstd), Some(Compression::Lz4)] {
        for (chunks, summary) in [(true, true), (false, true), (true, false)] {
            let mut options = mcap::WriteOptions::new()
                .compression(compression)
                .chunk_size(Some(2000))
                .use_chunks(chunks);
            if !summary {
                options = options
                    .emit_summary_records(false)
                    .emit_summary_offsets(false);
            }
            let mut writer = options.create(Cursor::new(Vec::new())).unwrap();
            let schema = writer
                .add_schema("std_msgs/msg/String", "ros2msg", b"string data\n")
                .unwrap();
            let channel = writer
                .add_channel(schema, "/chatter", "cdr", &BTreeMap::new())
                .unwrap();
            for k in 0..300u32 {
                let time = u64::from(1000 + k - (k % 5) * 3);
                let header = mcap::records::MessageHeader {
                    channel_id: channel,
                    sequence: k,
                    log_time: time,
                    publish_time: time,
                };
                writer.write_to_known_channel(&header, &payload(k)).unwrap();
            }
            writer.finish().unwrap();
            let directory = BagScratch::new();
            let path = directory.path().join("x.mcap");
            std::fs::write(&path, writer.into_inner().into_inner()).unwrap();
            let messages =
                read_all(&mut McapReader::open(&path).unwrap(), &Query::default()).unwrap();
            assert_eq!(messages.len(), 300, "{compression:?} {chunks} {summary}");
            assert!(messages.is_sorted_by_key(|message| message.log_time_ns));
            assert!(
                messages
                    .iter()
                    .all(|message| message.data == payload(message.sequence))
            );
        }
    }
}

#[test]
fn overlapping_chunks_stay_within_the_memory_limit() {
    let directory = BagScratch::new();
    let path = directory.path().join("x.mcap");
    let options = McapOptions {
        chunk_size: 4000,
        ..McapOptions::default()
    };
    let mut writer = Box::new(McapWriter::create(&path, options, None).unwrap());
    writer.add_topic(&test_topics()[0]).unwrap();
    // Every chunk spans all times: the worst case of a file that is grouped by topic.
    for k in 0..2000u32 {
        let time = i64::from(k % 40);
        let data = k.to_le_bytes();
        let message = Message {
            topic: TopicId(0),
            log_time_ns: time,
            publish_time_ns: 0,
            sequence: k,
            data: &data,
        };
        assert!(writer.write(&[message], 0).is_ok());
    }
    let _finished = writer.finish(&mut |_| BagMetadata::default());
    let all = read_all(&mut McapReader::open(&path).unwrap(), &Query::default()).unwrap();
    let limits = McapLimits {
        max_open_bytes: 9000,
        ..McapLimits::default()
    };
    for order in [Order::LogTime, Order::ReverseLogTime] {
        let mut reader = McapReader::with_limits(&path, limits).unwrap();
        let mut bounded = read_all(
            &mut reader,
            &Query {
                order,
                ..Query::default()
            },
        )
        .unwrap();
        if order == Order::ReverseLogTime {
            bounded.reverse();
        }
        assert!(
            bounded == all,
            "the same messages in the same order with 2 chunks of memory"
        );
    }
    let keys: Vec<_> = all
        .iter()
        .map(|message| (message.log_time_ns, message.sequence))
        .collect();
    assert!(keys.is_sorted(), "equal times in the order of the file");
}

#[test]
fn a_chunk_is_sealed_by_its_age() {
    let directory = BagScratch::new();
    directory.unchecked();
    let path = directory.path().join("x.mcap");
    let mut writer = Box::new(McapWriter::create(&path, McapOptions::default(), None).unwrap());
    writer.add_topic(&test_topics()[0]).unwrap();
    let message = Message {
        topic: TopicId(0),
        log_time_ns: 1,
        publish_time_ns: 1,
        sequence: 0,
        data: b"x",
    };
    let readable = || McapReader::open(&path).unwrap().info().message_count();
    assert!(writer.write(&[message], 1_000_000_000).is_ok());
    assert!(writer.tick(1_499_999_999).is_ok());
    assert_eq!(readable(), 0);
    assert!(writer.tick(1_500_000_000).is_ok());
    assert_eq!(readable(), 1);
    assert!(writer.write(&[message], 9_000_000_000).is_ok());
    assert!(writer.tick(9_400_000_000).is_ok());
    assert_eq!(
        readable(),
        1,
        "the age counts from the first message of the chunk"
    );
    assert!(writer.request_sync().is_ok());
    assert_eq!(readable(), 2);
}

#[test]
fn the_index_of_a_long_file_stays_within_its_memory() {
    let directory = BagScratch::new();
    let chunks = |name: &str, index_memory: usize| {
        let path = directory.path().join(name);
        let options = McapOptions {
            chunk_size: 500,
            index_memory,
            ..McapOptions::default()
        };
        let mut writer = Box::new(McapWriter::create(&path, options, None).unwrap());
        writer.add_topic(&test_topics()[0]).unwrap();
        for k in 0..20_000u32 {
            let (time, data) = (i64::from(k), payload(k % 50));
            let message = Message {
                topic: TopicId(0),
                log_time_ns: time,
                publish_time_ns: time,
                sequence: k,
                data: &data,
            };
            assert!(writer.write(&[message], 0).is_ok());
        }
        let (summary, outcome) = writer.finish(&mut |_| BagMetadata::default());
        assert!(outcome.is_ok());
        assert_eq!(summary.total().messages_recorded, 20_000);
        let bytes = std::fs::read(&path).unwrap();
        let all = read_all(&mut McapReader::open(&path).unwrap(), &Query::default()).unwrap();
        assert!(
            all.iter()
                .enumerate()
                .all(|(k, message)| message.sequence as usize == k)
        );
        mcap::Summary::read(&bytes)
            .unwrap()
            .unwrap()
            .chunk_indexes
            .len()
    };
    let (free, bounded) = (chunks("free.mcap", 64 << 20), chunks("bounded.mcap", 2000));
    assert!(bounded * 10 < free, "{bounded} chunks instead of {free}");
}
