//! The fuzz targets on stable Rust: real inputs, changed at random from a fixed seed.

#[path = "../../../../fuzz/src/bag.rs"]
#[expect(unreachable_pub, reason = "the fuzz crate exports it")]
mod bag;
#[path = "../../../../fuzz/src/mcap.rs"]
#[expect(unreachable_pub, reason = "the fuzz crate exports it")]
mod mcap;
#[path = "../../../../fuzz/src/metadata.rs"]
#[expect(unreachable_pub, reason = "the fuzz crate exports it")]
mod metadata;
#[path = "../../../../fuzz/src/sqlite.rs"]
#[expect(unreachable_pub, reason = "the fuzz crate exports it")]
mod sqlite;

use std::fs;

use timeloom_bag::{BagOptions, StorageId, StorageOptions};
use timeloom_testkit::mutation::fuzz;

use crate::support::{bag_directories, bags, write_bag};

/// A file of a small bag with a preset.
fn small_file(storage: StorageId, preset: &str) -> Vec<u8> {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("bag");
    let options = BagOptions {
        storage: StorageOptions::preset(storage, preset).unwrap(),
        ..BagOptions::default()
    };
    write_bag(&path, options, 12);
    fs::read(path.join(format!("bag_0.{}", storage.extension()))).unwrap()
}

/// Found by libFuzzer: a damaged index led to rows out of order, and could have led to the same rows forever.
#[test]
fn a_damaged_time_index_is_an_error() {
    let database = include_bytes!("../../../../fuzz/regressions/sqlite/index_out_of_order.db3");
    sqlite::fuzz_sqlite(database);
}

/// Found by libFuzzer: an unknown key of the root's name hid the rest of an embedded text.
#[test]
fn an_unknown_key_with_the_name_of_the_root_is_kept() {
    metadata::fuzz_metadata(
        b"rosbag2_bagfile_information:\n  version: 4\n  rosbag2_bagfile_information:\n",
    );
}

#[test]
fn fuzz_mcap() {
    let sample = bags().join("mcap_services_only/mcap_services_only_0.mcap");
    let inputs = [
        fs::read(sample).unwrap(),
        small_file(StorageId::Mcap, ""),
        small_file(StorageId::Mcap, "fastwrite"),
        small_file(StorageId::Mcap, "zstd_fast"),
    ];
    fuzz("mcap", mcap::fuzz_mcap, &inputs, 40, &[]);
}

#[test]
fn fuzz_metadata() {
    let texts = bag_directories().into_iter().take(8);
    let inputs: Vec<_> = texts
        .map(|bag| fs::read(bag.join("metadata.yaml")).unwrap())
        .collect();
    fuzz("metadata", metadata::fuzz_metadata, &inputs, 8, &[]);
}

#[test]
fn fuzz_sqlite() {
    let inputs = [small_file(StorageId::Sqlite3, "resilient")];
    fuzz("sqlite", sqlite::fuzz_sqlite, &inputs, 20, &[]);
}

/// Whole bags: each storage, with and without compression of files and messages.
#[test]
fn fuzz_bags() {
    let metadata = |path: &str| {
        let text = "rosbag2_bagfile_information:\n  version: 9\n  storage_identifier: mcap\n  message_count: 3\n  compression_format: zstd\n  compression_mode: MODE\n  relative_file_paths: [PATH]\n  files:\n  - path: PATH\n    message_count: 3\n";
        text.replace("PATH", path)
    };
    let input = |choice: u8, metadata: String, file: Vec<u8>| {
        let length = u16::try_from(metadata.len()).unwrap().to_le_bytes();
        [vec![choice], length.to_vec(), metadata.into_bytes(), file].concat()
    };
    let (mcap, sqlite) = (
        small_file(StorageId::Mcap, ""),
        small_file(StorageId::Sqlite3, "resilient"),
    );
    let inputs = [
        input(0, metadata("a_0.mcap").replace("MODE", "''"), mcap.clone()),
        input(
            0x82,
            metadata("a_0.mcap.zstd").replace("MODE", "FILE"),
            mcap.clone(),
        ),
        input(
            0,
            metadata("a_0.mcap").replace("MODE", "MESSAGE"),
            mcap.clone(),
        ),
        input(0, metadata("../outside.mcap"), mcap),
        input(
            0x83,
            metadata("a_0.db3.zstd").replace("MODE", "FILE"),
            sqlite.clone(),
        ),
        input(1, String::new(), sqlite),
    ];
    fuzz(
        "bag",
        bag::fuzz_bag,
        &inputs,
        15,
        &["../", "/", "outside", "FILE"],
    );
}
