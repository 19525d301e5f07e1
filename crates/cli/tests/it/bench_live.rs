//! `timeloom bench load` over DDS, recorded and checked byte by byte.

use serde_json::Value;

use crate::bench::PRODUCERS;
use crate::robot::Robot;

#[test]
fn what_is_published_is_recorded_to_the_byte() {
    let robot = Robot::new();
    robot.sandbox.write("producers.yaml", PRODUCERS);
    let recorder = robot.start(&["record", "--all-topics", "-o", "bag"]);
    let load = robot.run(&["bench", "load", "producers.yaml", "--format", "json"]);
    assert_eq!(load.code, 0, "{load}");
    let ledger: Value = serde_json::from_str(&load.stdout).unwrap();
    assert_eq!(ledger["total"]["published"], 370);
    assert_eq!(ledger["acknowledged"], true);
    robot.sandbox.write("ledger.json", &load.stdout);
    recorder.interrupt();
    let recorded = recorder.end();
    assert_eq!(recorded.code, 0, "{recorded}");
    let run = robot.sandbox.run("bench verify bag --ledger ledger.json");
    assert_eq!(run.code, 0, "{run}\n{recorded}");
}
