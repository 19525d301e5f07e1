//! Names, services, logging and types of a node.

use std::sync::{Arc, Mutex};

use timeloom_msg::qos::Durability;
use timeloom_msg::{Definitions, QosProfile, TypeDescription, Value};
use timeloom_node::{Error, NodeOptions, Responder, ServiceTypes, Severity};
use timeloom_time::Duration;
use timeloom_wire::EndpointKind;

use crate::world::{World, listen, topic, values, watch};

const TRIGGER: &str = "std_srvs/srv/Trigger";
const DESCRIBE: &str = "type_description_interfaces/srv/GetTypeDescription";

fn answer(text: &str) -> Value {
    let types = ServiceTypes::builtin(TRIGGER).expect("it works in tests");
    let mut response = types.response.default_value().expect("it works in tests");
    response.set("success", true).expect("it works in tests");
    response.set("message", text).expect("it works in tests");
    response
}

#[test]
fn a_node_has_the_endpoints_of_ros_nodes() {
    let world = World::new();
    let node = world.node(NodeOptions::new("talker"));
    let (graph, _watch) = watch(world.participant("observer"));
    world.pass(100);
    let graph = graph.lock();
    let services: Vec<_> = graph.services().into_iter().map(|(name, _)| name).collect();
    assert_eq!(
        services,
        [
            "/talker/describe_parameters",
            "/talker/get_parameter_types",
            "/talker/get_parameters",
            "/talker/get_type_description",
            "/talker/list_parameters",
            "/talker/set_parameters",
            "/talker/set_parameters_atomically",
        ]
    );
    let rosout = graph.on("/rosout", EndpointKind::Publisher).next().unwrap();
    assert_eq!(rosout.qos.durability, Durability::TransientLocal);
    assert_eq!((rosout.qos.depth, rosout.qos.lifespan.sec), (1000, 10));
    let events = graph.on("/parameter_events", EndpointKind::Publisher);
    assert_eq!(
        events.map(|info| info.qos.depth).collect::<Vec<_>>(),
        [1000]
    );
    for info in graph.endpoints() {
        assert_eq!(info.node.as_ref(), Some(node.name()));
        assert!(info.type_hash.is_some() || info.kind == EndpointKind::Server);
    }
}

#[test]
fn all_endpoints_end_with_the_last_clone() {
    let world = World::new();
    let node = world.node(NodeOptions::new("talker"));
    let clone = node.clone();
    let (graph, _watch) = watch(world.participant("observer"));
    drop(node);
    world.pass(100);
    assert!(graph.lock().nodes().count() > 0);
    drop(clone);
    world.pass(100);
    assert_eq!(graph.lock().endpoints().count(), 0);
    assert_eq!(graph.lock().nodes().count(), 0);
}

#[test]
fn names_are_remapped_everywhere() {
    let world = World::new();
    let mut options = NodeOptions::new("player");
    options.remaps = [
        "__ns:=/robot",
        "__node:=second",
        "/rosout:=log",
        "~/pause:=/halt",
    ]
    .map(|rule| rule.parse().unwrap())
    .to_vec();
    let node = world.node(options);
    assert_eq!(node.name().full(), "/robot/second");
    assert_eq!(node.resolve_topic("scan").unwrap(), "/robot/scan");
    let _service = node.serve("~/pause", TRIGGER, |_| Ok(answer(""))).unwrap();
    let (graph, _watch) = watch(world.participant("observer"));
    world.pass(100);
    let graph = graph.lock();
    assert!(graph.services().contains(&("/halt", TRIGGER)));
    assert_eq!(graph.on("/robot/log", EndpointKind::Publisher).count(), 1);
    assert_eq!(graph.on("/rosout", EndpointKind::Publisher).count(), 0);
}

#[test]
fn a_service_answers_and_ends_with_its_handle() {
    let world = World::new();
    let node = world.node(NodeOptions::new("server"));
    let service = node.serve("~/ask", TRIGGER, |_| Ok(answer("yes"))).unwrap();
    assert_eq!(service.name(), "/server/ask");
    let peer = world.peer("client");
    let reply = world.call(&peer, "/server/ask", TRIGGER, |_| {}).unwrap();
    assert_eq!(reply.get("message").unwrap().as_str(), Some("yes"));
    drop(service);
    world.pass(10);
    assert!(world.call(&peer, "/server/ask", TRIGGER, |_| {}).is_err());
}

#[test]
fn a_response_may_be_sent_later_while_other_calls_arrive() {
    let world = World::new();
    let node = world.node(NodeOptions::new("server"));
    let waiting: Arc<Mutex<Vec<Responder>>> = Arc::default();
    let kept = Arc::clone(&waiting);
    let types = ServiceTypes::builtin(TRIGGER).unwrap();
    let handler = move |_: Option<&Value>, responder: Responder| {
        let mut kept = kept.lock().unwrap();
        // The second call answers the first one, then itself.
        let first = kept.pop();
        if first.is_none() {
            kept.push(responder);
            return;
        }
        for responder in first.into_iter().chain([responder]) {
            let text = Value::String("later".into());
            responder.fields(&[("message", text), ("no_such_field", Value::Bool(true))]);
        }
    };
    let service = node
        .serve_deferred("/later", types, QosProfile::SERVICES, handler)
        .unwrap();
    let (one, two) = (world.peer("one"), world.peer("two"));
    assert!(
        world.call(&one, "/later", TRIGGER, |_| {}).is_err(),
        "not yet"
    );
    assert_eq!(waiting.lock().unwrap().len(), 1);
    let reply = world.call(&two, "/later", TRIGGER, |_| {}).unwrap();
    assert_eq!(reply.get("message").unwrap().as_str(), Some("later"));
    drop(service);
}

#[test]
fn a_handler_may_call_another_service_of_its_own_node() {
    let world = World::new();
    let node = world.node(NodeOptions::new("server"));
    let _far = {
        let far = world.node(NodeOptions::new("far"));
        far.serve("/far", TRIGGER, |_| Ok(answer("far"))).unwrap()
    };
    let far = node.client("/far", TRIGGER).unwrap();
    let _near = node
        .serve("/near", TRIGGER, move |request| {
            // Blocks the node's thread, not the one that receives.
            let second = Duration::from_secs(1);
            far.wait_for_server(second);
            far.call(request, second)
        })
        .unwrap();
    let client = world.peer("client");
    let reply = world.call(&client, "/near", TRIGGER, |_| {}).unwrap();
    assert_eq!(reply.get("message").unwrap().as_str(), Some("far"));
}

#[test]
fn a_client_calls_by_the_definition_alone() {
    let world = World::new();
    let (server, caller) = (
        world.node(NodeOptions::new("server")),
        world.node(NodeOptions::new("caller")),
    );
    let types = "std_srvs/srv/SetBool";
    let client = caller.client("/arm", types).unwrap();
    let second = Duration::from_secs(1);
    assert!(!client.wait_for_server(second));
    let service = server.serve("/arm", types, |request| {
        let mut response = ServiceTypes::builtin("std_srvs/srv/SetBool")?
            .response
            .default_value()?;
        response.set("success", request.get("data") == Some(Value::Bool(true)))?;
        Ok(response)
    });
    let _service = service.unwrap();
    assert!(client.wait_for_server(second));
    let mut request = client.request().unwrap();
    request.set("data", true).unwrap();
    let response = client.call(&request, second).unwrap();
    assert_eq!(response.get("success"), Some(Value::Bool(true)));
    let wrong = answer("no request");
    assert!(client.call(&wrong, second).is_err());
    client.stopper().stop();
    let stopped = client.call(&request, second).unwrap_err();
    assert!(stopped.to_string().contains("was given up"), "{stopped}");
    let graph = caller.client("~/no such name", types);
    assert!(graph.is_err());
}

#[test]
fn a_handler_that_fails_or_panics_is_reported_and_the_node_continues() {
    let world = World::new();
    let node = world.node(NodeOptions::new("server"));
    let said = Arc::new(Mutex::new(Vec::new()));
    let words = Arc::clone(&said);
    node.set_reporter(move |severity, text| {
        words.lock().unwrap().push(format!("{severity}: {text}"));
    });
    let _fails = node
        .serve("/fails", TRIGGER, |_| Err(Error::Request { field: "x" }))
        .unwrap();
    let _panics = node
        .serve("/panics", TRIGGER, |_| panic!("on purpose"))
        .unwrap();
    let _works = node
        .serve("/works", TRIGGER, |_| Ok(answer("yes")))
        .unwrap();
    let peer = world.peer("client");
    assert!(world.call(&peer, "/fails", TRIGGER, |_| {}).is_err());
    assert!(world.call(&peer, "/panics", TRIGGER, |_| {}).is_err());
    assert!(world.call(&peer, "/works", TRIGGER, |_| {}).is_ok());
    assert_eq!(
        *said.lock().unwrap(),
        [
            "error: a call of /fails was not answered: the field `x` of the request is not valid",
            "error: a call of /panics was not answered: its handler panicked",
        ]
    );
}

#[test]
fn the_last_handle_may_be_dropped_inside_a_handler() {
    let world = World::new();
    let node = world.node(NodeOptions::new("server"));
    let slot = Arc::new(Mutex::new(Some(node.clone())));
    let inside = Arc::clone(&slot);
    let service = node
        .serve("/end", TRIGGER, move |_| {
            drop(inside.lock().unwrap().take());
            Ok(answer("gone"))
        })
        .unwrap();
    drop(node);
    let peer = world.peer("client");
    let reply = world.call(&peer, "/end", TRIGGER, |_| {}).unwrap();
    assert_eq!(reply.get("message").unwrap().as_str(), Some("gone"));
    drop(service);
}

#[test]
fn a_late_subscription_of_rosout_gets_earlier_messages() {
    let world = World::new();
    let mut options = NodeOptions::new("talker");
    options.namespace = "robot".into();
    let node = world.node(options);
    node.log(Severity::Warn, "two clocks");
    let peer = world.peer("listener");
    let spec = topic("/rosout", "rcl_interfaces/msg/Log", QosProfile::ROSOUT);
    let (_subscription, heard) = listen(&peer, &spec);
    world.pass(100);
    let heard = values(&heard, "rcl_interfaces/msg/Log");
    assert_eq!(heard.len(), 1);
    let field = |name: &str| heard[0].get(name).unwrap();
    assert_eq!(field("level"), Value::Uint8(30));
    assert_eq!(field("name").as_str(), Some("robot.talker"));
    assert_eq!(field("msg").as_str(), Some("two clocks"));
}

#[test]
fn types_in_use_are_described() {
    let world = World::new();
    let node = world.node(NodeOptions::new("talker"));
    let imu = "sensor_msgs/msg/Imu";
    let hash = Definitions::builtin()
        .schema(imu)
        .unwrap()
        .type_hash()
        .unwrap();
    let peer = world.peer("client");
    let ask = || {
        let fill = |request: &mut Value| {
            request.set("type_name", imu).unwrap();
            request.set("type_hash", hash.to_string()).unwrap();
        };
        world
            .call(&peer, "/talker/get_type_description", DESCRIBE, fill)
            .unwrap()
    };
    assert_eq!(ask().get("successful"), Some(Value::Bool(false)));
    let publisher = node.publisher("imu", imu, QosProfile::SENSOR_DATA).unwrap();
    let answer = ask();
    assert_eq!(answer.get("successful"), Some(Value::Bool(true)));
    let description = answer.get("type_description").unwrap();
    let description = TypeDescription::from_value(&description).unwrap();
    assert_eq!(timeloom_msg::TypeHash::of(&description), hash);
    assert!(publisher.publish(&publisher.message().unwrap()).is_ok());
    assert!(publisher.publish(&Value::Bool(true)).is_err());
}
