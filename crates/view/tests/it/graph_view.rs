//! A robot on a loopback behind the server: channels, messages, losses, services, publishing.

use std::sync::Arc;

use bytes::Bytes;
use serde_json::json;
use timeloom_msg::qos::{Durability, Reliability};
use timeloom_msg::value::{Array, Text};
use timeloom_msg::{Definitions, QosProfile, TypeName, Value};
use timeloom_node::{NodeOptions, RosNode, ServiceTypes};
use timeloom_time::TimeBase;
use timeloom_view::{
    GraphView, GraphViewOptions, Listening, Server, Snapshot, Source as _, ViewOptions,
};
use timeloom_wire::loopback::{Chance, Faults, LoopbackNetwork, Scope};
use timeloom_wire::{PublishOptions, Publisher, TopicSpec};

use crate::client::Client;
use crate::toy::until;

const STRING: &str = "std_msgs/msg/String";

struct Robot {
    network: LoopbackNetwork,
    node: RosNode,
    view: Arc<GraphView>,
    server: Server,
}

impl Robot {
    fn new() -> Self {
        Self::with(GraphViewOptions::default())
    }

    fn with(options: GraphViewOptions) -> Self {
        let network = LoopbackNetwork::new(&TimeBase::machine());
        let participant = network.participant("robot").unwrap();
        let node = RosNode::new(participant, NodeOptions::new("driver")).unwrap();
        let viewer = network.participant("viewer").unwrap();
        let view = Arc::new(GraphView::new(viewer, options).unwrap());
        let mut address = ViewOptions::default();
        address.address.set_port(0);
        let server = Server::start(address, Arc::clone(&view) as _).unwrap();
        Self {
            network,
            node,
            view,
            server,
        }
    }

    fn publisher(&self, topic: &str, type_name: &str, qos: QosProfile) -> Box<dyn Publisher> {
        let schema = Definitions::builtin().schema(type_name);
        let spec = TopicSpec {
            name: topic.into(),
            type_name: TypeName::parse(type_name).unwrap(),
            type_hash: schema.ok().map(|schema| schema.type_hash().unwrap()),
            qos,
        };
        self.node.wire().publish(&spec).unwrap()
    }

    fn count(&self, topic: &str) -> Option<(u64, u64)> {
        let Snapshot { topics, .. } = self.view.snapshot();
        let row = topics.into_iter().find(|row| row.name == topic)?;
        Some((row.count, row.lost_wire.unwrap()))
    }
}

fn text(text: &str) -> Bytes {
    let schema = Definitions::builtin().schema(STRING).unwrap();
    let mut value = schema.default_value().unwrap();
    value.set("data", text).unwrap();
    schema.encode(&value).unwrap().into()
}

/// The channel id of a topic, once it is advertised.
fn channel(client: &mut Client, topic: &str) -> u64 {
    loop {
        let advertised = client.text("advertise");
        let channels = advertised["channels"].as_array().unwrap();
        if let Some(found) = channels.iter().find(|channel| channel["topic"] == topic) {
            assert_eq!(found["schemaEncoding"], "ros2msg");
            return found["id"].as_u64().unwrap();
        }
    }
}

fn matched(publisher: &dyn Publisher) -> bool {
    publisher.matched() > 0
}

#[test]
fn a_live_topic_is_a_channel_and_its_messages_come_as_they_are() {
    let robot = Robot::new();
    let mut client = Client::connect(robot.server.address());
    let chatter = robot.publisher("/chatter", STRING, QosProfile::DEFAULT);
    let id = channel(&mut client, "/chatter");
    client.subscribe(5, id);
    until(|| matched(&*chatter));
    // Messages are only counted until the client's subscription is active.
    client.send(r#"{"op":"nothing"}"#);
    client.text("status");
    for number in 0..20 {
        let payload = text(&format!("{number}"));
        chatter
            .publish(payload.clone(), PublishOptions::default())
            .unwrap();
        let (subscription, time, data) = client.message();
        assert_eq!((subscription, data.as_slice()), (5, &payload[..]));
        assert!(time > 1_600_000_000_000_000_000);
    }
    assert_eq!(robot.count("/chatter"), Some((20, 0)));
    drop(chatter);
    assert_eq!(client.text("unadvertise")["channelIds"], json!([id]));
    // The counts stay.
    assert_eq!(robot.count("/chatter"), Some((20, 0)));
}

#[test]
fn messages_lost_in_transport_are_counted() {
    let robot = Robot::new();
    let best_effort = QosProfile {
        reliability: Reliability::BestEffort,
        ..QosProfile::DEFAULT
    };
    let scan = robot.publisher("/scan", STRING, best_effort);
    until(|| matched(&*scan));
    scan.publish(text("first"), PublishOptions::default())
        .unwrap();
    until(|| robot.count("/scan") == Some((1, 0)));
    let lossy = Faults {
        drop: Chance::EveryNth(1),
        ..Faults::NONE
    };
    robot.network.set_faults(Scope::everywhere(), lossy);
    for _ in 0..7 {
        scan.publish(text("lost"), PublishOptions::default())
            .unwrap();
    }
    robot.network.set_faults(Scope::everywhere(), Faults::NONE);
    scan.publish(text("last"), PublishOptions::default())
        .unwrap();
    until(|| robot.count("/scan") == Some((2, 7)));
    assert_eq!(robot.view.lost_on_the_wire(), 7);
    let timeline = robot.view.snapshot().timeline.unwrap();
    assert_eq!(timeline.density.iter().sum::<u64>(), 2);
    assert_eq!(timeline.losses.iter().map(|loss| loss.2).sum::<u64>(), 7);
    assert!(
        timeline
            .losses
            .iter()
            .all(|loss| loss.1 <= timeline.duration)
    );
}

/// The losses come from the recorder; the view itself received these messages.
#[test]
fn losses_of_a_recorder_are_shown() {
    let robot = Robot::new();
    let chatter = robot.publisher("/chatter", STRING, QosProfile::DEFAULT);
    until(|| matched(&*chatter));
    let lost = |topic: &str| {
        let Snapshot { topics, .. } = robot.view.snapshot();
        let row = topics.into_iter().find(|row| row.name == topic);
        row.and_then(|row| row.lost_recorder)
    };
    assert_eq!(lost("/chatter"), None, "there is no recorder");
    let options = NodeOptions {
        namespace: "/left".into(),
        ..NodeOptions::new("rosbag2_recorder")
    };
    let recorder = robot.network.participant("recorder").unwrap();
    let recorder = RosNode::new(recorder, options).unwrap();
    let service = "rosbag2_interfaces/srv/GetRecorderStatistics";
    let answer = Arc::clone(&ServiceTypes::builtin(service).unwrap().response);
    let _service = recorder
        .serve("~/get_recorder_statistics", service, move |_| {
            Ok(answer.default_value()?)
        })
        .unwrap();
    until(|| lost("/chatter") == Some(0));
    let event = "timeloom_interfaces/msg/MessagesLostEvent";
    let topic = "/left/_timeloom/rosbag2_messages_lost";
    let events = robot.publisher(topic, event, QosProfile::DEFAULT);
    until(|| matched(&*events));
    let schema = Definitions::builtin().schema(event).unwrap();
    for messages in [3_u64, 4] {
        let one = format!("{event}TopicStat");
        let one = Definitions::builtin().schema(&one).unwrap();
        let mut stat = one.default_value().unwrap();
        stat.set("topic_name", Text::from("/chatter")).unwrap();
        stat.set("messages_lost_in_recorder", messages).unwrap();
        let stats = Array::Struct(vec![stat.as_struct().unwrap().clone()]);
        let mut value = schema.default_value().unwrap();
        value.set("messages_lost_statistics", stats).unwrap();
        let payload = Bytes::from(schema.encode(&value).unwrap());
        events.publish(payload, PublishOptions::default()).unwrap();
    }
    until(|| lost("/chatter") == Some(7));
    assert_eq!(robot.view.lost_on_the_wire(), 0);
    let timeline = robot.view.snapshot().timeline.unwrap();
    assert_eq!(timeline.losses.iter().map(|loss| loss.2).sum::<u64>(), 7);
}

#[test]
fn late_clients_get_latched_messages() {
    let robot = Robot::new();
    let latched = QosProfile {
        durability: Durability::TransientLocal,
        ..QosProfile::DEFAULT
    };
    let map = robot.publisher("/map", STRING, latched);
    map.publish(text("here"), PublishOptions::default())
        .unwrap();
    until(|| robot.count("/map") == Some((1, 0)));
    for _ in 0..2 {
        let mut client = Client::connect(robot.server.address());
        let id = channel(&mut client, "/map");
        client.subscribe(1, id);
        assert_eq!(client.message().2, text("here"));
    }
}

#[test]
fn a_best_effort_publisher_is_received() {
    let robot = Robot::new();
    let first = robot.publisher("/odom", STRING, QosProfile::DEFAULT);
    until(|| matched(&*first));
    let best_effort = QosProfile {
        reliability: Reliability::BestEffort,
        ..QosProfile::DEFAULT
    };
    let second = robot.publisher("/odom", STRING, best_effort);
    until(|| matched(&*second));
    until(|| matched(&*first));
    for publisher in [&first, &second] {
        publisher
            .publish(text("x"), PublishOptions::default())
            .unwrap();
    }
    until(|| robot.count("/odom") == Some((2, 0)));
}

#[test]
fn on_demand_subscribes_only_to_wanted_topics() {
    let robot = Robot::with(GraphViewOptions {
        listening: Listening::OnDemand,
        ..GraphViewOptions::default()
    });
    let chatter = robot.publisher("/chatter", STRING, QosProfile::DEFAULT);
    let mut client = Client::connect(robot.server.address());
    let id = channel(&mut client, "/chatter");
    assert_eq!(chatter.matched(), 0);
    client.subscribe(1, id);
    until(|| matched(&*chatter));
    chatter
        .publish(text("x"), PublishOptions::default())
        .unwrap();
    assert_eq!(client.message().2, text("x"));
    drop(client);
    until(|| !matched(&*chatter));
    // The page itself decodes tags and diagnostics.
    let diagnostics = robot.publisher(
        "/diagnostics",
        "diagnostic_msgs/msg/DiagnosticArray",
        QosProfile::DEFAULT,
    );
    until(|| matched(&*diagnostics));
}

#[test]
fn topics_with_an_unknown_type_are_counted_and_reported() {
    let robot = Robot::new();
    let mut client = Client::connect(robot.server.address());
    let odd = robot.publisher("/odd", "odd_msgs/msg/Odd", QosProfile::DEFAULT);
    let status = loop {
        let status = client.text("status");
        if status["message"].as_str().unwrap().starts_with("/odd") {
            break status;
        }
    };
    assert_eq!(status["level"], 1);
    until(|| matched(&*odd));
    odd.publish(text("?"), PublishOptions::default()).unwrap();
    until(|| robot.count("/odd") == Some((1, 0)));
    drop(odd);
    assert_eq!(
        client.text("removeStatus")["statusIds"],
        json!(["topic /odd odd_msgs/msg/Odd"])
    );
}

#[test]
fn services_of_the_robot_are_called() {
    let robot = Robot::new();
    let types = ServiceTypes::builtin("std_srvs/srv/SetBool").unwrap();
    let answer = Arc::clone(&types.response);
    let service = robot
        .node
        .serve("~/arm", "std_srvs/srv/SetBool", move |request| {
            let mut response = answer.default_value()?;
            let armed = request.get("data") == Some(Value::Bool(true));
            response.set("success", armed)?;
            Ok(response)
        })
        .unwrap();
    let mut client = Client::connect(robot.server.address());
    let id = loop {
        let advertised = client.text("advertiseServices");
        let services = advertised["services"].as_array().unwrap();
        if let Some(found) = services
            .iter()
            .find(|service| service["name"] == "/driver/arm")
        {
            assert_eq!(found["requestSchema"], "bool data\n");
            break u32::try_from(found["id"].as_u64().unwrap()).unwrap();
        }
    };
    let mut request = vec![2];
    request.extend(id.to_le_bytes());
    request.extend(1u32.to_le_bytes());
    request.extend(3u32.to_le_bytes());
    request.extend(b"cdr\0\x01\0\0\x01");
    client.send_binary(request);
    let response = client.binary(3);
    let response = types.response.decode(&response[15..]).unwrap();
    assert_eq!(response.get("success"), Some(Value::Bool(true)));
    drop(service);
    assert_eq!(
        client.text("unadvertiseServices")["serviceIds"],
        json!([id])
    );
}

#[test]
fn clients_publish_into_the_graph() {
    let robot = Robot::new();
    let heard = timeloom_wire::queue::SampleQueue::new(
        &TimeBase::machine(),
        timeloom_wire::queue::QueueLimits {
            messages: 10,
            bytes: 1 << 20,
        },
        timeloom_wire::queue::Overflow::DropOldest,
    );
    let schema = Definitions::builtin().schema(STRING).unwrap();
    let spec = TopicSpec {
        name: "/cmd".into(),
        type_name: TypeName::parse(STRING).unwrap(),
        type_hash: schema.type_hash().ok(),
        qos: QosProfile::DEFAULT,
    };
    let subscription = robot
        .node
        .wire()
        .subscribe(&spec, Arc::clone(&heard) as _)
        .unwrap();
    let mut client = Client::connect(robot.server.address());
    client.send(
        r#"{"op":"advertise","channels":[{"id":3,"topic":"/cmd","encoding":"cdr","schemaName":"std_msgs/msg/String"},
            {"id":4,"topic":"/cmd","encoding":"cdr","schemaName":"odd/msg/Odd"}]}"#,
    );
    let mut samples = Vec::new();
    let data = |channel: u8| {
        let mut data = vec![1, channel, 0, 0, 0];
        data.extend(text("go"));
        data
    };
    // The first message creates the publisher, which is matched later.
    until(|| {
        client.send_binary(data(3));
        heard.take(&mut samples) > 0
    });
    assert!(subscription.matched() > 0);
    assert_eq!(samples[0].payload, text("go"));
    client.send_binary(data(4));
    let message = loop {
        let status = client.text("status");
        if status["level"] == 2 {
            break status["message"].as_str().unwrap().to_owned();
        }
    };
    assert!(message.starts_with("can't publish /cmd: "), "{message}");
}

#[test]
fn the_graph_excludes_the_view_itself() {
    let robot = Robot::new();
    let _chatter = robot.publisher("/chatter", STRING, QosProfile::DEFAULT);
    let mut client = Client::connect(robot.server.address());
    channel(&mut client, "/chatter");
    client.send(r#"{"op":"subscribeConnectionGraph"}"#);
    let update = client.text("connectionGraphUpdate");
    let published = update["publishedTopics"].as_array().unwrap();
    let chatter = published.iter().find(|topic| topic["name"] == "/chatter");
    assert_eq!(chatter.unwrap()["publisherIds"], json!(["/driver"]));
    assert!(!update.to_string().contains("_timeloom_view"), "{update}");
    let facts = robot.view.snapshot().facts;
    assert!(
        facts
            .iter()
            .any(|fact| fact.name == "nodes" && fact.value == "1"),
        "{facts:?}"
    );
}
