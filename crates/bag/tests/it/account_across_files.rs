//! Facts that one file alone does not have: a recorder that was killed before its first topic, and messages that a
//! later file found.

use std::fs;
use std::path::Path;

use timeloom_bag::convert::{ConvertOutput, OnDamage};
use timeloom_bag::{BagInfo, BagOptions, BagWriter, MissingCause, convert, recover, reindex};
use timeloom_testkit::mcap::BagScratch;

use crate::account::{Recording, account, missing};
use crate::support::storages;

/// Nothing in the file names a topic, so the bag itself must be marked.
#[test]
fn a_recorder_that_is_killed_before_its_first_topic_leaves_a_bag_that_is_marked() {
    let directory = BagScratch::new();
    directory.unchecked();
    for (number, (name, storage)) in storages().into_iter().enumerate() {
        let path = directory.path().join(format!("{number}"));
        let options = BagOptions {
            storage,
            ..BagOptions::default()
        };
        drop(BagWriter::create(&path, options).unwrap());
        let is_interrupted = |path: &Path| BagInfo::open(path).unwrap().interrupted;
        assert!(is_interrupted(&path), "{name}: killed");
        for round in ["first", "second"] {
            let report = recover(&path, 9).unwrap();
            assert!(report.account.unknown.interrupted, "{name} {round}");
            assert!(is_interrupted(&path), "{name} {round}");
            let info = BagInfo::open(&path).unwrap();
            assert_eq!(info.damage, Vec::<String>::new(), "{name} {round}");
        }
        reindex(&path, 9).unwrap();
        assert!(is_interrupted(&path), "{name}: reindexed");
        fs::remove_file(path.join("metadata.yaml")).unwrap();
        assert!(is_interrupted(&path), "{name}: without metadata");
        reindex(&path, 9).unwrap();
        assert!(is_interrupted(&path), "{name}: reindexed without metadata");
        let copy = directory.path().join(format!("{number}_copy"));
        let output = ConvertOutput::new(&copy, BagOptions::default());
        convert(&[&path], vec![output], OnDamage::Fail, &mut |_| {}).unwrap();
        assert!(is_interrupted(&copy), "{name}: converted");
    }
    let path = directory.path().join("whole");
    let (writer, options) = (BagWriter::create, BagOptions::default());
    assert!(writer(&path, options).unwrap().finish().unwrap().1.is_ok());
    assert!(!BagInfo::open(&path).unwrap().interrupted);
}

/// The file before the split counts it as lost; only the file after it has the correction.
#[test]
fn a_message_that_comes_after_a_split_is_not_counted_as_lost_without_the_metadata() {
    let directory = BagScratch::new();
    directory.unchecked();
    for (number, (name, storage)) in storages().into_iter().enumerate() {
        for killed in [false, true] {
            let what = format!("{name} killed {killed}");
            let path = directory.path().join(format!("{number}_{killed}"));
            let options = BagOptions {
                storage: storage.clone(),
                ..BagOptions::default()
            };
            let mut recording = Recording::new(&path, options);
            recording.second();
            recording.writer.split().unwrap();
            let topic = recording.ids[0];
            let cause = MissingCause::Transport;
            recording.writer.found_again(topic, cause, 2);
            recording.second();
            if killed {
                drop(recording);
            } else {
                assert!(recording.writer.finish().unwrap().1.is_ok());
                assert_eq!(missing(&account(&path, "/a")), (4, 2, 4), "{what}");
            }
            fs::remove_file(path.join("metadata.yaml")).unwrap();
            assert_eq!(missing(&account(&path, "/a")), (4, 2, 4), "{what}");
            for round in ["first", "second"] {
                recover(&path, 9).unwrap();
                assert_eq!(missing(&account(&path, "/a")), (4, 2, 4), "{what} {round}");
            }
            fs::remove_file(path.join("metadata.yaml")).unwrap();
            reindex(&path, 9).unwrap();
            assert_eq!(missing(&account(&path, "/a")), (4, 2, 4), "{what}");
        }
    }
}
