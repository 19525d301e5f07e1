//! The parameters of the robot in a bag: converted, merged, recovered, and readable by others.

use std::fs;
use std::path::Path;

use timeloom_bag::convert::{ConvertOutput, OnDamage, convert};
use timeloom_bag::{
    BagOptions, BagReader, BagWriter, RobotParameters, RobotState as _, StatePart, StorageId,
    StorageOptions, StorageReader as _, recover, reindex,
};
use timeloom_testkit::mcap::BagScratch;

use crate::support::{assert_holds, files_below, test_parameters, write_messages};

fn options(storage: StorageId) -> BagOptions {
    BagOptions {
        storage: StorageOptions::preset(storage, "").unwrap(),
        ..BagOptions::default()
    }
}

/// Writes 100 messages and three values of one parameter.
fn begin(path: &Path, options: BagOptions) -> BagWriter {
    let mut writer = BagWriter::create(path, options).unwrap();
    for (at, value) in [(0, 1), (40, 2), (80, 3)] {
        assert!(
            writer
                .update_parameters(&test_parameters(at, value))
                .is_ok()
        );
        write_messages(&mut writer, at..(at + 40).min(100));
    }
    writer
}

fn whole() -> RobotParameters {
    let mut all = test_parameters(0, 1);
    all.update(&test_parameters(40, 2));
    all.update(&test_parameters(80, 3));
    all
}

fn read(path: &Path) -> RobotParameters {
    BagReader::open(path).unwrap().parameters().unwrap()
}

#[test]
fn a_conversion_keeps_the_parameters() {
    let scratch = BagScratch::new();
    let source = scratch.path().join("source");
    let (_, outcome) = begin(&source, options(StorageId::Mcap)).finish().unwrap();
    assert!(outcome.is_ok());
    assert_eq!(read(&source), whole());
    let mut from = source;
    for (name, storage) in [("lite", StorageId::Sqlite3), ("back", StorageId::Mcap)] {
        let to = scratch.path().join(name);
        let output = ConvertOutput::new(&to, options(storage));
        convert(&[&from], vec![output], OnDamage::Fail, &mut |_| {}).unwrap();
        assert_eq!(read(&to), whole(), "{name}");
        let reader = BagReader::open(&to).unwrap();
        assert!(reader.info().extras.is_empty(), "they are the bag's own");
        from = to;
    }
}

#[test]
fn each_file_of_a_split_bag_begins_with_the_values_of_that_moment() {
    let scratch = BagScratch::new();
    for storage in StorageId::ALL {
        let path = scratch.path().join(storage.name());
        let splitting = BagOptions {
            max_file_duration_ns: 60_000_000,
            ..options(storage)
        };
        let (summary, outcome) = begin(&path, splitting).finish().unwrap();
        assert!(outcome.is_ok());
        assert_eq!(read(&path), whole());
        let files = &summary.metadata.relative_file_paths;
        assert_eq!(files.len(), 2, "{files:?}");
        let mut last = test_parameters(40, 2);
        last.update(&test_parameters(80, 3));
        let second = read(&path.join(&files[1]));
        let history = |it: &RobotParameters| it.nodes["/driver"].parameters["rate"].history.clone();
        assert_eq!(history(&second), history(&last));
    }
}

#[test]
fn a_recording_that_was_killed_is_recovered_with_its_parameters() {
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
fn the_mcap_crate_finds_the_parameters_in_the_index() {
    let scratch = BagScratch::new();
    let path = scratch.path().join("bag");
    drop(begin(&path, options(StorageId::Mcap)).finish().unwrap());
    let mut files = files_below(&path).into_iter();
    let file = files.find(|path| path.extension().is_some_and(|it| it == "mcap"));
    let bytes = fs::read(file.unwrap()).unwrap();
    let summary = mcap::read::Summary::read(&bytes).unwrap().unwrap();
    let mut found = RobotParameters::default();
    let name = StatePart::Parameters.record_name();
    for index in summary.metadata_indexes.iter().filter(|it| it.name == name) {
        let record = mcap::read::metadata(&bytes, index).unwrap();
        found.update(&RobotParameters::parse(&record.metadata["parameters"]).unwrap());
    }
    assert_eq!(found, whole());
}

#[test]
fn parameters_of_a_later_version_do_not_hide_the_graph() {
    let scratch = BagScratch::new();
    let path = scratch.path().join("bag");
    drop(begin(&path, options(StorageId::Sqlite3)).finish().unwrap());
    let mut files = files_below(&path).into_iter();
    let file = files.find(|path| path.extension().is_some_and(|it| it == "db3"));
    let connection = rusqlite::Connection::open(file.unwrap()).unwrap();
    let sql = "UPDATE timeloom_parameters SET parameters = replace(parameters, 'version: 1', 'version: 7')";
    connection.execute(sql, []).unwrap();
    drop(connection);
    let mut reader = BagReader::open(&path).unwrap();
    let error = reader.parameters().unwrap_err();
    assert!(error.to_string().contains("version 7"), "{error}");
    assert!(reader.graph().is_ok());
    assert_holds(&path, 0..100);
}
