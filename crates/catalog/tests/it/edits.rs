//! Random edits between an index and a query: what the catalogue knows is what opening tells, always.

use std::fs;
use std::path::Path;
use std::sync::Arc;

use timeloom_bag::BagReader;
use timeloom_catalog::BagFolder;
use timeloom_time::Clock;

use crate::support::{CountingPlace, index_with, opened, record, storage_file};

/// A small generator; each run of the test makes the same edits.
struct Random(u64);

impl Random {
    fn below(&mut self, limit: u64) -> u64 {
        self.0 = self
            .0
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % limit
    }
}

/// Changes a bag, or does not.
fn edit(bag: &Path, random: &mut Random) {
    let file = storage_file(bag);
    match random.below(11) {
        // The same number of messages on another topic of the same length: all sizes stay.
        0 => {
            let modified = fs::metadata(&file).unwrap().modified().unwrap();
            fs::remove_dir_all(bag).unwrap();
            record(bag, "/other", 7);
            let file = fs::File::options()
                .write(true)
                .open(storage_file(bag))
                .unwrap();
            file.set_modified(modified).unwrap();
        }
        // One byte in place, with the old date.
        1 => {
            let modified = fs::metadata(&file).unwrap().modified().unwrap();
            let mut bytes = fs::read(&file).unwrap();
            let at = usize::try_from(random.below(bytes.len() as u64)).unwrap();
            bytes[at] ^= 0x20;
            fs::write(&file, bytes).unwrap();
            let file = fs::File::options().write(true).open(&file).unwrap();
            file.set_modified(modified).unwrap();
        }
        2 => fs::remove_dir_all(bag).unwrap(),
        3 => fs::remove_file(bag.join("metadata.yaml")).unwrap(),
        4 => fs::write(bag.join("notes.txt"), "x").unwrap(),
        5 => {
            let file = fs::File::options().write(true).open(&file).unwrap();
            file.set_len(file.metadata().unwrap().len() / 2).unwrap();
        }
        6 => fs::rename(bag, bag.with_extension(random.below(u64::MAX).to_string())).unwrap(),
        // Another bag takes the name.
        7 => {
            let other = bag.with_extension("other");
            record(&other, "/t", 9);
            fs::remove_dir_all(bag).unwrap();
            fs::rename(other, bag).unwrap();
        }
        8 => fs::remove_file(&file).unwrap(),
        _ => {}
    }
}

#[test]
fn what_the_catalogue_knows_is_always_what_opening_tells() {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path();
    let place = Arc::new(CountingPlace::default());
    let mut random = Random(7);
    let mut certain = 0;
    for round in 0..3 {
        for bag in 0..30 {
            let path = root.join(format!("bag_{bag}"));
            if !path.exists() {
                record(&path, "/topic", 7);
            }
        }
        // Waits for the tick of the file system, as it does for users.
        let report = index_with(&place, root, Clock::new());
        assert_eq!(report.unsettled, Vec::<String>::new());
        for bag in BagFolder::list(place.as_ref(), root).unwrap().bags {
            let path = root.join(&bag.name);
            if path.is_dir() && BagReader::open(&path).is_ok() {
                edit(&path, &mut random);
            }
        }
        let found = BagFolder::list(place.as_ref(), root).unwrap();
        let known = found.known(place.as_ref(), &mut |_, error| panic!("{error}"));
        for (name, summary) in &known {
            let now = opened(&root.join(name));
            assert_eq!(Some(&**summary), now.as_ref(), "round {round}: {name}");
        }
        assert!(known.len() < found.bags.len(), "some were edited");
        certain += known.len();
    }
    assert!(certain > 10, "{certain} bags were not edited");
}
