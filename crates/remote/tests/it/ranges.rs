//! The amount of fetched data, and its requests.

use timeloom_bag::{BagInfo, BagReader, Order, Query, StorageReader as _};
use timeloom_remote::FetchReason;
use timeloom_testkit::mcap::BagScratch;

use crate::bag::{
    MESSAGES, STEP_NS, all, all_local, content, file_of, golden, large, noting_place, place, split,
};
use crate::server::{Manners, Server};

/// A server with the large bag.
fn served() -> (Server, BagScratch, u64) {
    let directory = BagScratch::new();
    let bag = large(directory.path());
    let server = Server::new();
    server.put_folder("large", &bag);
    let size = std::fs::metadata(file_of(&bag)).unwrap().len();
    assert!(size > 30 << 20, "{size}");
    (server, directory, size)
}

#[test]
fn info_fetches_less_than_a_hundredth_of_a_bag() {
    let (server, directory, size) = served();
    let there = BagInfo::open_in(place(), server.url("large").as_ref()).unwrap();
    assert!(server.bytes() < size / 100, "{} of {size}", server.bytes());
    assert!(server.requests().len() <= 6, "{:?}", server.requests());
    let here = BagInfo::open(&directory.path().join("large")).unwrap();
    assert_eq!(there, here);
    server.behave(Manners::default());
    let file = server.url("large/large_0.mcap");
    let alone = BagInfo::open_in(place(), file.as_ref()).unwrap();
    assert_eq!(alone.message_count, here.message_count);
    assert!(server.bytes() < size / 100, "{} of {size}", server.bytes());
}

#[test]
fn a_slice_fetches_only_its_chunks() {
    let (server, directory, size) = served();
    let mut reader = BagReader::open_in(place(), &[server.url("large")]).unwrap();
    let query = Query {
        start_ns: Some(MESSAGES / 2 * STEP_NS),
        end_ns: Some((MESSAGES / 2 + 15) * STEP_NS),
        ..Query::default()
    };
    server.behave(Manners::default());
    let there = content(&mut reader, &query).unwrap();
    assert_eq!(there.len(), 16);
    // Sixteen messages of 50 KiB are in at most three chunks of 512 KiB.
    assert!(
        server.bytes() <= 3 * (520 << 10),
        "{} of {size}",
        server.bytes()
    );
    let mut local = BagReader::open(&directory.path().join("large")).unwrap();
    assert_eq!(there, content(&mut local, &query).unwrap());
}

#[test]
fn one_topic_does_not_fetch_the_chunks_of_the_others() {
    let (server, _directory, size) = served();
    let mut reader = BagReader::open_in(place(), &[server.url("large")]).unwrap();
    let query = reader.query_for(&["/lidar"]);
    server.behave(Manners::default());
    let there = content(&mut reader, &query).unwrap();
    assert_eq!(there.len(), usize::try_from(MESSAGES / 2).unwrap());
    assert!(
        server.bytes() < size * 3 / 4,
        "{} of {size}",
        server.bytes()
    );
}

#[test]
fn the_first_message_costs_little() {
    let (server, _directory, size) = served();
    for order in [Order::LogTime, Order::ReverseLogTime] {
        let mut reader = BagReader::open_in(place(), &[server.url("large")]).unwrap();
        server.behave(Manners::default());
        reader
            .start(&Query {
                order,
                ..Query::default()
            })
            .unwrap();
        assert!(reader.next_message().unwrap().is_some());
        assert!(server.bytes() < 640 << 10, "{} of {size}", server.bytes());
    }
}

#[test]
fn a_long_read_has_several_requests_in_flight_and_gets_every_byte_once() {
    let (server, directory, size) = served();
    server.behave(Manners {
        waits_for: 3,
        ..Manners::default()
    });
    let there = all(place(), &server.url("large")).unwrap();
    assert_eq!(there, all_local(&directory.path().join("large")));
    assert!(server.peak() >= 3, "{}", server.peak());
    // Sixty-four chunks; a request for each would be as many round trips.
    assert!(server.requests().len() < 24, "{:?}", server.requests());
    assert!(
        server.bytes() < size * 101 / 100,
        "{} of {size}",
        server.bytes()
    );
}

#[test]
fn the_files_of_a_bag_are_searched_for_at_once() {
    let directory = BagScratch::new();
    let bag = split(directory.path());
    let server = Server::new();
    server.put_folder("split", &bag);
    // The ends of the files are 32 KiB long, metadata.yaml is shorter.
    server.behave(Manners {
        waits_for: 4,
        long: 20 << 10,
        ..Manners::default()
    });
    let there = BagInfo::open_in(place(), server.url("split").as_ref()).unwrap();
    assert!(server.peak() >= 4, "{}", server.peak());
    assert_eq!(there, BagInfo::open(&bag).unwrap());
    assert!(there.files.len() >= 6, "{:?}", there.files);
    let requests = server.requests().len();
    assert!(
        requests <= 2 + 3 * there.files.len(),
        "{:?}",
        server.requests()
    );
    assert_eq!(all(place(), &server.url("split")).unwrap(), all_local(&bag));
}

#[test]
fn cached_blocks_are_fetched_once() {
    let (server, _directory, _) = served();
    let mut reader = BagReader::open_in(place(), &[server.url("large")]).unwrap();
    let first = content(&mut reader, &Query::default()).unwrap();
    server.behave(Manners::default());
    assert_eq!(content(&mut reader, &Query::default()).unwrap(), first);
    assert_eq!(server.bytes(), 0, "{:?}", server.requests());
}

#[test]
fn a_server_without_ranges_is_read_from_a_copy_which_is_reported() {
    let server = Server::new();
    server.put_folder("bag", &golden("mcap_plain"));
    server.behave(Manners {
        no_ranges: true,
        ..Manners::default()
    });
    let (place, fetched) = noting_place();
    let there = all(place, &server.url("bag")).unwrap();
    assert_eq!(there, all_local(&golden("mcap_plain")));
    let fetched = fetched.lock().unwrap();
    assert!(
        fetched
            .iter()
            .all(|(_, reason)| *reason == FetchReason::NoRanges)
    );
    let files = fetched
        .iter()
        .filter(|(uri, _)| uri.ends_with("_0.mcap"))
        .count();
    assert_eq!(files, 1, "{fetched:?}");
}

#[test]
fn databases_and_compressed_files_are_read_from_a_copy_that_vanishes() {
    for bag in ["sqlite3_plain", "sqlite3_file_zstd", "mcap_file_zstd"] {
        let server = Server::new();
        server.put_folder("bag", &golden(bag));
        let (place, fetched) = noting_place();
        // The content of the metadata is shown without fetching the file.
        let info = BagInfo::open_in(place.clone(), server.url("bag").as_ref()).unwrap();
        assert_eq!(info, BagInfo::open(&golden(bag)).unwrap(), "{bag}");
        assert_eq!(fetched.lock().unwrap().len(), 0, "{bag}");
        let there = all(place, &server.url("bag")).unwrap();
        assert_eq!(there, all_local(&golden(bag)), "{bag}");
        let fetched = fetched.lock().unwrap();
        assert!(!fetched.is_empty(), "{bag}");
        assert!(
            fetched
                .iter()
                .all(|(_, reason)| *reason == FetchReason::NotReadableInParts)
        );
    }
}

#[test]
fn a_copy_is_removed_with_its_place_or_by_the_next_one() {
    let directory = BagScratch::new();
    let server = Server::new();
    server.put_folder("bag", &golden("sqlite3_plain"));
    let options = timeloom_remote::RemoteOptions {
        directory: Some(directory.path().to_path_buf()),
        ..crate::bag::options()
    };
    let place: std::sync::Arc<dyn timeloom_bag::Place> =
        std::sync::Arc::new(timeloom_remote::RemotePlace::new(options));
    // One that a killed process left, and one that is in use.
    let named = |name: &str| std::fs::File::create(directory.path().join(name)).unwrap();
    drop(named("timeloom-copy-left"));
    let used = named("timeloom-copy-used");
    used.lock().unwrap();
    let files = || std::fs::read_dir(directory.path()).unwrap().count();
    let reader = BagReader::open_in(place, &[server.url("bag")]).unwrap();
    assert_eq!(files(), 2);
    drop(reader);
    assert_eq!(files(), 1);
    assert!(directory.path().join("timeloom-copy-used").exists());
}
