//! Broken files of every kind: a clear error or all that can be read, never a panic, never much memory.

use std::fs;
use std::path::Path;
use std::sync::OnceLock;

use proptest::prelude::*;
use timeloom_bag::conformance::read_all;
use timeloom_bag::mcap::{McapOptions, McapReader};
use timeloom_bag::{BagOptions, BagReader, Error, Order, Query, StorageOptions, StorageReader};
use timeloom_testkit::mcap::BagScratch;

use crate::support::{bags, write_bag};

fn sample(storage: StorageOptions) -> Vec<u8> {
    let directory = BagScratch::new();
    let path = directory.path().join("run");
    write_bag(
        &path,
        BagOptions {
            storage,
            ..BagOptions::default()
        },
        60,
    );
    let file = crate::support::files_below(&path)
        .into_iter()
        .find(|path| path.extension().unwrap() != "yaml")
        .unwrap();
    fs::read(file).unwrap()
}

fn mcap_samples() -> &'static [Vec<u8>; 3] {
    static SAMPLES: OnceLock<[Vec<u8>; 3]> = OnceLock::new();
    SAMPLES.get_or_init(|| {
        ["none", "zstd_fast", "fastwrite"].map(|preset| {
            let options = McapOptions {
                chunk_size: 3000,
                ..McapOptions::preset(preset).unwrap()
            };
            sample(StorageOptions::Mcap(options))
        })
    })
}

/// Reads a file in all orders; counts the messages, ignoring errors.
fn try_all(path: &Path) -> usize {
    let Ok(mut reader) = BagReader::open(path) else {
        return 0;
    };
    let mut count = 0;
    for order in [Order::LogTime, Order::ReverseLogTime, Order::File] {
        count = 0;
        reader
            .start(&Query {
                order,
                ..Query::default()
            })
            .unwrap();
        let mut errors = 0;
        loop {
            match reader.advance() {
                Ok(true) => count += 1,
                Ok(false) => break,
                Err(_) => errors += 1,
            }
            assert!(errors < 1000, "a reader must come to an end");
        }
    }
    count
}

#[test]
fn a_file_truncated_anywhere_is_read_up_to_that_offset() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("x.mcap");
    for bytes in mcap_samples() {
        let mut cuts: Vec<usize> = (0..bytes.len()).step_by(97).collect();
        let mut at = 8;
        while at + 9 <= bytes.len() {
            cuts.extend([at, at + 1, at + 9]);
            at += 9 + usize::try_from(u64::from_le_bytes(
                bytes[at + 1..at + 9].try_into().unwrap(),
            ))
            .unwrap();
        }
        cuts.sort_unstable();
        let mut last = 0;
        for cut in cuts {
            fs::write(&path, &bytes[..cut.min(bytes.len())]).unwrap();
            let count = try_all(&path);
            assert!(
                count >= last,
                "a longer file never gives less: {count} after {last} at {cut}"
            );
            last = count;
        }
        assert_eq!(last, 60);
    }
}

#[test]
fn wrong_files_get_clear_errors() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("x.mcap");
    for content in [
        &b""[..],
        b"\x89MCAP",
        b"hello world, this is no bag",
        &[0u8; 4096],
    ] {
        fs::write(&path, content).unwrap();
        assert!(matches!(
            McapReader::open(&path),
            Err(Error::BadMagic { .. })
        ));
    }
    let database = directory.path().join("x.db3");
    fs::write(&database, b"hello world, this is no database at all").unwrap();
    assert!(matches!(
        BagReader::open(&database),
        Err(Error::NotABag { .. })
    ));
    fs::write(directory.path().join("x.txt"), b"text").unwrap();
    assert!(matches!(
        BagReader::open(&directory.path().join("x.txt")),
        Err(Error::NotABag { .. })
    ));
    let empty = tempfile::tempdir().unwrap();
    assert!(matches!(
        BagReader::open(empty.path()),
        Err(Error::NotABag { .. })
    ));
    assert!(matches!(
        BagReader::open(Path::new("/nonexistent")),
        Err(Error::Io { .. })
    ));
}

#[test]
fn huge_lengths_do_not_allocate() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("x.mcap");
    for bytes in mcap_samples() {
        let mut at = 8;
        while at + 9 <= bytes.len() {
            for claim in [u64::MAX, u64::MAX / 2, 1 << 40, 1 << 33] {
                let mut broken = bytes.clone();
                broken[at + 1..at + 9].copy_from_slice(&claim.to_le_bytes());
                fs::write(&path, &broken).unwrap();
                try_all(&path);
            }
            at += 9 + usize::try_from(u64::from_le_bytes(
                bytes[at + 1..at + 9].try_into().unwrap(),
            ))
            .unwrap();
        }
    }
}

#[test]
fn a_chunk_that_claims_a_terabyte_is_refused() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("x.mcap");
    let mut bytes = sample(StorageOptions::Mcap(
        McapOptions::preset("zstd_fast").unwrap(),
    ));
    let summary = mcap::Summary::read(&bytes).unwrap().unwrap();
    let at = usize::try_from(summary.chunk_indexes[0].chunk_start_offset).unwrap();
    bytes[at + 9 + 16..at + 9 + 24].copy_from_slice(&(1u64 << 40).to_le_bytes());
    fs::write(&path, &bytes).unwrap();
    let error = read_all(&mut McapReader::open(&path).unwrap(), &Query::default()).unwrap_err();
    assert!(
        matches!(error, Error::TooLarge { size, .. } if size == 1 << 40),
        "{error}"
    );
}

/// Offset of the last chunk of a file, and its head.
fn last_chunk(bytes: &[u8]) -> usize {
    let summary = mcap::Summary::read(bytes).unwrap().unwrap();
    let last = summary
        .chunk_indexes
        .iter()
        .map(|chunk| chunk.chunk_start_offset)
        .max()
        .unwrap();
    usize::try_from(last).unwrap()
}

#[test]
fn a_chunk_that_a_killed_writer_left_open_is_read() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("x.mcap");
    for bytes in &mcap_samples()[..2] {
        let at = last_chunk(bytes);
        let length = usize::try_from(u64::from_le_bytes(
            bytes[at + 1..at + 9].try_into().unwrap(),
        ))
        .unwrap();
        fs::write(&path, &bytes[..at]).unwrap();
        let before = try_all(&path);
        // The mcap crate leaves placeholders in the head of a chunk that it had no time to close.
        let mut open = bytes[..at + 9 + length].to_vec();
        let name = usize::try_from(u32::from_le_bytes(
            open[at + 37..at + 41].try_into().unwrap(),
        ))
        .unwrap();
        open[at + 1..at + 9].fill(0xFF);
        open[at + 9 + 16..at + 9 + 24].fill(0xFF);
        open[at + 41 + name..at + 49 + name].fill(0xFF);
        fs::write(&path, &open).unwrap();
        assert_eq!(
            try_all(&path),
            60,
            "{before} in closed chunks, the rest in the open one"
        );
        fs::write(&path, &open[..open.len() - 40]).unwrap();
        assert!((before..60).contains(&try_all(&path)));
    }
}

#[test]
fn a_chunk_with_a_wrong_size_is_an_error() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("x.mcap");
    for claim in [0u64, 17, 100_000] {
        let mut bytes = mcap_samples()[1].clone();
        let at = last_chunk(&bytes);
        bytes[at + 9 + 16..at + 9 + 24].copy_from_slice(&claim.to_le_bytes());
        fs::write(&path, &bytes).unwrap();
        let error = read_all(&mut McapReader::open(&path).unwrap(), &Query::default()).unwrap_err();
        assert!(
            matches!(error, Error::Compression { .. }),
            "{claim}: {error}"
        );
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(150))]

    #[test]
    fn flipped_bits_never_panic(which in 0usize..3, flips in proptest::collection::vec((any::<prop::sample::Index>(), 0u8..8), 1..6)) {
        let mut bytes = mcap_samples()[which].clone();
        for (place, bit) in flips {
            let at = place.index(bytes.len());
            bytes[at] ^= 1 << bit;
        }
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("x.mcap");
        fs::write(&path, &bytes).unwrap();
        try_all(&path);
    }

    #[test]
    fn flipped_bits_in_databases_and_compressed_files_never_panic(
        which in 0usize..4,
        flips in proptest::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..20),
    ) {
        let names = [
            "sqlite3_plain/sqlite3_plain_0.db3", "sqlite3_file_zstd/sqlite3_file_zstd_0.db3.zstd",
            "mcap_file_zstd/mcap_file_zstd_0.mcap.zstd", "mcap_msg_zstd/mcap_msg_zstd_0.mcap",
        ];
        let source = bags().join(names[which]);
        let mut bytes = fs::read(&source).unwrap();
        for (place, value) in flips {
            let at = place.index(bytes.len());
            bytes[at] = value;
        }
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join(source.file_name().unwrap());
        fs::write(&path, &bytes).unwrap();
        try_all(&path);
    }
}
