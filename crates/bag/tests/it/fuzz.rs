//! The fuzz targets on stable Rust: real inputs, changed at random from a fixed seed.

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

use crate::support::{bag_directories, bags, write_bag};

/// How often each input is changed; `TIMELOOM_FUZZ_ROUNDS` asks for more.
fn rounds(usual: u32) -> u32 {
    std::env::var("TIMELOOM_FUZZ_ROUNDS")
        .ok()
        .and_then(|text| text.parse().ok())
        .unwrap_or(usual)
}

/// A small generator of random numbers (xorshift), the same on every run.
struct Random(u64);

impl Random {
    fn below(&mut self, limit: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        usize::try_from(self.0 % limit.max(1) as u64).unwrap()
    }

    /// Changes a few places of an input: bits, lengths, copies, cuts.
    fn mutate(&mut self, input: &[u8]) -> Vec<u8> {
        let mut data = input.to_vec();
        for _ in 0..=self.below(4) {
            let at = self.below(data.len() + 1);
            let end = (at + self.below(32)).min(data.len());
            match self.below(6) {
                0 | 1 if at < data.len() => data[at] ^= 1 << self.below(8),
                2 => data.truncate(at),
                3 => {
                    data.drain(at..end);
                }
                4 => {
                    let copy = data[at..end].to_vec();
                    let to = self.below(data.len() + 1);
                    data.splice(to..to, copy);
                }
                _ if at + 4 <= data.len() => {
                    let number = [0, 1, 255, 65_535, u32::MAX][self.below(5)];
                    data[at..at + 4].copy_from_slice(&number.to_le_bytes());
                }
                _ => {}
            }
        }
        data
    }
}

fn run(target: fn(&[u8]), inputs: &[Vec<u8>], usual: u32) {
    let mut random = Random(0x9e37_79b9_7f4a_7c15);
    for input in inputs {
        target(input);
        for _ in 0..rounds(usual) {
            target(&random.mutate(input));
        }
    }
}

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

/// Found by libFuzzer: a damaged index led to rows out of order, and could have led to the same rows for ever.
#[test]
fn a_damaged_time_index_is_an_error() {
    let database = include_bytes!("../../../../fuzz/regressions/sqlite_index_out_of_order.db3");
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
    run(mcap::fuzz_mcap, &inputs, 40);
}

#[test]
fn fuzz_metadata() {
    let texts = bag_directories().into_iter().take(8);
    let inputs: Vec<_> = texts
        .map(|bag| fs::read(bag.join("metadata.yaml")).unwrap())
        .collect();
    run(metadata::fuzz_metadata, &inputs, 8);
}

#[test]
fn fuzz_sqlite() {
    run(
        sqlite::fuzz_sqlite,
        &[small_file(StorageId::Sqlite3, "resilient")],
        20,
    );
}
