//! The metadata inside of files, beside that of their bag.

use std::fs;

use timeloom_bag::bag::open_file;
use timeloom_bag::metadata::{METADATA_FILE, read_metadata_file, write_metadata_file};
use timeloom_bag::{BagOptions, BagReader, CompressionMode, StorageReader as _};
use timeloom_testkit::mcap::BagScratch;

use crate::support::{assert_holds, bag_directories, storages, write_bag};

#[test]
fn a_file_is_described_by_its_own_metadata_also_if_that_of_the_bag_differs() {
    let directory = BagScratch::new();
    for (number, (name, storage)) in storages().into_iter().enumerate() {
        let path = directory.path().join(number.to_string());
        let options = BagOptions {
            storage,
            ..BagOptions::default()
        };
        write_bag(&path, options, 30);
        let written = read_metadata_file(&path).unwrap();
        let embedded = || {
            let reader = BagReader::open(&path).unwrap();
            let (_, info) = reader.files().next().unwrap();
            (info.metadata.as_deref().unwrap().clone(), reader)
        };
        assert_eq!(embedded().0, written, "{name}");
        let mut changed = written.clone();
        changed.custom_data = vec![("operator".into(), "ana".into())];
        write_metadata_file(&path, &changed).unwrap();
        let (found, reader) = embedded();
        assert_eq!(found, written, "{name}");
        assert_eq!(reader.info().metadata.as_deref(), Some(&changed), "{name}");
    }
}

#[test]
fn golden_files_are_described_alike_with_and_without_their_bag() {
    let mut compared = 0;
    for bag in bag_directories() {
        let Ok(reader) = BagReader::open(&bag) else {
            continue;
        };
        for ((_, in_bag), file) in reader.files().zip(&reader.bags()[0].files) {
            let alone = open_file(file, Some(false)).unwrap();
            assert_eq!(alone.info(), in_bag, "{}", file.path.display());
            compared += 1;
        }
    }
    assert!(compared > 10, "{compared}");
}

#[test]
fn a_split_bag_without_metadata_is_unpacked_as_its_files_say() {
    let directory = BagScratch::new();
    for (number, (_, storage)) in storages().into_iter().enumerate() {
        let path = directory.path().join(number.to_string());
        let options = BagOptions {
            storage,
            compression: CompressionMode::Message,
            max_file_duration_ns: 99_000_000,
            ..BagOptions::default()
        };
        let summary = write_bag(&path, options, 300);
        assert_eq!(summary.metadata.files.len(), 3);
        fs::remove_file(path.join(METADATA_FILE)).unwrap();
        assert_holds(&path, 0..300);
    }
}
