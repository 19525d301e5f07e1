//! The recorder as others see it: its services and its events.

use std::sync::{Arc, Mutex};

use bytes::Bytes;
use timeloom_msg::{Definitions, Distro, QosProfile, Value, is_recorder_event};
use timeloom_node::recorder::{
    Control, DiskGuard, EndReason, LowSpaceAction, Notifier, Options, Phase, Recorder, Services,
};
use timeloom_node::{NodeOptions, RosNode, ServiceTypes};
use timeloom_time::Duration;
use timeloom_wire::loopback::{Chance, Faults, Scope};
use timeloom_wire::{Caller, EndpointKind, GraphEvent, Node, Receiver, Sample, Subscription};

use crate::recorder_world::{BEST_EFFORT, RELIABLE, World, recorded, spec};

struct Robot {
    world: World,
    node: RosNode,
    recorder: Recorder,
    _services: Services,
    notifier: Option<Notifier>,
    other: Arc<dyn Node>,
}

impl Robot {
    fn new(distro: Distro, change: impl FnOnce(&mut Options)) -> Self {
        let world = World::new();
        let participant = world.network.participant("recorder").unwrap();
        let node = RosNode::new(participant, NodeOptions::new("rosbag2_recorder")).unwrap();
        let mut options = world.options();
        // Its own services and events are not the test's.
        options.selection.exclude_regex =
            Some(fancy_regex::Regex::new("rosout|parameter|events").unwrap());
        change(&mut options);
        let participant = Arc::clone(node.participant());
        let recorder = Recorder::start(participant, Arc::clone(node.wire()), options).unwrap();
        let services = Services::start(&node, &recorder, distro).unwrap();
        let notifier = Notifier::start(&node, &recorder, 1.0, distro).unwrap();
        world.pass(1);
        let other = world.node("other");
        Self {
            node,
            recorder,
            _services: services,
            notifier: Some(notifier),
            other,
            world,
        }
    }

    fn call(&self, name: &str, type_name: &str, distro: Distro, request: &[(&str, &str)]) -> Value {
        let fields = request.iter();
        let fields = fields.map(|(name, text)| ((*name).to_owned(), Value::String((*text).into())));
        self.call_with(name, type_name, distro, &fields.collect::<Vec<_>>())
    }

    fn call_with(
        &self,
        name: &str,
        type_name: &str,
        distro: Distro,
        request: &[(String, Value)],
    ) -> Value {
        let type_name = format!("rosbag2_interfaces/srv/{type_name}");
        let definitions = Definitions::builtin_of(distro);
        let types = ServiceTypes::find(&type_name, |part| {
            Ok::<_, timeloom_node::Error>(definitions.schema(part)?)
        })
        .unwrap();
        let full = format!("{}/{name}", self.node.name().full());
        let spec = types.spec(&full, QosProfile::SERVICES);
        let base = self.node.participant().time_base();
        let caller = Caller::new(&*self.other, &spec, &base).unwrap();
        let patience = Duration::from_secs(5);
        assert!(caller.wait_for_server(patience), "{name}");
        let mut value = types.request.default_value().unwrap();
        for (field, given) in request {
            value.set(field, given.clone()).unwrap();
        }
        let payload = Bytes::from(types.request.encode(&value).unwrap());
        let reply = caller.call(payload, patience).unwrap();
        types.response.decode(&reply).unwrap()
    }

    /// Hears the events of a topic, decoded.
    fn listen(&self, topic: &str, type_name: &str) -> (Box<dyn Subscription>, Arc<Heard>) {
        let heard = Arc::new(Heard {
            schema: Definitions::builtin().schema(type_name).unwrap(),
            values: Mutex::default(),
        });
        let spec = spec(topic, type_name, QosProfile::DEFAULT);
        let subscription = self.other.subscribe(&spec, Arc::clone(&heard) as _);
        (subscription.unwrap(), heard)
    }
}

struct Heard {
    schema: timeloom_msg::Schema,
    values: Mutex<Vec<Value>>,
}

impl Receiver for Heard {
    fn sample(&self, sample: Sample) {
        let value = self.schema.decode(&sample.payload).unwrap();
        self.values.lock().unwrap().push(value);
    }
}

fn number(value: &Value, path: &str) -> u64 {
    value.get(path).unwrap().as_u64().unwrap()
}

fn flag(value: &Value, path: &str) -> bool {
    value.get(path) == Some(Value::Bool(true))
}

#[test]
fn pause_resume_split_and_statistics_by_service() {
    let distro = Distro::Jazzy;
    let robot = Robot::new(distro, |_| {});
    let talker = robot.world.publisher("talker", "/chatter", RELIABLE);
    let (_subscription, splits) = robot.listen(
        "/events/write_split",
        "rosbag2_interfaces/msg/WriteSplitEvent",
    );
    robot.world.pass(5);
    robot.world.publish(&*talker, 10, 1_000);
    assert!(!flag(
        &robot.call("is_paused", "IsPaused", distro, &[]),
        "paused"
    ));
    robot.call("pause", "Pause", distro, &[]);
    assert!(flag(
        &robot.call("is_paused", "IsPaused", distro, &[]),
        "paused"
    ));
    robot.world.publish(&*talker, 10, 1_000);
    robot.call("resume", "Resume", distro, &[]);
    robot.call("split_bagfile", "SplitBagfile", distro, &[]);
    robot.world.publish(&*talker, 10, 10_000);
    robot.world.pass(200);
    let statistics = robot.call(
        "get_recorder_statistics",
        "GetRecorderStatistics",
        distro,
        &[],
    );
    assert_eq!(
        statistics.get("node_name").unwrap().as_str(),
        Some("/rosbag2_recorder")
    );
    let chatter = "topics_statistics[0]";
    let name = statistics.get(&format!("{chatter}.topic_name")).unwrap();
    assert_eq!(name.as_str(), Some("/chatter"));
    assert_eq!(
        number(&statistics, &format!("{chatter}.messages_recorded")),
        20
    );
    assert_eq!(
        number(&statistics, &format!("{chatter}.bytes_written")),
        400
    );
    let zero = ["messages_lost_in_transport", "messages_lost_in_recorder"];
    for field in zero {
        assert_eq!(number(&statistics, &format!("{chatter}.{field}")), 0);
    }
    let values = splits.values.lock().unwrap();
    assert_eq!(values.len(), 1);
    let opened = values[0].get("opened_file").unwrap();
    assert!(opened.as_str().unwrap().ends_with("bag_1.mcap"));
    let node = values[0].get("node_name").unwrap();
    assert_eq!(node.as_str(), Some("/rosbag2_recorder"));
    drop(values);
    robot.call("stop", "Stop", distro, &[]);
}

#[test]
fn stop_and_record_by_service_with_codes_where_the_layout_has_them() {
    let distro = Distro::Lyrical;
    let robot = Robot::new(distro, |_| {});
    let talker = robot.world.publisher("talker", "/chatter", RELIABLE);
    robot.world.pass(5);
    robot.world.publish(&*talker, 5, 1_000);
    let busy = robot.call("record", "Record", distro, &[]);
    assert_eq!(busy.get("return_code"), Some(Value::Int32(1)));
    assert!(flag(
        &robot.call("is_recording", "IsRecording", distro, &[]),
        "recording"
    ));
    let stopped = robot.call("stop", "Stop", distro, &[]);
    assert_eq!(stopped.get("return_code"), Some(Value::Int32(0)));
    assert_eq!(robot.recorder.status().phase, Phase::Stopped);
    let again = robot.call("split_bagfile", "SplitBagfile", distro, &[]);
    assert_eq!(again.get("return_code"), Some(Value::Int32(1)));
    let second = robot.world.directory.path().join("second");
    let uri = second.to_str().unwrap();
    let started = robot.call("record", "Record", distro, &[("uri", uri)]);
    assert_eq!(started.get("return_code"), Some(Value::Int32(0)));
    robot.world.pass(5);
    robot.world.publish(&*talker, 7, 1_000);
    let running = |robot: &Robot| {
        let answer = robot.call("is_discovery_running", "IsDiscoveryRunning", distro, &[]);
        flag(&answer, "running")
    };
    assert!(running(&robot));
    robot.call("stop_discovery", "StopDiscovery", distro, &[]);
    assert!(!running(&robot));
    robot.call("start_discovery", "StartDiscovery", distro, &[]);
    assert!(running(&robot));
    let topics = robot.call("get_subscribed_topics", "GetSubscribedTopics", distro, &[]);
    let topics = topics.get("topics").unwrap();
    assert_eq!(topics.as_array().unwrap().len(), 1, "{topics:?}");
    robot.recorder.finish().unwrap();
    assert_eq!(recorded(&robot.world.bag())["/chatter"].len(), 5);
    assert_eq!(recorded(&second)["/chatter"].len(), 7);
}

#[test]
fn moments_by_service_and_their_errors() {
    let distro = Distro::Lyrical;
    let robot = Robot::new(distro, |_| {});
    let talker = robot.world.publisher("talker", "/chatter", RELIABLE);
    robot.world.pass(5);
    robot.world.publish(&*talker, 5, 1_000);
    let call = |name: &str, type_name: &str, verb: &str, sec: i32, mode: i32, topic: &str| {
        let fields = [
            (format!("{verb}_time.sec"), Value::Int32(sec)),
            (format!("{verb}_mode"), Value::Int32(mode)),
            (
                "tracking_topic_name".to_owned(),
                Value::String(topic.into()),
            ),
        ];
        let answer = robot.call_with(name, type_name, distro, &fields);
        answer.get("return_code").unwrap().as_i64().unwrap()
    };
    let split =
        |sec, mode, topic: &str| call("split_bagfile", "SplitBagfile", "split", sec, mode, topic);
    let resume = |sec, mode, topic: &str| call("resume", "Resume", "resume", sec, mode, topic);
    assert_eq!(split(1, 7, ""), 2, "no such mode");
    assert_eq!(split(1, 1, "/nobody"), 3, "no such topic");
    assert_eq!(resume(1, 7, ""), 1, "no such mode");
    assert_eq!(resume(1, 2, "/nobody"), 2, "no such topic");
    assert_eq!(robot.recorder.status().files, 1, "nothing happened");
    assert_eq!(split(1, 1, "/chatter"), 0);
    assert_eq!(robot.recorder.status().files, 1, "not before a message");
    robot.world.publish(&*talker, 5, 1_000);
    robot.world.pass(200);
    assert_eq!(robot.recorder.status().files, 2);
    assert_eq!(split(0, 0, ""), 0);
    robot.world.pass(200);
    assert_eq!(robot.recorder.status().files, 3, "zero is now");
    robot.recorder.finish().unwrap();
    assert_eq!(split(0, 0, ""), 1, "not recording");
    assert_eq!(resume(0, 0, ""), 3);
}

#[test]
fn a_snapshot_by_service() {
    let distro = Distro::Jazzy;
    let robot = Robot::new(distro, |options| options.snapshot_mode = true);
    let talker = robot.world.publisher("talker", "/chatter", RELIABLE);
    robot.world.pass(5);
    robot.world.publish(&*talker, 25, 1_000);
    assert!(flag(
        &robot.call("snapshot", "Snapshot", distro, &[]),
        "success"
    ));
    robot.recorder.finish().unwrap();
    assert_eq!(recorded(&robot.world.bag())["/chatter"].len(), 25);
}

#[test]
fn low_disk_space_is_published() {
    let guard = DiskGuard {
        min_free_bytes: u64::MAX,
        min_free_percent: 0,
        action: LowSpaceAction::DeleteOldestFiles,
    };
    let robot = Robot::new(Distro::Jazzy, |options| options.disk_guard = Some(guard));
    let talker = robot.world.publisher("talker", "/chatter", RELIABLE);
    let (_subscription, heard) = robot.listen(
        "/_timeloom/low_disk_space",
        "timeloom_interfaces/msg/LowDiskSpaceEvent",
    );
    robot.world.pass(5);
    robot.world.publish(&*talker, 10, 1_000);
    robot.recorder.control(&Control::Split).unwrap();
    robot.world.pass(2_000);
    assert_eq!(robot.recorder.ended(), Some(EndReason::LowDiskSpace));
    let events = heard.values.lock().unwrap();
    assert_eq!(events.len(), 1);
    assert!(flag(&events[0], "recording_stopped"));
    assert_eq!(number(&events[0], "min_free_space_bytes"), u64::MAX);
    assert!(number(&events[0], "capacity_bytes") > 0);
    let deleted = events[0].get("deleted_files[0]").unwrap();
    assert!(
        deleted.as_str().unwrap().ends_with("bag_0.mcap"),
        "{deleted:?}"
    );
    drop(events);
    let reports = robot.recorder.finish().unwrap();
    assert_eq!(
        (reports[0].deleted_files, reports[0].deleted_messages),
        (1, 10)
    );
}

#[test]
fn losses_are_published_once_and_only_for_lossy_topics() {
    let mut robot = Robot::new(Distro::Lyrical, |_| {});
    let weak = robot.world.publisher("weak", "/weak", BEST_EFFORT);
    let strong = robot.world.publisher("strong", "/strong", RELIABLE);
    let (_subscription, heard) = robot.listen(
        "/events/rosbag2_messages_lost",
        "rosbag2_interfaces/msg/MessagesLostEvent",
    );
    robot.world.pass(5);
    let faults = Faults {
        drop: Chance::EveryNth(5),
        ..Faults::NONE
    };
    for topic in ["/weak", "/strong"] {
        robot.world.network.set_faults(Scope::topic(topic), faults);
    }
    for _ in 0..300 {
        robot.world.publish(&*weak, 1, 5_000);
        robot.world.publish(&*strong, 1, 5_000);
    }
    robot
        .world
        .network
        .set_faults(Scope::everywhere(), Faults::NONE);
    robot.world.publish(&*weak, 1, 5_000);
    robot.world.pass(100);
    let reports = robot.recorder.finish().unwrap();
    robot.notifier.take();
    robot.world.pass(10);
    let events = heard.values.lock().unwrap();
    assert!(
        (3..=5).contains(&events.len()),
        "{} in three seconds",
        events.len()
    );
    let mut lost = 0;
    for event in events.iter() {
        let statistics = event.get("messages_lost_statistics").unwrap();
        assert_eq!(statistics.as_array().unwrap().len(), 1, "only the weak one");
        let first = "messages_lost_statistics[0]";
        let name = event.get(&format!("{first}.topic_name")).unwrap();
        assert_eq!(name.as_str(), Some("/weak"));
        lost += number(event, &format!("{first}.messages_lost_in_transport"));
        assert_eq!(
            number(event, &format!("{first}.messages_lost_in_recorder")),
            0
        );
    }
    let total = reports[0].total();
    assert_eq!(lost, total.messages_lost_in_transport);
    assert_eq!(lost, 60);
}

/// The topics that are published, of those that carry events of recorders.
fn published_events(robot: &Robot) -> Vec<(String, String)> {
    let found = Arc::new(Mutex::new(Vec::new()));
    let events = Arc::clone(&found);
    let participant = robot.world.network.participant("watcher").unwrap();
    let watch = participant.watch_graph(Box::new(move |event| {
        if let GraphEvent::EndpointChanged(info) = event
            && info.kind == EndpointKind::Publisher
            && is_recorder_event(&info.type_name)
        {
            let mut events = events.lock().unwrap();
            events.push((info.topic.clone(), info.type_name.clone()));
        }
    }));
    robot.world.pass(5);
    drop(watch);
    let mut found = std::mem::take(&mut *found.lock().unwrap());
    found.sort();
    found.dedup();
    found
}

fn guarded(distro: Distro) -> Robot {
    let guard = DiskGuard {
        min_free_bytes: 1,
        min_free_percent: 0,
        action: LowSpaceAction::Stop,
    };
    Robot::new(distro, |options| options.disk_guard = Some(guard))
}

#[test]
fn only_types_that_the_distribution_has_are_published_unasked() {
    let lost = "/events/rosbag2_messages_lost";
    for distro in Distro::ALL {
        let robot = guarded(distro);
        let events = published_events(&robot);
        for (topic, type_name) in &events {
            assert!(!distro.lacks(type_name), "{distro:?} lacks {type_name}");
            assert!(!topic.contains("/_"), "{topic} is not asked for");
        }
        let has_lost = events.iter().any(|(topic, _)| topic == lost);
        assert_eq!(has_lost, distro >= Distro::Lyrical, "{distro:?}");
        assert!(
            events
                .iter()
                .any(|(topic, _)| topic == "/events/write_split")
        );
        robot.recorder.finish().unwrap();
    }
}

#[test]
fn a_hidden_topic_of_losses_starts_with_its_subscription_and_has_all_losses() {
    let mut robot = Robot::new(Distro::Jazzy, |_| {});
    let weak = robot.world.publisher("weak", "/weak", BEST_EFFORT);
    robot.world.pass(5);
    let faults = Faults {
        drop: Chance::EveryNth(5),
        ..Faults::NONE
    };
    robot
        .world
        .network
        .set_faults(Scope::topic("/weak"), faults);
    let send = |count: u32| {
        for _ in 0..count {
            robot.world.publish(&*weak, 1, 5_000);
        }
    };
    send(400);
    robot.world.pass(2_000);
    assert_eq!(published_events(&robot).len(), 1, "splits only");
    let topic = "/_timeloom/rosbag2_messages_lost";
    // A subscription to rosbag2's name or with another type asks for nothing.
    let other = "rosbag2_interfaces/msg/MessagesLostEvent";
    let _strangers = [
        robot.listen("/events/rosbag2_messages_lost", other),
        robot.listen(topic, other),
    ];
    robot.world.pass(2_000);
    assert_eq!(published_events(&robot).len(), 1, "splits only");
    let event = "timeloom_interfaces/msg/MessagesLostEvent";
    let (_subscription, heard) = robot.listen(topic, event);
    robot.world.pass(2_000);
    assert_eq!(published_events(&robot).len(), 2);
    send(400);
    robot
        .world
        .network
        .set_faults(Scope::everywhere(), Faults::NONE);
    robot.world.publish(&*weak, 1, 5_000);
    robot.world.pass(100);
    let reports = robot.recorder.finish().unwrap();
    robot.notifier.take();
    robot.world.pass(10);
    let events = heard.values.lock().unwrap();
    let lost = "messages_lost_statistics[0].messages_lost_in_transport";
    let reported: u64 = events.iter().map(|event| number(event, lost)).sum();
    assert_eq!(reported, 160);
    assert_eq!(reports[0].total().messages_lost_in_transport, 160);
}

#[test]
fn the_recorder_knows_its_own_publishers() {
    let mut robot = Robot::new(Distro::Jazzy, |options| {
        options.selection.exclude_regex = None;
        options
            .selection
            .topics
            .insert("/events/write_split".to_owned());
    });
    robot.world.pass(100);
    for _ in 0..2 {
        robot.recorder.control(&Control::Split).unwrap();
        robot.world.pass(100);
    }
    let reports = robot.recorder.finish().unwrap();
    robot.notifier.take();
    let topics = &reports[0].topics;
    let splits = crate::recorder_world::topic(topics, "/events/write_split");
    assert_eq!(splits.statistics.messages_recorded, 2);
    for topic in topics {
        let unknown = topic.statistics.unknown;
        assert!(unknown.is_none(), "{}: {unknown:?}", topic.name);
    }
}
