//! A real player behind the server: clients receive the content of the bag.

use std::collections::BTreeMap;

use timeloom_msg::{Definitions, Value};
use timeloom_node::player::{Control, Options, Repeat, State};
use timeloom_time::Time;
use timeloom_view::BagMark;
use timeloom_view::protocol::{PlaybackCommand, PlaybackRequest};

use crate::bag_show::{BEGIN, BUSY, BagShow, COUNT, Line, RARE, STEP, end, lines};
use crate::client::{Client, http};
use crate::toy::until;

const PLAYING: u8 = 0;
const PAUSED: u8 = 1;
const ENDED: u8 = 3;

/// Subscribes to everything; returns topics by subscription.
fn subscribe_all(client: &mut Client) -> BTreeMap<u32, String> {
    let mut topics = BTreeMap::new();
    while topics.len() < 2 {
        for channel in client.text("advertise")["channels"].as_array().unwrap() {
            let id = channel["id"].as_u64().unwrap();
            let subscription = u32::try_from(id).unwrap() + 100;
            client.subscribe(subscription, id);
            topics.insert(subscription, channel["topic"].as_str().unwrap().to_owned());
        }
    }
    topics
}

fn request(command: PlaybackCommand, speed: f32, seek: Option<i64>, id: &str) -> PlaybackRequest {
    PlaybackRequest {
        command,
        speed,
        seek_ns: seek.map(|time| u64::try_from(time).unwrap()),
        id: id.into(),
    }
}

/// A client whose subscriptions to everything are active.
fn audience(show: &BagShow) -> (Client, BTreeMap<u32, String>) {
    let mut client = Client::connect(show.server.address());
    let topics = subscribe_all(&mut client);
    client.steer(&request(PlaybackCommand::Pause, 1.0, None, "ready"));
    assert_eq!(client.answer("ready").status, PAUSED);
    (client, topics)
}

/// The next messages, as lines of the bag.
fn messages(client: &mut Client, topics: &BTreeMap<u32, String>, count: usize) -> Vec<Line> {
    let line = |(subscription, time, data): (u32, i64, Vec<u8>)| {
        (topics[&subscription].clone(), time, data)
    };
    (0..count).map(|_| line(client.message())).collect()
}

#[test]
fn messages_arrive_with_their_bytes_and_bag_times() {
    let show = BagShow::paused();
    let (mut client, topics) = audience(&show);
    client.steer(&request(PlaybackCommand::Play, 2.0, None, "go"));
    let got = messages(&mut client, &topics, lines().len());
    assert_eq!(got, lines());
    let ended = loop {
        let state = client.state();
        if state.status == ENDED {
            break state;
        }
    };
    assert_eq!(ended.time_ns, end());
    assert_eq!(show.server.dropped(), 0);
}

#[test]
fn a_seek_while_paused_is_visible_at_once() {
    let show = BagShow::paused();
    let (mut client, topics) = audience(&show);
    let there = BEGIN + 100 * STEP;
    client.steer(&request(PlaybackCommand::Pause, 1.0, Some(there), "there"));
    let state = client.answer("there");
    assert_eq!(
        (state.status, state.time_ns, state.did_seek),
        (PAUSED, there, true)
    );
    let back = BEGIN + 50 * STEP;
    client.steer(&request(PlaybackCommand::Pause, 1.0, Some(back), "back"));
    let state = client.answer("back");
    assert_eq!((state.time_ns, state.did_seek), (back, true));
    client.steer(&request(PlaybackCommand::Play, 4.0, None, "go"));
    assert_eq!(client.answer("go").status, PLAYING);
    let rest: Vec<Line> = lines().into_iter().filter(|line| line.1 >= back).collect();
    assert_eq!(messages(&mut client, &topics, rest.len()), rest);
}

#[test]
fn a_seek_after_the_end_plays_again() {
    let show = BagShow::paused();
    let (mut client, topics) = audience(&show);
    let near = end() - 1;
    client.steer(&request(PlaybackCommand::Play, 1.0, Some(near), "near"));
    until(|| show.player.status().state == State::Ended);
    client.answer("near");
    client.steer(&request(PlaybackCommand::Play, 1.0, None, "more"));
    assert_eq!(client.answer("more").status, ENDED);
    let back = BEGIN + 190 * STEP;
    client.steer(&request(PlaybackCommand::Play, 1.0, Some(back), "back"));
    let state = client.answer("back");
    assert_eq!((state.status, state.did_seek), (PLAYING, true));
    let rest: Vec<Line> = lines().into_iter().filter(|line| line.1 >= back).collect();
    assert_eq!(messages(&mut client, &topics, rest.len()), rest);
}

#[test]
fn steps_carry_the_time_of_their_message() {
    let show = BagShow::paused();
    let (mut client, topics) = audience(&show);
    let mut page = Client::try_connect(show.server.address(), "timeloom.view.v1", None).unwrap();
    for step in 0..3 {
        page.send(r#"{"op":"stepForward"}"#);
        assert_eq!(messages(&mut client, &topics, 1)[0], lines()[step]);
    }
    page.send(r#"{"op":"stepBack"}"#);
    assert_eq!(messages(&mut client, &topics, 1)[0], lines()[1]);
    // The page shows the position.
    let expected = (lines()[1].1 - BEGIN) as f64 / 1e9;
    loop {
        let now = page.text("snapshot")["timeline"]["now"].as_f64().unwrap();
        if (now - expected).abs() < 1e-9 {
            break;
        }
    }
}

#[test]
fn a_loop_restarts_and_is_announced() {
    let show = BagShow::with(Options {
        start_paused: true,
        repeat: Repeat::JumpBack,
        ..Options::default()
    });
    let (mut client, topics) = audience(&show);
    client.steer(&request(PlaybackCommand::Play, 8.0, None, "go"));
    client.answer("go");
    let got = messages(&mut client, &topics, lines().len() + 20);
    assert_eq!(got[..lines().len()], lines());
    assert_eq!(got[lines().len()..], lines()[..20]);
    // Panels are cleared when time goes back.
    while !client.state().did_seek {}
}

#[test]
fn a_seek_by_service_is_announced_to_all_clients() {
    let show = BagShow::paused();
    let (mut client, _) = audience(&show);
    let there = BEGIN + 150 * STEP;
    show.player
        .control(Control::Seek(Time::from_nanos(there)))
        .unwrap();
    show.player
        .control(Control::Seek(Time::from_nanos(BEGIN + STEP)))
        .unwrap();
    loop {
        let state = client.state();
        if state.did_seek && state.time_ns == BEGIN + STEP {
            break;
        }
    }
}

/// Calls a service of the player by name; returns the decoded response.
fn call(
    client: &mut Client,
    services: &BTreeMap<String, (u32, String)>,
    name: &str,
    set: &[(&str, f64)],
) -> Value {
    let (id, type_name) = &services[name];
    let part = |suffix: &str| {
        Definitions::builtin()
            .schema(&format!("{type_name}{suffix}"))
            .unwrap()
    };
    let request = part("_Request");
    let mut value = request.default_value().unwrap();
    for (field, number) in set {
        value.set(field, *number).unwrap();
    }
    let mut data = vec![2];
    data.extend(id.to_le_bytes());
    data.extend(7u32.to_le_bytes());
    data.extend(3u32.to_le_bytes());
    data.extend(b"cdr");
    data.extend(request.encode(&value).unwrap());
    client.send_binary(data);
    let response = client.binary(3);
    part("_Response").decode(&response[15..]).unwrap()
}

#[test]
fn clients_can_call_the_services_of_the_player() {
    let show = BagShow::paused();
    let mut client = Client::connect(show.server.address());
    let mut services = BTreeMap::new();
    while !services.contains_key("/rosbag2_player/is_paused")
        || !services.contains_key("/rosbag2_player/set_rate")
    {
        for service in client.text("advertiseServices")["services"]
            .as_array()
            .unwrap()
        {
            let word = |key: &str| service[key].as_str().unwrap().to_owned();
            assert!(!word("requestSchema").is_empty(), "{service}");
            let id = u32::try_from(service["id"].as_u64().unwrap()).unwrap();
            services.insert(word("name"), (id, word("type")));
        }
    }
    let paused = call(&mut client, &services, "/rosbag2_player/is_paused", &[]);
    assert_eq!(paused.get("paused"), Some(Value::Bool(true)));
    let set = call(
        &mut client,
        &services,
        "/rosbag2_player/set_rate",
        &[("rate", 3.0)],
    );
    assert_eq!(set.get("success"), Some(Value::Bool(true)));
    assert_eq!(show.player.rate(), Some(3.0));
}

#[test]
fn the_timeline_shows_message_density() {
    let show = BagShow::paused();
    let status = || {
        let answer = http(
            show.server.address(),
            "GET /status.json HTTP/1.1\r\nHost: localhost\r\n\r\n",
        );
        let (_, body) = answer.split_once("\r\n\r\n").unwrap();
        serde_json::from_str::<serde_json::Value>(body).unwrap()
    };
    let total = u64::try_from(lines().len()).unwrap();
    until(|| {
        let status = status();
        let density = status["timeline"]["density"]
            .as_array()
            .cloned()
            .unwrap_or_default();
        density
            .iter()
            .filter_map(serde_json::Value::as_u64)
            .sum::<u64>()
            == total
    });
    let status = status();
    assert_eq!(status["title"], "made_up");
    assert_eq!(status["state"], "paused");
    assert_eq!(status["timeline"]["startNs"], BEGIN.to_string());
    let topics = status["topics"].as_array().unwrap();
    let recorded = |name: &str| {
        let row = topics.iter().find(|row| row["name"] == name).unwrap();
        row["recorded"].as_i64().unwrap()
    };
    assert_eq!((recorded(BUSY), recorded(RARE)), (COUNT, COUNT / 10));
}

#[test]
fn the_page_gets_marks_on_the_timeline_with_their_text() {
    let show = BagShow::paused();
    let mut page = Client::try_connect(show.server.address(), "timeloom.view.v1", None).unwrap();
    assert_eq!(page.text("snapshot")["timeline"].get("marks"), None);
    let mark = |start: i64, end: i64, text: &str| BagMark {
        start_ns: BEGIN + start * STEP,
        end_ns: BEGIN + end * STEP,
        text: text.into(),
    };
    show.marks.set(vec![
        mark(100, 150, "/busy max_gap: allowed at most 1 ms"),
        mark(50, 50, "/rare data: allowed at most 7"),
    ]);
    let expected = serde_json::json!([
        {"from": 0.25, "to": 0.25, "text": "/rare data: allowed at most 7"},
        {"from": 0.5, "to": 0.75, "text": "/busy max_gap: allowed at most 1 ms"},
    ]);
    let marks = loop {
        if let Some(marks) = page.text("snapshot")["timeline"].get("marks") {
            break marks.clone();
        }
    };
    assert_eq!(marks, expected);
}
