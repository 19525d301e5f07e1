//! SQL as people type it: nested fields, times, lists, joins, mistakes.

use datafusion::arrow::array::{AsArray as _, RecordBatch};
use timeloom_query::{Error, Format};
use timeloom_testkit::mcap::BagScratch;

use crate::support::{csv, float, golden, open, record, rows, topic, written};

#[test]
fn nested_fields_need_no_quotes() {
    let session = open(&[golden("mcap_plain")]);
    let sql = r#"SELECT count(linear_acceleration.z), min(header.frame_id) FROM "/imu/data" WHERE orientation.w > 0"#;
    assert_eq!(csv(&session, sql), ["207,imu"]);
    let joined = r#"SELECT count(*) FROM "/imu/data" i JOIN "/imu/data" j ON i.header.stamp = j.header.stamp"#;
    assert_eq!(csv(&session, joined), ["207"]);
}

#[test]
fn times_are_texts_and_numbers() {
    let session = open(&[golden("mcap_plain")]);
    let sql = r#"SELECT log_time, log_time::bigint AS number, publish_time::bigint AS sent FROM "/chatter" LIMIT 1"#;
    let expected = "2026-11-15T08:58:51.940146870Z,1794733131940146870,1794733131939030738";
    assert_eq!(csv(&session, sql), [expected]);
    for bound in [
        "'2026-11-15T08:58:51.940146870Z'",
        "to_timestamp_nanos(1794733131940146870)",
    ] {
        let sql = format!(r#"SELECT count(*) FROM "/chatter" WHERE log_time <= {bound}"#);
        assert_eq!(csv(&session, &sql), ["1"], "{bound}");
    }
    let number = r#"SELECT count(*) FROM "/chatter" WHERE log_time::bigint <= 1794733131940146870"#;
    assert_eq!(csv(&session, number), ["1"]);
    let delay = r#"SELECT avg((log_time - publish_time)::bigint) > 0 FROM "/imu/data""#;
    assert_eq!(csv(&session, delay), ["true"]);
}

#[test]
fn lists_can_be_taken_apart() {
    let session = open(&[golden("mcap_plain")]);
    let sql = r#"SELECT t.header.frame_id, count(*) FROM (SELECT unnest(transforms) AS t FROM "/tf") GROUP BY 1"#;
    assert_eq!(csv(&session, sql), ["odom,42"]);
    let lengths =
        r#"SELECT DISTINCT array_length(ranges) = array_length(intensities) FROM "/scan""#;
    assert_eq!(csv(&session, lengths).len(), 1);
    let first = r#"SELECT position[1] IS NOT NULL FROM "/joint_states" LIMIT 1"#;
    assert_eq!(csv(&session, first), ["true"]);
}

#[test]
fn plain_queries_come_in_the_order_of_bags_and_times() {
    let session = open(&[golden("mcap_plain"), golden("fastrtps_mcap")]);
    let found = csv(&session, r#"SELECT bag, log_time::bigint FROM "/imu/data""#);
    assert_eq!(found.len(), 207 + 145);
    assert!(
        found[..207]
            .iter()
            .all(|line| line.starts_with("mcap_plain,"))
    );
    assert!(found[..207].is_sorted() && found[207..].is_sorted());
    let all = csv(
        &session,
        r#"SELECT log_time::bigint AS t FROM "/imu/data" ORDER BY log_time"#,
    );
    assert!(all.is_sorted() && all.len() == found.len());
}

#[test]
fn mistakes_are_reported_with_names() {
    let session = open(&[golden("mcap_plain")]);
    let error = |sql: &str| session.query(sql).err().unwrap_or_else(|| panic!("{sql}"));
    match error("SELECT * FROM \"/imu\"") {
        Error::UnknownTable { name, tables } => {
            assert_eq!(name, "/imu");
            assert!(tables.contains(&"/imu/data".to_owned()));
        }
        other => panic!("{other}"),
    }
    let text = error("SELECT nothing FROM bags").to_string();
    assert!(text.contains("nothing"), "{text}");
    let text = error("SELEC 1").to_string();
    assert!(text.contains("SELEC"), "{text}");
    for change in [
        "CREATE TABLE a AS SELECT 1",
        "DROP TABLE bags",
        "INSERT INTO bags VALUES (1)",
    ] {
        assert!(matches!(
            error(change),
            Error::Sql { .. } | Error::UnknownTable { .. }
        ));
    }
}

#[test]
fn the_schema_can_be_asked() {
    let session = open(&[golden("mcap_plain")]);
    let tables = csv(
        &session,
        "SELECT table_name FROM information_schema.tables WHERE table_schema = 'public'",
    );
    for name in [
        "bags",
        "topics",
        "messages",
        "losses",
        "lineage",
        "latency",
        "/imu/data",
    ] {
        assert!(tables.contains(&name.to_owned()), "{name}");
    }
    assert!(!csv(&session, "SHOW TABLES").is_empty());
    assert_eq!(
        csv(&session, "SELECT sum(value) FROM generate_series(1, 4)"),
        ["10"]
    );
    let columns = csv(&session, "DESCRIBE \"/chatter\"");
    assert_eq!(columns.last().unwrap(), "data,Utf8,YES");
}

#[test]
fn the_three_forms_of_a_row() {
    let session = open(&[golden("mcap_plain")]);
    let sql = r#"SELECT status, altitude, 'a,"b' AS t, NULL AS n FROM "/fix" LIMIT 1"#;
    let csv = written(&session, sql, Format::Csv);
    assert_eq!(
        csv,
        "status.status,status.service,altitude,t,n\n-2,0,100.0,\"a,\"\"b\",\n"
    );
    let json = written(&session, sql, Format::Json);
    let expected = r#"{"status":{"status":-2,"service":0},"altitude":100.0,"t":"a,\"b","n":null}"#;
    assert_eq!(json, format!("{expected}\n"));
    let text = written(&session, sql, Format::Text);
    let expected = "\
status                    altitude  t     n
────────────────────────  ────────  ────  ────
{status: -2, service: 0}     100.0  a,\"b  NULL
";
    assert_eq!(text, expected);
}

#[test]
fn little_memory_is_an_error_or_a_temporary_file_and_never_a_crash() {
    let directory = BagScratch::new();
    let (info, schema) = topic("/n", "std_msgs/msg/Float64", None);
    let payloads: Vec<_> = (0..30_000).map(|n| float(&schema, f64::from(n))).collect();
    let bag = record(directory.path().join("long"), &info, &payloads);
    let options = timeloom_query::SessionOptions {
        memory: Some(100_000),
        threads: Some(2),
    };
    let source = std::sync::Arc::new(timeloom_query::LocalBags);
    let session = timeloom_query::Session::open(source, &[bag], options).unwrap();
    let answer =
        session.query(r#"SELECT data, count(*) FROM "/n" GROUP BY data ORDER BY data DESC"#);
    match answer.unwrap().collect::<Result<Vec<_>, _>>() {
        Ok(batches) => assert_eq!(
            batches.iter().map(RecordBatch::num_rows).sum::<usize>(),
            30_000
        ),
        Err(error) => assert!(matches!(error, Error::Memory { .. }), "{error}"),
    }
}

#[test]
fn a_message_that_is_null_has_null_fields() {
    let session = open(&[golden("mcap_plain")]);
    let sql =
        r#"SELECT CASE WHEN altitude > 120 THEN status END AS s FROM "/fix" ORDER BY log_time"#;
    assert_eq!(csv(&session, sql), [",", "-2,0", "-2,0", "-2,0"]);
}

#[test]
fn a_plan_is_shown_line_by_line() {
    let session = open(&[golden("mcap_plain")]);
    let text = written(
        &session,
        r#"EXPLAIN SELECT data FROM "/chatter""#,
        Format::Text,
    );
    let line = "BagScan: table=/chatter, bags=1, columns=[data], values_per_message=1";
    assert!(text.starts_with("logical_plan\n"), "{text}");
    assert!(
        text.lines().any(|shown| shown.trim_start() == line),
        "{text}"
    );
}

#[test]
fn a_message_and_its_fields_in_one_query() {
    let session = open(&[golden("mcap_plain")]);
    let sql = r#"SELECT header.frame_id AS frame, header, header.frame_id, header.stamp AS stamp
        FROM "/imu/data" LIMIT 1"#;
    let rows = rows(&session, sql);
    let (frame, header) = (rows[0].column(0), rows[0].column(1).as_struct());
    assert_eq!(frame.as_string::<i32>().value(0), "imu");
    assert_eq!(frame, header.column_by_name("frame_id").unwrap());
    assert_eq!(frame, rows[0].column(2));
    assert_eq!(rows[0].column(3), header.column_by_name("stamp").unwrap());
}

#[test]
fn elements_of_fixed_arrays() {
    let session = open(&[golden("mcap_plain")]);
    let sql = r#"SELECT cardinality(position_covariance), position_covariance[1] IS NULL,
        position_covariance[10] IS NULL FROM "/fix" LIMIT 1"#;
    assert_eq!(csv(&session, sql), ["9,false,true"]);
}
