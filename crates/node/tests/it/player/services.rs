//! `test_play_services.cpp` of rosbag2, and responses with the true result.

use std::sync::Arc;

use bytes::Bytes;
use timeloom_msg::{Definitions, Distro, QosProfile, Value};
use timeloom_node::player::{Control, Options, Player, Repeat, Services, State};
use timeloom_node::{RosNode, ServiceTypes};
use timeloom_time::Duration;
use timeloom_wire::{Caller, Node};

use super::fixture::{BagMessage, Fixture, Listener, TOPIC, at_ms, paused, play};

const PATIENCE: Duration = Duration::from_secs(5);

/// A client of the services of a node.
pub(crate) struct Peer {
    target: RosNode,
    node: Arc<dyn Node>,
    distro: Distro,
}

impl Peer {
    pub(crate) fn new(fixture: &Fixture, target: &RosNode, distro: Distro) -> Self {
        Self {
            target: target.clone(),
            node: fixture.participant("peer").1,
            distro,
        }
    }

    fn caller(&self, name: &str, types: &ServiceTypes) -> Caller {
        let full = format!("{}/{name}", self.target.name().full());
        let spec = types.spec(&full, QosProfile::SERVICES);
        let base = self.target.participant().time_base();
        let caller = Caller::new(&*self.node, &spec, &base).unwrap();
        assert!(caller.wait_for_server(PATIENCE), "{name}");
        caller
    }

    fn types(&self, type_name: &str) -> ServiceTypes {
        let definitions = Definitions::builtin_of(self.distro);
        ServiceTypes::find(&format!("rosbag2_interfaces/srv/{type_name}"), |part| {
            Ok::<_, timeloom_node::Error>(definitions.schema(part)?)
        })
        .unwrap()
    }

    pub(crate) fn call(&self, name: &str, type_name: &str, fields: &[(&str, Value)]) -> Value {
        let types = self.types(type_name);
        let mut request = types.request.default_value().unwrap();
        for (field, value) in fields {
            request.set(field, value.clone()).unwrap();
        }
        let payload = Bytes::from(types.request.encode(&request).unwrap());
        let reply = self.caller(name, &types).call(payload, PATIENCE).unwrap();
        types.response.decode(&reply).unwrap()
    }

    pub(crate) fn is_paused(&self) -> bool {
        self.call("is_paused", "IsPaused", &[]).get("paused") == Some(Value::Bool(true))
    }

    pub(crate) fn set_rate(&self, rate: f64) -> bool {
        succeeded(&self.call("set_rate", "SetRate", &[("rate", Value::Float64(rate))]))
    }

    pub(crate) fn rate(&self) -> f64 {
        let answer = self.call("get_rate", "GetRate", &[]);
        answer.get("rate").unwrap().as_f64().unwrap()
    }

    pub(crate) fn seek(&self, millis: i64) -> bool {
        let (sec, nanosec) = (millis / 1000, millis % 1000 * 1_000_000);
        let request = [
            ("time.sec", Value::Int32(i32::try_from(sec).unwrap())),
            (
                "time.nanosec",
                Value::Uint32(u32::try_from(nanosec).unwrap()),
            ),
        ];
        succeeded(&self.call("seek", "Seek", &request))
    }

    fn next(&self) -> bool {
        succeeded(&self.call("play_next", "PlayNext", &[]))
    }

    fn burst(&self, count: u64) -> u64 {
        let answer = self.call("burst", "Burst", &[("num_messages", Value::Uint64(count))]);
        answer.get("actually_burst").unwrap().as_u64().unwrap()
    }
}

fn succeeded(answer: &Value) -> bool {
    answer.get("success") == Some(Value::Bool(true))
}

struct Show {
    fixture: Fixture,
    player: Player,
    peer: Peer,
    listener: Arc<Listener>,
    _services: Services,
}

/// Ten messages, 100 ms apart, the first at one second.
fn show(distro: Distro, options: Options) -> Show {
    let fixture = Fixture::new();
    let lines: Vec<_> = (0..10)
        .map(|n| BagMessage(TOPIC, 1000 + 100 * n, n as u32))
        .collect();
    let bag = fixture.bag("bag", &lines);
    let listener = fixture.listener(TOPIC);
    let node = fixture.ros_node("rosbag2_player");
    let player = fixture.player_on(&node, &[&bag], options);
    let services = Services::start(&node, player.handle().clone(), distro).unwrap();
    let peer = Peer::new(&fixture, &node, distro);
    Show {
        fixture,
        player,
        peer,
        listener,
        _services: services,
    }
}

#[test]
fn pause_is_idempotent() {
    let show = show(
        Distro::Jazzy,
        Options {
            repeat: Repeat::JumpBack,
            ..Options::default()
        },
    );
    assert!(!show.peer.is_paused(), "before it plays");
    play(&show.player);
    for (service, type_name, paused) in [
        ("pause", "Pause", true),
        ("pause", "Pause", true),
        ("resume", "Resume", false),
        ("resume", "Resume", false),
        ("toggle_paused", "TogglePaused", true),
        ("toggle_paused", "TogglePaused", false),
    ] {
        show.peer.call(service, type_name, &[]);
        assert_eq!(show.peer.is_paused(), paused, "{service}");
        let expected = if paused {
            State::Paused
        } else {
            State::Playing
        };
        assert_eq!(show.player.status().state, expected);
    }
}

#[test]
fn rates_are_set_and_refused() {
    let show = show(Distro::Jazzy, paused());
    play(&show.player);
    for rate in [2.0, 0.5] {
        assert!(show.peer.set_rate(rate));
        assert!((show.peer.rate() - rate).abs() < f64::EPSILON);
    }
    for rate in [0.0, -1.0, f64::NAN, f64::INFINITY, 1e9] {
        assert!(!show.peer.set_rate(rate), "{rate}");
    }
    assert!((show.peer.rate() - 0.5).abs() < f64::EPSILON);
}

#[test]
fn messages_are_played_one_by_one_and_responses_report_the_result() {
    let show = show(Distro::Jazzy, paused());
    assert!(!show.peer.next(), "nothing is played yet");
    assert!(!show.peer.seek(1500));
    assert_eq!(show.peer.burst(3), 0);
    assert!(succeeded(&show.peer.call("play", "Play", &[])));
    assert!(!succeeded(&show.peer.call("play", "Play", &[])), "it plays");
    assert!(show.peer.next());
    assert_eq!(show.peer.burst(3), 3);
    assert!(show.peer.seek(1700));
    assert!(show.peer.next());
    assert_eq!(show.peer.burst(0), 2);
    assert!(!show.peer.next(), "the end");
    assert!(show.peer.seek(1900));
    show.peer.call("resume", "Resume", &[]);
    assert!(!show.peer.next(), "it is not paused");
    show.player.wait();
    show.fixture.settle();
    assert_eq!(show.listener.numbers(), [0, 1, 2, 3, 7, 8, 9, 9]);
}

#[test]
fn a_part_is_played_on_request() {
    let show = show(Distro::Jazzy, Options::default());
    let request = [
        ("start_offset.nanosec", Value::Uint32(300_000_000)),
        ("playback_duration.nanosec", Value::Uint32(150_000_000)),
    ];
    assert!(succeeded(&show.peer.call("play", "Play", &request)));
    show.player.wait();
    show.fixture.settle();
    assert_eq!(show.listener.numbers(), [3, 4]);
    let request = [("playback_until_timestamp.sec", Value::Int32(1))];
    assert!(succeeded(&show.peer.call("play", "Play", &request)));
    show.player.wait();
    show.fixture.settle();
    assert_eq!(show.listener.numbers(), [3, 4, 0]);
}

#[test]
fn a_pause_and_a_stop_reach_a_player_in_a_burst() {
    let show = show(
        Distro::Jazzy,
        Options {
            repeat: Repeat::JumpBack,
            ..paused()
        },
    );
    play(&show.player);
    // It would repeat forever.
    show.player.control_then(Control::Burst(u64::MAX), drop);
    show.peer.call("stop", "Stop", &[]);
    show.player.wait();
    assert_eq!(show.player.status().state, State::Stopped);
}

#[test]
fn layouts_equal_those_of_the_distribution() {
    let show = show(Distro::Lyrical, Options::default());
    play(&show.player);
    let answer = show.peer.call("stop", "Stop", &[]);
    assert_eq!(answer.get("return_code"), Some(Value::Int32(0)));
    // A caller of an older distribution has an empty request.
    let older = Peer {
        distro: Distro::Jazzy,
        target: show.peer.target.clone(),
        node: Arc::clone(&show.peer.node),
    };
    let types = older.types("Resume");
    let payload = Bytes::from(
        types
            .request
            .encode(&types.request.default_value().unwrap())
            .unwrap(),
    );
    play(&show.player);
    show.player.control(Control::Pause).unwrap();
    let answered = older.caller("resume", &types).call(payload, PATIENCE);
    assert!(answered.is_ok());
    assert!(!show.player.is_paused());
}

#[test]
fn a_malformed_request_does_nothing() {
    let show = show(Distro::Jazzy, paused());
    play(&show.player);
    let types = show.peer.types("Burst");
    let caller = show.peer.caller("burst", &types);
    let reply = caller
        .call(Bytes::from_static(&[0, 1, 0, 0, 1]), PATIENCE)
        .unwrap();
    let answer = types.response.decode(&reply).unwrap();
    assert_eq!(answer.get("actually_burst"), Some(Value::Uint64(0)));
    assert_eq!(show.player.status().played(), 0);
    assert_eq!(show.player.clock().now(), at_ms(1000));
}
