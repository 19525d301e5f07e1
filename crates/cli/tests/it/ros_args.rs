//! `--ros-args`, as launch appends them to every node: names, remaps, parameters, log levels.

use crate::robot::Robot;
use crate::support::{Sandbox, stored};

/// What launch's `Node` appends for a name and a namespace; `--` ends it.
fn launched<'a>(verb: &[&'a str], ros: &[&'a str]) -> Vec<&'a str> {
    [verb, &["--ros-args"], ros, &["--"]].concat()
}

#[test]
fn a_node_has_the_names_that_it_is_given() {
    let robot = Robot::new();
    let _publisher = robot.publisher(
        "chatter",
        &launched(
            &[],
            &[
                "-r",
                "__node:=talker",
                "-r",
                "__ns:=/ns",
                "-r",
                "/other:=/x",
                "--enclave",
                "/e",
            ],
        ),
    );
    robot.until(&["node", "list"], |run| run.stdout == "/ns/talker\n");
    let list = robot.until(&["topic", "list"], |run| run.stdout.contains("/ns/chatter"));
    assert!(!list.stdout.contains("\n/chatter"), "{list}");
    // Names of a listener are resolved in its namespace, and remapped.
    for (topic, ros) in [
        ("chatter", ["-r", "__ns:=/ns"]),
        ("/said", ["-r", "/said:=/ns/chatter"]),
    ] {
        let echo = launched(&["topic", "echo", topic, "--once", "--field", "data"], &ros);
        let run = robot.run(&echo);
        assert_eq!((run.code, run.stdout.as_str()), (0, "\"hi\"\n"), "{run}");
    }
}

#[test]
fn a_recorder_takes_parameters_names_and_remaps() {
    let robot = Robot::new();
    let _publisher = robot.publisher("/front/scan", &[]);
    robot.sandbox.write(
        "low.yaml",
        "/**: {ros__parameters: {record.topics: [/nothing], storage: {uri: bag, storage_id: sqlite3}}}",
    );
    let recorder = robot.start(&launched(
        &["record", "--params-file", "low.yaml"],
        &[
            "--log-level",
            "warn",
            "-r",
            "__node:=rec",
            "-r",
            "__ns:=/robot",
            "-r",
            "scan:=/front/scan",
            "-p",
            "record.topics:=[scan]",
        ],
    ));
    robot.until(&["topic", "info", "/front/scan"], |run| {
        run.stdout.contains("Subscription count: 1")
    });
    robot.until(&["service", "list"], |run| {
        run.stdout.contains("/robot/rec/is_paused")
    });
    recorder.interrupt();
    let run = recorder.end();
    assert_eq!((run.code, run.stderr.as_str()), (0, ""), "{run}");
    let bag = robot.sandbox.path("bag");
    let messages = stored(&bag);
    assert!(!messages.is_empty(), "{run}");
    // As rclcpp has it: under the name that the node has for the topic.
    assert!(
        messages
            .iter()
            .all(|message| message.topic == "/robot/scan")
    );
    let reader = timeloom_bag::BagReader::open(&bag).unwrap();
    let files = &reader.bags()[0].files;
    assert_eq!(files[0].storage.name(), "sqlite3", "of the file, below -p");
}

#[test]
fn a_player_takes_parameters_and_a_log_level() {
    let robot = Robot::new();
    let bag = format!(
        "storage.uri:={}",
        crate::support::bags().join("mcap_plain").display()
    );
    let play = |more: &[&str]| {
        let ros = [
            &["-p", &bag, "-p", "play.rate:=20.0", "-r", "__node:=p"],
            more,
        ]
        .concat();
        robot.run(&launched(&["play"], &ros))
    };
    let run = play(&[]);
    assert_eq!(run.code, 0, "{run}");
    assert!(run.stderr.contains("played "), "{run}");
    let run = play(&["--log-level", "error"]);
    assert_eq!((run.code, run.stderr.as_str()), (0, ""), "{run}");
    let run = play(&["--log-level", "p:=debug"]);
    assert!(run.stderr.contains("debug: node /p\n"), "{run}");
    assert!(
        run.stderr.contains("debug: parameter play.rate: 20"),
        "{run}"
    );
    let run = play(&["--disable-stdout-logs"]);
    assert_eq!((run.code, run.stderr.as_str()), (0, ""), "{run}");
    let run = play(&["--log-file-name", "x"]);
    assert!(
        run.stderr.contains("--log-file-name x has no effect"),
        "{run}"
    );
}

#[test]
fn wrong_arguments_are_refused_before_anything_happens() {
    let sandbox = Sandbox::new();
    sandbox.copy("mcap_plain", "bag");
    sandbox.write("wrong.yaml", "/**: {ros__parameters: {play.rat: 2.0}}");
    for (line, said) in [
        ("info bag --ros-args -r a:=b", "this verb is not a ROS node"),
        (
            "record -a --ros-args --nonsense",
            "no such argument after --ros-args",
        ),
        ("record -a --ros-args -r ab", "expected `from:=to`"),
        ("record -a --ros-args -p", "the value is missing"),
        (
            "record -a --ros-args --log-level loud",
            "expected a log level",
        ),
        (
            "record --ros-args -p record.topcis:=[/a]",
            "did you mean record.topics?",
        ),
        (
            "record --ros-args -p record.topics:=7",
            "expected a list of texts",
        ),
        (
            "record -a --ros-args --params-file missing.yaml",
            "missing.yaml",
        ),
        (
            "play bag --ros-args -p play.rat:=2.0",
            "did you mean play.rate?",
        ),
        (
            "play bag --ros-args -p play.rate:=fast",
            "parameter play.rate",
        ),
        ("play --ros-args -p play.rate:=2.0", "no bag is given"),
        (
            "burst bag --ros-args -p play.rat:=2.0",
            "did you mean play.rate?",
        ),
        // The file was not read when a flag stood before the verb.
        (
            "--color never play bag --params-file wrong.yaml",
            "did you mean play.rate?",
        ),
    ] {
        let run = sandbox.run(line);
        assert_eq!(run.code, 2, "{line}\n{run}");
        assert!(run.stderr.contains(said), "{line}\n{run}");
    }
}
