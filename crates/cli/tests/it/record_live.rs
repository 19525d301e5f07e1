//! `timeloom record` against publishers that are not ours: published = recorded + lost.

use std::fs;
use std::process::Command;

use serde_json::json;

use crate::record_robot::{Robot, numbers, peer_script, python, statistics, until};
use crate::support::Run;

fn sum(text: &str) -> (u64, u64) {
    let parse = |text: &str| text.replace(',', "").parse::<u64>().unwrap();
    let lost = text.lines().find(|line| line.contains(" lost: "));
    let Some(line) = lost else {
        return (0, 0);
    };
    let words: Vec<&str> = line.split_whitespace().collect();
    let after = |word: &str| words.iter().position(|w| *w == word).unwrap();
    (
        parse(words[after("lost:") + 1]),
        parse(words[after("transport,") + 1]),
    )
}

#[test]
fn a_healthy_run_has_everything_that_was_published() {
    let Some(mut robot) = Robot::new() else {
        return;
    };
    for (name, topic, reliable, latched) in [
        ("a", "/both", true, false),
        ("b", "/both", false, false),
        ("map", "/map", true, true),
    ] {
        let depth = if latched { json!(5) } else { json!(null) };
        robot.ask(
            &json!({"do": "writer", "name": name, "topic": topic, "reliable": reliable,
            "latched": latched, "depth": depth}),
        );
    }
    // Published before anybody listens: latched, so it is recorded.
    robot.ask(&json!({"do": "publish", "name": "map", "count": 5}));
    let recording = robot.record("-a -o bag");
    for name in ["a", "b", "map"] {
        robot.matched(name);
    }
    for name in ["a", "b"] {
        robot.ask(&json!({"do": "publish", "name": name, "count": 1000, "rate": 1000.0}));
    }
    // One that comes later, and ends, and comes again.
    for _ in 0..2 {
        robot.ask(&json!({"do": "writer", "name": "late", "topic": "/late", "latched": true, "depth": 100}));
        robot.ask(&json!({"do": "publish", "name": "late", "count": 100, "rate": 1000.0}));
        robot.matched("late");
        robot.ask(&json!({"do": "acked", "name": "late"}));
        robot.ask(&json!({"do": "close", "name": "late"}));
    }
    robot.ask(&json!({"do": "sleep", "seconds": 0.5}));
    let run = recording.interrupt();
    assert_eq!(run.code, 0, "{run}");
    let bag = robot.sandbox.path("bag");
    for (topic, count) in [("/both", 2000), ("/map", 5), ("/late", 200)] {
        let found = statistics(&bag, topic);
        assert_eq!(
            (found.messages_recorded, found.messages_lost()),
            (count, 0),
            "{topic}\n{run}"
        );
    }
    let mut both = numbers(&bag, "/both");
    let all: Vec<u64> = (0..1000).collect();
    for name in ["a", "b"] {
        // Cyclone repeats the first message after later ones when its first heartbeat was late.
        let found = both.get_mut(name).unwrap();
        found.sort_unstable();
        assert!(*found == all, "{name}: not every message is recorded once");
    }
    foreign_readers_agree(&robot, 2205);
    let info = robot.sandbox.ok("info -v bag");
    let line = "Topic: /both | Type: std_msgs/msg/String | Count: 2000 | ";
    assert!(
        info.contains(line) && info.contains("Lost in Transport: 0 | Lost in Recorder: 0"),
        "{info}"
    );
}

/// The bag is opened by readers from `PyPI`, which find what we do.
fn foreign_readers_agree(robot: &Robot, at_least: u64) {
    let bag = robot.sandbox.path("bag");
    // rosbags refuses versions that it does not know, however additive they are.
    robot.sandbox.ok("convert bag -o nine --metadata-version 9");
    let read = Command::new(python().unwrap())
        .arg(peer_script("read_bag.py"))
        .arg(robot.sandbox.path("nine"))
        .arg(&bag)
        .output()
        .unwrap();
    let text = String::from_utf8_lossy(&read.stdout);
    let errors = String::from_utf8_lossy(&read.stderr);
    let found: serde_json::Value = serde_json::from_str(&text).expect(&errors);
    assert_eq!(found["rosbags"], found["mcap"]);
    let counts = found["rosbags"].as_object().unwrap();
    let total: u64 = counts.values().map(|count| count.as_u64().unwrap()).sum();
    assert!(total >= at_least, "{text}");
    for (topic, count) in counts {
        assert_eq!(
            statistics(&bag, topic).messages_recorded,
            count.as_u64().unwrap()
        );
    }
}

#[test]
fn a_full_queue_is_counted() {
    let Some(mut robot) = Robot::new() else {
        return;
    };
    robot.ask(&json!({"do": "writer", "name": "image", "topic": "/image"}));
    robot.ask(&json!({"do": "writer", "name": "tf", "topic": "/tf"}));
    let recording = robot.record("--topics /image /tf -o bag --max-cache-size 500000");
    for name in ["image", "tf"] {
        robot.matched(name);
    }
    let mut sent = 0;
    for _ in 0..20 {
        sent = robot.number(&json!({"do": "publish", "name": "image", "count": 40, "size": 60000}));
        robot.ask(&json!({"do": "publish", "name": "tf", "count": 2, "size": 100}));
    }
    for name in ["image", "tf"] {
        robot.ask(&json!({"do": "acked", "name": name}));
    }
    let run = recording.interrupt();
    let bag = robot.sandbox.path("bag");
    let image = statistics(&bag, "/image");
    assert!(image.lost_in_recorder.queue > 0, "{run}");
    assert_eq!(run.code, 3, "{run}");
    assert_eq!(image.messages_lost_in_transport, 0, "{run}");
    assert_eq!(image.messages_published(), sent, "{run}");
    let tf = statistics(&bag, "/tf");
    assert_eq!(
        (tf.messages_recorded, tf.messages_lost()),
        (40, 0),
        "its share is kept\n{run}"
    );
    let (transport, recorder) = sum(&run.stderr);
    assert_eq!(
        (transport, recorder),
        (0, image.lost_in_recorder.queue),
        "{run}"
    );
    let info = robot.sandbox.ok("info -v bag");
    let line = format!(
        "Lost in Transport: 0 | Lost in Recorder: {}",
        image.lost_in_recorder.queue
    );
    assert!(info.contains(&line), "{info}");
}

#[test]
fn no_message_is_lost_at_a_split() {
    let Some(mut robot) = Robot::new() else {
        return;
    };
    robot.ask(&json!({"do": "writer", "name": "a", "topic": "/a", "reliable": false}));
    let recording =
        robot.record("--topics /a -o bag -d 1 --compression-mode file --compression-format zstd");
    robot.matched("a");
    let sent = robot.number(&json!({"do": "publish", "name": "a", "count": 4500, "rate": 1000.0}));
    robot.ask(&json!({"do": "sleep", "seconds": 0.3}));
    let run = recording.interrupt();
    assert_eq!(run.code, 0, "{run}");
    // A best-effort publisher does not announce its last sequence number.
    let said = "unknown: messages after the last one received from 1 publisher";
    assert!(run.stderr.contains(said), "{run}");
    let bag = robot.sandbox.path("bag");
    let found = statistics(&bag, "/a");
    assert_eq!((found.messages_recorded, found.messages_lost()), (sent, 0));
    let files = fs::read_dir(&bag).unwrap().filter_map(Result::ok);
    let names: Vec<_> = files
        .map(|entry| entry.file_name().into_string().unwrap())
        .collect();
    let compressed = names.iter().filter(|name| name.ends_with(".mcap.zstd"));
    assert!(compressed.count() >= 4, "{names:?}");
}

#[test]
fn sigterm_in_the_middle_closes_the_bag() {
    let Some(mut robot) = Robot::new() else {
        return;
    };
    robot.ask(&json!({"do": "writer", "name": "a", "topic": "/a"}));
    let recording = robot.record("-a -o bag -s sqlite3");
    robot.matched("a");
    robot.ask(&json!({"do": "start", "name": "a", "rate": 2000.0}));
    robot.ask(&json!({"do": "sleep", "seconds": 1.0}));
    recording.signal("-TERM");
    let run = recording.end();
    robot.ask(&json!({"do": "stop", "name": "a"}));
    assert_eq!(run.code, 0, "{run}");
    let bag = robot.sandbox.path("bag");
    let numbers = &numbers(&bag, "/a")["a"];
    assert!(numbers.len() > 500, "{}", numbers.len());
    let whole: Vec<u64> = (numbers[0]..=*numbers.last().unwrap()).collect();
    assert_eq!(*numbers, whole, "no hole");
    let found = statistics(&bag, "/a");
    assert_eq!(found.messages_published(), numbers.len() as u64);
}

#[test]
fn messages_missed_by_a_starved_recorder_are_lost_in_transport() {
    let Some(mut robot) = Robot::new() else {
        return;
    };
    robot.ask(&json!({"do": "writer", "name": "a", "topic": "/a", "reliable": false, "depth": 1}));
    let recording = robot.record("-a -o bag");
    robot.matched("a");
    robot.ask(&json!({"do": "publish", "name": "a", "count": 10, "rate": 100.0}));
    // It gets no processor at all while more comes than the socket holds.
    recording.signal("-STOP");
    robot.ask(&json!({"do": "publish", "name": "a", "count": 400, "size": 60000}));
    recording.signal("-CONT");
    robot.ask(&json!({"do": "sleep", "seconds": 0.5}));
    let sent = robot.number(&json!({"do": "publish", "name": "a", "count": 10, "rate": 100.0}));
    robot.ask(&json!({"do": "sleep", "seconds": 0.5}));
    let run = recording.interrupt();
    let bag = robot.sandbox.path("bag");
    let found = statistics(&bag, "/a");
    let numbers = &numbers(&bag, "/a")["a"];
    assert_eq!(
        (numbers[0], numbers.last()),
        (0, Some(&(sent - 1))),
        "{run}"
    );
    assert_eq!(found.messages_published(), sent, "{run}");
    assert_eq!(found.messages_lost_in_recorder(), 0, "{run}");
    assert!(found.messages_lost_in_transport > 0, "{run}");
    assert_eq!(run.code, 3, "{run}");
}

#[test]
fn after_a_kill_recover_counts_the_messages_exactly() {
    let Some(mut robot) = Robot::new() else {
        return;
    };
    robot.ask(&json!({"do": "writer", "name": "a", "topic": "/a"}));
    let recording = robot.record("-a -o bag");
    robot.matched("a");
    let before = robot.number(&json!({"do": "publish", "name": "a", "count": 500, "rate": 1000.0}));
    robot.ask(&json!({"do": "acked", "name": "a"}));
    // Longer than a chunk stays open: all of these are sealed.
    robot.ask(&json!({"do": "sleep", "seconds": 1.5}));
    robot.ask(&json!({"do": "publish", "name": "a", "count": 100, "rate": 1000.0}));
    recording.signal("-KILL");
    recording.gone();
    let run = robot.sandbox.run("recover bag");
    assert!(matches!(run.code, 0 | 3), "{run}");
    let recovered = fs::read_dir(robot.sandbox.path("")).unwrap();
    let names: Vec<_> = recovered.map(|entry| entry.unwrap().path()).collect();
    let bag = names.iter().find(|path| path.is_dir()).unwrap();
    let bag = names
        .iter()
        .find(|path| path.to_string_lossy().contains("recovered"))
        .unwrap_or(bag);
    let numbers = &numbers(bag, "/a")["a"];
    assert!(
        numbers.len() as u64 >= before,
        "{} of {before}\n{run}",
        numbers.len()
    );
    let whole: Vec<u64> = (0..numbers.len() as u64).collect();
    assert_eq!(*numbers, whole, "{run}");
    let said = format!("{}", numbers.len());
    assert!(
        run.stderr.contains(&said) || run.stdout.contains(&said),
        "{run}"
    );
}

#[test]
fn a_vanished_directory_ends_the_recording_and_is_counted() {
    let Some(mut robot) = Robot::new() else {
        return;
    };
    robot.ask(&json!({"do": "writer", "name": "a", "topic": "/a"}));
    let recording = robot.record("--topics /a -o bag");
    robot.matched("a");
    let sent = robot.number(&json!({"do": "publish", "name": "a", "count": 100, "rate": 1000.0}));
    robot.ask(&json!({"do": "acked", "name": "a"}));
    fs::remove_dir_all(robot.sandbox.path("bag")).unwrap();
    let run = recording.end();
    assert_eq!(run.code, 3, "{run}");
    assert!(
        run.stderr
            .contains("ended: the directory of the bag is gone"),
        "{run}"
    );
    assert_eq!(sum(&run.stderr), (0, sent), "{run}");
}

#[test]
fn services_control_it_from_other_processes() {
    let Some(mut robot) = Robot::new() else {
        return;
    };
    robot.ask(&json!({"do": "writer", "name": "a", "topic": "/a"}));
    let recording = robot.record("-a -o bag --start-paused");
    robot.matched("a");
    robot.ask(&json!({"do": "publish", "name": "a", "count": 10}));
    robot.ask(&json!({"do": "acked", "name": "a"}));
    let call = |robot: &Robot, name: &str, kind: &str| -> Run {
        let arguments = format!(
            "service call /rosbag2_recorder/{name} rosbag2_interfaces/srv/{kind} --timeout 60 --localhost"
        );
        robot.sandbox.run(&arguments)
    };
    let paused = call(&robot, "is_paused", "IsPaused");
    assert_eq!(paused.stdout, "{\"paused\":true}\n", "{paused}");
    assert_eq!(call(&robot, "resume", "Resume").code, 0);
    robot.ask(&json!({"do": "publish", "name": "a", "count": 20}));
    robot.ask(&json!({"do": "acked", "name": "a"}));
    assert_eq!(call(&robot, "split_bagfile", "SplitBagfile").code, 0);
    let bag = robot.sandbox.path("bag");
    until(|| bag.join("bag_1.mcap").exists());
    let mut statistics_run = call(&robot, "get_recorder_statistics", "GetRecorderStatistics");
    until(|| {
        statistics_run = call(&robot, "get_recorder_statistics", "GetRecorderStatistics");
        statistics_run.stdout.contains("\"messages_recorded\":20")
    });
    let text = &statistics_run.stdout;
    assert!(
        text.contains("\"node_name\":\"/rosbag2_recorder\""),
        "{text}"
    );
    assert!(
        text.contains("\"topic_name\":\"/a\",\"messages_lost_in_transport\":0"),
        "{text}"
    );
    let run = recording.interrupt();
    assert_eq!(run.code, 0, "{run}");
    assert_eq!(numbers(&bag, "/a")["a"], (10..30).collect::<Vec<u64>>());
    assert!(run.stderr.contains("left out (paused 10)"), "{run}");
}
