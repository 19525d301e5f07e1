//! Bags that are folders.

use std::path::Path;

use timeloom_bag::{BagInfo, BagReader, Error, StorageReader as _};

use crate::bag::{all, all_local, file_of, golden, place};
use crate::server::Server;

#[test]
fn golden_bags_equal_the_local_ones() {
    let mut count = 0;
    for entry in std::fs::read_dir(golden("")).unwrap() {
        let bag = entry.unwrap().path();
        if !bag.join("metadata.yaml").is_file() {
            continue;
        }
        let server = Server::new();
        server.put_folder("a folder/bag", &bag);
        let uri = server.url("a%20folder/bag");
        let place = place();
        let info = BagInfo::open_in(place.clone(), uri.as_ref()).unwrap();
        let mut here = BagInfo::open(&bag).unwrap();
        here.size_bytes -= size_beside_databases(&bag);
        assert_eq!(info, here, "{}", bag.display());
        assert_eq!(
            all(place, &uri).unwrap(),
            all_local(&bag),
            "{}",
            bag.display()
        );
        count += 1;
    }
    assert!(count >= 10, "{count}");
}

/// Size of the files that sqlite3 keeps beside a database: a web server lists no files, so they are not found there.
fn size_beside_databases(bag: &Path) -> u64 {
    let files = std::fs::read_dir(bag).unwrap().map(|entry| entry.unwrap());
    let beside = files.filter(|file| {
        let name = file.file_name();
        let name = name.to_str().unwrap();
        name.ends_with("-shm") || name.ends_with("-wal")
    });
    beside.map(|file| file.metadata().unwrap().len()).sum()
}

#[test]
fn local_and_remote_bags_are_read_as_one() {
    let server = Server::new();
    server.put_folder("bag", &golden("mcap_plain"));
    let there = server.url("bag");
    let here = format!(
        "file://{}",
        golden("sqlite3_plain").canonicalize().unwrap().display()
    );
    let both = BagReader::open_in(place(), &[there.as_str(), here.as_str()]).unwrap();
    let alone = all_local(&golden("mcap_plain")).len() + all_local(&golden("sqlite3_plain")).len();
    assert_eq!(usize::try_from(both.info().message_count()).unwrap(), alone);
}

#[test]
fn a_folder_without_metadata_on_a_web_server_is_an_error_that_asks_for_the_file() {
    let server = Server::new();
    let file = file_of(&golden("mcap_plain"));
    server.put("bag/only.mcap", std::fs::read(file).unwrap());
    let error = BagReader::open_in(place(), &[server.url("bag/")])
        .map(drop)
        .unwrap_err();
    assert!(error.to_string().contains("cannot list"), "{error}");
    assert!(all(place(), &server.url("bag/only.mcap")).is_ok());
}

#[test]
fn metadata_cannot_refer_outside_of_its_folder() {
    let text = std::fs::read_to_string(golden("mcap_plain").join("metadata.yaml")).unwrap();
    for outside in ["../secret.mcap", "/secret.mcap", "a/../../secret.mcap"] {
        let server = Server::new();
        server.put(
            "secret.mcap",
            std::fs::read(file_of(&golden("mcap_plain"))).unwrap(),
        );
        let wrong = text.replace("mcap_plain_0.mcap", outside);
        server.put("bag/metadata.yaml", wrong.into_bytes());
        let error = BagReader::open_in(place(), &[server.url("bag")])
            .map(drop)
            .unwrap_err();
        assert!(matches!(error, Error::UnsafePath { .. }), "{error}");
        let requests = server.requests();
        assert!(
            !requests.iter().any(|request| request.contains("secret")),
            "{requests:?}"
        );
    }
}

#[test]
fn a_truncated_file_is_read_to_its_end_and_reported() {
    let bytes = std::fs::read(file_of(&golden("mcap_plain"))).unwrap();
    let cut = bytes[..200_000].to_vec();
    let directory = tempfile::TempDir::new().unwrap();
    let local = directory.path().join("cut.mcap");
    std::fs::write(&local, &cut).unwrap();
    let server = Server::new();
    server.put("cut.mcap", cut);
    let reader = BagReader::open_in(place(), &[server.url("cut.mcap")]).unwrap();
    assert_eq!(
        reader.info().damage,
        BagReader::open(&local).unwrap().info().damage
    );
    assert!(!reader.info().damage.is_empty());
    assert_eq!(
        all(place(), &server.url("cut.mcap")).unwrap(),
        all_local(&local)
    );
}

#[test]
fn empty_and_strange_files_are_refused() {
    let server = Server::new();
    server.put("empty.mcap", Vec::new());
    server.put("page", b"<html>no bag</html>".to_vec());
    for (name, text) in [
        ("empty.mcap", "is not an MCAP file"),
        ("page", "is neither an MCAP file"),
    ] {
        let error = BagReader::open_in(place(), &[server.url(name)])
            .map(drop)
            .unwrap_err();
        assert!(error.to_string().contains(text), "{error}");
    }
}
