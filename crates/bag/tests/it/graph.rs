//! The graph of the robot in a bag: written, split, converted, recovered, and ignored by other tools.

use std::fs;
use std::path::Path;

use timeloom_bag::bag::FinishedBag;
use timeloom_bag::convert::{ConvertOutput, OnDamage, convert};
use timeloom_bag::graph::GRAPH_NAME;
use timeloom_bag::mcap::McapOptions;
use timeloom_bag::sqlite::SqliteOptions;
use timeloom_bag::{
    BagOptions, BagReader, BagWriter, CompressionMode, EndpointRole, GraphEndpoint, Message,
    RobotGraph, RobotState as _, StorageId, StorageOptions, StorageReader, recover, reindex,
};
use timeloom_testkit::mcap::BagScratch;

use crate::support::{
    assert_holds, files_below, message_time, payload, test_endpoint as endpoint, test_topics,
};

fn graph(endpoints: &[GraphEndpoint]) -> RobotGraph {
    endpoints.iter().cloned().collect()
}

fn robot() -> [GraphEndpoint; 3] {
    [
        endpoint(1, "/driver", EndpointRole::Publisher, "/a"),
        endpoint(2, "/filter", EndpointRole::Subscription, "/a"),
        endpoint(3, "/filter", EndpointRole::Publisher, "/b"),
    ]
}

fn options(storage: StorageId) -> BagOptions {
    BagOptions {
        storage: match storage {
            StorageId::Mcap => StorageOptions::Mcap(McapOptions::default()),
            StorageId::Sqlite3 => StorageOptions::Sqlite3(SqliteOptions::default()),
        },
        ..BagOptions::default()
    }
}

/// Writes 100 messages. The filter appears with message 10, and its publisher leaves with message 60.
fn begin(directory: &Path, options: BagOptions) -> BagWriter {
    let mut writer = BagWriter::create(directory, options).unwrap();
    let ids: Vec<_> = test_topics()
        .iter()
        .map(|topic| writer.add_topic(topic).unwrap())
        .collect();
    let [driver, input, output] = robot();
    for k in 0..100 {
        let update = match k {
            0 => graph(std::slice::from_ref(&driver)),
            10 => graph(&[input.clone(), output.clone()]),
            60 => graph(&[gone(&output)]),
            _ => RobotGraph::default(),
        };
        assert!(writer.update_graph(&update).is_ok());
        let message = Message {
            topic: ids[(k % 2) as usize],
            log_time_ns: message_time(k),
            publish_time_ns: message_time(k) - 5,
            sequence: k,
            data: &payload(k),
        };
        assert!(writer.write(&[message], message_time(k)).is_ok());
    }
    writer
}

fn gone(endpoint: &GraphEndpoint) -> GraphEndpoint {
    GraphEndpoint {
        vanished_ns: Some(message_time(60)),
        ..endpoint.clone()
    }
}

fn write(directory: &Path, options: BagOptions) -> FinishedBag {
    let (summary, outcome) = begin(directory, options).finish().unwrap();
    assert!(outcome.is_ok(), "{outcome:?}");
    summary
}

fn whole() -> RobotGraph {
    let [driver, input, output] = robot();
    graph(&[driver, input, gone(&output)])
}

fn read(path: &Path) -> RobotGraph {
    BagReader::open(path).unwrap().graph().unwrap()
}

#[test]
fn every_storage_and_compression_keeps_the_graph() {
    let scratch = BagScratch::new();
    for storage in StorageId::ALL {
        for compression in [
            CompressionMode::None,
            CompressionMode::Message,
            CompressionMode::File,
        ] {
            let path = scratch
                .path()
                .join(format!("{}_{compression:?}", storage.name()));
            let options = BagOptions {
                compression,
                ..options(storage)
            };
            write(&path, options);
            assert_eq!(read(&path), whole(), "{}", path.display());
            let reader = BagReader::open(&path).unwrap();
            assert_eq!(reader.info().damage, Vec::<String>::new());
            assert!(reader.info().extras.is_empty(), "it is the bag's own");
        }
    }
}

#[test]
fn each_file_of_a_split_bag_begins_with_the_current_graph() {
    let scratch = BagScratch::new();
    for storage in StorageId::ALL {
        let path = scratch.path().join(storage.name());
        let options = BagOptions {
            max_file_duration_ns: 20_000_000,
            ..options(storage)
        };
        let summary = write(&path, options);
        assert!(summary.metadata.files.len() >= 4, "{summary:?}");
        assert_eq!(read(&path), whole());
        let [driver, input, output] = robot();
        let files = summary.metadata.relative_file_paths.iter();
        let files: Vec<_> = files.map(|name| read(&path.join(name))).collect();
        assert_eq!(files.first().unwrap().len(), 3);
        assert_eq!(files[1], graph(&[driver.clone(), input.clone(), output]));
        assert_eq!(*files.last().unwrap(), graph(&[driver, input]));
    }
}

#[test]
fn the_graph_does_not_count_towards_a_split() {
    let scratch = BagScratch::new();
    let path = scratch.path().join("bag");
    let options = BagOptions {
        max_file_size: 20_000,
        ..options(StorageId::Mcap)
    };
    let mut writer = BagWriter::create(&path, options).unwrap();
    let id = writer.add_topic(&test_topics()[0]).unwrap();
    let many: Vec<_> = (0..=255)
        .map(|k| endpoint(k, &format!("/node_{k}"), EndpointRole::Publisher, "/a"))
        .collect();
    assert!(writer.update_graph(&graph(&many)).is_ok());
    for k in 0..400 {
        let message = Message {
            topic: id,
            log_time_ns: message_time(k),
            publish_time_ns: message_time(k),
            sequence: k,
            data: &payload(k),
        };
        assert!(writer.write(&[message], message_time(k)).is_ok());
    }
    let (summary, outcome) = writer.finish().unwrap();
    assert!(outcome.is_ok());
    let files = summary.metadata.files.len();
    assert!((3..20).contains(&files), "{files} files");
    assert_eq!(read(&path).len(), 256);
}

#[test]
fn a_conversion_keeps_the_graph_also_under_other_names() {
    let scratch = BagScratch::new();
    let source = scratch.path().join("source");
    write(&source, options(StorageId::Mcap));
    let mut from = source;
    for (name, storage) in [("lite", StorageId::Sqlite3), ("back", StorageId::Mcap)] {
        let to = scratch.path().join(name);
        let mut output = ConvertOutput::new(&to, options(storage));
        if storage == StorageId::Sqlite3 {
            output.remap = vec![("/a".into(), "/front/a".into())];
        }
        convert(&[&from], vec![output], OnDamage::Fail, &mut |_| {}).unwrap();
        let kept = read(&to);
        assert_eq!(kept.len(), 3);
        let topics: Vec<_> = kept.endpoints().map(|it| it.topic.as_str()).collect();
        assert_eq!(topics, ["/front/a", "/front/a", "/b"]);
        let output = kept.endpoint(&robot()[2].id).unwrap();
        assert_eq!(output.vanished_ns, Some(message_time(60)));
        from = to;
    }
}

#[test]
fn the_graphs_of_two_bags_are_read_as_one() {
    let scratch = BagScratch::new();
    let (a, b) = (scratch.path().join("a"), scratch.path().join("b"));
    write(&a, options(StorageId::Mcap));
    let mut writer = BagWriter::create(&b, options(StorageId::Sqlite3)).unwrap();
    let [_, _, output] = robot();
    let other = endpoint(9, "/planner", EndpointRole::Client, "/plan");
    assert!(
        writer
            .update_graph(&graph(&[output.clone(), other.clone()]))
            .is_ok()
    );
    drop(writer.finish().unwrap());
    let both = BagReader::open_all(&[&a, &b]).unwrap().graph().unwrap();
    assert_eq!(both.len(), 4);
    assert_eq!(both.endpoint(&output.id).unwrap().vanished_ns, None);
    assert_eq!(both.endpoint(&other.id), Some(&other));
}

#[test]
fn a_recording_that_was_killed_is_recovered_with_its_graph() {
    for storage in StorageId::ALL {
        let scratch = tempfile::tempdir().unwrap();
        let path = scratch.path().join("bag");
        let mut writer = begin(&path, options(storage));
        assert!(writer.seal().is_ok());
        drop(writer);
        assert_eq!(read(&path), whole(), "before, {}", storage.name());
        recover(&path, 9).unwrap();
        assert_eq!(read(&path), whole(), "after, {}", storage.name());
        assert_holds(&path, 0..100);
        fs::remove_file(path.join("metadata.yaml")).unwrap();
        reindex(&path, 9).unwrap();
        assert_eq!(read(&path), whole(), "reindexed, {}", storage.name());
    }
}

#[test]
fn the_mcap_crate_finds_the_graph_in_the_index() {
    let scratch = BagScratch::new();
    let path = scratch.path().join("bag");
    write(&path, options(StorageId::Mcap));
    let file = files_below(&path)
        .into_iter()
        .find(|path| path.extension().is_some_and(|it| it == "mcap"))
        .unwrap();
    let bytes = fs::read(file).unwrap();
    let summary = mcap::read::Summary::read(&bytes).unwrap().unwrap();
    let count = summary.stats.as_ref().unwrap().metadata_count;
    assert_eq!(count as usize, summary.metadata_indexes.len());
    let mut found = RobotGraph::default();
    for index in summary
        .metadata_indexes
        .iter()
        .filter(|it| it.name == GRAPH_NAME)
    {
        let record = mcap::read::metadata(&bytes, index).unwrap();
        found.update(&RobotGraph::parse(&record.metadata["graph"]).unwrap());
    }
    assert_eq!(found, whole());
}

#[test]
fn a_graph_of_a_later_version_is_refused_with_a_reason() {
    let scratch = BagScratch::new();
    let path = scratch.path().join("bag");
    write(&path, options(StorageId::Sqlite3));
    let file = files_below(&path)
        .into_iter()
        .find(|path| path.extension().is_some_and(|it| it == "db3"))
        .unwrap();
    let connection = rusqlite::Connection::open(&file).unwrap();
    let sql = "UPDATE timeloom_graph SET graph = replace(graph, 'version: 1', 'version: 7')";
    connection.execute(sql, []).unwrap();
    drop(connection);
    let error = BagReader::open(&path).unwrap().graph().unwrap_err();
    assert!(error.to_string().contains("version 7"), "{error}");
    assert_holds(&path, 0..100);
}
