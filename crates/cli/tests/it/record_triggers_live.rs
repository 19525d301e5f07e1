//! `timeloom record --triggers` against publishers that are not ours.

use std::fs;

use serde_json::json;
use timeloom_bag::TriggerWindow;
use timeloom_bag::metadata::read_metadata_file;

use crate::record_robot::{Recording, Robot, numbers, statistics, until};

/// A window that only the end of the recording closes: what is in it depends on no clock.
const TRIGGERS: &str = "\
before: 10min
after: 10min
triggers:
  - name: event
    when: received(/event) and not /event.data == 'nothing'
  - name: never
    when: /chatter.data == 'never' for 2s or silent(/chatter, 60min)
";

/// A robot with 200 messages on `/chatter`, and a recorder whose window is open.
fn robot_with_an_open_window(flags: &str) -> Option<(Robot, Recording)> {
    let mut robot = Robot::new()?;
    robot.sandbox.write("triggers.yaml", TRIGGERS);
    for (name, topic) in [("a", "/chatter"), ("e", "/event")] {
        robot.ask(&json!({"do": "writer", "name": name, "topic": topic}));
    }
    let recording = robot.record(&format!("-a -o bag --triggers triggers.yaml {flags}"));
    for name in ["a", "e"] {
        robot.matched(name);
    }
    robot.ask(&json!({"do": "publish", "name": "a", "count": 200, "rate": 1000.0}));
    robot.ask(&json!({"do": "acked", "name": "a"}));
    let metadata = robot.sandbox.path("bag/metadata.yaml");
    until(|| {
        // The first one may come before the writer's first heartbeat, and is then not received.
        robot.ask(&json!({"do": "publish", "name": "e", "count": 1}));
        robot.ask(&json!({"do": "sleep", "seconds": 0.1}));
        fs::read_to_string(&metadata).is_ok_and(|text| text.contains("timeloom.trigger_windows"))
    });
    Some((robot, recording))
}

#[test]
fn a_trigger_writes_what_came_before_it_and_the_account_holds() {
    let Some((mut robot, recording)) = robot_with_an_open_window("") else {
        return;
    };
    robot.ask(&json!({"do": "publish", "name": "a", "count": 100, "rate": 1000.0}));
    robot.ask(&json!({"do": "acked", "name": "a"}));
    robot.ask(&json!({"do": "sleep", "seconds": 0.5}));
    let run = recording.interrupt();
    assert_eq!(run.code, 0, "{run}");
    assert!(
        run.stderr.contains("trigger event fired, window 1"),
        "{run}"
    );
    assert!(run.stderr.contains("cut short: recording ended"), "{run}");
    let bag = robot.sandbox.path("bag");
    let found = statistics(&bag, "/chatter");
    assert_eq!(found.messages_lost(), 0, "{run}");
    assert!(
        found.messages_recorded + found.unknown.before_first >= 300,
        "{found:?}\n{run}"
    );
    let mut heard = numbers(&bag, "/chatter").remove("a").unwrap();
    heard.sort_unstable();
    let first = heard[0];
    assert!(heard.iter().copied().eq(first..300), "{heard:?}");
    let windows = TriggerWindow::all(&read_metadata_file(&bag).unwrap().custom_data);
    assert_eq!(windows.len(), 1);
    assert_eq!(windows[0].end, "recording ended");
    let info = robot.sandbox.ok("info bag");
    assert!(info.contains("Trigger window 1: "), "{info}");
    assert!(info.contains("a message on /event"), "{info}");
}

#[test]
fn messages_beyond_the_ring_are_lost_with_exit_code_3() {
    let Some((robot, recording)) =
        robot_with_an_open_window("--max-cache-size 12000 --format json")
    else {
        return;
    };
    let run = recording.interrupt();
    assert_eq!(run.code, 3, "{run}");
    assert!(run.stderr.contains("did not fit into the cache"), "{run}");
    let bag = robot.sandbox.path("bag");
    let found = statistics(&bag, "/chatter");
    assert!(found.lost_in_recorder.queue > 0, "{found:?}\n{run}");
    let accounted = found.messages_recorded + found.messages_lost() + found.messages_left_out();
    assert!(accounted + found.unknown.before_first >= 200, "{found:?}");
    let report: serde_json::Value = serde_json::from_str(&run.stdout).unwrap();
    assert_eq!(
        report["trigger_windows"][0]["firings"][0]["trigger"],
        "event"
    );
}

#[test]
fn a_recorder_that_is_killed_in_a_window_leaves_a_bag_that_can_be_repaired() {
    let Some((robot, recording)) = robot_with_an_open_window("") else {
        return;
    };
    // Messages are written within a second.
    let file = robot.sandbox.path("bag/bag_0.mcap");
    until(|| fs::metadata(&file).is_ok_and(|file| file.len() > 8_000));
    recording.signal("-KILL");
    recording.gone();
    // The damaged original stays beside the recovered file.
    robot.sandbox.unchecked();
    let run = robot.sandbox.run("recover bag");
    assert!([0, 3].contains(&run.code), "{run}");
    let bag = robot.sandbox.path("bag");
    let saved = numbers(&bag, "/chatter");
    assert!(saved["a"].len() >= 100, "{saved:?}\n{run}");
    let windows = TriggerWindow::all(&read_metadata_file(&bag).unwrap().custom_data);
    assert_eq!(windows[0].firings[0].trigger, "event", "{windows:?}");
}

#[test]
fn triggers_that_cannot_be_read_are_refused_before_anything_is_created() {
    let sandbox = crate::support::Sandbox::new();
    let run = |arguments: &[&str]| {
        let mut command = sandbox.command("record -a -o bag");
        crate::support::Run::new(&command.args(arguments).output().unwrap())
    };
    let wrong = run(&["--trigger", "low: /battery.voltage = 11"]);
    assert_eq!(wrong.code, 2, "{wrong}");
    assert!(
        wrong
            .stderr
            .contains("at character 23: unexpected character `=`"),
        "{wrong}"
    );
    assert!(wrong.stderr.contains("equality is `==`"), "{wrong}");
    for (arguments, text) in [
        (
            &["--before", "5s"][..],
            "--before has no effect without a trigger",
        ),
        (
            &["--trigger", "a: lost()", "--snapshot-mode"],
            "--snapshot-mode and triggers",
        ),
        (
            &["--trigger", "a: lost()", "--max-cache-size", "0"],
            "leaves no room",
        ),
        (
            &["--trigger", "a: lost()", "--max-cache-duration", "5s"],
            "--max-cache-duration has no effect",
        ),
        (
            &["--trigger", "a: lost()", "--trigger", "a: lost()"],
            "two have the name a",
        ),
    ] {
        let run = run(arguments);
        assert_ne!(run.code, 0, "{run}");
        assert!(run.stderr.contains(text), "{text}\n{run}");
    }
    assert!(!sandbox.path("bag").exists());
}
