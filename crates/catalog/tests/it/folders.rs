//! What queries take from catalogues.

use std::fs;
use std::sync::Arc;

use timeloom_catalog::{BagFolder, CATALOG_FILE};

use crate::support::{CountingPlace, index, opened, record};

#[test]
fn a_bag_is_found_as_itself_and_a_folder_as_its_bags() {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path();
    let place = CountingPlace::default();
    assert!(BagFolder::find(&place, root).is_none(), "it holds no bags");
    record(&root.join("r1/a"), "/t", 3);
    record(&root.join("b"), "/t", 3);
    assert!(BagFolder::find(&place, &root.join("b")).is_none());
    assert!(BagFolder::find(&place, &root.join("nowhere")).is_none());
    let found = BagFolder::find(&place, root).unwrap();
    let names: Vec<&str> = found.bags.iter().map(|bag| bag.name.as_str()).collect();
    assert_eq!(names, ["b", "r1/a"]);
    assert_eq!(found.path_of(&found.bags[1]), root.join("r1/a"));
}

#[test]
fn what_is_known_is_what_opening_tells() {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path();
    let golden = timeloom_testkit::golden_bags();
    for bag in fs::read_dir(&golden).unwrap() {
        let bag = bag.unwrap().path();
        if !bag.join("metadata.yaml").is_file() {
            continue;
        }
        let copy = root.join(bag.file_name().unwrap());
        fs::create_dir(&copy).unwrap();
        let files = fs::read_dir(&bag).unwrap().map(|file| file.unwrap().path());
        for file in files.filter(|file| file.is_file()) {
            fs::copy(&file, copy.join(file.file_name().unwrap())).unwrap();
        }
    }
    let place = Arc::new(CountingPlace::default());
    let report = index(&place, root);
    place.0.take();
    let found = BagFolder::find(place.as_ref(), root).unwrap();
    let known = found.known(place.as_ref(), &mut |path, error| {
        panic!("{}: {error}", path.display())
    });
    assert_eq!(known.len(), found.bags.len() - report.unreadable.len());
    assert!(known.len() >= 9, "{}", known.len());
    assert_eq!(place.0.take(), Vec::<String>::new());
    for (name, summary) in &known {
        assert_eq!(
            Some(&**summary),
            opened(&root.join(name)).as_ref(),
            "{name}"
        );
    }
}

#[test]
fn a_catalogue_that_cannot_be_used_is_reported_and_knows_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path();
    record(&root.join("a"), "/t", 3);
    let place = Arc::new(CountingPlace::default());
    index(&place, root);
    let path = root.join(CATALOG_FILE);
    let mut bytes = fs::read(&path).unwrap();
    let middle = bytes.len() / 3;
    bytes[middle] ^= 0xff;
    fs::write(&path, bytes).unwrap();
    let mut reported = Vec::new();
    let found = BagFolder::find(place.as_ref(), root).unwrap();
    let known = found.known(place.as_ref(), &mut |path, error| {
        reported.push((path.to_path_buf(), error.to_string()));
    });
    assert!(known.is_empty());
    assert_eq!(reported.len(), 1);
    assert_eq!(reported[0].0, path);
}
