//! Playback control as Foxglove's playback bar does it.

use timeloom_node::player::Control;
use timeloom_time::Time;
use timeloom_view::Source as _;
use timeloom_view::protocol::{PlaybackCommand, PlaybackRequest};

use crate::client::Client;
use crate::toy::{LENGTH, START, Show, until};

const PLAYING: u8 = 0;
const PAUSED: u8 = 1;
const ENDED: u8 = 3;

fn request(command: PlaybackCommand, speed: f32, seek: Option<i64>, id: &str) -> PlaybackRequest {
    PlaybackRequest {
        command,
        speed,
        seek_ns: seek.map(|time| u64::try_from(time).unwrap()),
        id: id.into(),
    }
}

#[test]
fn play_pause_rate_and_seek_are_answered_with_their_id() {
    let show = Show::new();
    let mut client = Client::connect(show.server.address());
    let first = client.state();
    assert_eq!(
        (first.status, first.time_ns, first.id.as_str()),
        (PAUSED, START, "")
    );
    client.steer(&request(PlaybackCommand::Play, 2.0, None, "go"));
    let state = client.answer("go");
    assert_eq!((state.status, state.did_seek), (PLAYING, false));
    assert!((state.speed - 2.0).abs() < f32::EPSILON);
    client.steer(&request(
        PlaybackCommand::Pause,
        2.0,
        Some(START + 5_000_000_000),
        "there",
    ));
    let state = client.answer("there");
    assert_eq!((state.status, state.did_seek), (PAUSED, true));
    assert!(state.time_ns - (START + 5_000_000_000) < 1_000_000_000);
    let commands = show.toy.heard();
    let expected = [
        Control::SetRate(2.0),
        Control::Resume,
        Control::Seek(Time::from_nanos(1_700_000_005_000_000_000)),
        Control::Pause,
    ];
    assert_eq!(commands, expected.map(|control| format!("{control:?}")));
}

#[test]
fn a_seek_is_announced_before_its_messages() {
    let show = Show::new();
    let mut client = Client::connect(show.server.address());
    let imu = client.channel("/imu/data");
    client.subscribe(1, imu);
    until(|| show.toy.heard().len() == 1);
    let there = START + 20_000_000_000;
    client.steer(&request(PlaybackCommand::Play, 8.0, Some(there), "s"));
    loop {
        let tungstenite::Message::Binary(data) = client.socket.read().unwrap() else {
            continue;
        };
        match data[0] {
            1 => panic!("a message arrived before the seek was announced"),
            5 if data.ends_with(b"s") => break,
            _ => {}
        }
    }
    let (_, time, _) = client.message();
    assert!(time >= there, "{time}");
}

#[test]
fn the_end_is_announced_and_a_seek_continues() {
    let show = Show::new();
    let mut client = Client::connect(show.server.address());
    let near = START + LENGTH - 200_000_000;
    client.steer(&request(PlaybackCommand::Play, 4.0, Some(near), "a"));
    client.answer("a");
    let ended = loop {
        let state = client.state();
        if state.status == ENDED {
            break state;
        }
    };
    assert_eq!((ended.id.as_str(), ended.time_ns), ("", START + LENGTH));
    client.steer(&request(PlaybackCommand::Play, 4.0, None, "b"));
    assert_eq!(client.answer("b").status, ENDED);
    client.steer(&request(PlaybackCommand::Play, 4.0, Some(START), "c"));
    let again = client.answer("c");
    assert_eq!((again.status, again.did_seek), (PLAYING, true));
}

#[test]
fn a_seek_by_another_client_is_announced() {
    let show = Show::new();
    let mut client = Client::connect(show.server.address());
    client.state();
    show.toy
        .control(Control::Seek(Time::from_nanos(START + 7)))
        .unwrap();
    let state = client.state();
    assert_eq!((state.did_seek, state.time_ns), (true, START + 7));
    show.toy.control(Control::SetRate(0.5)).unwrap();
    assert!((client.state().speed - 0.5).abs() < f32::EPSILON);
}

#[test]
fn an_invalid_rate_is_refused_with_a_reply() {
    let show = Show::new();
    let mut client = Client::connect(show.server.address());
    client.steer(&request(PlaybackCommand::Play, f32::NAN, None, "nan"));
    assert_eq!(client.answer("nan").status, PAUSED);
    client.steer(&request(PlaybackCommand::Play, 0.0, None, "zero"));
    assert_eq!(client.text("status")["level"], 2);
}

#[test]
fn the_time_is_sent_while_playing() {
    let show = Show::new();
    let mut client = Client::connect(show.server.address());
    client.steer(&request(PlaybackCommand::Play, 1.0, None, "go"));
    let time = |client: &mut Client| i64::from_le_bytes(client.binary(2).try_into().unwrap());
    let mut before = time(&mut client);
    for _ in 0..5 {
        let now = time(&mut client);
        assert!(now > before);
        before = now;
    }
}
