//! A recorder that does not count missing messages: their number stays unknown, whatever is done with its bags.

use std::fs;
use std::path::{Path, PathBuf};

use timeloom_bag::convert::{ConvertOutput, OnDamage};
use timeloom_bag::info::{InfoLayout, render};
use timeloom_bag::{
    BagInfo, BagOptions, BagReader, BagWriter, TopicStatistics, UnknownMessages, convert, recover,
    reindex,
};
use timeloom_testkit::mcap::BagScratch;

use crate::support::{bag_directories, bags, storages, test_topics};

/// Bags of rosbag2, which keep no account.
fn foreign_bags() -> Vec<PathBuf> {
    let counts_nothing = |path: &PathBuf| {
        let reader = BagReader::open(path).unwrap();
        reader.accounts().iter().all(Option::is_none)
    };
    let found: Vec<_> = bag_directories()
        .into_iter()
        .filter(counts_nothing)
        .collect();
    assert!(found.len() >= 8, "{found:?}");
    found
}

fn statistics(bag: &Path) -> Vec<TopicStatistics> {
    let reader = BagReader::open(bag).unwrap();
    let accounts = reader.accounts().iter().flatten();
    accounts.map(|account| account.statistics).collect()
}

fn assert_uncounted(bag: &Path) {
    let found = statistics(bag);
    assert!(!found.is_empty(), "{}", bag.display());
    for account in found {
        assert_eq!(account.known(account.messages_lost_in_transport), None);
        assert_eq!(account.known(account.messages_left_out()), None);
        assert_eq!(account.known_published(), None);
        assert!(account.unknown.is_open());
        let json = serde_json::to_value(account).unwrap();
        assert!(json["messages_lost_in_transport"].is_null(), "{json}");
        assert!(json["left_out"].is_null(), "{json}");
    }
    let layout = InfoLayout {
        losses: true,
        ..InfoLayout::default()
    };
    let text = render(&BagInfo::open(bag).unwrap(), &layout);
    assert!(text.contains("Lost in Transport: unknown"), "{text}");
    assert!(!text.contains("Lost in Transport: 0"), "{text}");
}

fn copy(from: &Path, to: &Path) {
    fs::create_dir(to).unwrap();
    for entry in fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        fs::copy(entry.path(), to.join(entry.file_name())).unwrap();
    }
}

fn convert_to(inputs: &[PathBuf], to: &Path, options: BagOptions) {
    let output = ConvertOutput::new(to, options);
    convert(inputs, vec![output], OnDamage::Skip, &mut |_| {}).unwrap();
}

#[test]
fn a_conversion_does_not_make_zeros_of_unknown_losses() {
    let storages = storages().into_iter().cycle();
    for (source, (_, storage)) in foreign_bags().into_iter().zip(storages) {
        let directory = BagScratch::new();
        let [once, twice] = ["once", "twice"].map(|name| directory.path().join(name));
        let options = BagOptions {
            storage,
            ..BagOptions::default()
        };
        convert_to(&[source], &once, options);
        assert_uncounted(&once);
        convert_to(&[once], &twice, BagOptions::default());
        assert_uncounted(&twice);
    }
}

#[test]
fn each_file_of_a_split_conversion_keeps_losses_unknown() {
    let directory = BagScratch::new();
    let split = directory.path().join("split");
    let options = BagOptions {
        max_file_duration_ns: 1_000_000_000,
        ..BagOptions::default()
    };
    convert_to(&[bags().join("mcap_plain")], &split, options);
    let files: Vec<_> = BagReader::open(&split).unwrap().bags()[0]
        .files
        .iter()
        .map(|file| file.path.clone())
        .collect();
    assert!(files.len() > 2, "{files:?}");
    for file in &files {
        assert_uncounted(file);
    }
}

#[test]
fn repairs_do_not_make_zeros_of_unknown_losses() {
    for source in foreign_bags() {
        let directory = BagScratch::new();
        let name = |verb: &str| directory.path().join(verb);
        copy(&source, &name("reindexed"));
        reindex(&name("reindexed"), 9).unwrap();
        assert_uncounted(&name("reindexed"));
        copy(&source, &name("recovered"));
        recover(&name("recovered"), 9).unwrap();
        assert_uncounted(&name("recovered"));
    }
}

#[test]
fn a_foreign_file_that_is_cut_off_has_unknown_losses() {
    let directory = BagScratch::new();
    let whole = fs::read(bags().join("mcap_plain/mcap_plain_0.mcap")).unwrap();
    for cut in [5_000, 100_000, whole.len() - 100, whole.len() - 1] {
        let path = directory.path().join(format!("cut_{cut}.mcap"));
        fs::write(&path, &whole[..cut]).unwrap();
        // With the metadata of a finished file, it is as good as a whole one: it has no account.
        if !statistics(&path).is_empty() {
            assert_uncounted(&path);
        }
        recover(&path, 9).unwrap();
        assert_uncounted(&path);
    }
}

#[test]
fn a_count_of_one_bag_is_a_lower_limit_beside_a_bag_without_counts() {
    let directory = BagScratch::new();
    let counted = directory.path().join("counted");
    let mut writer = BagWriter::create(&counted, BagOptions::default()).unwrap();
    let source = BagReader::open(&bags().join("mcap_plain")).unwrap();
    let topics = &timeloom_bag::StorageReader::info(&source).topics;
    let imu = topics.iter().find(|it| it.name == "/imu/data").unwrap();
    let id = writer.add_topic(imu).unwrap();
    writer.lost_in_transport(id, 5, 0);
    let own = writer.add_topic(&test_topics()[0]).unwrap();
    writer.left_out(own, timeloom_bag::LeftOutCause::Paused, 0, 0);
    assert!(writer.finish().unwrap().1.is_ok());
    let both = [counted, bags().join("mcap_plain")];
    let reader = BagReader::open_all(&both).unwrap();
    let query = |name: &str| {
        let topics = &timeloom_bag::StorageReader::info(&reader).topics;
        let at = topics.iter().position(|it| it.name == name).unwrap();
        reader.accounts()[at].clone().unwrap().statistics
    };
    let found = query("/imu/data");
    assert_eq!(found.known(found.messages_lost()), Some(5));
    assert_eq!(found.unknown, UnknownMessages::UNCOUNTED);
    let alone = query(&test_topics()[0].name);
    assert_eq!(alone.known(alone.messages_lost()), Some(0));
}
