//! Unused columns and messages are neither read nor decoded, as the metrics of the scan show.

use timeloom_query::Session;
use timeloom_testkit::mcap::BagScratch;

use crate::support::{csv, float, golden, open, record, topic};

/// The line of the scan in the plan after it ran.
fn scan(session: &Session, sql: &str) -> String {
    let plan = csv(session, &format!("EXPLAIN ANALYZE {sql}")).join("\n");
    let line = plan.lines().find(|line| line.contains("BagScan"));
    line.unwrap_or_else(|| panic!("{plan}")).to_owned()
}

fn metric(line: &str, name: &str) -> u64 {
    let (_, after) = line
        .split_once(&format!("{name}="))
        .unwrap_or_else(|| panic!("{line}"));
    let digits = after.split(|c: char| !c.is_ascii_digit()).next().unwrap();
    digits.parse().unwrap()
}

#[test]
fn only_the_fields_of_a_query_are_decoded() {
    let session = open(&[golden("mcap_plain")]);
    let values = |sql| metric(&scan(&session, sql), "values_per_message");
    assert_eq!(
        values(r#"SELECT avg(linear_acceleration.z) FROM "/imu/data""#),
        1
    );
    assert_eq!(
        values(r#"SELECT header.stamp, orientation.w FROM "/imu/data""#),
        2
    );
    let filtered = r#"SELECT max(angular_velocity.x) FROM "/imu/data" WHERE orientation.w > 0.5"#;
    assert_eq!(values(filtered), 2);
    let whole = r#"SELECT linear_acceleration FROM "/imu/data""#;
    assert_eq!(values(whole), 3);
    let line = scan(&session, r#"SELECT log_time FROM "/camera/image_raw""#);
    assert_eq!(metric(&line, "values_per_message"), 0);
    assert_eq!(metric(&line, "messages_decoded"), 0);
    assert_eq!(metric(&line, "messages_read"), 21);
}

#[test]
fn conditions_of_time_and_bag_reach_the_reader() {
    let directory = BagScratch::new();
    let (info, schema) = topic("/n", "std_msgs/msg/Float64", None);
    let payloads: Vec<_> = (0..100).map(|n| float(&schema, f64::from(n))).collect();
    let one = record(directory.path().join("one"), &info, &payloads);
    let two = record(directory.path().join("two"), &info, &payloads);
    let session = open(&[one, two]);
    let read = |condition: &str| {
        let sql = format!(r#"SELECT sum(data) FROM "/n" WHERE {condition}"#);
        let line = scan(&session, &sql);
        (metric(&line, "messages_read"), metric(&line, "bags"))
    };
    assert_eq!(read("data >= 0"), (200, 2));
    assert_eq!(
        read("log_time >= 10::timestamp AND log_time < 20::timestamp"),
        (20, 2)
    );
    assert_eq!(read("log_time = '1970-01-01T00:00:05Z'"), (2, 2));
    assert_eq!(
        read("log_time BETWEEN '1970-01-01T00:00:05Z' AND '1970-01-01T00:00:06Z'"),
        (4, 2)
    );
    assert_eq!(read("bag = 'two'"), (100, 1));
    assert_eq!(
        read("bag IN ('two', 'three') AND log_time::bigint <= 0"),
        (1, 1)
    );
    // What the index cannot answer is checked row by row.
    assert_eq!(read("bag <> 'two'"), (200, 2));
}

#[test]
fn topics_are_chosen_by_the_reader() {
    let session = open(&[golden("mcap_plain"), golden("sqlite3_plain")]);
    let line = scan(
        &session,
        "SELECT max(size) FROM messages WHERE topic IN ('/chatter', '/fix')",
    );
    assert_eq!(metric(&line, "messages_read"), 42 + 4 + 32 + 4);
    let line = scan(
        &session,
        "SELECT max(size) FROM messages WHERE type = 'std_msgs/msg/Empty'",
    );
    assert_eq!(metric(&line, "messages_read"), 8);
}

#[test]
fn a_limit_ends_the_reading() {
    let session = open(&[golden("mcap_plain"), golden("sqlite3_plain")]);
    let line = scan(&session, r#"SELECT data FROM "/chatter" LIMIT 5"#);
    assert_eq!(metric(&line, "messages_read"), 5);
    assert_eq!(metric(&line, "limit"), 5);
    let rows = csv(&session, r#"SELECT bag FROM "/chatter" LIMIT 50"#);
    assert_eq!(rows.len(), 50);
    assert!(rows[..42].iter().all(|bag| bag == "mcap_plain"));
}

#[test]
fn a_count_is_answered_by_the_index() {
    let session = open(&[golden("mcap_plain"), golden("sqlite3_plain")]);
    let plan = csv(&session, r#"EXPLAIN SELECT count(*) FROM "/chatter""#).join("\n");
    assert!(!plan.contains("BagScan"), "{plan}");
    assert_eq!(csv(&session, r#"SELECT count(*) FROM "/chatter""#), ["74"]);
    let of_one = r#"SELECT count(*) FROM "/chatter" WHERE bag = 'sqlite3_plain'"#;
    assert_eq!(csv(&session, of_one), ["32"]);
}

#[test]
fn a_large_bag_is_read_by_several_threads_and_each_message_once() {
    let directory = BagScratch::new();
    let (info, schema) = topic("/n", "std_msgs/msg/Float64", None);
    let payloads: Vec<_> = (0..60_000).map(|n| float(&schema, f64::from(n))).collect();
    let session = open(&[record(directory.path().join("long"), &info, &payloads)]);
    let plan = csv(&session, r#"EXPLAIN SELECT sum(data) FROM "/n""#).join("\n");
    assert!(plan.contains("CoalescePartitionsExec"), "{plan}");
    let all = r#"SELECT count(data), count(DISTINCT data), sum(data) FROM "/n""#;
    assert_eq!(csv(&session, all), ["60000,60000,1799970000.0"]);
    let in_order = csv(&session, r#"SELECT data FROM "/n""#);
    let expected: Vec<String> = (0..60_000).map(|n| format!("{n}.0")).collect();
    assert!(in_order == expected, "the order of times is lost");
    let sorted = csv(
        &session,
        r#"EXPLAIN SELECT data FROM "/n" ORDER BY log_time"#,
    )
    .join("\n");
    assert!(
        sorted.contains("SortPreservingMergeExec") && !sorted.contains("SortExec:"),
        "{sorted}"
    );
}
