//! `timeloom clock`, over DDS.

use serde_json::Value;

use crate::robot::{Robot, Running};
use crate::support::Run;

/// A clock that stands at 1000 s.
fn clock(robot: &Robot, more: &[&str]) -> Running {
    let mut arguments = vec![
        "clock",
        "publish",
        "--start",
        "1000.0",
        "--start-paused",
        "--frequency",
        "100",
    ];
    arguments.extend(more);
    robot.start(&arguments)
}

fn json(run: &Run) -> Value {
    let line = run.stdout.lines().last().unwrap_or_default();
    serde_json::from_str(line).unwrap_or(Value::Null)
}

fn status(robot: &Robot) -> Value {
    json(&robot.run(&["clock", "drive", "status", "--format", "json"]))
}

/// The time of `/clock`, in nanoseconds.
fn shown(robot: &Robot) -> Value {
    // A clock that does not come to be must not hold the test up.
    json(&robot.run(&["clock", "echo", "-n", "1", "--format", "json"]))
}

#[test]
fn a_clock_is_published_looked_at_and_driven() {
    let robot = Robot::new();
    let running = clock(&robot, &["--node-name", "sim"]);
    let seen = shown(&robot);
    assert_eq!(seen["time_ns"], 1_000_000_000_000_i64);
    assert_eq!(seen["owner"], "/sim");
    let drive = |order: &[&str]| robot.run(&[&["clock", "drive"], order].concat());
    let now = status(&robot);
    assert_eq!(
        (&now["node"], &now["paused"]),
        (&"/sim".into(), &true.into())
    );
    let run = drive(&["rate", "nan"]);
    assert_eq!(run.code, 1, "{run}");
    assert!(run.stderr.contains("/sim: set_rate: refused"), "{run}");
    assert_eq!(drive(&["rate", "0.5"]).code, 0);
    assert_eq!(drive(&["seek", "+10s"]).code, 0);
    assert_eq!(shown(&robot)["time_ns"], 1_010_000_000_000_i64);
    assert_eq!(drive(&["seek", "500.0"]).code, 0);
    assert_eq!(shown(&robot)["time_ns"], 500_000_000_000_i64);
    assert_eq!(drive(&["resume"]).code, 0);
    let now = status(&robot);
    assert_eq!((&now["paused"], &now["rate"]), (&false.into(), &0.5.into()));
    let run = robot.run(&["clock", "echo", "-n", "20", "--format", "json"]);
    let times: Vec<Value> = run
        .stdout
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    assert_eq!(times.len(), 20);
    let steps: Vec<i64> = times
        .iter()
        .filter_map(|tick| tick["step_ns"].as_i64())
        .collect();
    assert!(
        steps.len() == 19 && steps.iter().all(|step| *step > 0),
        "{steps:?}"
    );
    // A clock has no messages: those services are not there.
    let run = drive(&["next", "--timeout", "1"]);
    assert_eq!(run.code, 1, "{run}");
    assert!(run.stderr.contains("no service /sim/play_next"), "{run}");
    running.interrupt();
    assert_eq!(running.end().code, 0);
}

#[test]
fn two_owners_are_warned_of_by_name() {
    let robot = Robot::new();
    let first = clock(&robot, &["--node-name", "gazebo"]);
    let second = clock(&robot, &["--node-name", "player"]);
    let warning = "2 publishers of /clock: /gazebo, /player";
    robot.until(&["clock", "echo", "-n", "50"], |run| {
        run.stderr.contains(warning)
    });
    let run = robot.until(&["clock", "drive", "pause"], |run| run.code == 2);
    assert!(
        run.stderr
            .contains("more than one node can be controlled: /gazebo, /player"),
        "{run}"
    );
    for running in [first, second] {
        running.interrupt();
        let run = running.end();
        assert!(
            run.code == 0 && run.stderr.contains("2 publishers of /clock"),
            "{run}"
        );
    }
}

#[test]
fn stamps_are_compared_with_the_clock() {
    let robot = Robot::new();
    let _clock = clock(&robot, &["--node-name", "sim"]);
    let publish = |topic: &str, sec: i64| {
        let message = format!("{{header: {{stamp: {{sec: {sec}}}}}}}");
        robot.start(&[
            "topic",
            "pub",
            topic,
            "geometry_msgs/msg/PointStamped",
            &message,
            "-r",
            "50",
        ])
    };
    // One that is two seconds behind, and one that does not follow the clock.
    let _behind = publish("/behind", 998);
    let _elsewhere = publish("/elsewhere", 1_700_000_000);
    let row = |run: &Run, topic: &str| -> Value {
        let all = json(run);
        let rows = all["publishers"].as_array().cloned().unwrap_or_default();
        let found = rows.into_iter().find(|row| row["topic"] == topic);
        found.unwrap_or(Value::Null)
    };
    let arguments = ["clock", "lag", "--duration", "1", "--format", "json"];
    let run = robot.until(&arguments, |run| {
        !row(run, "/behind").is_null() && !row(run, "/elsewhere").is_null()
    });
    let behind = row(&run, "/behind");
    assert_eq!(behind["follows_clock"], true, "{run}");
    for field in ["min_s", "mean_s", "max_s"] {
        assert!(
            (behind[field].as_f64().unwrap() - 2.0).abs() < 1e-6,
            "{run}"
        );
    }
    assert_eq!(row(&run, "/elsewhere")["follows_clock"], false);
    assert_eq!(json(&run)["owners"], serde_json::json!(["/sim"]));
}

#[test]
fn a_missing_clock_is_reported() {
    let robot = Robot::new();
    let run = robot.run(&["clock", "lag", "--duration", "0.3"]);
    assert_eq!(run.code, 1, "{run}");
    assert!(
        run.stderr.contains("no sample on /clock within 300ms"),
        "{run}"
    );
    let run = robot.run(&["clock", "drive", "pause", "--timeout", "0.3"]);
    assert_eq!(run.code, 1, "{run}");
    assert!(
        run.stderr
            .contains("no node publishes /clock, and no player was found"),
        "{run}"
    );
    let run = robot.run(&["clock", "publish", "--start", "0.0"]);
    assert_eq!(run.code, 2, "{run}");
}

#[test]
fn an_invalid_frequency_is_refused_before_a_node_is_looked_for() {
    let robot = Robot::new();
    for value in ["-1", "nan", "10001", "often"] {
        let run = robot.run(&["clock", "drive", "frequency", value, "--timeout", "600"]);
        assert_eq!(run.code, 2, "{value}: {run}");
        assert!(run.stderr.contains("frequency"), "{value}: {run}");
    }
}
