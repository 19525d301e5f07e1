//! Parquet and Arrow files of `convert` and `query`, read by pyarrow, pandas, `DuckDB` and polars.

use std::fs;
use std::path::Path;
use std::process::Command;

use serde_json::{Value, json};
use timeloom_bag::{
    BagOptions, BagWriter, Message, MessageDefinition, StorageId, StorageOptions, TopicInfo,
};
use timeloom_msg::Schema;

use crate::foreign::python;
use crate::query::run;
use crate::support::Sandbox;

/// Runs the script beside this file in the sandbox; `None` where there is no Python.
pub(crate) fn script(sandbox: &Sandbox, arguments: &[&str]) -> Option<String> {
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/it/tables.py");
    let output = Command::new(python()?)
        .arg(script)
        .args(arguments)
        .current_dir(sandbox.path("."))
        .env("PYTHONDONTWRITEBYTECODE", "1")
        .output()
        .unwrap();
    let errors = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(output.status.success(), "{arguments:?}\n{errors}");
    Some(String::from_utf8(output.stdout).unwrap())
}

/// Metadata, types and rows of a file.
fn shown(sandbox: &Sandbox, file: &str) -> Option<Value> {
    Some(serde_json::from_str(&script(sandbox, &["show", file])?).unwrap())
}

fn names(sandbox: &Sandbox, directory: &str) -> Vec<String> {
    let entries = fs::read_dir(sandbox.path(directory)).unwrap();
    let mut names: Vec<String> = entries
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort();
    names
}

fn every_tool_reads(bag: &str) {
    let sandbox = Sandbox::new();
    sandbox.ok(&format!("convert BAGS/{bag} -o p --to parquet"));
    sandbox.ok(&format!("convert BAGS/{bag} -o a --to arrow"));
    sandbox.ok(&format!("convert BAGS/{bag} -o n.ndjson --format ndjson"));
    let Some(files) = script(&sandbox, &["same", "p", "a", "n.ndjson"]) else {
        return;
    };
    let files: usize = files.trim().parse().unwrap();
    assert_eq!(files, names(&sandbox, "p").len() - 2, "{bag}");
    assert_eq!(names(&sandbox, "p").len(), names(&sandbox, "a").len());
}

#[test]
fn tables_of_an_mcap_bag_hold_the_messages() {
    every_tool_reads("mcap_plain");
}

#[test]
fn tables_of_a_sqlite3_bag_hold_the_messages() {
    every_tool_reads("sqlite3_plain");
}

#[test]
fn tables_of_compressed_bags_hold_the_messages() {
    for bag in ["mcap_msg_zstd", "mcap_file_zstd", "sqlite3_file_zstd"] {
        every_tool_reads(bag);
    }
}

#[test]
fn a_directory_has_a_file_per_topic_and_the_losses() {
    let sandbox = Sandbox::new();
    insta::assert_snapshot!(sandbox.run("convert BAGS/sqlite3_plain -o tables --to parquet"), @"
    exit code: 0
    ----- stderr
    wrote tables: 374 messages in 16 files, and the losses
    ");
    let few = "convert BAGS/sqlite3_plain -o few --to arrow --topics /fix /empty --start +1s";
    insta::assert_snapshot!(sandbox.run(few), @"
    exit code: 0
    ----- stderr
    wrote few: 6 messages in 2 files, and the losses
    ");
    assert_eq!(
        names(&sandbox, "few"),
        [
            "empty.arrow",
            "fix.arrow",
            "loss_times.arrow",
            "losses.arrow"
        ]
    );
    let Some(empty) = shown(&sandbox, "few/empty.arrow") else {
        return;
    };
    let times =
        json!({"log_time": "timestamp[ns, tz=UTC]", "publish_time": "timestamp[ns, tz=UTC]"});
    assert_eq!(empty["types"], times, "a message without fields has times");
}

/// Kinds of fields that the golden bags do not have, each with a value.
const KINDS: &str = "\
wstring wide
string<=5[<=3] names
uint8[<=4] few
byte[3] three
Inner[2] pair
Inner[] inners
builtin_interfaces/Duration span
bool[] flags
uint64 large
================================================================================
MSG: builtin_interfaces/Duration
int32 sec
uint32 nanosec
================================================================================
MSG: p/Inner
string[] words
float64 x
";

fn kinds_payload(schema: &Schema) -> Vec<u8> {
    use timeloom_msg::Value;
    use timeloom_msg::value::{Array, Text, WideText};
    let mut value = schema.default_value().unwrap();
    value.set("few", Array::Uint8(vec![7, 0])).unwrap();
    value.set("three", Array::Uint8(vec![1, 2, 3])).unwrap();
    let inner = "string[] words\nfloat64 x\n";
    let inner = Schema::parse_ros2msg("p/msg/Inner", inner).unwrap();
    let mut item = inner.default_value().unwrap();
    item.set("x", 2.5).unwrap();
    let words = vec![Text::from("a"), Text::from("b")];
    item.set("words", Array::String(words)).unwrap();
    let item = item.as_struct().unwrap().clone();
    value.set("inners", Array::Struct(vec![item])).unwrap();
    value
        .set("wide", Value::WString(WideText::from("ü")))
        .unwrap();
    value.set("span.sec", -1_i32).unwrap();
    value.set("flags", Array::Bool(vec![true, false])).unwrap();
    value.set("large", u64::MAX).unwrap();
    schema.encode(&value).unwrap()
}

/// A bag with what is unusual: names that collide, an unknown type, a broken message, a topic without messages.
fn unusual_bag(sandbox: &Sandbox, storage: StorageId) {
    let options = BagOptions {
        storage: StorageOptions::preset(storage, "").unwrap(),
        ..BagOptions::default()
    };
    let mut writer = BagWriter::create(&sandbox.path("odd"), options).unwrap();
    let kinds = Schema::parse_ros2msg("p/msg/Kinds", KINDS).unwrap();
    let mut info = TopicInfo::new("/kinds", "p/msg/Kinds");
    info.definition = MessageDefinition {
        encoding: "ros2msg".into(),
        text: KINDS.into(),
    };
    let mut add = |info: &TopicInfo| writer.add_topic(info).unwrap();
    let kinds_topic = add(&info);
    let unknown = add(&TopicInfo::new("/own", "my_robot/msg/Own"));
    let text = add(&TopicInfo::new("/a/b", "std_msgs/msg/String"));
    let flat = add(&TopicInfo::new("/A__b", "std_msgs/msg/Bool"));
    let losses = add(&TopicInfo::new("/losses", "std_msgs/msg/Bool"));
    add(&TopicInfo::new("/silent", "sensor_msgs/msg/Imu"));
    let payload = kinds_payload(&kinds);
    let data: [(_, &[u8]); 6] = [
        (kinds_topic, &payload),
        (unknown, &[0, 1, 0, 0, 9]),
        (text, &[0, 1, 0, 0, 2, 0, 0, 0, b'"', 0]),
        (text, &[0, 1, 0, 0, 99, 0, 0, 0]),
        (flat, &[0, 1, 0, 0, 1]),
        (losses, &[0, 1, 0, 0, 0]),
    ];
    let batch: Vec<Message<'_>> = data
        .iter()
        .zip(1..)
        .map(|((topic, data), time)| Message {
            topic: *topic,
            log_time_ns: time,
            publish_time_ns: time,
            sequence: 0,
            data,
        })
        .collect();
    assert!(writer.write(&batch, 0).is_ok());
    assert!(writer.finish().unwrap().1.is_ok());
}

#[test]
fn undecoded_messages_are_counted_and_names_do_not_collide() {
    for storage in [StorageId::Mcap, StorageId::Sqlite3] {
        let sandbox = Sandbox::new();
        unusual_bag(&sandbox, storage);
        insta::allow_duplicates! {
            insta::assert_snapshot!(sandbox.run("convert odd -o tables --to parquet"), @"
            exit code: 3
            ----- stderr
            wrote tables: 5 messages in 5 files, and the losses
            warning: /own: 1 message could not be decoded: no definition of my_robot/msg/Own: not in the bag, not built in
            warning: /a/b: 1 message could not be decoded: payload too short at byte 8 for string: 99 bytes needed, 0 left
            ");
        }
        assert_eq!(
            names(&sandbox, "tables"),
            [
                "A__b-2.parquet",
                "a__b.parquet",
                "kinds.parquet",
                "loss_times.parquet",
                "losses-2.parquet",
                "losses.parquet",
                "silent.parquet",
            ]
        );
        let Some(text) = shown(&sandbox, "tables/a__b.parquet") else {
            return;
        };
        assert_eq!(text["metadata"]["timeloom.undecoded"], "1", "{text}");
        assert_eq!(text["rows"][0]["data"], "\"");
        assert_eq!(
            (&text["rows"][1]["data"], &text["rows"][1]["log_time"]),
            (&Value::Null, &json!(4))
        );
        let silent = shown(&sandbox, "tables/silent.parquet").unwrap();
        assert_eq!(silent["rows"], json!([]));
        assert!(silent["types"]["angular_velocity"].is_string(), "{silent}");
        let kinds = shown(&sandbox, "tables/kinds.parquet").unwrap();
        let inner = "struct<words: list<item: string>, x: double>";
        let types = json!({
            "log_time": "timestamp[ns, tz=UTC]",
            "publish_time": "timestamp[ns, tz=UTC]",
            "wide": "string",
            "names": "list<item: string>",
            "few": "binary",
            "three": "binary",
            "pair": format!("fixed_size_list<item: {inner}>[2]"),
            "inners": format!("list<item: {inner}>"),
            "span": "duration[ns]",
            "flags": "list<item: bool>",
            "large": "uint64",
        });
        assert_eq!(kinds["types"], types);
        let row = json!({
            "log_time": 1,
            "publish_time": 1,
            "wide": "ü",
            "names": [],
            "few": [7, 0],
            "three": [1, 2, 3],
            "pair": [{"words": [], "x": 0.0}, {"words": [], "x": 0.0}],
            "inners": [{"words": ["a", "b"], "x": 2.5}],
            "span": -1_000_000_000,
            "flags": [true, false],
            "large": u64::MAX,
        });
        assert_eq!(kinds["rows"], json!([row]));
    }
}

#[test]
fn a_topic_with_two_types_is_two_files() {
    let sandbox = Sandbox::new();
    let data: [(&str, &[u8]); 2] = [
        ("String", &[0, 1, 0, 0, 2, 0, 0, 0, b'a', 0]),
        ("Bool", &[0, 1, 0, 0, 1]),
    ];
    for (name, data) in data {
        let mut writer = BagWriter::create(&sandbox.path(name), BagOptions::default()).unwrap();
        let topic = TopicInfo::new("/n", format!("std_msgs/msg/{name}"));
        let message = Message {
            topic: writer.add_topic(&topic).unwrap(),
            log_time_ns: 1,
            publish_time_ns: 1,
            sequence: 0,
            data,
        };
        assert!(writer.write(&[message], 0).is_ok());
        assert!(writer.finish().unwrap().1.is_ok());
    }
    sandbox.ok("convert String Bool -o tables --to arrow");
    let expected = ["loss_times.arrow", "losses.arrow", "n-2.arrow", "n.arrow"];
    assert_eq!(names(&sandbox, "tables"), expected);
    for (file, name, value) in [("n", "String", json!("a")), ("n-2", "Bool", json!(true))] {
        let Some(table) = shown(&sandbox, &format!("tables/{file}.arrow")) else {
            return;
        };
        assert_eq!(table["rows"][0]["data"], value, "{table}");
        let type_name = format!("std_msgs/msg/{name}");
        assert_eq!(table["metadata"]["timeloom.type"], type_name.as_str());
        assert_eq!(table["metadata"]["timeloom.messages"], "1", "of the footer");
    }
}

#[test]
fn the_account_of_losses_is_in_every_file_and_in_a_table() {
    let sandbox = Sandbox::new();
    crate::trace_bag::Robot::default().record(&sandbox.path("robot"));
    sandbox.ok("convert robot -o tables --to parquet");
    sandbox.ok("convert robot -o arrows --to arrow");
    let file = "odom__message_tracking_tag";
    let Some(tag) = shown(&sandbox, &format!("tables/{file}.parquet")) else {
        return;
    };
    let metadata = &tag["metadata"];
    assert_eq!(metadata["timeloom.topic"], "/odom/message_tracking_tag");
    assert_eq!(metadata["timeloom.published"], "250", "{metadata}");
    assert_eq!(metadata["timeloom.recorded"], "249");
    assert_eq!(metadata["timeloom.lost_in_transport"], "1");
    let arrow = shown(&sandbox, &format!("arrows/{file}.arrow")).unwrap();
    assert_eq!(arrow["metadata"]["timeloom.lost_in_transport"], "1");
    let losses = shown(&sandbox, "tables/losses.parquet").unwrap();
    let rows = losses["rows"].as_array().unwrap();
    let lost = rows
        .iter()
        .find(|row| row["topic"] == "/odom/message_tracking_tag");
    assert_eq!(lost.unwrap()["lost_in_transport"], 1, "{losses}");
    assert_eq!(losses["types"]["topic"], "string", "not a view");
}

#[test]
fn invalid_combinations_are_refused() {
    let sandbox = Sandbox::new();
    sandbox.write("there/file", "x");
    for (arguments, code, message) in [
        (
            "convert BAGS/sqlite3_plain -o - --to parquet",
            2,
            "cannot be written to stdout",
        ),
        (
            "convert BAGS/sqlite3_plain -o there --to arrow",
            1,
            "there exists already",
        ),
        (
            "convert BAGS/sqlite3_plain -o new --to parquet -s mcap",
            2,
            "--storage cannot be used with --format parquet or arrow",
        ),
        (
            "convert BAGS/sqlite3_plain -o /proc/no/such --to parquet",
            1,
            "cannot create /proc/no/such",
        ),
        (
            "align BAGS/mcap_plain --to /imu --topics /fix",
            2,
            "did you mean /imu/data?",
        ),
        (
            "align BAGS/mcap_plain --to /fix --topics /imu/data:x",
            2,
            "the fields are header, ",
        ),
        (
            "align BAGS/mcap_plain --to /fix --topics /fix:altitude /fix",
            2,
            "/fix is named twice",
        ),
        (
            "align BAGS/mcap_plain --to /chatter --topics /fix --by header",
            2,
            "use --by log",
        ),
        (
            "align BAGS/mcap_plain --to /fix --topics /imu/data --format arrow",
            2,
            "name a file with -o",
        ),
    ] {
        sandbox.refuses(arguments, code, message);
    }
}

#[test]
fn a_query_writes_parquet_and_arrow_with_nested_fields() {
    let sandbox = Sandbox::new();
    sandbox.copy("mcap_plain", "my_bag");
    let words = "query 'SELECT log_time, header, altitude, bag FROM \"/fix\"' my_bag -o";
    for file in ["fix.parquet", "fix.arrow"] {
        let first = run(&sandbox, &format!("{words} {file}"));
        assert_eq!((first.code, first.stdout.as_str()), (0, ""), "{first}");
        let again = run(&sandbox, &format!("{words} {file}"));
        assert_eq!(again.code, 1, "{again}");
        assert!(again.stderr.contains("no file is overwritten"), "{again}");
        let Some(table) = shown(&sandbox, file) else {
            return;
        };
        let stamp = "struct<stamp: timestamp[ns, tz=UTC], frame_id: string>";
        assert_eq!(table["types"]["header"], stamp, "{table}");
        assert_eq!(table["rows"].as_array().unwrap().len(), 4);
        assert_eq!(table["rows"][1]["log_time"], 1_794_733_133_144_014_963_i64);
        assert_eq!(table["rows"][3]["altitude"], 250.0);
        let metadata = &table["metadata"];
        assert!(
            metadata["timeloom.query"]
                .as_str()
                .unwrap()
                .contains("altitude")
        );
    }
}

#[test]
fn a_query_that_fails_leaves_no_file() {
    let sandbox = Sandbox::new();
    sandbox.copy("mcap_plain", "my_bag");
    // The third row divides by zero.
    let sql = "SELECT 1 / (altitude - 200)::bigint FROM \"/fix\"";
    for file in ["x.parquet", "x.arrow", "x.csv", "x.json"] {
        let failed = run(&sandbox, &format!("query '{sql}' my_bag -o {file}"));
        assert_eq!(failed.code, 1, "{failed}");
        assert!(!sandbox.path(file).exists(), "{file}");
    }
    // A type that Parquet lacks.
    let sql = "SELECT interval 1 month";
    let failed = run(&sandbox, &format!("query '{sql}' my_bag -o x.parquet"));
    assert_eq!(failed.code, 1, "{failed}");
    assert!(failed.stderr.contains("cannot write x.parquet"), "{failed}");
    assert!(!sandbox.path("x.parquet").exists());
}

#[test]
fn a_query_of_a_cut_bag_writes_its_rows_and_is_exit_code_3() {
    let sandbox = Sandbox::new();
    crate::docs::prepare(&sandbox);
    let sql = "SELECT * FROM messages";
    let cut = run(&sandbox, &format!("query '{sql}' cut_bag -o cut.parquet"));
    assert_eq!(cut.code, 3, "{cut}");
    let Some(table) = shown(&sandbox, "cut.parquet") else {
        return;
    };
    assert!(!table["rows"].as_array().unwrap().is_empty());
    let damage = table["metadata"]["timeloom.damage"].as_str().unwrap();
    assert!(damage.contains("cut off"), "{damage}");
}
