//! Incremental updates: only what is new or changed is opened.

use std::fs;
use std::path::Path;
use std::sync::{Arc, Mutex};

use bytes::Bytes;
use timeloom_bag::{LocalPlace, Place};
use timeloom_catalog::{
    CATALOG_FILE, Catalog, CatalogStore, Content, Error, Indexer, LocalStore, Result, Saved, Scope,
    StoredCatalog,
};
use timeloom_time::{Clock, VirtualTime};

use crate::support::{CountingPlace, index, index_with, later, record, storage_file};

fn load(root: &Path) -> Catalog {
    let stored = LocalStore::new(root).load().unwrap().unwrap();
    Catalog::from_bytes(stored.bytes).unwrap()
}

#[test]
fn only_new_and_changed_bags_are_opened_and_removed_ones_leave() {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path();
    let place = Arc::new(CountingPlace::default());
    for name in ["a", "b", "c"] {
        record(&root.join(name), "/t", 3);
    }
    let first = index(&place, root);
    assert_eq!(first.added, ["a", "b", "c"]);
    assert_eq!(place.0.take(), ["a", "b", "c"]);
    assert!(first.is_saved && first.unsettled.is_empty());
    let written = fs::read(root.join(CATALOG_FILE)).unwrap();

    let again = index(&place, root);
    assert_eq!(
        (again.unchanged, again.opened, again.is_saved),
        (3, 0, false)
    );
    assert_eq!(place.0.take(), Vec::<String>::new());
    assert_eq!(fs::read(root.join(CATALOG_FILE)).unwrap(), written);

    fs::remove_dir_all(root.join("a")).unwrap();
    fs::remove_dir_all(root.join("b")).unwrap();
    record(&root.join("b"), "/other", 5);
    record(&root.join("d"), "/t", 1);
    let third = index(&place, root);
    assert_eq!(third.added, ["d"]);
    assert_eq!(third.changed, ["b"]);
    assert_eq!(third.removed, ["a"]);
    assert_eq!(third.unchanged, 1);
    assert_eq!(place.0.take(), ["b", "d"]);
    let names: Vec<String> = load(root).entries.into_keys().collect();
    assert_eq!(names, ["b", "c", "d"]);
}

#[test]
fn bags_that_cannot_be_read_are_reported_and_the_others_are_indexed() {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path();
    let place = Arc::new(CountingPlace::default());
    for name in ["bad", "cut", "good"] {
        record(&root.join(name), "/t", 100);
    }
    fs::write(storage_file(&root.join("bad")), "no bag").unwrap();
    let cut = fs::File::options()
        .write(true)
        .open(storage_file(&root.join("cut")))
        .unwrap();
    cut.set_len(cut.metadata().unwrap().len() - 40).unwrap();
    let report = index(&place, root);
    assert_eq!(report.added, ["cut", "good"]);
    assert_eq!(report.unreadable.len(), 1);
    assert_eq!(report.unreadable[0].0, "bad");
    assert_eq!(report.damaged.len(), 1);
    assert_eq!(report.damaged[0].0, "cut");
    assert!(report.is_incomplete());
    // Neither is forgotten: both are reported again, and what could not be opened is tried again.
    place.0.take();
    let again = index(&place, root);
    assert_eq!(again.damaged, report.damaged);
    assert_eq!(again.unreadable, report.unreadable);
    assert_eq!(place.0.take(), ["bad"]);
    assert!(matches!(
        load(root).entries["bad"].content,
        Content::Unreadable(_)
    ));
}

#[test]
fn a_file_that_was_changed_just_now_is_not_certain() {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path();
    let place = Arc::new(CountingPlace::default());
    record(&root.join("a"), "/t", 3);
    // By this clock the files are of the future: a later change may have the same time.
    let early = Clock::on(&VirtualTime::manual().base());
    let report = index_with(&place, root, early);
    assert_eq!(report.unsettled, ["a"]);
    assert!(!load(root).entries["a"].is_settled);
    let report = index(&place, root);
    assert_eq!((report.opened, report.unchanged), (1, 1));
    assert!(load(root).entries["a"].is_settled);
}

#[test]
fn a_damaged_catalogue_is_written_anew_and_a_later_one_is_kept() {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path();
    let place = Arc::new(CountingPlace::default());
    record(&root.join("a"), "/t", 3);
    fs::write(root.join(CATALOG_FILE), "PAR1 no table PAR1").unwrap();
    let report = index(&place, root);
    assert!(report.rebuilt.is_some(), "{report:?}");
    assert_eq!(report.added, ["a"]);
    assert_eq!(index(&place, root).rebuilt, None);
}

#[test]
fn a_bag_is_not_a_folder_of_bags() {
    let folder = tempfile::tempdir().unwrap();
    record(&folder.path().join("a"), "/t", 3);
    let bag = folder.path().join("a");
    for root in [bag.clone(), bag.join("a_0.mcap")] {
        let indexer = Indexer {
            place: Arc::new(LocalPlace),
            root: &root,
            store: &LocalStore::new(&root),
            clock: later(),
            threads: 1,
        };
        let result = indexer.update(&Scope::All, &mut |_, _| {});
        assert!(matches!(result, Err(Error::IsABag { .. })), "{result:?}");
        assert!(!bag.join(CATALOG_FILE).exists());
    }
}

/// A store in which another writer is first, once: at the first save.
struct Contended<'a> {
    store: LocalStore,
    other: Mutex<Option<Box<dyn FnOnce() + 'a>>>,
}

impl CatalogStore for Contended<'_> {
    fn load(&self) -> Result<Option<StoredCatalog>> {
        self.store.load()
    }

    fn save(&self, bytes: Bytes, replaces: Option<&str>) -> Result<Saved> {
        let other = self.other.lock().unwrap().take();
        if let Some(other) = other {
            other();
        }
        self.store.save(bytes, replaces)
    }
}

#[test]
fn the_changes_of_two_writers_are_both_kept() {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path();
    record(&root.join("a"), "/t", 3);
    record(&root.join("gone"), "/t", 3);
    let place = Arc::new(CountingPlace::default());
    index(&place, root);
    fs::remove_dir_all(root.join("gone")).unwrap();
    record(&root.join("b"), "/t", 3);
    let other = || {
        // A recorder uploads a bag between the listing and the save of the first writer.
        record(&root.join("c"), "/t", 3);
        let indexer = Indexer {
            place: Arc::new(LocalPlace),
            root,
            store: &LocalStore::new(root),
            clock: later(),
            threads: 1,
        };
        let report = indexer.update(&Scope::Bag("c".into()), &mut |_, _| {});
        assert_eq!(report.unwrap().added, ["c"]);
    };
    let store = Contended {
        store: LocalStore::new(root),
        other: Mutex::new(Some(Box::new(other))),
    };
    let indexer = Indexer {
        place: Arc::clone(&place) as Arc<dyn Place>,
        root,
        store: &store,
        clock: later(),
        threads: 1,
    };
    let report = indexer.update(&Scope::All, &mut |_, _| {}).unwrap();
    assert_eq!(report.added, ["b"]);
    let names: Vec<String> = load(root).entries.into_keys().collect();
    assert_eq!(names, ["a", "b", "c"]);
}

#[test]
fn a_catalogue_further_down_saves_the_opening() {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path();
    for name in ["r1/a", "r1/b", "r2/c"] {
        record(&root.join(name), "/t", 3);
    }
    let place = Arc::new(CountingPlace::default());
    index(&place, &root.join("r1"));
    place.0.take();
    let report = index(&place, root);
    assert_eq!(report.added, ["r1/a", "r1/b", "r2/c"]);
    assert_eq!((report.copied, report.opened), (2, 1));
    assert_eq!(place.0.take(), ["c"]);
}
