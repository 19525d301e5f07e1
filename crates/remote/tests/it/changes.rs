//! A file that changes while it is read is an error, never a mixture of two versions.

use timeloom_bag::{BagReader, Query, StorageReader as _};
use timeloom_testkit::mcap::BagScratch;

use crate::bag::{content, large, place};
use crate::server::{Change, Manners, Server};

/// Reads a bag whose server changes its files in the middle; returns the error.
fn read_changing(change: Change, manners: &Manners) -> String {
    let directory = BagScratch::new();
    let server = Server::new();
    server.put_folder("large", &large(directory.path()));
    server.behave(manners.clone());
    let mut reader = BagReader::open_in(place(), &[server.url("large")]).unwrap();
    server.behave(Manners {
        changes: Some((3, change)),
        ..manners.clone()
    });
    let error = content(&mut reader, &Query::default()).unwrap_err();
    assert!(!error.is_damage(), "{error}");
    // It is permanent: no later read returns bytes of the other version.
    reader.start(&Query::default()).unwrap();
    let mut again = reader.next_message().map(|_| ());
    while again.is_ok() && reader.location().is_some() {
        again = reader.next_message().map(|_| ());
    }
    assert_eq!(again.unwrap_err().to_string(), error.to_string());
    error.to_string()
}

#[test]
fn the_condition_is_refused() {
    let manners = Manners {
        heeds_conditions: true,
        ..Manners::default()
    };
    let error = read_changing(Change::Tag, &manners);
    assert!(
        error.ends_with("(the server refused the version that was opened, 412)"),
        "{error}"
    );
}

#[test]
fn a_change_is_detected_on_a_server_without_conditions() {
    let error = read_changing(Change::Tag, &Manners::default());
    assert!(error.ends_with("(another ETag)"), "{error}");
    let untagged = Manners {
        no_tags: true,
        ..Manners::default()
    };
    let error = read_changing(Change::Date, &untagged);
    assert!(error.ends_with("(a later date)"), "{error}");
    let error = read_changing(Change::Shorter, &untagged);
    assert!(error.contains("bytes before,"), "{error}");
}

#[test]
fn a_file_that_vanishes_is_an_error() {
    let error = read_changing(Change::Gone, &Manners::default());
    assert!(
        error.contains("changed while it was read") && error.contains("404"),
        "{error}"
    );
}
