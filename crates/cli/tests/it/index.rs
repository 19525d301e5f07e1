//! `timeloom index`, and queries over folders of bags with and without a catalogue.

use std::fs;
use std::path::Path;

use timeloom_bag::{BagOptions, BagWriter, Message, MessageDefinition, TopicInfo};

use crate::query;
use crate::support::{Run, Sandbox};

const CATALOG: &str = "timeloom_catalog.parquet";

/// Second of the first message of a bag, in UTC.
const EPOCH: i64 = 1_794_733_000;

/// Writes a bag of one topic: one message in each second from a time on.
pub(crate) fn record(path: &Path, topic: &str, start: i64, messages: i64) {
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    let mut writer = BagWriter::create(path, BagOptions::default()).unwrap();
    let topic = TopicInfo {
        definition: MessageDefinition {
            encoding: "ros2msg".into(),
            text: "int32 data\n".into(),
        },
        ..TopicInfo::new(topic, "std_msgs/msg/Int32")
    };
    let id = writer.add_topic(&topic).unwrap();
    for second in 0..messages {
        let time = (EPOCH + start + second) * 1_000_000_000;
        let number = i32::try_from(start + second).unwrap().to_le_bytes();
        let data: Vec<u8> = [0, 1, 0, 0].into_iter().chain(number).collect();
        let message = Message {
            topic: id,
            log_time_ns: time,
            publish_time_ns: time,
            sequence: 0,
            data: &data,
        };
        writer.write(&[message], 0).into_result().unwrap();
    }
    writer.finish().unwrap().1.into_result().unwrap();
}

/// Six bags of two robots.
pub(crate) fn record_fleet(root: &Path) {
    for robot in ["r1", "r2"] {
        for run in 0..3 {
            let topic = if run == 1 { "/rare" } else { "/often" };
            let path = root.join(robot).join(format!("{robot}_run_{run}"));
            record(&path, topic, i64::from(run) * 100, 5);
        }
    }
}

fn ask(sandbox: &Sandbox, sql: &str, bags: &str) -> Run {
    query::run(sandbox, &format!("query '{sql}' {bags} --format csv"))
}

/// The bags that a query opened, as its log says.
pub(crate) fn opened(sandbox: &mut Sandbox, sql: &str, bags: &str) -> (Run, Vec<String>) {
    sandbox.set("RUST_LOG", "timeloom=debug");
    let run = ask(sandbox, sql, bags);
    sandbox.set("RUST_LOG", "off");
    let lines = run.stderr.lines();
    let opened = lines.filter(|line| line.contains("opened for the query"));
    let name = |line: &str| {
        let (_, path) = line
            .split_once("bag=\"")
            .unwrap_or_else(|| panic!("{line}"));
        let path = path.split('"').next().unwrap();
        path.rsplit('/').next().unwrap().to_owned()
    };
    let mut opened: Vec<String> = opened.map(name).collect();
    opened.sort();
    opened.dedup();
    (run, opened)
}

/// Queries of all kinds of tables.
pub(crate) const QUESTIONS: [&str; 9] = [
    "SELECT bag, storage, start_time, end_time, messages, topics, files, size, damaged FROM bags ORDER BY bag",
    "SELECT bag, topic, type, messages, hz, bytes, first_time, last_time, format FROM topics ORDER BY bag, topic",
    "SELECT bag, topic, published, recorded, lost, left_out, interrupted FROM losses ORDER BY bag, topic",
    "SELECT count(*) FROM messages",
    "SELECT bag, topic, log_time, size FROM messages ORDER BY bag, log_time",
    "SELECT bag, log_time, data FROM \"/often\" ORDER BY bag, log_time",
    "SELECT bag, data FROM \"/often\" WHERE log_time >= $$2026-11-15T08:59:00Z$$ ORDER BY bag, log_time",
    "SELECT bag, cause, messages FROM loss_times ORDER BY bag",
    "SELECT table_name FROM information_schema.tables WHERE table_schema = $$public$$ ORDER BY table_name",
];

#[test]
fn only_bags_that_can_match_are_opened() {
    let mut sandbox = Sandbox::new();
    record_fleet(&sandbox.path("fleet"));
    let run = sandbox.run("index fleet");
    assert_eq!(run.code, 0, "{run}");
    assert!(run.stderr.contains("6 bags: 6 new"), "{run}");
    let none: [&str; 0] = [];
    for (sql, expected) in [
        ("SELECT count(*) FROM messages", &none[..]),
        ("SELECT bag, lost FROM losses", &none[..]),
        (
            "SELECT sum(data) FROM \"/rare\"",
            &["r1_run_1", "r2_run_1"][..],
        ),
        (
            "SELECT sum(data) FROM \"/often\" WHERE log_time > $$2026-11-15T08:59:00Z$$",
            &["r1_run_2", "r2_run_2"][..],
        ),
        (
            "SELECT sum(size) FROM messages WHERE bag = $$r1_run_0$$",
            &["r1_run_0"][..],
        ),
    ] {
        let (run, opened) = opened(&mut sandbox, sql, "fleet");
        assert_eq!(run.code, 0, "{sql}\n{run}");
        assert_eq!(opened, expected, "{sql}\n{run}");
    }
    fs::remove_file(sandbox.path("fleet").join(CATALOG)).unwrap();
    let (_, all) = opened(&mut sandbox, "SELECT count(*) FROM messages", "fleet");
    assert_eq!(all.len(), 6);
}

/// Changes one bag of a fleet.
fn edit(bag: &Path, number: usize) {
    match number % 6 {
        0 => {
            fs::remove_dir_all(bag).unwrap();
            record(bag, "/often", 100, 5);
        }
        1 => fs::remove_dir_all(bag).unwrap(),
        2 => {
            let file = bag.join(format!(
                "{}_0.mcap",
                bag.file_name().unwrap().to_str().unwrap()
            ));
            let file = fs::File::options().write(true).open(file).unwrap();
            file.set_len(file.metadata().unwrap().len() - 30).unwrap();
        }
        3 => fs::remove_file(bag.join("metadata.yaml")).unwrap(),
        4 => fs::rename(bag, bag.with_file_name("renamed")).unwrap(),
        _ => record(&bag.with_file_name("added"), "/rare", 7, 3),
    }
}

#[test]
fn the_answer_is_the_same_with_and_without_a_catalogue_whatever_changed() {
    let sandbox = Sandbox::new();
    sandbox.unchecked();
    let bags = ["r1/r1_run_0", "r1/r1_run_1", "r2/r2_run_0", "r2/r2_run_2"];
    for number in 0..6 {
        let root = sandbox.path(&format!("fleet_{number}"));
        record_fleet(&root);
    }
    for number in 0..6 {
        sandbox.ok(&format!("index fleet_{number}"));
    }
    for number in 0..6 {
        let (name, root) = (
            format!("fleet_{number}"),
            sandbox.path(&format!("fleet_{number}")),
        );
        edit(&root.join(bags[number % bags.len()]), number);
        let with: Vec<Run> = QUESTIONS
            .iter()
            .map(|sql| ask(&sandbox, sql, &name))
            .collect();
        fs::rename(root.join(CATALOG), sandbox.path("aside")).unwrap();
        for (sql, with) in QUESTIONS.iter().zip(with) {
            let without = ask(&sandbox, sql, &name);
            assert_eq!(with.stdout, without.stdout, "edit {number}: {sql}\n{with}");
            assert_eq!(with.stderr, without.stderr, "edit {number}: {sql}");
            assert_eq!(with.code, without.code, "edit {number}: {sql}\n{with}");
        }
    }
}

#[test]
fn a_folder_with_a_bag_that_cannot_be_opened_answers_for_the_others_with_exit_code_3() {
    let sandbox = Sandbox::new();
    sandbox.unchecked();
    record_fleet(&sandbox.path("fleet"));
    let bad = sandbox.path("fleet/r1/r1_run_0/r1_run_0_0.mcap");
    fs::write(bad, "no bag").unwrap();
    let run = sandbox.run("index fleet");
    assert_eq!(run.code, 3, "{run}");
    assert!(run.stderr.contains("6 bags: 5 new"), "{run}");
    assert!(run.stderr.contains("1 unreadable"), "{run}");
    assert!(
        run.stderr.contains("r1/r1_run_0: cannot be opened: "),
        "{run}"
    );
    let run = ask(&sandbox, "SELECT count(*) FROM messages", "fleet");
    assert_eq!(run.code, 3, "{run}");
    assert_eq!(run.stdout.lines().last(), Some("25"), "{run}");
    assert!(run.stderr.contains("r1_run_0: cannot be opened: "), "{run}");
    let hint = "run `timeloom recover fleet/r1/r1_run_0`";
    assert!(run.stderr.contains(hint), "{run}");
    // A bag that is named by itself has to be there.
    let run = ask(
        &sandbox,
        "SELECT count(*) FROM messages",
        "fleet/r1/r1_run_0",
    );
    assert_eq!(run.code, 1, "{run}");
    let list = sandbox.run("index fleet --list");
    assert_eq!(list.code, 0, "{list}");
    let line = list
        .stdout
        .lines()
        .find(|line| line.starts_with("r1/r1_run_0"));
    assert!(
        line.is_some_and(|line| line.contains("unreadable")),
        "{list}"
    );
}

#[test]
fn json_says_what_was_done_and_the_list_what_is_stale() {
    let sandbox = Sandbox::new();
    let root = sandbox.path("fleet");
    record_fleet(&root);
    let run = sandbox.run("index fleet --format json");
    let json: serde_json::Value = serde_json::from_str(&run.stdout).unwrap();
    assert_eq!(json["bags"], 6, "{run}");
    assert_eq!(json["new"].as_array().unwrap().len(), 6, "{run}");
    assert_eq!(json["written"], true, "{run}");
    assert_eq!(
        json["changed_just_now"].as_array().unwrap().len(),
        0,
        "{run}"
    );
    fs::remove_dir_all(root.join("r1/r1_run_0")).unwrap();
    fs::write(root.join("r1/r1_run_1/notes.txt"), "x").unwrap();
    record(&root.join("new"), "/rare", 0, 1);
    let run = sandbox.run("index fleet --list --format json");
    assert_eq!(run.code, 0, "{run}");
    let state = |name: &str| {
        let lines = run.stdout.lines();
        let mut lines = lines.map(|line| serde_json::from_str::<serde_json::Value>(line).unwrap());
        let line = lines.find(|line| line["bag"] == name).unwrap();
        line["state"].as_str().unwrap().to_owned()
    };
    assert_eq!(state("r1/r1_run_0"), "gone");
    assert_eq!(state("r1/r1_run_1"), "changed");
    assert_eq!(state("r1/r1_run_2"), "current");
    assert_eq!(state("new"), "new");
    assert!(
        run.stderr
            .contains("hint: `timeloom index fleet` brings it up to date"),
        "{run}"
    );
    let run = sandbox.run("index fleet -v");
    for line in [
        "new      new",
        "changed  r1/r1_run_1",
        "removed  r1/r1_run_0",
    ] {
        assert!(run.stdout.contains(line), "{run}");
    }
}

#[test]
fn wrong_usage_is_explained() {
    let sandbox = Sandbox::new();
    record_fleet(&sandbox.path("fleet"));
    let run = sandbox.run("index fleet/r1/r1_run_0");
    assert_eq!(run.code, 2, "{run}");
    assert!(
        run.stderr
            .contains("name the directory that holds the bags"),
        "{run}"
    );
    let run = sandbox.run("index nowhere");
    assert_eq!(run.code, 1, "{run}");
    let run = sandbox.run("index fleet --list");
    assert_eq!(run.code, 1, "{run}");
    assert!(run.stderr.contains("there is no catalogue"), "{run}");
    fs::write(sandbox.path("fleet").join(CATALOG), "no table").unwrap();
    let run = ask(&sandbox, "SELECT count(*) FROM messages", "fleet");
    assert_eq!(
        (run.code, run.stdout.lines().last()),
        (0, Some("30")),
        "{run}"
    );
    assert!(
        run.stderr
            .contains("cannot be used, the bags are opened instead"),
        "{run}"
    );
    let run = sandbox.run("index fleet");
    assert!(
        run.stderr.contains("was damaged and is written anew"),
        "{run}"
    );
    assert_eq!(run.code, 0, "{run}");
}

#[test]
fn an_output_with_an_unknown_name_is_wrong_usage() {
    let sandbox = Sandbox::new();
    sandbox.copy("mcap_plain", "my_bag");
    for name in ["out.xlsx", "out"] {
        let run = query::run(&sandbox, &format!("query 'SELECT 1' my_bag -o {name}"));
        assert_eq!(run.code, 2, "{run}");
        assert!(
            run.stderr
                .contains(".parquet, .arrow, .feather, .csv, .json"),
            "{run}"
        );
        assert!(!sandbox.path(name).exists());
    }
    let run = query::run(
        &sandbox,
        "query 'SELECT 1 AS one' my_bag -o out.dat --format csv",
    );
    assert_eq!(run.code, 0, "{run}");
    let align = "align my_bag --to /scan --topics /fix -o out.xlsx";
    assert_eq!(sandbox.run(align).code, 2);
}

#[cfg(feature = "remote")]
mod remote {
    //! The same on object storage, with a bad network.

    use std::process::Stdio;
    use std::sync::mpsc::channel;
    use std::time::Duration;

    use super::*;
    use crate::s3::S3;
    use crate::upload_proxy::{Hold, bucket};

    fn put_fleet(s3: &S3, sandbox: &Sandbox) {
        let root = sandbox.path("fleet");
        record_fleet(&root);
        for robot in ["r1", "r2"] {
            for run in 0..3 {
                let name = format!("{robot}/{robot}_run_{run}");
                s3.put_folder(&format!("robots/{name}"), &root.join(&name));
            }
        }
    }

    #[test]
    fn a_catalogue_in_a_bucket_prunes_and_is_never_believed_when_stale() {
        let Some((s3, _proxy, mut sandbox)) = bucket() else {
            return;
        };
        put_fleet(&s3, &sandbox);
        let run = sandbox.run("index s3://robots/");
        assert_eq!(run.code, 0, "{run}");
        assert!(run.stderr.contains("6 bags: 6 new"), "{run}");
        let sum = "SELECT sum(data) FROM \"/rare\"";
        let (run, names) = opened(&mut sandbox, sum, "s3://robots/");
        assert_eq!(names, ["r1_run_1", "r2_run_1"], "{run}");
        for sql in QUESTIONS {
            let (there, here) = (
                ask(&sandbox, sql, "s3://robots/"),
                ask(&sandbox, sql, "fleet"),
            );
            assert_eq!(there.stdout, here.stdout, "{sql}\n{there}");
            assert_eq!((there.code, here.code), (0, 0), "{sql}\n{there}");
        }
        // Another bag under the same name, and a new one.
        let other = sandbox.path("other");
        record(&other.join("r1_run_0"), "/rare", 500, 5);
        sandbox.ok("upload other/r1_run_0 --to s3://robots/r1 --overwrite --no-index");
        s3.put_folder("robots/r3", &other.join("r1_run_0"));
        let (run, names) = opened(&mut sandbox, sum, "s3://robots/");
        assert_eq!(names, ["r1_run_0", "r1_run_1", "r2_run_1", "r3"], "{run}");
        let expected = 2 * (100..105).sum::<i64>() + 2 * (500..505).sum::<i64>();
        assert_eq!(
            run.stdout.lines().last(),
            Some(expected.to_string().as_str()),
            "{run}"
        );
        let run = sandbox.run("index s3://robots/ --format json");
        let json: serde_json::Value = serde_json::from_str(&run.stdout).unwrap();
        assert_eq!(json["changed"][0], "r1/r1_run_0", "{run}");
        assert_eq!(json["new"][0], "r3", "{run}");
        assert_eq!(json["opened"], 2, "{run}");
    }

    #[test]
    fn an_upload_enters_its_bags_where_there_is_a_catalogue_or_one_is_asked_for() {
        let Some((_s3, proxy, mut sandbox)) = bucket() else {
            return;
        };
        record_fleet(&sandbox.path("fleet"));
        // Not asked for, and none there: none is made.
        sandbox.ok("upload fleet/r1/r1_run_0 --to s3://robots/r1");
        assert_eq!(proxy.count(CATALOG), 0, "only read requests");
        sandbox.ok("upload fleet/r1/r1_run_1 --to s3://robots/r1 --index");
        // From now on it is kept up to date.
        sandbox.ok("upload fleet/r1/r1_run_2 --to s3://robots/r1");
        sandbox.ok("upload fleet/r2/r2_run_1 --to s3://robots/r1 --no-index");
        let sum = "SELECT sum(data) FROM \"/rare\"";
        let (run, names) = opened(&mut sandbox, sum, "s3://robots/");
        // The first and the last one are not in it, so they are looked at; the others are known.
        assert_eq!(names, ["r1_run_0", "r1_run_1", "r2_run_1"], "{run}");
        let run = sandbox.run("index s3://robots/r1 --format json");
        let json: serde_json::Value = serde_json::from_str(&run.stdout).unwrap();
        assert_eq!(
            (&json["unchanged"], &json["opened"]),
            (&2.into(), &2.into()),
            "{run}"
        );
        let run = sandbox.run("index s3://robots --format json");
        let json: serde_json::Value = serde_json::from_str(&run.stdout).unwrap();
        let copied = &json["copied_from_other_catalogs"];
        assert_eq!((copied, &json["opened"]), (&4.into(), &0.into()), "{run}");
    }

    #[test]
    fn a_catalogue_that_cannot_be_written_does_not_fail_the_upload() {
        let Some((_s3, proxy, sandbox)) = bucket() else {
            return;
        };
        record_fleet(&sandbox.path("fleet"));
        proxy.set(|faults| faults.refuse_request = Some(format!("PUT /robots/r1/{CATALOG}")));
        let run = sandbox.run("upload fleet/r1 --to s3://robots/r1 --index --delete");
        assert_eq!(run.code, 0, "{run}");
        assert!(run.stderr.contains("is not in the catalogue: "), "{run}");
        assert!(
            run.stderr
                .contains("`timeloom index s3://robots/r1` enters it"),
            "{run}"
        );
        assert!(!sandbox.path("fleet/r1/r1_run_0").exists(), "{run}");
        proxy.set(|faults| faults.refuse_request = None);
        let run = sandbox.run("index s3://robots/r1");
        assert!(run.stderr.contains("3 bags: 3 new"), "{run}");
    }

    #[test]
    fn a_connection_that_breaks_off_costs_nothing() {
        let Some((s3, proxy, sandbox)) = bucket() else {
            return;
        };
        put_fleet(&s3, &sandbox);
        proxy.set(|faults| faults.cut_after = Some(600));
        let run = sandbox.run("index s3://robots/");
        assert_eq!(run.code, 0, "{run}");
        assert!(run.stderr.contains("6 bags: 6 new"), "{run}");
    }

    #[test]
    fn two_writers_at_the_same_time_both_succeed() {
        let Some((_s3, proxy, sandbox)) = bucket() else {
            return;
        };
        record_fleet(&sandbox.path("fleet"));
        sandbox.ok("upload fleet/r1/r1_run_0 --to s3://robots/r1 --index");
        let ((arrived, has_arrived), (go_on, release)) = (channel(), channel());
        let hold = Hold {
            text: format!("PUT /robots/r1/{CATALOG}"),
            arrived,
            release,
        };
        proxy.set(|faults| faults.hold = Some(hold));
        let mut first = sandbox.command("upload fleet/r1/r1_run_1 --to s3://robots/r1");
        let mut first = first.stderr(Stdio::null()).spawn().unwrap();
        has_arrived.recv_timeout(Duration::from_mins(1)).unwrap();
        // The table of the first writer is on its way; the second one is there before.
        sandbox.ok("upload fleet/r1/r1_run_2 --to s3://robots/r1");
        go_on.send(()).unwrap();
        assert!(first.wait().unwrap().success());
        let run = sandbox.run("index s3://robots/r1 --format json");
        let json: serde_json::Value = serde_json::from_str(&run.stdout).unwrap();
        assert_eq!(
            (&json["unchanged"], &json["opened"]),
            (&3.into(), &0.into()),
            "{run}"
        );
        // It was refused once, and put again.
        assert_eq!(proxy.count(CATALOG), 4);
    }
}
