//! `timeloom fleet`: recorders in processes of their own, on DDS and on Zenoh.

use serde_json::Value;

use crate::robot::{Robot, Running};
use crate::support::Run;

/// Starts a recorder that waits.
fn member(robot: &Robot, bag: &str) -> Running {
    let arguments = [
        "record",
        "-a",
        "--fleet",
        "yard",
        "--start-paused",
        "-o",
        bag,
    ];
    robot.start(&arguments)
}

/// The statuses in the JSON of a run.
fn statuses(run: &Run) -> Vec<Value> {
    let lines = run.stdout.lines();
    lines
        .map(|line| serde_json::from_str(line).unwrap())
        .collect()
}

fn phases(run: &Run) -> Vec<String> {
    let of = |row: &Value| row["status"]["phase"].as_str().unwrap_or("none").to_owned();
    statuses(run).iter().map(of).collect()
}

const STATUS: [&str; 7] = [
    "fleet", "status", "yard", "--expect", "2", "--format", "json",
];

#[test]
fn two_recorders_of_one_node_name_start_and_stop_together() {
    let robot = Robot::new();
    let first = member(&robot, "one");
    let second = member(&robot, "two");
    let run = robot.until(&STATUS, |run| run.code == 0 && statuses(run).len() == 2);
    assert_eq!(phases(&run), ["paused", "paused"], "{run}");
    let nodes: Vec<Value> = statuses(&run)
        .iter()
        .map(|row| row["node"].clone())
        .collect();
    assert_eq!(nodes, ["/rosbag2_recorder", "/rosbag2_recorder"]);
    let run = robot.run(&["fleet", "start", "yard", "--expect", "2"]);
    assert_eq!(run.code, 0, "{run}");
    let _publisher = robot.publisher("/chatter", &[]);
    let recorded = |row: &Value| row["status"]["recorded"].as_u64().unwrap_or(0);
    let run = robot.until(&STATUS, |run| {
        run.code == 0 && statuses(run).iter().all(|row| recorded(row) > 0)
    });
    assert_eq!(phases(&run), ["recording", "recording"], "{run}");
    assert!(
        statuses(&run)
            .iter()
            .all(|row| row["status"]["disk_available"].is_u64())
    );
    let run = robot.run(&["fleet", "split", "yard", "--expect", "2"]);
    assert_eq!(run.code, 0, "{run}");
    let run = robot.run(&["fleet", "snapshot", "yard", "--expect", "2"]);
    assert_eq!(run.code, 1, "{run}");
    assert!(run.stderr.contains("refused to snapshot"), "{run}");
    let run = robot.run(&["fleet", "stop", "yard", "--expect", "2", "--format", "json"]);
    assert!([0, 3].contains(&run.code), "{run}");
    assert_eq!(phases(&run), ["stopped", "stopped"], "{run}");
    for recorder in [first, second] {
        recorder.interrupt();
        let run = recorder.end();
        assert!([0, 3].contains(&run.code), "{run}");
    }
    for bag in ["one", "two"] {
        let info = robot.sandbox.ok(&format!("info {bag}"));
        assert!(info.contains("Topic: /chatter "), "{info}");
    }
}

#[test]
fn a_missing_or_too_small_fleet_is_an_error_without_effect() {
    let robot = Robot::new();
    let run = robot.run(&["fleet", "stop", "yard", "--spin-time", "0.2"]);
    assert_eq!(run.code, 1, "{run}");
    assert!(run.stderr.contains("no recorder of fleet yard"), "{run}");
    let run = robot.run(&["fleet", "status", "not a name"]);
    assert_eq!(run.code, 2, "{run}");
    let one = member(&robot, "one");
    robot.until(&["fleet", "status", "yard"], |run| run.code == 0);
    let run = robot.run(&[
        "fleet",
        "start",
        "yard",
        "--expect",
        "3",
        "--spin-time",
        "0.2",
    ]);
    assert_eq!(run.code, 1, "{run}");
    assert!(run.stderr.contains("1 recorder of fleet yard"), "{run}");
    let run = robot.run(&["fleet", "status", "yard", "--format", "json"]);
    assert_eq!(phases(&run), ["paused"], "{run}");
    one.interrupt();
    let run = one.end();
    assert_eq!(run.code, 0, "{run}");
}

#[cfg(feature = "zenoh")]
#[test]
fn a_fleet_is_controlled_over_zenoh() {
    use crate::record_robot::{Recording, until};
    use crate::support::Sandbox;
    use crate::zenoh_robot::look_at;
    use timeloom_zenoh::ZenohRouter;

    let router = ZenohRouter::start("tcp/127.0.0.1:0").unwrap();
    let mut sandbox = Sandbox::new();
    look_at(&mut sandbox, &router.endpoints().remove(0));
    let start = |bag: &str| {
        let arguments = format!("record -a --fleet yard --start-paused -o {bag}");
        Recording::start(&mut sandbox.command(&arguments))
    };
    let recorders = [start("one"), start("two")];
    let call =
        |command: &str| sandbox.run(&format!("fleet {command} yard --expect 2 --format json"));
    until(|| call("status").code == 0);
    let run = call("start");
    assert_eq!(
        (run.code, phases(&run)),
        (0, vec!["recording".to_owned(); 2]),
        "{run}"
    );
    let run = call("stop");
    assert_eq!(
        (run.code, phases(&run)),
        (0, vec!["stopped".to_owned(); 2]),
        "{run}"
    );
    for recorder in recorders {
        let run = recorder.interrupt();
        assert_eq!(run.code, 0, "{run}");
    }
}
