//! Players that follow `/clock`, over DDS, with a foreign listener.

use serde_json::json;

use crate::play_listener::ForeignListener;
use crate::record_robot::{Recording, until};
use crate::support::Run;

fn counted(topic: &'static str, count: u32, step: i64) -> Vec<(&'static str, i64, u32)> {
    (0..count)
        .map(|n| (topic, i64::from(n) * step, n))
        .collect()
}

fn drive(listener: &ForeignListener, order: &str) -> Run {
    let mut command = listener
        .robot
        .sandbox
        .command(&format!("clock drive {order}"));
    Run::new(&command.arg("--localhost").output().unwrap())
}

/// Waits until nothing more comes.
fn quiet(listener: &mut ForeignListener) {
    let count = |listener: &mut ForeignListener| {
        let heard = |topic: &str| json!({"do": "count", "topic": topic});
        (listener.ask(&heard("/a")), listener.ask(&heard("/b")))
    };
    let mut before = count(listener);
    until(|| {
        listener.ask(&json!({"do": "sleep", "seconds": 1.0}));
        let now = count(listener);
        std::mem::replace(&mut before, now.clone()) == now
    });
}

/// A leader of `/a` that is paused at its start, and a follower of `/b` that has heard it.
fn pair(listener: &mut ForeignListener, count: u32, leader_flags: &str) -> (Recording, Recording) {
    listener.bag("a", &counted("/a", count, 50));
    listener.bag("b", &counted("/b", count, 50));
    for topic in ["/a", "/b"] {
        listener.subscribe(topic);
    }
    let follower =
        listener.start("play b --use-sim-time --loop --node-name b --wait-for-subscribers");
    let leader = listener.start(&format!(
        "play a --clock --node-name a --start-paused --wait-for-subscribers {leader_flags}"
    ));
    // The first message of the leader takes the follower along, as soon as that has heard its time.
    listener.drive("next --node /a");
    listener.ask(&json!({"do": "wait", "topic": "/b", "count": 1}));
    (leader, follower)
}

/// Both topics have the same messages; how many.
fn same(listener: &mut ForeignListener) -> usize {
    let heard = listener.heard();
    let of = |wanted: &str| -> Vec<i64> {
        let all = heard.iter();
        all.filter(|(topic, _)| topic == wanted)
            .map(|(_, number)| *number)
            .collect()
    };
    let (a, b) = (of("/a"), of("/b"));
    let differ = a.iter().zip(&b).position(|(a, b)| a != b);
    assert_eq!(differ, None, "{a:?}\n{b:?}");
    assert_eq!(a.len(), b.len(), "{a:?}\n{b:?}");
    a.len()
}

#[test]
fn a_leader_that_stalls_loses_nothing() {
    let Some(mut listener) = ForeignListener::new() else {
        return;
    };
    let (leader, follower) = pair(&mut listener, 800, "-r 8");
    listener.drive("resume --node /a");
    listener.ask(&json!({"do": "wait", "topic": "/b", "count": 100}));
    // At this rate it falls behind by 12 s of the bag, in less real time than a lease of the middleware.
    leader.signal("-STOP");
    listener.ask(&json!({"do": "sleep", "seconds": 1.5}));
    leader.signal("-CONT");
    let run = leader.end();
    assert_eq!(run.code, 0, "{run}");
    listener.ask(&json!({"do": "wait", "topic": "/b", "count": 800}));
    assert_eq!(same(&mut listener), 800);
    let run = follower.interrupt();
    assert_eq!(run.code, 0, "{run}");
}

#[test]
fn a_loop_a_seek_and_a_rate_lose_nothing() {
    let Some(mut listener) = ForeignListener::new() else {
        return;
    };
    let (leader, follower) = pair(&mut listener, 40, "--loop");
    listener.drive("resume --node /a");
    listener.ask(&json!({"do": "wait", "topic": "/b", "count": 100}));
    listener.drive("rate 3 --node /a");
    listener.ask(&json!({"do": "wait", "topic": "/b", "count": 300}));
    listener.drive("pause --node /a");
    quiet(&mut listener);
    listener.drive("seek 1700000000.51 --node /a");
    listener.drive("resume --node /a");
    listener.ask(&json!({"do": "wait", "topic": "/b", "count": 400}));
    listener.drive("pause --node /a");
    quiet(&mut listener);
    assert!(same(&mut listener) >= 380);
    for player in [leader, follower] {
        let run = player.interrupt();
        assert_eq!(run.code, 0, "{run}");
    }
}

#[test]
fn a_follower_refuses_controls_and_shows_the_pause_of_its_clock() {
    let Some(mut listener) = ForeignListener::new() else {
        return;
    };
    let (leader, follower) = pair(&mut listener, 2400, "-r 0.5");
    let status = |listener: &ForeignListener| drive(listener, "status --node /b");
    until(|| status(&listener).stdout.contains("/b: paused"));
    let shown = status(&listener);
    assert!(
        shown.stdout.contains("/clock shows 1700000000.000000001 s"),
        "{shown}"
    );
    listener.drive("resume --node /a");
    until(|| status(&listener).stdout.contains("/b: running"));
    for order in [
        "pause",
        "toggle",
        "seek 1700000000.0",
        "rate 2",
        "frequency 10",
    ] {
        let run = drive(&listener, &format!("{order} --node /b"));
        assert_eq!(run.code, 1, "{order}: {run}");
        assert!(run.stderr.contains("refused"), "{order}: {run}");
        assert!(
            run.stderr.contains("/a publishes /clock; if /b follows it"),
            "{order}: {run}"
        );
    }
    listener.drive("frequency 10 --node /a");
    listener.drive("stop --node /a");
    assert_eq!(leader.end().code, 0);
    let run = follower.interrupt();
    assert_eq!(run.code, 0, "{run}");
}

#[test]
fn a_recorded_clock_is_not_played_beside_the_one_that_is_followed() {
    let Some(mut listener) = ForeignListener::new() else {
        return;
    };
    listener.ask(&json!({"do": "listen_to_clock"}));
    let robot = &listener.robot;
    let mut command = robot
        .sandbox
        .command("play BAGS/mcap_simtime --use-sim-time --localhost");
    let follower = Recording::start(&mut command);
    let clock = listener.start("clock publish --start 1794733166.0 -f 20 -r 6 --node-name sim");
    let run = follower.end();
    assert!(!run.stderr.contains("publishers of /clock"), "{run}");
    let heard = listener.heard();
    let times: Vec<i64> = heard.iter().map(|(_, time)| *time).collect();
    assert!(times.windows(2).all(|pair| pair[0] <= pair[1]), "{times:?}");
    assert_eq!(clock.interrupt().code, 0);
}

#[test]
fn a_stamp_waits_for_the_time() {
    let Some(mut listener) = ForeignListener::new() else {
        return;
    };
    let mut command = listener
        .robot
        .sandbox
        .command("topic echo /stamp --localhost -n 1");
    let echo = Recording::start(&mut command);
    let mut command = listener.robot.sandbox.command("topic pub /stamp");
    command.args([
        "builtin_interfaces/msg/Time",
        "now",
        "--use-sim-time",
        "--localhost",
    ]);
    let publisher = Recording::start(&mut command);
    listener.ask(&json!({"do": "sleep", "seconds": 1.5}));
    let clock = listener.start("clock publish --start 1000.0 --start-paused");
    // It publishes again and again: on a busy machine the first message may come before the subscription is ready.
    let run = echo.end();
    assert!(run.stdout.contains("1000"), "{run}");
    let run = publisher.interrupt();
    assert_eq!(run.code, 0, "{run}");
    assert_eq!(clock.interrupt().code, 0);
}

#[test]
fn a_single_message_waits_for_the_time_and_carries_it() {
    let Some(listener) = ForeignListener::new() else {
        return;
    };
    let mut command = listener.robot.sandbox.command("topic pub /stamp");
    command.args([
        "builtin_interfaces/msg/Time",
        "now",
        "--once",
        "--use-sim-time",
        "--wait-matching-subscriptions",
        "0",
        "--print",
        "1",
        "--localhost",
    ]);
    let publisher = Recording::start(&mut command);
    let clock = listener.start("clock publish --start 1000.0 --start-paused");
    let run = publisher.end();
    assert_eq!(run.code, 0, "{run}");
    let stamp: serde_json::Value = serde_json::from_str(run.stdout.trim()).unwrap();
    assert_eq!(stamp["sec"], 1000, "{run}");
    assert_eq!(clock.interrupt().code, 0);
}
