//! Truncated and damaged bags: readable rows are returned, and missing parts are reported.

use std::fs;
use std::path::Path;

use timeloom_query::Session;
use timeloom_testkit::mcap::BagScratch;

use crate::support::{csv, float, golden, open, record, topic};

fn cut_copy(directory: &Path, length: u64) -> String {
    let to = directory.join("cut_bag");
    fs::create_dir(&to).unwrap();
    for entry in fs::read_dir(golden("mcap_plain")).unwrap() {
        let from = entry.unwrap().path();
        fs::copy(&from, to.join(from.file_name().unwrap())).unwrap();
    }
    let file = fs::File::options()
        .write(true)
        .open(to.join("mcap_plain_0.mcap"));
    file.unwrap().set_len(length).unwrap();
    to.display().to_string()
}

fn count(session: &Session, sql: &str) -> u64 {
    csv(session, sql)[0].parse().unwrap()
}

#[test]
fn a_truncated_bag_gives_its_readable_rows_and_is_reported() {
    let directory = BagScratch::new();
    let session = open(&[cut_copy(directory.path(), 200_000)]);
    let found = count(&session, "SELECT count(*) FROM messages");
    assert!(found > 0 && found < 458, "{found}");
    assert!(!session.findings().is_empty());
    let damage = session.findings().damage();
    assert!(damage[0].starts_with("cut_bag: "), "{damage:?}");
    assert_eq!(csv(&session, "SELECT damaged FROM bags"), ["true"]);
}

#[test]
fn a_damaged_chunk_is_reported_only_when_read() {
    let directory = BagScratch::new();
    directory.unchecked();
    let (info, schema) = topic("/n", "std_msgs/msg/Float64", None);
    // Small chunks: each message is one.
    let options = timeloom_bag::BagOptions {
        storage: timeloom_bag::StorageOptions::Mcap(timeloom_bag::mcap::McapOptions {
            chunk_size: 1,
            ..Default::default()
        }),
        ..Default::default()
    };
    let payloads: Vec<_> = (0..100).map(|n| float(&schema, f64::from(n))).collect();
    let bag = directory.path().join("bag");
    crate::support::record_with(&bag, &info, &payloads, options);
    // The number 50.0 stands once in the file; with another byte, its chunk's checksum is wrong.
    let file = bag.join("bag_0.mcap");
    let mut bytes = fs::read(&file).unwrap();
    let wanted = 50.0_f64.to_le_bytes();
    let at = bytes.windows(8).position(|eight| eight == wanted).unwrap();
    bytes[at] ^= 1;
    fs::write(&file, bytes).unwrap();
    let session = open(&[bag.display().to_string()]);
    let early = r#"SELECT count(data) FROM "/n" WHERE log_time < 50::timestamp"#;
    assert_eq!(count(&session, early), 50);
    assert!(session.findings().is_empty(), "the damaged chunk was read");
    assert_eq!(count(&session, r#"SELECT count(data) FROM "/n""#), 99);
    assert!(!session.findings().is_empty());
}

#[test]
fn payloads_that_cannot_be_decoded_are_null_and_counted() {
    let directory = BagScratch::new();
    let (info, schema) = topic("/n", "std_msgs/msg/Float64", None);
    let payloads = [
        float(&schema, 1.0),
        vec![0, 1, 0, 0, 7],
        float(&schema, 3.0),
    ];
    let session = open(&[record(directory.path().join("b"), &info, &payloads)]);
    assert_eq!(
        csv(&session, r#"SELECT data FROM "/n" ORDER BY log_time"#),
        ["1.0", "", "3.0"]
    );
    let undecoded = session.findings().undecoded();
    assert_eq!(undecoded.len(), 1);
    let (bag, topic, count, reason) = &undecoded[0];
    assert_eq!((bag.as_str(), topic.as_str(), *count), ("b", "/n", 1));
    assert!(reason.contains("payload too short"), "{reason}");
}

#[test]
fn a_truncated_payload_gives_the_fields_before_its_end() {
    let directory = BagScratch::new();
    let (info, schema) = topic("/p", "my/msg/P", Some("uint8 a\nfloat64 data\n"));
    let payload = float(&schema, 2.0);
    let truncated = payload[..payload.len() - 1].to_vec();
    let session = open(&[record(
        directory.path().join("b"),
        &info,
        &[truncated, payload],
    )]);
    assert_eq!(csv(&session, r#"SELECT a FROM "/p""#), ["0", "0"]);
    assert!(session.findings().is_empty());
    // Messages that cannot be decoded up to the last field of the query have no values, as in tables of files.
    assert_eq!(csv(&session, r#"SELECT a, data FROM "/p""#), [",", "0,2.0"]);
    assert_eq!(session.findings().undecoded()[0].2, 1);
}

#[test]
fn a_bag_that_is_not_there_is_an_error() {
    let source = std::sync::Arc::new(timeloom_query::LocalBags);
    let options = timeloom_query::SessionOptions::default();
    let bags = [golden("mcap_plain"), "/nowhere/bag".to_owned()];
    let error = Session::open(source, &bags, options)
        .err()
        .unwrap()
        .to_string();
    assert!(error.contains("/nowhere/bag"), "{error}");
}

#[test]
fn a_bag_that_is_replaced_after_it_was_opened_is_an_error() {
    let directory = BagScratch::new();
    let (info, schema) = topic("/n", "std_msgs/msg/Float64", None);
    let payloads: Vec<_> = (0..20).map(|n| float(&schema, f64::from(n))).collect();
    let path = directory.path().join("bag");
    let bag = record(&path, &info, &payloads);
    let session = open(&[bag]);
    let sql = "SELECT count(data) AS n FROM \"/n\"";
    assert_eq!(csv(&session, sql), ["20"]);
    fs::remove_dir_all(&path).unwrap();
    record(&path, &info, &payloads[..5]);
    let mut answer = session.query(sql).unwrap();
    let error = answer.find_map(Result::err).unwrap().to_string();
    assert!(error.contains("bag: the bag was replaced"), "{error}");
}
