//! `timeloom record` over Zenoh, against publishers that are not ours: published = recorded + lost.

use std::fs;

use serde_json::json;

use crate::record_robot::{numbers, statistics, until};
use crate::zenoh_robot::ZenohRobot;

/// The numbers that were sent when each `lose`-th of `count` was lost on the way.
fn kept(count: u64, lose: u64) -> Vec<u64> {
    (0..count)
        .filter(|number| (number + 1) % lose != 0)
        .collect()
}

#[test]
fn a_healthy_run_has_everything_that_was_published() {
    let Some(mut robot) = ZenohRobot::new() else {
        return;
    };
    robot.writer("a", "/both", &json!({}));
    robot.writer("b", "/both", &json!({"reliable": false}));
    // Published before anybody listens: latched, so it is recorded.
    robot.writer("map", "/map", &json!({"latched": 5}));
    robot.publish("map", 5, &json!({}));
    let recording = robot.start("record -a -o bag");
    robot.matched(&["a", "b"]);
    for name in ["a", "b"] {
        robot.publish(name, 1000, &json!({"rate": 2000.0}));
    }
    // One that comes later, and ends, and comes again.
    for times in 1..3 {
        robot.writer("late", "/late", &json!({"latched": 100}));
        robot.publish("late", 100, &json!({}));
        robot.accounted("/late", 100 * times);
        robot.ask(&json!({"do": "close", "name": "late"}));
    }
    robot.accounted("/both", 2000);
    robot.accounted("/map", 5);
    let run = recording.interrupt();
    assert_eq!(run.code, 0, "{run}");
    let bag = robot.sandbox().path("bag");
    for (topic, count) in [("/both", 2000), ("/map", 5), ("/late", 200)] {
        let found = statistics(&bag, topic);
        let counts = (found.messages_recorded, found.messages_lost());
        assert_eq!(counts, (count, 0), "{topic}\n{run}");
    }
    let both = numbers(&bag, "/both");
    let all: Vec<u64> = (0..1000).collect();
    assert_eq!((&both["a"], &both["b"]), (&all, &all));
    let map = &numbers(&bag, "/map")["map"];
    assert_eq!(*map, (0..5).collect::<Vec<u64>>());
    let info = robot.sandbox().ok("info -v bag");
    assert!(
        info.contains("Topic: /both | Type: std_msgs/msg/String | Count: 2000 | "),
        "{info}"
    );
}

#[test]
fn messages_lost_in_transport_are_counted_per_writer() {
    let Some(mut robot) = ZenohRobot::new() else {
        return;
    };
    for (name, topic) in [("one", "/lossy"), ("two", "/lossy"), ("whole", "/whole")] {
        robot.writer(name, topic, &json!({}));
    }
    let recording = robot.start("record -a -o bag");
    robot.matched(&["one", "two", "whole"]);
    // Neither the first nor the last number is lost: between them, all is known.
    let one = robot.publish("one", 500, &json!({"lose": 7}));
    let two = robot.publish("two", 301, &json!({"lose": 10}));
    let whole = robot.publish("whole", 100, &json!({}));
    robot.accounted("/lossy", one + two);
    robot.accounted("/whole", whole);
    let lost = 500 / 7 + 301 / 10;
    assert_eq!(robot.account("/lossy"), [one + two - lost, lost, 0]);
    let run = recording.interrupt();
    assert_eq!(run.code, 3, "{run}");
    let bag = robot.sandbox().path("bag");
    let lossy = statistics(&bag, "/lossy");
    assert_eq!(lossy.messages_lost_in_transport, lost, "{run}");
    assert_eq!(lossy.messages_lost_in_recorder(), 0, "{run}");
    assert_eq!(lossy.messages_published(), one + two, "{run}");
    let numbers = numbers(&bag, "/lossy");
    assert_eq!(numbers["one"], kept(500, 7));
    assert_eq!(numbers["two"], kept(301, 10));
    let found = statistics(&bag, "/whole");
    let counts = (found.messages_recorded, found.messages_lost());
    assert_eq!(counts, (100, 0), "{run}");
    let said = format!("{lost} messages lost: {lost} in transport, 0 in the recorder");
    assert!(run.stderr.contains(&said), "{run}");
    let info = robot.sandbox().ok("info -v bag");
    let line = format!("Lost in Transport: {lost} | Lost in Recorder: 0");
    assert!(info.contains(&line), "{info}");
}

#[test]
fn messages_missed_by_a_starved_recorder_are_lost_in_transport() {
    let Some(mut robot) = ZenohRobot::new() else {
        return;
    };
    // As best effort is: what does not fit into the network is dropped by the publisher.
    robot.writer("a", "/a", &json!({"reliable": false, "block": false}));
    let recording = robot.start("record -a -o bag");
    robot.matched(&["a"]);
    let mut sent = 0;
    until(|| {
        sent = robot.publish("a", 1, &json!({}));
        robot.account("/a")[0] > 0
    });
    // It gets no processor at all while more comes than all buffers hold.
    recording.signal("-STOP");
    robot.publish("a", 2000, &json!({"size": 60000}));
    recording.signal("-CONT");
    // The account closes with a message that is known to have come.
    until(|| {
        sent = robot.publish("a", 1, &json!({}));
        robot.account("/a").iter().sum::<u64>() == sent
    });
    let run = recording.interrupt();
    assert_eq!(run.code, 3, "{run}");
    let bag = robot.sandbox().path("bag");
    let found = statistics(&bag, "/a");
    let numbers = &numbers(&bag, "/a")["a"];
    assert_eq!(
        (numbers[0], numbers.last()),
        (0, Some(&(sent - 1))),
        "{run}"
    );
    assert_eq!(found.messages_published(), sent, "{run}");
    assert_eq!(found.messages_recorded, numbers.len() as u64, "{run}");
    assert_eq!(found.messages_lost_in_recorder(), 0, "{run}");
    assert!(found.messages_lost_in_transport > 0, "{run}");
}

#[test]
fn a_full_queue_is_counted() {
    let Some(mut robot) = ZenohRobot::new() else {
        return;
    };
    robot.writer("image", "/image", &json!({}));
    robot.writer("tf", "/tf", &json!({}));
    let recording = robot.start("record --topics /image /tf -o bag --max-cache-size 500000");
    robot.matched(&["image", "tf"]);
    let (mut images, mut transforms) = (0, 0);
    // More at once than fits, until the writer was too slow for it.
    until(|| {
        images = robot.publish("image", 100, &json!({"size": 60000}));
        transforms = robot.publish("tf", 2, &json!({"size": 100}));
        robot.account("/image")[2] > 0
    });
    robot.accounted("/image", images);
    robot.accounted("/tf", transforms);
    let run = recording.interrupt();
    assert_eq!(run.code, 3, "{run}");
    let bag = robot.sandbox().path("bag");
    let image = statistics(&bag, "/image");
    assert!(image.lost_in_recorder.queue > 0, "{run}");
    assert_eq!(image.messages_lost_in_transport, 0, "{run}");
    assert_eq!(image.messages_published(), images, "{run}");
    let tf = statistics(&bag, "/tf");
    let counts = (tf.messages_recorded, tf.messages_lost());
    assert_eq!(counts, (transforms, 0), "its share is kept\n{run}");
}

#[test]
fn no_message_is_lost_at_a_split() {
    let Some(mut robot) = ZenohRobot::new() else {
        return;
    };
    robot.writer("a", "/a", &json!({}));
    let recording = robot.start("record -a -o bag -d 1");
    robot.matched(&["a"]);
    let sent = robot.publish("a", 3500, &json!({"rate": 1000.0}));
    robot.accounted("/a", sent);
    let run = recording.interrupt();
    assert_eq!(run.code, 0, "{run}");
    let bag = robot.sandbox().path("bag");
    let found = statistics(&bag, "/a");
    assert_eq!((found.messages_recorded, found.messages_lost()), (sent, 0));
    assert_eq!(numbers(&bag, "/a")["a"], (0..sent).collect::<Vec<u64>>());
    let paths = fs::read_dir(&bag).unwrap();
    let paths = paths.map(|entry| entry.unwrap().path());
    let files = paths.filter(|path| path.extension().is_some_and(|end| end == "mcap"));
    let files = files.count();
    assert!(files >= 3, "{files} files");
}

#[test]
fn sigterm_in_the_middle_closes_the_bag() {
    let Some(mut robot) = ZenohRobot::new() else {
        return;
    };
    robot.writer("a", "/a", &json!({}));
    let recording = robot.start("record -a -o bag -s sqlite3");
    robot.matched(&["a"]);
    robot.ask(&json!({"do": "start", "name": "a", "rate": 1000.0}));
    until(|| robot.account("/a")[0] > 500);
    recording.signal("-TERM");
    let run = recording.end();
    robot.ask(&json!({"do": "stop", "name": "a"}));
    assert_eq!(run.code, 0, "{run}");
    let bag = robot.sandbox().path("bag");
    let numbers = &numbers(&bag, "/a")["a"];
    assert_eq!(
        *numbers,
        (0..numbers.len() as u64).collect::<Vec<_>>(),
        "no hole"
    );
    let found = statistics(&bag, "/a");
    assert_eq!(found.messages_published(), numbers.len() as u64);
    let said = "unknown: messages after the last one received from 1 publisher";
    assert!(run.stderr.contains(said), "{run}");
}

#[test]
fn foreign_zenoh_data_is_reported_and_ends_nothing() {
    let Some(mut robot) = ZenohRobot::new() else {
        return;
    };
    robot.writer("a", "/a", &json!({}));
    let recording = robot.start("record -a -o bag");
    robot.matched(&["a"]);
    robot.publish("a", 10, &json!({}));
    robot.ask(&json!({"do": "odd", "topic": "/a"}));
    let sent = robot.publish("a", 10, &json!({}));
    robot.accounted("/a", sent);
    let run = recording.interrupt();
    let bag = robot.sandbox().path("bag");
    let found = statistics(&bag, "/a");
    assert_eq!(
        (found.messages_recorded, found.messages_lost()),
        (20, 0),
        "{run}"
    );
    assert_eq!(run.code, 0, "{run}");
    assert!(run.stderr.contains("malformed sample: `/a`: "), "{run}");
}
