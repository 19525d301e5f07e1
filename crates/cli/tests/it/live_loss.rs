//! Real loss: a flood on best effort while we do not look, and the count of what is missing.

use std::sync::mpsc::Receiver;

use serde_json::{Value, json};

use crate::foreign::Peer;
use crate::live_node::until;
use crate::robot::{Robot, Running, STRING};

const FLOOD: u64 = 30_000;
const SIZE: u64 = 1_000;

/// Floods a verb that has heard something already and is stopped meanwhile, until it hears again.
///
/// `heard` says from its lines whether it heard a new message. Gives the number of the last message that was sent.
fn flood(peer: &mut Peer, verb: &Running, mut heard: impl FnMut() -> bool) -> u64 {
    let send = |count| json!({"do": "send", "topic": "/flood", "count": count, "size": SIZE});
    peer.ask(&json!({"do": "matched", "topic": "/flood", "count": 1}));
    let mut last = Value::Null;
    until("the first message", || {
        last = peer.ask(&send(1));
        heard()
    });
    verb.signal("STOP");
    peer.ask(&send(FLOOD));
    verb.signal("CONT");
    until("a message after the flood", || {
        last = peer.ask(&send(1));
        heard()
    });
    last.as_u64().unwrap()
}

/// The number at the start of a message.
fn number(line: &str) -> u64 {
    let text: String = serde_json::from_str(line).unwrap();
    text.split(' ').next().unwrap().parse().unwrap()
}

fn drain(lines: &Receiver<String>, all: &mut Vec<u64>) {
    all.extend(lines.try_iter().map(|line| number(&line)));
}

#[test]
fn echo_counts_missing_messages_exactly() {
    let robot = Robot::new();
    let Some(mut peer) = Peer::new(robot.domain) else {
        return;
    };
    peer.ask(&json!({"do": "open", "topic": "/flood"}));
    let mut echo = robot.start(&["topic", "echo", "/flood", STRING, "--field", "data"]);
    let lines = echo.lines();
    let mut all = Vec::new();
    let mut newest = 0;
    flood(&mut peer, &echo, || {
        drain(&lines, &mut all);
        let before = std::mem::replace(&mut newest, all.last().copied().unwrap_or(0));
        // After the flood: one that was sent behind it.
        newest > before && (before == 0 || newest > FLOOD)
    });
    echo.interrupt();
    let run = echo.end();
    all.extend(lines.iter().map(|line| number(&line)));
    assert_eq!(run.code, 3, "{run}");
    let span = all.last().unwrap() - all.first().unwrap() + 1;
    let missing = span - all.len() as u64;
    assert!(missing > 0, "the flood was no flood");
    let said = run.stderr.replace(',', "");
    let words = format!("{missing} messages of /flood lost in transport");
    assert!(said.contains(&words), "{words}\n{run}");
}

#[test]
fn hz_counts_missing_messages() {
    let robot = Robot::new();
    let Some(mut peer) = Peer::new(robot.domain) else {
        return;
    };
    peer.ask(&json!({"do": "open", "topic": "/flood"}));
    let mut hz = robot.start(&["topic", "hz", "/flood", STRING, "--format", "json"]);
    let lines = hz.lines();
    let mut reports: Vec<Value> = Vec::new();
    let mut lost = 0;
    let last = flood(&mut peer, &hz, || {
        let new = lines
            .try_iter()
            .map(|line| serde_json::from_str(&line).unwrap());
        reports.extend(new);
        let now = reports.last().map_or(0, |report: &Value| {
            report["lost_in_transport"].as_u64().unwrap() + report["received"].as_u64().unwrap()
        });
        // The first report, then one that has the flood in it.
        let heard = (lost == 0 && now > 0) || now > FLOOD;
        lost = now;
        heard
    });
    hz.interrupt();
    let run = hz.end();
    reports.extend(
        lines
            .iter()
            .map(|line| serde_json::from_str(&line).unwrap()),
    );
    assert_eq!(run.code, 3, "{run}");
    let report = reports.last().unwrap();
    let count = |name: &str| report[name].as_u64().unwrap();
    let accounted = count("received") + count("lost_in_transport") + count("dropped");
    assert!(count("lost_in_transport") > 0, "{report}");
    assert!((FLOOD..=last).contains(&accounted), "{report} of {last}");
    let said = run.stderr.replace(',', "");
    let words = format!("{} messages of /flood lost", count("lost_in_transport"));
    assert!(said.contains(&words), "{words}\n{run}");
}
