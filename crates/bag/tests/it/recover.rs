//! Damaged bags are recovered with a report of the losses.

use std::fs;

use timeloom_bag::mcap::{McapOptions, McapReader};
use timeloom_bag::metadata::read_metadata_file;
use timeloom_bag::{
    BagInfo, BagOptions, CompressionMode, StorageOptions, StorageReader, recover, reindex,
};
use timeloom_testkit::mcap::BagScratch;

use crate::support::{assert_holds, bags, files_below, read_bag, storages, write_bag};

fn small_chunks() -> StorageOptions {
    StorageOptions::Mcap(McapOptions {
        chunk_size: 4000,
        ..McapOptions::default()
    })
}

#[test]
fn reindex_rebuilds_the_metadata_of_every_kind_of_bag() {
    let directory = BagScratch::new();
    for (number, (_, storage)) in storages().into_iter().enumerate() {
        for compression in [
            CompressionMode::None,
            CompressionMode::File,
            CompressionMode::Message,
        ] {
            let path = directory.path().join(format!("{number}_{compression:?}"));
            let options = BagOptions {
                storage: storage.clone(),
                compression,
                max_file_duration_ns: 100_000_000,
                custom_data: vec![("operator".into(), "ana".into())],
                ros_distro: "jazzy".into(),
                ..BagOptions::default()
            };
            let summary = write_bag(&path, options, 300);
            fs::remove_file(path.join("metadata.yaml")).unwrap();
            let report = reindex(&path, 9).unwrap();
            assert_eq!(report.damage, Vec::<String>::new());
            assert_eq!(report.metadata, summary.metadata, "{}", path.display());
            assert_eq!(read_metadata_file(&path).unwrap(), summary.metadata);
            assert_holds(&path, 0..300);
        }
    }
}

#[test]
fn reindex_of_rosbag2s_own_sample() {
    let directory = BagScratch::new();
    for storage in ["mcap", "sqlite3"] {
        let sample = bags().join(format!(
            "rosbag2_samples/rosbag2_py/test/resources/{storage}/reindex_test_bags/multiple_files"
        ));
        let copy = directory.path().join(storage);
        fs::create_dir(&copy).unwrap();
        for file in files_below(&sample) {
            fs::copy(&file, copy.join(file.file_name().unwrap())).unwrap();
        }
        let report = reindex(&copy, 9).unwrap();
        assert_eq!(report.metadata.files.len(), 3);
        assert_eq!(report.metadata.storage_identifier, storage);
        assert_eq!(report.metadata.message_count, read_bag(&copy).len() as u64);
        let info = BagInfo::open(&copy).unwrap();
        assert_eq!(info.damage, Vec::<String>::new());
    }
}

#[test]
fn a_file_without_its_end_is_recovered_and_the_original_kept() {
    let directory = BagScratch::new();
    let path = directory.path().join("run");
    write_bag(
        &path,
        BagOptions {
            storage: small_chunks(),
            ..BagOptions::default()
        },
        300,
    );
    let file = path.join("run_0.mcap");
    let whole = fs::read(&file).unwrap();
    // Cut inside of the last chunk but one.
    let summary = mcap::Summary::read(&whole).unwrap().unwrap();
    let mut chunks: Vec<_> = summary.chunk_indexes.iter().collect();
    chunks.sort_by_key(|chunk| chunk.chunk_start_offset);
    let cut = chunks[chunks.len() - 2];
    fs::write(
        &file,
        &whole[..usize::try_from(cut.chunk_start_offset + cut.chunk_length / 2).unwrap()],
    )
    .unwrap();
    let info = BagInfo::open(&path).unwrap();
    assert!(!info.damage.is_empty(), "info is honest about a cut file");
    let before = McapReader::open(&file).unwrap();
    let report = recover(&path, 10).unwrap();
    assert!(
        report.files[0].salvaged > 0 && report.is_lossy(),
        "{report:?}"
    );
    assert_eq!(
        report.lost_messages(),
        1,
        "the message in which the file ends"
    );
    assert_eq!(report.messages(), before.info().message_count());
    assert_holds(&path, 0..u32::try_from(report.messages()).unwrap());
    assert_eq!(
        report.files[0].original.as_deref(),
        Some(path.join("run_0.mcap.damaged").as_path())
    );
    let info = BagInfo::open(&path).unwrap();
    assert_eq!(
        (info.message_count, info.damage.len()),
        (report.messages(), 0)
    );
    let recovered = fs::read(&file).unwrap();
    assert!(
        mcap::Summary::read(&recovered)
            .unwrap()
            .unwrap()
            .stats
            .unwrap()
            .message_count
            == report.messages()
    );
    let again = recover(&path, 10).unwrap();
    assert!(
        again.files[0].original.is_none() && !again.is_lossy(),
        "a whole file is left alone"
    );
}

#[test]
fn a_flipped_bit_costs_its_chunk_and_the_count_is_exact() {
    let directory = BagScratch::new();
    let path = directory.path().join("run");
    write_bag(
        &path,
        BagOptions {
            storage: small_chunks(),
            ..BagOptions::default()
        },
        300,
    );
    let file = path.join("run_0.mcap");
    let mut bytes = fs::read(&file).unwrap();
    let summary = mcap::Summary::read(&bytes).unwrap().unwrap();
    let mut chunks: Vec<_> = summary.chunk_indexes.iter().collect();
    chunks.sort_by_key(|chunk| chunk.chunk_start_offset);
    let victim = chunks[3];
    let held: usize = summary
        .read_message_indexes(&bytes, victim)
        .unwrap()
        .values()
        .map(Vec::len)
        .sum();
    bytes[usize::try_from(victim.chunk_start_offset).unwrap() + 500] ^= 0x10;
    fs::write(&file, &bytes).unwrap();
    let mut reader = McapReader::open(&file).unwrap();
    let (mut read, mut errors) = (0, 0);
    loop {
        match reader.next_message() {
            Ok(Some(_)) => read += 1,
            Ok(None) => break,
            Err(error) => {
                assert!(error.to_string().contains("crc mismatch"), "{error}");
                errors += 1;
            }
        }
    }
    assert_eq!(
        (read, errors),
        (300 - held, 1),
        "only the damaged chunk is missing, and it is named"
    );
    let report = recover(&path, 10).unwrap();
    assert_eq!(report.lost_messages(), held as u64);
    assert_eq!(report.messages(), 300 - held as u64);
    assert!(report.is_lossy());
}

#[test]
fn compressed_files_are_recovered_too() {
    let directory = BagScratch::new();
    let path = directory.path().join("run");
    let options = BagOptions {
        storage: small_chunks(),
        compression: CompressionMode::File,
        ..BagOptions::default()
    };
    write_bag(&path, options, 2000);
    let file = path.join("run_0.mcap.zstd");
    let bytes = fs::read(&file).unwrap();
    fs::write(&file, &bytes[..bytes.len() * 3 / 4]).unwrap();
    let report = recover(&path, 10).unwrap();
    assert!(
        report.messages() > 0 && report.messages() < 2000,
        "{report:?}"
    );
    assert_holds(&path, 0..u32::try_from(report.messages()).unwrap());
    assert!(read_metadata_file(&path).unwrap().compresses_files());
}

#[test]
fn a_damaged_database_gives_back_its_readable_rows() {
    let directory = BagScratch::new();
    let path = directory.path().join("run");
    let storage = StorageOptions::Sqlite3(timeloom_bag::sqlite::SqliteOptions {
        page_size: 4096,
        ..Default::default()
    });
    write_bag(
        &path,
        BagOptions {
            storage,
            ..BagOptions::default()
        },
        2000,
    );
    let file = path.join("run_0.db3");
    let mut bytes = fs::read(&file).unwrap();
    let middle = bytes.len() / 2 / 4096 * 4096;
    bytes[middle..middle + 4096].fill(0xA5);
    fs::write(&file, &bytes).unwrap();
    let report = recover(&path, 10).unwrap();
    assert!(report.messages() > 1500, "{report:?}");
    assert_eq!(
        report.messages() + report.lost_messages(),
        2000,
        "{report:?}"
    );
    assert_eq!(read_bag(&path).len() as u64, report.messages());
}

#[test]
fn one_unreadable_file_does_not_cost_the_others() {
    let directory = BagScratch::new();
    let path = directory.path().join("run");
    write_bag(
        &path,
        BagOptions {
            max_file_duration_ns: 99_000_000,
            ..BagOptions::default()
        },
        300,
    );
    fs::write(path.join("run_1.mcap"), b"not a bag").unwrap();
    assert_eq!(read_bag(&path).len(), 200);
    let report = recover(&path, 10).unwrap();
    assert_eq!((report.messages(), report.unreadable.len()), (200, 1));
    assert!(report.is_lossy() && path.join("run_1.mcap.damaged").exists());
    assert_eq!(read_metadata_file(&path).unwrap().files.len(), 2);
}

#[test]
fn a_file_that_exists_compressed_and_uncompressed_counts_once() {
    let directory = BagScratch::new();
    let path = directory.path().join("run");
    write_bag(
        &path,
        BagOptions {
            max_file_duration_ns: 99_000_000,
            ..BagOptions::default()
        },
        300,
    );
    // A crash between compressing a file and removing the original.
    let plain = path.join("run_1.mcap");
    let copy = fs::read(&plain).unwrap();
    timeloom_bag::compress_file(&plain, 1).unwrap();
    fs::write(&plain, copy).unwrap();
    fs::remove_file(path.join("metadata.yaml")).unwrap();
    let report = recover(&path, 10).unwrap();
    assert_eq!((report.messages(), report.files.len()), (300, 3));
    assert_holds(&path, 0..300);
}
