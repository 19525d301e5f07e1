//! `reindex` and `recover`.

use std::fs;

use serde_json::Value;
use timeloom_bag::bag::RESERVED_FILE;
use timeloom_bag::mcap::McapOptions;
use timeloom_bag::metadata::read_metadata_file;
use timeloom_bag::sqlite::SqliteOptions;
use timeloom_bag::{BagOptions, BagWriter, Message, StorageOptions, TopicInfo};
use timeloom_testkit::mcap::assert_valid_bag;

use crate::support::{Sandbox, bags, stored};

fn cut(path: &std::path::Path, size: u64) {
    fs::File::options()
        .write(true)
        .open(path)
        .unwrap()
        .set_len(size)
        .unwrap();
}

#[test]
fn metadata_is_rebuilt() {
    let sandbox = Sandbox::new();
    let bag = sandbox.copy("mcap_split_dur", "mcap_split_dur");
    let before = sandbox.ok("info mcap_split_dur");
    fs::remove_file(bag.join("metadata.yaml")).unwrap();
    insta::assert_snapshot!(sandbox.run("reindex mcap_split_dur --metadata-version 9"), @"
    exit code: 0
    ----- stdout
    mcap_split_dur: 704 messages of 16 topics in 4 files
    ");
    let after = sandbox.ok("info mcap_split_dur --sort name");
    let head = |text: &str| {
        text.split_once("ROS Distro:")
            .unwrap()
            .1
            .split_once("Topic information")
            .unwrap()
            .0
            .to_owned()
    };
    assert_eq!(head(&after), head(&before));
    assert_eq!(read_metadata_file(&bag).unwrap().version, 9);
    sandbox.ok("reindex mcap_split_dur --metadata-version 10");
    assert_eq!(read_metadata_file(&bag).unwrap().version, 10);
    sandbox.ok("reindex mcap_split_dur");
    assert_eq!(read_metadata_file(&bag).unwrap().version, 9);
    assert_eq!(stored(&bag), stored(&bags().join("mcap_split_dur")));
}

#[test]
fn reindex_reports_missing_parts() {
    let sandbox = Sandbox::new();
    let bag = sandbox.copy("mcap_split_dur", "cut");
    cut(&bag.join("mcap_split_dur_2.mcap"), 20_000);
    let run = sandbox.run("reindex cut --format json");
    let report: Value = serde_json::from_str(&run.stdout).unwrap();
    let count = |key: &str| report[key].as_u64().unwrap();
    assert_eq!(run.code, 3);
    let whole = stored(&bags().join("mcap_split_dur")).len() as u64;
    assert_eq!(
        count("message_count") + count("missing_message_count"),
        whole
    );
    assert!(count("missing_message_count") > 0);
    assert!(
        run.stderr
            .ends_with("\nhint: run `timeloom recover cut` to restore its messages\n"),
        "{run}"
    );
}

#[test]
fn a_cut_bag_is_recovered_with_an_exact_count() {
    let sandbox = Sandbox::new();
    sandbox.unchecked();
    let bag = sandbox.copy("mcap_plain", "cut");
    cut(&bag.join("mcap_plain_0.mcap"), 200_000);
    insta::assert_snapshot!(sandbox.run("recover cut"), @"
    exit code: 3
    ----- stdout
    mcap_plain_0.mcap: recovered, 406 messages, 406 of them out of a record that was cut off; the original is mcap_plain_0.mcap.damaged
    ----- stderr
    warning: mcap_plain_0.mcap: the file has no end: it was cut off or never closed
    warning: mcap_plain_0.mcap: the record at byte 547 is cut off after 199444 bytes
    406 messages readable; lost: 68 messages, 355 bytes that belong to no message
    the account of the bag: 68 messages lost, 68 in the recorder
    unknown: lost and left-out messages: the recorder did not count them
    ");
    let recovered = stored(&bag);
    let original = stored(&bags().join("mcap_plain"));
    assert!(recovered.iter().all(|message| original.contains(message)));
    assert_eq!(recovered.len(), 406);
    assert_eq!(
        fs::metadata(bag.join("mcap_plain_0.mcap.damaged"))
            .unwrap()
            .len(),
        200_000
    );
    sandbox.ok("info cut");
    assert_valid_bag(&bag);
    insta::assert_snapshot!(sandbox.run("recover cut"), @"
    exit code: 0
    ----- stdout
    mcap_plain_0.mcap: whole, 406 messages
    ----- stderr
    406 messages readable, none lost by the damage
    the account of the bag: 68 messages lost, 68 in the recorder
    unknown: lost and left-out messages: the recorder did not count them
    ");
    cut(&bag.join("mcap_plain_0.mcap"), 100_000);
    insta::assert_snapshot!(sandbox.run("recover cut"), @"
    exit code: 1
    ----- stderr
    error: cut/mcap_plain_0.mcap.damaged is left from an earlier recovery

    hint: move it away, then run `timeloom recover cut` again
    ");
}

#[test]
fn the_report_is_json_on_request() {
    let sandbox = Sandbox::new();
    let bag = sandbox.copy("mcap_plain", "cut");
    cut(&bag.join("mcap_plain_0.mcap"), 200_000);
    let run = sandbox.run("recover cut --format json");
    let report: Value = serde_json::from_str(&run.stdout).unwrap();
    assert_eq!(run.code, 3);
    assert_eq!(
        (
            &report["message_count"],
            &report["lost_message_count"],
            &report["lossy"]
        ),
        (&406.into(), &68.into(), &true.into())
    );
}

#[test]
fn single_files_and_databases_are_recovered() {
    let sandbox = Sandbox::new();
    let bag = sandbox.copy("sqlite3_plain", "db");
    fs::remove_file(bag.join("metadata.yaml")).unwrap();
    insta::assert_snapshot!(sandbox.run("recover db"), @"
    exit code: 0
    ----- stdout
    sqlite3_plain_0.db3: whole, 374 messages
    ----- stderr
    374 messages readable, none lost by the damage
    unknown: lost and left-out messages: the recorder did not count them
    ");
    assert_eq!(stored(&bag).len(), 374);
    let bag = sandbox.copy("mcap_plain", "one");
    cut(&bag.join("mcap_plain_0.mcap"), 150_000);
    let run = sandbox.run("recover one/mcap_plain_0.mcap");
    assert_eq!(run.code, 3, "{run}");
    sandbox.ok("info one/mcap_plain_0.mcap");
}

#[test]
fn unrepairable_bags_are_reported() {
    let sandbox = Sandbox::new();
    sandbox.write("junk.mcap", "junk");
    sandbox.write("dir/notes.txt", "no bag");
    insta::assert_snapshot!(sandbox.run("recover junk.mcap"), @"
    exit code: 1
    ----- stderr
    error: junk.mcap is not a bag: nothing in it can be read

    hint: a bag is a directory with metadata.yaml, or one .mcap or .db3 file
    ");
    insta::assert_snapshot!(sandbox.run("recover dir"), @"
    exit code: 1
    ----- stderr
    error: dir is not a bag: it holds no .mcap or .db3 files

    hint: a bag is a directory with metadata.yaml, or one .mcap or .db3 file
    ");
    insta::assert_snapshot!(sandbox.run("recover nowhere"), @"
    exit code: 1
    ----- stderr
    error: cannot open nowhere: No such file or directory (os error 2)

    hint: check the path: a bag is a directory with metadata.yaml, or one .mcap or .db3 file
    ");
    insta::assert_snapshot!(sandbox.run("reindex dir"), @"
    exit code: 1
    ----- stderr
    error: dir is not a bag: it holds neither metadata.yaml nor .mcap or .db3 files

    hint: a bag is a directory with metadata.yaml, or one .mcap or .db3 file
    ");
    insta::assert_snapshot!(sandbox.run("reindex junk.mcap"), @"
    exit code: 1
    ----- stderr
    error: junk.mcap is a file: only a directory has a metadata.yaml

    hint: run `timeloom recover junk.mcap` to restore its messages
    ");
}

#[test]
fn the_rest_of_an_interrupted_recording_is_unknown() {
    for storage in [
        StorageOptions::Mcap(McapOptions::default()),
        StorageOptions::Sqlite3(SqliteOptions::default()),
    ] {
        let sandbox = Sandbox::new();
        let bag = sandbox.path("bag");
        let options = BagOptions {
            storage,
            ..BagOptions::default()
        };
        let mut writer = BagWriter::create(&bag, options).unwrap();
        let topic = writer.add_topic(&TopicInfo::new("/a", "std_msgs/msg/Empty"));
        let message = Message {
            topic: topic.unwrap(),
            log_time_ns: 1,
            publish_time_ns: 1,
            sequence: 1,
            data: &[0, 1, 0, 0, 0],
        };
        assert!(writer.write(&[message], 0).is_ok());
        assert!(writer.seal().is_ok());
        // As after kill -9.
        drop(writer);
        fs::write(bag.join(RESERVED_FILE), "space").unwrap();
        let run = sandbox.run("recover bag --format json");
        let report: Value = serde_json::from_str(&run.stdout).unwrap();
        assert_eq!(report["message_count"], 1, "{run}");
        assert_eq!(report["unfinished"], true, "{run}");
        let said = "unknown: messages after the last saved account";
        assert!(run.stderr.contains(said), "{run}");
        assert!(!bag.join(RESERVED_FILE).exists());
        // The bag keeps it: a second recovery says the same.
        let run = sandbox.run("recover bag");
        assert!(run.stderr.contains(said), "{run}");
        let text = sandbox.ok("info bag -v");
        let whole = "Unknown:           topics and messages that had not reached a file";
        assert!(text.contains(whole), "{text}");
        assert!(text.contains("/a: messages after the last"), "{text}");
    }
}
