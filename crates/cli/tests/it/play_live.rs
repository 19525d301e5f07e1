//! `timeloom play` and `burst` with peers that are not ours.

use serde_json::json;
use timeloom_time::{Clock, Steady};

use crate::play_listener::{ForeignListener, MS, START};
use crate::record_robot::until;

fn counted(topic: &'static str, count: u32, step: i64) -> Vec<(&'static str, i64, u32)> {
    (0..count)
        .map(|n| (topic, i64::from(n) * step, n))
        .collect()
}

#[test]
fn reliable_messages_arrive_byte_equal_and_in_order() {
    let Some(mut listener) = ForeignListener::new() else {
        return;
    };
    listener.bag("bag", &counted("/chatter", 3000, 1));
    let all: Vec<i64> = (0..3000).collect();
    for (arguments, sign) in [
        (
            "play bag --wait-for-subscribers --wait-for-all-acked 0 -r 10",
            "played 3,000 messages of 1 topic",
        ),
        ("burst bag --wait-for-subscribers", "played 3,000 messages"),
    ] {
        let player = listener.start(arguments);
        listener.subscribe("/chatter");
        let run = player.end();
        assert_eq!(run.code, 0, "{run}");
        assert!(run.stderr.contains(sign), "{run}");
        listener.ask(&json!({"do": "wait", "topic": "/chatter", "count": 3000}));
        assert_eq!(listener.numbers("/chatter"), all, "{arguments}");
    }
}

#[test]
fn a_foreign_client_controls_a_player() {
    let Some(mut listener) = ForeignListener::new() else {
        return;
    };
    listener.bag("bag", &counted("/chatter", 50, 100));
    listener.subscribe("/chatter");
    let player = listener.start("play bag --start-paused --wait-for-subscribers");
    let none = json!({});
    assert_eq!(listener.call("is_paused", &none)["paused"], true);
    listener.ask(&json!({"do": "matched", "topic": "/chatter"}));
    assert_eq!(listener.call("play_next", &none)["success"], true);
    let burst = listener.call("burst", &json!({"num_messages": 4}));
    assert_eq!(burst["actually_burst"], 4);
    assert_eq!(
        listener.call("set_rate", &json!({"rate": 0.0}))["success"],
        false
    );
    assert_eq!(
        listener.call("set_rate", &json!({"rate": 20.0}))["success"],
        true
    );
    assert_eq!(listener.call("get_rate", &none)["rate"], 20.0);
    let seek = json!({"time": START + 4000 * MS});
    assert_eq!(listener.call("seek", &seek)["success"], true);
    assert_eq!(listener.call("play_next", &none)["success"], true);
    listener.call("toggle_paused", &none);
    listener.ask(&json!({"do": "wait", "topic": "/chatter", "count": 15}));
    let run = player.end();
    assert_eq!(run.code, 0, "{run}");
    let mut expected: Vec<i64> = (0..5).collect();
    expected.extend(40..50);
    assert_eq!(listener.numbers("/chatter"), expected);
    let player = listener.start("play bag --start-paused --loop");
    assert_eq!(listener.call("play_next", &none)["success"], true);
    listener.call("resume", &none);
    assert_eq!(
        listener.call("play_next", &none)["success"],
        false,
        "it runs"
    );
    assert_eq!(
        listener.call("burst", &json!({"num_messages": 1}))["actually_burst"],
        0
    );
    listener.call("stop", &none);
    assert_eq!(player.end().code, 0);
}

#[test]
fn two_players_go_in_step() {
    let Some(mut listener) = ForeignListener::new() else {
        return;
    };
    listener.bag("a", &counted("/a", 60, 50));
    listener.bag("b", &counted("/b", 60, 50));
    for topic in ["/a", "/b"] {
        listener.subscribe(topic);
    }
    let follower = listener.start("play b --use-sim-time --node-name b --wait-for-subscribers");
    let leader =
        listener.start("play a --clock 100 --node-name a --start-paused --wait-for-subscribers");
    for topic in ["/a", "/b"] {
        listener.ask(&json!({"do": "matched", "topic": topic}));
    }
    // The first message of the leader takes the follower along, as soon as that has heard its time.
    listener.drive("next --node /a");
    listener.ask(&json!({"do": "wait", "topic": "/b", "count": 1}));
    listener.drive("resume --node /a");
    listener.ask(&json!({"do": "wait", "topic": "/b", "count": 20}));
    listener.drive("pause --node /a");
    // What was due when time stopped comes; then nothing does.
    let count =
        |listener: &mut ForeignListener| listener.ask(&json!({"do": "count", "topic": "/b"}));
    let mut before = count(&mut listener);
    until(|| {
        listener.ask(&json!({"do": "sleep", "seconds": 0.5}));
        let now = count(&mut listener);
        std::mem::replace(&mut before, now.clone()) == now
    });
    assert!(before.as_u64().unwrap() < 60);
    listener.drive("resume --node /a");
    for player in [leader, follower] {
        let run = player.end();
        assert_eq!(run.code, 0, "{run}");
    }
    listener.ask(&json!({"do": "wait", "topic": "/b", "count": 60}));
    let heard = listener.heard();
    let (mut a, mut b, mut apart) = (0_i64, 0_i64, 0);
    for (topic, number) in heard {
        let last = if topic == "/a" { &mut a } else { &mut b };
        assert!(
            number == 0 || number == *last + 1,
            "{topic} {number} after {last}"
        );
        *last = number;
        apart = apart.max((a - b).abs());
    }
    assert_eq!((a, b), (59, 59));
    // Half a second on a machine that does much else.
    assert!(apart <= 10, "{apart} messages apart");
}

#[test]
fn keys_control_a_player_in_a_terminal() {
    let Some(mut listener) = ForeignListener::new() else {
        return;
    };
    listener.bag("bag", &counted("/chatter", 30, 100));
    listener.subscribe("/chatter");
    let command = listener
        .robot
        .sandbox
        .command("play bag --start-paused --wait-for-subscribers --localhost");
    let text = |text: &std::ffi::OsStr| text.to_str().unwrap().to_owned();
    let mut argv = vec![text(command.get_program())];
    argv.extend(command.get_args().map(text));
    let env: serde_json::Map<_, _> = command
        .get_envs()
        .filter_map(|(name, value)| Some((text(name), json!(text(value?)))))
        .collect();
    let cwd = text(command.get_current_dir().unwrap().as_os_str());
    listener.ask(&json!({"do": "start", "argv": argv, "cwd": cwd, "env": env}));
    listener.ask(&json!({"do": "sees", "text": "⏸ 0.0/2.9 s"}));
    let (right, left, up, home) = ("\x1b[C", "\x1b[D", "\x1b[A", "\x1b[H");
    listener.ask(&json!({"do": "type", "keys": format!("{right}{right}{right}{left}")}));
    listener.ask(&json!({"do": "wait", "topic": "/chatter", "count": 4}));
    listener.ask(&json!({"do": "type", "keys": "."}));
    listener.ask(&json!({"do": "sees", "text": "⏸ 1.1/2.9 s"}));
    listener.ask(&json!({"do": "type", "keys": format!("{right}{home}{up}")}));
    listener.ask(&json!({"do": "sees", "text": "×1.1"}));
    listener.ask(&json!({"do": "type", "keys": ">>>> "}));
    let ended = listener.ask(&json!({"do": "ended"}));
    assert_eq!(ended[0], 0, "{ended}");
    assert!(
        ended[1].as_str().unwrap().contains("played 35 messages"),
        "{ended}"
    );
    listener.ask(&json!({"do": "wait", "topic": "/chatter", "count": 35}));
    let mut expected = vec![0, 1, 2, 1, 11];
    expected.extend(0..30);
    assert_eq!(listener.numbers("/chatter"), expected);
}

#[test]
fn a_python_peer_receives_clock_until_the_end() {
    let Some(mut listener) = ForeignListener::new() else {
        return;
    };
    listener.bag("bag", &counted("/chatter", 100, 10));
    listener.ask(&json!({"do": "listen_to_clock"}));
    listener.subscribe("/chatter");
    let steady = Clock::<Steady>::new();
    let started = steady.now();
    let player = listener.start("play bag --clock 200 --wait-for-subscribers -r 2");
    let run = player.end();
    assert_eq!(run.code, 0, "{run}");
    let played_ns = 2 * (steady.now() - started).as_nanos();
    listener.ask(&json!({"do": "wait", "topic": "/chatter", "count": 100}));
    let heard = listener.heard();
    let clock: Vec<i64> = heard
        .iter()
        .filter_map(|(topic, time)| (topic == "/clock").then_some(*time))
        .collect();
    assert!(clock.len() > 10, "{}", clock.len());
    assert!(clock.windows(2).all(|pair| pair[0] <= pair[1]), "{clock:?}");
    let (first, last) = (START, START + 990 * MS);
    let within = first..=first + played_ns;
    assert!(clock.iter().all(|time| within.contains(time)), "{clock:?}");
    assert!(*clock.last().unwrap() >= last, "followers get to the end");
}

#[test]
fn a_parameter_file_selects_the_bag() {
    let Some(mut listener) = ForeignListener::new() else {
        return;
    };
    let mut lines = counted("/chatter", 20, 10);
    lines.extend(counted("/other", 20, 10));
    lines.sort_by_key(|line| line.1);
    listener.bag("bag", &lines);
    listener.robot.sandbox.write(
        "player.yaml",
        "rosbag2_player:\n  ros__parameters:\n    play:\n      topics_to_filter: [/chatter]\n      rate: 4.0\n      \
         start_offset: {sec: 0, nsec: 100000000}\n      wait_acked_timeout: {sec: 5, nsec: 0}\n    storage:\n      \
         uri: bag\n      storage_id: mcap\n",
    );
    listener.subscribe("/chatter");
    listener.subscribe("/other");
    let player = listener.start("play --params-file player.yaml --wait-for-subscribers");
    let run = player.end();
    assert_eq!(run.code, 0, "{run}");
    listener.ask(&json!({"do": "wait", "topic": "/chatter", "count": 10}));
    let heard: Vec<_> = listener.heard();
    let expected: Vec<_> = (10..20).map(|n| ("/chatter".to_owned(), n)).collect();
    assert_eq!(heard, expected);
    listener.robot.sandbox.write(
        "wrong.yaml",
        "/**:\n  ros__parameters:\n    play.rat: 2.0\n",
    );
    let run = listener
        .robot
        .sandbox
        .run("play bag --params-file wrong.yaml");
    assert_eq!(run.code, 2, "{run}");
    assert!(run.stderr.contains("did you mean play.rate?"), "{run}");
}
