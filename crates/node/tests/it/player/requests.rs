//! Recorded calls of services and actions, sent again.

use std::sync::{Arc, Mutex};

use timeloom_bag::{BagOptions, BagWriter, Message, TopicInfo};
use timeloom_msg::{Definitions, QosProfile, Schema, TypeName, TypeResolver, Value};
use timeloom_node::player::{
    Answer, Control, Notice, Options, Player, RequestSource, ServiceReplay, SettleWait,
};
use timeloom_node::{RosNode, Service, ServiceTypes, TypeFinder};
use timeloom_wire::{
    EndpointInfo, EndpointKind, Gid, NodeName, Request, RequestHandler, RequestId, ServiceServer,
};

use super::fixture::{Fixture, MS, paused, play};

const ADD: &str = "example_interfaces/srv/AddTwoInts";

/// An introspection event: its kind (as `ServiceEventInfo` counts) and the two numbers.
fn event(kind: u8, a: i64, content: bool) -> Vec<u8> {
    let definitions = Definitions::builtin();
    let schema = definitions.schema(&format!("{ADD}_Event")).unwrap();
    let mut event = schema.default_value().unwrap();
    event.set("info.event_type", Value::Uint8(kind)).unwrap();
    if content {
        let request = definitions.schema(&format!("{ADD}_Request")).unwrap();
        let mut request = request.default_value().unwrap();
        request.set("a", Value::Int64(a)).unwrap();
        let Value::Struct(request) = request else {
            panic!("a request is a structure")
        };
        let requests = timeloom_msg::value::Array::Struct(vec![request]);
        event.set("request", Value::Array(requests)).unwrap();
    }
    schema.encode(&event).unwrap()
}

/// A bag of events: sent, received, answered, answer received; for 1, 2 and 3.
fn bag(fixture: &Fixture, content: bool) -> std::path::PathBuf {
    let path = fixture.directory.path().join("calls");
    let mut writer = BagWriter::create(&path, BagOptions::default()).unwrap();
    let topic = TopicInfo::new("/add/_service_event", format!("{ADD}_Event"));
    let topic = writer.add_topic(&topic).unwrap();
    for n in 1..=3_i64 {
        for kind in 0..4_u8 {
            let time = (100 * n + i64::from(kind)) * MS;
            let message = Message {
                topic,
                log_time_ns: time,
                publish_time_ns: time,
                sequence: 0,
                data: &event(kind, n * 10 + i64::from(kind), content),
            };
            assert!(writer.write(&[message], 0).is_ok());
        }
    }
    assert!(writer.finish().unwrap().1.is_ok());
    path
}

struct Server {
    asked: Arc<Mutex<Vec<i64>>>,
    _service: Service,
    _node: RosNode,
}

fn server(fixture: &Fixture, name: &str) -> Server {
    let node = fixture.ros_node("server");
    let asked = Arc::new(Mutex::new(Vec::new()));
    let heard = Arc::clone(&asked);
    let answer = move |request: &Value| {
        let a = request.get("a").unwrap().as_i64().unwrap();
        heard.lock().unwrap().push(a);
        let response = Definitions::builtin().schema(&format!("{ADD}_Response"))?;
        Ok(response.default_value()?)
    };
    Server {
        _service: node.serve(name, ADD, answer).unwrap(),
        _node: node,
        asked,
    }
}

fn player(fixture: &Fixture, content: bool, source: RequestSource) -> Player {
    fixture.player(
        &bag(fixture, content),
        Options {
            services: ServiceReplay::AsRequests(source),
            ..paused()
        },
    )
}

#[test]
fn services_are_called_again_by_the_events_of_servers() {
    let fixture = Fixture::new();
    let server = server(&fixture, "/add");
    let player = player(&fixture, true, RequestSource::Service);
    fixture.pass(50);
    play(&player);
    assert_eq!(player.control(Control::PlayNext), Ok(Answer::Played(1)));
    player.control(Control::Resume).unwrap();
    player.wait();
    fixture.pass(50);
    assert_eq!(*server.asked.lock().unwrap(), [11, 21, 31]);
    let status = player.status();
    assert_eq!((status.played(), status.lost()), (3, 0), "answers are not");
    assert_eq!(
        (
            status.topics[0].name.as_str(),
            status.topics[0].type_name.as_str()
        ),
        ("/add", ADD)
    );
}

#[test]
fn requests_wait_for_a_server_that_is_found_late() {
    let fixture = Fixture::new();
    let player = fixture.player(
        &bag(&fixture, true),
        Options {
            services: ServiceReplay::AsRequests(RequestSource::Service),
            settle: Some(SettleWait::NETWORK),
            ..Options::default()
        },
    );
    play(&player);
    fixture.pass(1_500);
    let server = server(&fixture, "/add");
    player.wait();
    fixture.pass(50);
    assert_eq!(*server.asked.lock().unwrap(), [11, 21, 31]);
    assert_eq!(player.status().lost(), 0);
    assert_eq!(fixture.notices(), []);
}

/// A server that answers when the test releases it.
#[derive(Default)]
struct SlowServer(Mutex<Vec<RequestId>>);

impl RequestHandler for SlowServer {
    fn request(&self, request: Request, _server: &dyn ServiceServer) {
        self.0.lock().unwrap().push(request.id);
    }
}

#[test]
fn requests_wait_for_the_answers_of_a_slow_server() {
    let fixture = Fixture::new();
    let path = fixture.directory.path().join("many");
    let mut writer = BagWriter::create(&path, BagOptions::default()).unwrap();
    let topic = TopicInfo::new("/add/_service_event", format!("{ADD}_Event"));
    let topic = writer.add_topic(&topic).unwrap();
    for n in 0..20_i64 {
        let message = Message {
            topic,
            log_time_ns: n * MS / 10,
            publish_time_ns: n * MS / 10,
            sequence: 0,
            data: &event(1, n, true),
        };
        assert!(writer.write(&[message], 0).is_ok());
    }
    assert!(writer.finish().unwrap().1.is_ok());
    let node = fixture.ros_node("server");
    let types = ServiceTypes::builtin(ADD).unwrap();
    let spec = types.spec("/add", timeloom_msg::QosProfile::SERVICES);
    let asked = Arc::new(SlowServer::default());
    let server = node.wire().serve(&spec, Arc::clone(&asked) as _).unwrap();
    let player = fixture.player(
        &path,
        Options {
            services: ServiceReplay::AsRequests(RequestSource::Service),
            ..Options::default()
        },
    );
    let heard = || asked.0.lock().unwrap().len();
    play(&player);
    fixture.pass(500);
    assert_eq!(heard(), 8, "the queue of a server holds ten");
    let response = types
        .response
        .encode(&types.response.default_value().unwrap());
    let response = bytes::Bytes::from(response.unwrap());
    for n in 0..3 {
        let id = asked.0.lock().unwrap()[n];
        server.reply(&id, response.clone()).unwrap();
    }
    fixture.pass(500);
    assert_eq!(heard(), 11);
    player.wait();
    fixture.pass(10);
    assert_eq!(
        heard(),
        20,
        "a server that does not answer is not waited for"
    );
    let status = player.status();
    assert_eq!((status.played(), status.lost()), (20, 0));
}

#[test]
fn services_are_called_again_by_the_events_of_clients() {
    let fixture = Fixture::new();
    let server = server(&fixture, "/add");
    let player = player(&fixture, true, RequestSource::Client);
    fixture.pass(50);
    play(&player);
    player.control(Control::Burst(0)).unwrap();
    fixture.pass(50);
    assert_eq!(*server.asked.lock().unwrap(), [10, 20, 30]);
}

#[test]
fn requests_that_cannot_be_sent_are_counted_and_reported() {
    for (content, reason) in [
        (true, "it has no server"),
        (
            false,
            "the request was not recorded: service introspection was set to metadata only",
        ),
    ] {
        let fixture = Fixture::new();
        let player = player(&fixture, content, RequestSource::Service);
        play(&player);
        assert_eq!(player.control(Control::Burst(0)), Ok(Answer::Played(0)));
        assert_eq!(player.status().lost(), 3);
        let notice = Notice::RequestDropped {
            service: "/add".into(),
            reason: reason.into(),
        };
        assert_eq!(fixture.notices(), [notice], "once");
    }
}

#[test]
fn goals_are_sent_again_and_topics_of_the_recorded_server_are_not_played() {
    let fixture = Fixture::new();
    let path = fixture.directory.path().join("action");
    let mut writer = BagWriter::create(&path, BagOptions::default()).unwrap();
    let action = "example_interfaces/action/Fibonacci";
    for (part, type_name) in [
        ("send_goal/_service_event", "_SendGoal_Event"),
        ("get_result/_service_event", "_GetResult_Event"),
        ("feedback", "_FeedbackMessage"),
    ] {
        let info = TopicInfo::new(
            format!("/fibonacci/_action/{part}"),
            format!("{action}{type_name}"),
        );
        let topic = writer.add_topic(&info).unwrap();
        let schema = Definitions::builtin().schema(&info.type_name).unwrap();
        let data = schema.encode(&schema.default_value().unwrap()).unwrap();
        let message = Message {
            topic,
            log_time_ns: 0,
            publish_time_ns: 0,
            sequence: 0,
            data: &data,
        };
        assert!(writer.write(&[message], 0).is_ok());
    }
    assert!(writer.finish().unwrap().1.is_ok());
    let names = |actions| {
        let options = Options {
            actions,
            ..paused()
        };
        let player = fixture.player(&path, options);
        let topics = player.status().topics;
        topics
            .into_iter()
            .map(|topic| topic.name)
            .collect::<Vec<_>>()
    };
    assert_eq!(
        names(ServiceReplay::AsRequests(RequestSource::Client)),
        [
            "/fibonacci/_action/send_goal",
            "/fibonacci/_action/get_result"
        ]
    );
    assert_eq!(names(ServiceReplay::AsEvents).len(), 3);
    assert_eq!(fixture.notices(), []);
}

/// A service and an action of a package that is neither built in nor installed.
const DOCK: (&str, &str) = ("robot_msgs/srv/Dock", "int64 a # where\n---\nbool ok\n");
const GO: (&str, &str) = (
    "robot_msgs/action/Go_SendGoal",
    "int64 a # where\n---\nbool ok\n---\nfloat32 left\n",
);

/// The layout of the events of a service, from the text of its file.
fn events_of((service, file): (&str, &str)) -> Schema {
    let event = TypeName::parse(service).unwrap().with_suffix("_Event");
    let own = Definitions::parse_ros2msg(&event, file).unwrap();
    Schema::derive(&own, &event).unwrap()
}

/// A bag with three events that a server received, and their definition.
fn custom_bag(fixture: &Fixture, topic: &str, event: &Schema, text: &str) -> std::path::PathBuf {
    let types = ServiceTypes::of_schema(event).unwrap();
    let path = fixture.directory.path().join("custom");
    let mut writer = BagWriter::create(&path, BagOptions::default()).unwrap();
    let mut info = TopicInfo::new(topic, event.name().to_string());
    info.definition = timeloom_bag::MessageDefinition {
        encoding: "ros2msg".into(),
        text: text.into(),
    };
    info.type_description_hash = event.type_hash().unwrap().to_string();
    let topic = writer.add_topic(&info).unwrap();
    for n in 1..=3_i64 {
        let mut request = types.request.default_value().unwrap();
        let field = if request.get("a").is_some() {
            "a"
        } else {
            "goal.a"
        };
        request.set(field, Value::Int64(n)).unwrap();
        let Value::Struct(request) = request else {
            panic!("a request is a structure")
        };
        let mut value = event.default_value().unwrap();
        value.set("info.event_type", Value::Uint8(1)).unwrap();
        let requests = timeloom_msg::value::Array::Struct(vec![request]);
        value.set("request", Value::Array(requests)).unwrap();
        let message = Message {
            topic,
            log_time_ns: n * MS,
            publish_time_ns: n * MS,
            sequence: 0,
            data: &event.encode(&value).unwrap(),
        };
        assert!(writer.write(&[message], 0).is_ok());
    }
    assert!(writer.finish().unwrap().1.is_ok());
    path
}

fn replaying() -> Options {
    Options {
        services: ServiceReplay::AsRequests(RequestSource::Service),
        actions: ServiceReplay::AsRequests(RequestSource::Service),
        ..paused()
    }
}

#[test]
fn requests_and_goals_of_custom_packages_are_sent_again() {
    for (topic, service, file) in [
        ("/dock/_service_event", "/dock", DOCK),
        (
            "/go/_action/send_goal/_service_event",
            "/go/_action/send_goal",
            GO,
        ),
    ] {
        let event = events_of(file);
        // As rosbag2 stores it, and as our recorder does.
        for text in [file.1.to_owned(), event.ros2msg().unwrap()] {
            let fixture = Fixture::new();
            let node = fixture.ros_node("server");
            let asked = Arc::new(Mutex::new(Vec::new()));
            let heard = Arc::clone(&asked);
            let types = ServiceTypes::of_schema(&event).unwrap();
            let response = Arc::clone(&types.response);
            let answer = move |request: &Value| {
                let a = request.get("a").or_else(|| request.get("goal.a"));
                heard.lock().unwrap().push(a.unwrap().as_i64().unwrap());
                Ok(response.default_value()?)
            };
            let qos = QosProfile::SERVICES;
            let _service = node.serve_with(service, types, qos, answer).unwrap();
            let bag = custom_bag(&fixture, topic, &event, &text);
            let player = fixture.player(&bag, replaying());
            fixture.pass(50);
            play(&player);
            player.control(Control::Burst(0)).unwrap();
            fixture.pass(50);
            assert_eq!(*asked.lock().unwrap(), [1, 2, 3], "{topic}: {text}");
            assert_eq!((player.status().played(), player.status().lost()), (3, 0));
            assert_eq!(fixture.notices(), []);
        }
    }
}

#[test]
fn requests_without_a_definition_are_counted_as_lost() {
    let fixture = Fixture::new();
    let event = events_of(DOCK);
    let bag = custom_bag(&fixture, "/dock/_service_event", &event, "");
    let player = fixture.player(&bag, replaying());
    play(&player);
    let status = player.status();
    assert_eq!((status.played(), status.lost()), (0, 3));
    let reason = "no definition of robot_msgs/srv/Dock_Event: not in the bag, not built in";
    assert_eq!(status.skipped[0].reason, reason);
    let notice = Notice::TopicSkipped {
        topic: "/dock/_service_event".into(),
        messages: 3,
        reason: reason.into(),
    };
    assert_eq!(
        notice.to_string(),
        format!("/dock/_service_event is not played (3 messages): {reason}")
    );
    assert_eq!(fixture.notices(), [notice]);
}

#[test]
fn the_player_describes_the_types_that_it_publishes() {
    let fixture = Fixture::new();
    let event = events_of(DOCK);
    let text = event.ros2msg().unwrap();
    let bag = custom_bag(&fixture, "/dock/_service_event", &event, &text);
    let _player = fixture.player(&bag, paused());
    let (participant, node) = fixture.participant("asker");
    let finder = TypeFinder::new(participant, node, TypeResolver::default());
    let endpoint = EndpointInfo {
        gid: Gid([1; 16]),
        kind: EndpointKind::Publisher,
        node: Some(NodeName::new("/", "rosbag2_player").unwrap()),
        topic: "/dock/_service_event".into(),
        type_name: event.name().to_string(),
        type_hash: event.type_hash().ok(),
        qos: QosProfile::DEFAULT,
    };
    let found = finder.find_blocking(&endpoint).unwrap();
    assert_eq!(found.ros2msg().unwrap(), text, "with its comments");
}
