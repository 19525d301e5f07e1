//! A bag may be from an untrusted source: nothing in it makes us read or write outside its directory.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};

use timeloom_bag::metadata::write_metadata_file;
use timeloom_bag::{
    BagInfo, BagMetadata, BagOptions, BagReader, Error, StorageReader as _, recover, reindex,
};
use timeloom_testkit::mcap::BagScratch;

use crate::support::write_bag;

/// A directory with a bag `stranger`, and beside it a private bag `mine`.
fn two_bags() -> (BagScratch, PathBuf, PathBuf) {
    let directory = BagScratch::new();
    let [stranger, mine] = ["stranger", "mine"].map(|name| directory.path().join(name));
    for bag in [&stranger, &mine] {
        write_bag(bag, BagOptions::default(), 12);
    }
    (directory, stranger, mine)
}

fn name_file(bag: &Path, version: u32, name: &str) {
    let text = format!(
        "rosbag2_bagfile_information:\n  version: {version}\n  storage_identifier: mcap\n  message_count: 1\n  relative_file_paths: [{name}]\n"
    );
    fs::write(bag.join("metadata.yaml"), text).unwrap();
}

#[test]
fn metadata_names_no_file_outside() {
    let (_directory, stranger, mine) = two_bags();
    let absolute = mine.join("mine_0.mcap");
    for name in ["../mine/mine_0.mcap", absolute.to_str().unwrap()] {
        name_file(&stranger, 9, name);
        let refused = BagReader::open(&stranger);
        assert!(matches!(refused, Err(Error::UnsafePath { .. })), "{name}");
    }
}

/// Paths of old bags begin with the name of the bag's directory; not with that of another.
#[test]
fn old_metadata_names_no_file_of_a_neighbour() {
    let (_directory, stranger, _) = two_bags();
    name_file(&stranger, 2, "stranger/stranger_0.mcap");
    assert_eq!(BagReader::open(&stranger).unwrap().files().count(), 1);
    name_file(&stranger, 2, "mine/mine_0.mcap");
    let info = BagInfo::open(&stranger).unwrap();
    assert_eq!(info.damage, ["mine/mine_0.mcap is missing"]);
}

/// Datasets under DVC or git-annex are links into a store, which were made to be followed.
#[test]
fn files_of_a_bag_may_be_links() {
    let (_directory, stranger, mine) = two_bags();
    fs::remove_file(stranger.join("stranger_0.mcap")).unwrap();
    symlink(mine.join("mine_0.mcap"), stranger.join("stranger_0.mcap")).unwrap();
    let reader = BagReader::open(&stranger).unwrap();
    assert_eq!(reader.info().message_count(), 12);
    fs::remove_file(stranger.join("metadata.yaml")).unwrap();
    assert!(reindex(&stranger, 9).is_ok());
    assert!(mine.join("metadata.yaml").is_file());
}

#[test]
fn a_bag_that_is_itself_behind_a_link_is_read() {
    let (directory, stranger, _) = two_bags();
    let link = directory.path().join("link");
    symlink(&stranger, &link).unwrap();
    assert_eq!(BagReader::open(&link).unwrap().info().message_count(), 12);
    assert!(reindex(&link, 9).is_ok());
}

/// The temporary files of a repair have known names: a link of that name must not be written through.
#[test]
fn repair_writes_through_no_link() {
    let (directory, stranger, _) = two_bags();
    let precious = directory.path().join("precious");
    fs::write(&precious, "precious").unwrap();
    let file = stranger.join("stranger_0.mcap");
    for name in [".metadata.yaml.tmp", "stranger_0.mcap.recovering"] {
        symlink(&precious, stranger.join(name)).unwrap();
    }
    // Truncated, so that there is something to repair.
    let bytes = fs::read(&file).unwrap();
    fs::write(&file, &bytes[..bytes.len() - 40]).unwrap();
    let report = recover(&stranger, 9).unwrap();
    assert!(report.files[0].original.is_some());
    assert!(reindex(&stranger, 9).is_ok());
    symlink(&precious, stranger.join(".metadata.yaml.tmp")).unwrap();
    write_metadata_file(&stranger, &BagMetadata::default()).unwrap();
    assert_eq!(fs::read_to_string(&precious).unwrap(), "precious");
}
