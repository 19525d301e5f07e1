//! Failures of the network and the server.

use timeloom_bag::{BagReader, Query};
use timeloom_remote::Error;
use timeloom_testkit::mcap::BagScratch;

use crate::bag::{all, all_local, content, golden, large, place};
use crate::server::{Manners, Server};

fn reason(error: timeloom_bag::Error) -> Error {
    match error {
        timeloom_bag::Error::Place { source } => source.downcast_ref::<Error>().unwrap().clone(),
        other => panic!("{other:?}"),
    }
}

fn open(bag: &str) -> Error {
    reason(BagReader::open_in(place(), &[bag]).map(drop).unwrap_err())
}

#[test]
fn a_temporary_failure_is_retried() {
    let server = Server::new();
    server.put_folder("bag", &golden("mcap_plain"));
    server.behave(Manners {
        failures: (2, 503),
        ..Manners::default()
    });
    let there = all(place(), &server.url("bag")).unwrap();
    assert_eq!(there, all_local(&golden("mcap_plain")));
}

#[test]
fn a_permanent_failure_names_the_address_and_the_status() {
    let server = Server::new();
    server.put_folder("bag", &golden("mcap_plain"));
    server.behave(Manners {
        failures: (u32::MAX, 500),
        ..Manners::default()
    });
    let uri = server.url("bag/mcap_plain_0.mcap");
    let error = open(&uri);
    assert!(
        matches!(&error, Error::Status { status: 500, .. }),
        "{error:?}"
    );
    assert!(error.to_string().starts_with(&uri), "{error}");
    assert_eq!(server.requests().len(), 3, "one and two retries");
}

#[test]
fn missing_and_forbidden_objects_are_errors() {
    let server = Server::new();
    let uri = server.url("none.mcap");
    assert_eq!(open(&uri), Error::NotFound { uri: uri.clone() });
    for status in [401, 403] {
        server.behave(Manners {
            failures: (u32::MAX, status),
            ..Manners::default()
        });
        let uri = uri.clone();
        assert_eq!(open(&uri), Error::Denied { uri, status });
    }
}

#[test]
fn a_port_without_a_listener_is_an_error() {
    // A port that was free a moment ago.
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let uri = format!("http://{}/x.mcap", listener.local_addr().unwrap());
    drop(listener);
    let error = open(&uri);
    assert!(matches!(&error, Error::Unreachable { .. }), "{error:?}");
    assert!(error.to_string().starts_with(&uri), "{error}");
}

#[test]
fn a_truncated_answer_is_completed_or_an_error() {
    let directory = BagScratch::new();
    let bag = large(directory.path());
    let server = Server::new();
    server.put_folder("large", &bag);
    let mut reader = BagReader::open_in(place(), &[server.url("large")]).unwrap();
    server.behave(Manners {
        breaks_off: 2,
        ..Manners::default()
    });
    let there = content(&mut reader, &Query::default()).unwrap();
    assert!(there == all_local(&bag));

    // Without a tag it is unknown whether the rest would be of the same file.
    server.behave(Manners {
        no_tags: true,
        ..Manners::default()
    });
    let mut reader = BagReader::open_in(place(), &[server.url("large")]).unwrap();
    server.behave(Manners {
        breaks_off: 1,
        no_tags: true,
        ..Manners::default()
    });
    let error = content(&mut reader, &Query::default()).unwrap_err();
    assert!(matches!(
        reason(error),
        Error::Unreachable { .. } | Error::Short { .. }
    ));
}

#[test]
fn a_failure_in_the_middle_ends_the_query_and_not_the_reader() {
    let directory = BagScratch::new();
    let bag = large(directory.path());
    let server = Server::new();
    server.put_folder("large", &bag);
    let mut reader = BagReader::open_in(place(), &[server.url("large")]).unwrap();
    server.behave(Manners {
        failures: (u32::MAX, 404),
        ..Manners::default()
    });
    content(&mut reader, &Query::default()).unwrap_err();
    server.behave(Manners {
        failures: (u32::MAX, 400),
        ..Manners::default()
    });
    let mut other = BagReader::open_in(place(), &[golden("mcap_plain")]).unwrap();
    assert!(
        content(&mut other, &Query::default()).is_ok(),
        "files of this machine are not concerned"
    );
}

#[test]
fn a_signature_is_in_every_request_and_in_no_error() {
    let server = Server::new();
    server.put_folder("bag", &golden("mcap_plain"));
    let signed = server.url("bag/mcap_plain_0.mcap?X-Amz-Signature=secret");
    assert_eq!(
        all(place(), &signed).unwrap().len(),
        all_local(&golden("mcap_plain")).len()
    );
    let requests = server.requests();
    assert!(
        requests
            .iter()
            .all(|request| request.contains("?X-Amz-Signature=secret")),
        "{requests:?}"
    );
    server.behave(Manners {
        failures: (u32::MAX, 500),
        ..Manners::default()
    });
    let error = open(&signed).to_string();
    assert!(
        !error.contains("secret") && error.contains("mcap_plain_0.mcap"),
        "{error}"
    );
}
