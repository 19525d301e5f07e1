//! Definitions from nodes that have them.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use timeloom_msg::{QosProfile, Schema, TypeHash, TypeName, TypeResolver, Value};
use timeloom_node::{NodeOptions, RosNode, ServiceTypes, TypeFinder, TypeService};
use timeloom_time::{Clock, Duration, Steady};
use timeloom_wire::{
    Capabilities, EndpointInfo, EndpointKind, Gid, GraphEvent, GraphObserver, GraphWatch, Node,
    NodeName, Participant, TopicSpec,
};

use crate::world::{World, watch};

const DESCRIBE: &str = "type_description_interfaces/srv/GetTypeDescription";

/// A type that is not built in.
fn schema(name: &str) -> Arc<Schema> {
    let text = "std_msgs/Header header\nfloat64 level 0.5\n===\nMSG: std_msgs/Header\n\
        builtin_interfaces/Time stamp\nstring frame_id\n===\nMSG: builtin_interfaces/Time\nint32 sec\nuint32 nanosec\n";
    Arc::new(Schema::parse_ros2msg(name, text).expect("a definition"))
}

fn endpoint(node: Option<&str>, type_name: &str, type_hash: Option<TypeHash>) -> EndpointInfo {
    EndpointInfo {
        gid: Gid([1; 16]),
        kind: EndpointKind::Publisher,
        node: node.map(|name| NodeName::new("/", name).expect("a name")),
        topic: "/battery".into(),
        type_name: type_name.into(),
        type_hash,
        qos: QosProfile::DEFAULT,
    }
}

fn finder(world: &World) -> TypeFinder {
    finder_on(world.participant("asker"))
}

fn finder_on(participant: Arc<dyn Participant>) -> TypeFinder {
    let name = NodeName::new("/", "asker").expect("a name");
    let node = participant.node(name).expect("a node");
    TypeFinder::new(participant, node, TypeResolver::default())
}

/// A node with these types.
fn publisher(world: &World, name: &str, schemas: &[&Arc<Schema>]) -> RosNode {
    let node = world.node(NodeOptions::new(name));
    for schema in schemas {
        node.register_type(schema);
    }
    node
}

#[test]
fn the_publisher_is_queried_for_types_without_a_local_definition() {
    let world = World::new();
    let battery = schema("robot_msgs/msg/Battery");
    let hash = battery.type_hash().unwrap();
    let _node = publisher(&world, "driver", &[&battery]);
    let finder = finder(&world);
    let wanted = endpoint(Some("driver"), "robot_msgs/msg/Battery", Some(hash));
    let found = finder.find_blocking(&wanted).unwrap();
    assert_eq!(found.type_hash().unwrap(), hash);
    assert_eq!(found.root().fields().len(), 2);
    let at_once = Arc::new(Mutex::new(false));
    let seen = Arc::clone(&at_once);
    finder.find(&wanted, move |found| *seen.lock().unwrap() = found.is_ok());
    assert!(*at_once.lock().unwrap(), "what was found is remembered");
}

#[test]
fn a_built_in_type_needs_no_node() {
    let world = World::new();
    let finder = finder(&world);
    let imu = finder.at_hand("sensor_msgs/msg/Imu", None).unwrap();
    for hash in [None, imu.type_hash().ok()] {
        let wanted = endpoint(None, "sensor_msgs/msg/Imu", hash);
        assert!(finder.find_blocking(&wanted).is_ok());
    }
}

#[test]
fn the_error_names_the_queried_node_and_the_reason() {
    let world = World::new();
    let finder = finder(&world);
    let _node = publisher(&world, "driver", &[]);
    let hash = schema("robot_msgs/msg/Battery").type_hash().unwrap();
    let error = |node, hash| {
        let wanted = endpoint(node, "robot_msgs/msg/Battery", hash);
        finder.find_blocking(&wanted).unwrap_err().to_string()
    };
    assert_eq!(
        error(None, Some(hash)),
        "no definition of robot_msgs/msg/Battery, and no node that could provide it"
    );
    let start = "no definition of robot_msgs/msg/Battery: not built in, not below AMENT_PREFIX_PATH, and /driver does \
                not describe it: ";
    let reason = error(Some("driver"), Some(hash));
    assert_eq!(
        reason,
        format!("{start}Type not currently in use by this node")
    );
    let reason = error(Some("driver"), None);
    assert_eq!(reason, format!("{start}the hash of the type is not known"));
    let reason = error(Some("nobody"), Some(hash));
    assert!(
        reason.ends_with("there is no service /nobody/get_type_description"),
        "{reason}"
    );
}

#[test]
fn a_description_with_another_hash_is_refused() {
    let world = World::new();
    let battery = schema("robot_msgs/msg/Battery");
    let hash = battery.type_hash().unwrap();
    let mut options = NodeOptions::new("liar");
    options.type_description = false;
    let liar = world.node(options);
    let _service = liar
        .serve("~/get_type_description", DESCRIBE, |_| {
            let types = ServiceTypes::builtin(DESCRIBE)?;
            let mut answer = types.response.default_value()?;
            answer.set("successful", true)?;
            let other = schema("robot_msgs/msg/Battery")
                .ros2msg()?
                .replace("0.5", "");
            let other = other.replace("float64", "float32");
            let other = Schema::parse_ros2msg("robot_msgs/msg/Battery", &other)?;
            let Value::Struct(description) = other.type_description()?.to_value()? else {
                unreachable!("a description is a message");
            };
            answer.set("type_description", description)?;
            Ok(answer)
        })
        .unwrap();
    let wanted = endpoint(Some("liar"), "robot_msgs/msg/Battery", Some(hash));
    let error = finder(&world)
        .find_blocking(&wanted)
        .unwrap_err()
        .to_string();
    assert!(
        error.ends_with("its description has another hash than the publisher"),
        "{error}"
    );
}

#[test]
fn one_query_is_sent_once_and_a_silent_node_delays_no_other() {
    let world = World::new();
    let (battery, motor) = (
        schema("robot_msgs/msg/Battery"),
        schema("robot_msgs/msg/Motor"),
    );
    let _node = publisher(&world, "driver", &[&battery, &motor]);
    let finder = finder(&world);
    let clock = Clock::<Steady>::on(&world.time.base());
    let begin = clock.now();
    let answers = Arc::new(AtomicUsize::new(0));
    let silent = endpoint(
        Some("silent"),
        "robot_msgs/msg/Silent",
        battery.type_hash().ok(),
    );
    finder.find(&silent, |found| assert!(found.is_err()));
    for _ in 0..5 {
        for schema in [&battery, &motor] {
            let name = schema.name().to_string();
            let wanted = endpoint(Some("driver"), &name, schema.type_hash().ok());
            let answers = Arc::clone(&answers);
            finder.find(&wanted, move |found| {
                assert!(found.is_ok());
                answers.fetch_add(1, Ordering::SeqCst);
            });
        }
    }
    world.pass(200);
    assert_eq!(answers.load(Ordering::SeqCst), 10);
    assert!(clock.now() - begin < Duration::from_secs(1));
    assert_eq!(format!("{finder:?}"), "TypeFinder(2 types)");
}

#[test]
fn more_nodes_than_threads_are_all_queried() {
    let world = World::new();
    let finder = finder(&world);
    let answers = Arc::new(AtomicUsize::new(0));
    let hash = schema("robot_msgs/msg/Battery").type_hash().ok();
    for number in 0..20 {
        let name = format!("node_{number}");
        let wanted = endpoint(Some(&name), &format!("robot_msgs/msg/T{number}"), hash);
        let answers = Arc::clone(&answers);
        finder.find(&wanted, move |found| {
            assert!(found.is_err());
            answers.fetch_add(1, Ordering::SeqCst);
        });
    }
    world.pass(10_000);
    assert_eq!(answers.load(Ordering::SeqCst), 20);
}

#[test]
fn a_finder_ends_during_a_query_and_inside_its_own_callback() {
    let world = World::new();
    let hash = schema("robot_msgs/msg/Battery").type_hash().ok();
    let silent = endpoint(Some("silent"), "robot_msgs/msg/Battery", hash);
    let clock = Clock::<Steady>::on(&world.time.base());
    let asking = finder(&world);
    asking.find(&silent, |_| panic!("not called"));
    world.pass(100);
    let begin = clock.now();
    drop(asking);
    assert!(
        clock.now() - begin < Duration::from_secs(1),
        "it does not wait for the answer"
    );

    let battery = schema("robot_msgs/msg/Battery");
    let _node = publisher(&world, "driver", &[&battery]);
    let slot = Arc::new(Mutex::new(None));
    let inside = Arc::clone(&slot);
    let called = Arc::new(AtomicUsize::new(0));
    let count = Arc::clone(&called);
    let own = finder(&world);
    let wanted = endpoint(
        Some("driver"),
        "robot_msgs/msg/Battery",
        battery.type_hash().ok(),
    );
    *slot.lock().unwrap() = Some(own.clone());
    own.find(&wanted, move |_| {
        drop(inside.lock().unwrap().take());
        count.fetch_add(1, Ordering::SeqCst);
    });
    drop(own);
    world.pass(100);
    assert_eq!(called.load(Ordering::SeqCst), 1);
}

/// A participant that gets the names of nodes some time after their endpoints, as DDS may.
struct LateNames {
    inner: Arc<dyn Participant>,
    after: Duration,
}

impl Participant for LateNames {
    fn describe(&self) -> String {
        self.inner.describe()
    }

    fn capabilities(&self) -> Capabilities {
        self.inner.capabilities()
    }

    fn time_base(&self) -> timeloom_time::TimeBase {
        self.inner.time_base()
    }

    fn node(&self, name: NodeName) -> timeloom_wire::Result<Arc<dyn Node>> {
        self.inner.node(name)
    }

    fn watch_graph(&self, observer: GraphObserver) -> GraphWatch {
        let (base, after) = (self.time_base(), self.after);
        let observer = Arc::new(observer);
        let late = Arc::clone(&observer);
        let held = Arc::new(Mutex::new(Vec::new()));
        let later = Arc::clone(&held);
        let watch = self.inner.watch_graph(Box::new(move |event| {
            let mut event = event.clone();
            if let GraphEvent::EndpointChanged(info) = &mut event {
                held.lock()
                    .unwrap()
                    .push(GraphEvent::EndpointChanged(info.clone()));
                info.node = None;
            }
            observer(&event);
        }));
        let clock = Clock::<Steady>::on(&base);
        let names = base.spawn("late names", move || {
            let _woke = clock.sleep_for(after);
            let held = std::mem::take(&mut *later.lock().unwrap());
            for event in &held {
                late(event);
            }
        });
        let names = names.unwrap();
        GraphWatch::new(move || {
            drop(watch);
            names.join().unwrap();
        })
    }
}

#[test]
fn a_name_that_arrives_after_its_endpoint_is_awaited() {
    let world = World::new();
    let battery = schema("robot_msgs/msg/Battery");
    let hash = battery.type_hash().unwrap();
    let driver = publisher(&world, "driver", &[&battery]);
    let topic = TopicSpec {
        name: "/battery".into(),
        type_name: battery.name().clone(),
        type_hash: Some(hash),
        qos: QosProfile::DEFAULT,
    };
    let _publisher = driver.wire().publish(&topic).unwrap();
    world.pass(100);
    let (graph, _watch) = watch(world.participant("watcher"));
    let mut unnamed = {
        let graph = graph.lock();
        let mut found = graph.on("/battery", EndpointKind::Publisher);
        found.next().unwrap().clone()
    };
    unnamed.node = None;
    let find = |after| {
        let participant = Arc::new(LateNames {
            inner: world.participant("asker"),
            after: Duration::from_millis(after),
        });
        finder_on(participant).find_blocking(&unnamed)
    };
    assert_eq!(find(1_000).unwrap().type_hash().unwrap(), hash);
    let error = find(10_000).unwrap_err().to_string();
    assert!(error.ends_with("no node that could provide it"), "{error}");
}

const SERVICE: &str =
    "# asks for a dock\nint8 LEFT=1 # constant\nint8 side 1\n---\nbool ok # whether\n";
const ACTION: &str =
    "int8 FAST=2 # speed\nint8 speed 2\n---\nbool done\n---\nfloat32 left # metres\n";

/// Layouts of the parts of a service or an action, from the text of its file.
fn parts(name: &str, text: &str, suffixes: &[&str]) -> Vec<Arc<Schema>> {
    let name = TypeName::parse(name).unwrap();
    let own = timeloom_msg::Definitions::parse_ros2msg(&name, text).unwrap();
    let part = |suffix: &&str| Schema::derive(&own, &name.with_suffix(suffix)).unwrap();
    suffixes.iter().map(part).map(Arc::new).collect()
}

#[test]
fn constants_defaults_and_comments_are_taken_from_the_sources_of_the_node() {
    let world = World::new();
    let text = "# how full\nuint8 FULL=100 # percent\nfloat64 level 0.5\n";
    let battery = Schema::parse_ros2msg("robot_msgs/msg/Battery", text).unwrap();
    let mut all = vec![Arc::new(battery)];
    all.extend(parts("robot_msgs/srv/Dock", SERVICE, &["_Event", ""]));
    let _node = publisher(&world, "driver", &all.iter().collect::<Vec<_>>());
    let finder = finder(&world);
    let found = |schema: &Schema| {
        let name = schema.name().to_string();
        let wanted = endpoint(Some("driver"), &name, schema.type_hash().ok());
        finder.find_blocking(&wanted).unwrap().ros2msg().unwrap()
    };
    assert_eq!(found(&all[0]), text);
    assert_eq!(found(&all[1]), SERVICE);
}

#[test]
fn the_text_of_an_action_is_found_by_any_of_its_parts() {
    let world = World::new();
    let names = [
        "_SendGoal_Event",
        "_SendGoal",
        "_GetResult",
        "_FeedbackMessage",
        "",
    ];
    let all = parts("robot_msgs/action/Go", ACTION, &names);
    let node = publisher(&world, "driver", &all.iter().collect::<Vec<_>>());
    let serve = |name, schema: &Schema| {
        let types = ServiceTypes::of_schema(schema).unwrap();
        let qos = QosProfile::SERVICES;
        node.serve_with(name, types, qos, |request| Ok(request.clone()))
            .unwrap()
    };
    let _services = [
        serve("/go/_action/send_goal", &all[1]),
        serve("/go/_action/get_result", &all[2]),
    ];
    let feedback = TopicSpec {
        name: "/go/_action/feedback".into(),
        type_name: all[3].name().clone(),
        type_hash: all[3].type_hash().ok(),
        qos: QosProfile::DEFAULT,
    };
    let _feedback = node.wire().publish(&feedback).unwrap();
    let finder = finder(&world);
    for schema in [&all[0], &all[3]] {
        let name = schema.name().to_string();
        let wanted = endpoint(Some("driver"), &name, schema.type_hash().ok());
        let text = finder.find_blocking(&wanted).unwrap().ros2msg().unwrap();
        assert_eq!(text, schema.ros2msg().unwrap());
        assert!(text.contains('#'), "{text}");
    }
}

#[test]
fn events_are_derived_from_the_service_when_their_node_does_not_answer() {
    let world = World::new();
    let all = parts("robot_msgs/srv/Dock", SERVICE, &["_Event", ""]);
    let mut options = NodeOptions::new("silent");
    options.type_description = false;
    let _silent = world.node(options);
    let server = world.node(NodeOptions::new("server"));
    let types = ServiceTypes::of_schema(&all[1]).unwrap();
    let qos = QosProfile::SERVICES;
    let _service = server
        .serve_with("/dock", types, qos, |request| Ok(request.clone()))
        .unwrap();
    let name = all[0].name().to_string();
    let wanted = endpoint(Some("silent"), &name, all[0].type_hash().ok());
    let found = finder(&world).find_blocking(&wanted).unwrap();
    assert_eq!(found.ros2msg().unwrap(), SERVICE);
    let wrong = endpoint(Some("silent"), &name, all[1].type_hash().ok());
    assert!(finder(&world).find_blocking(&wrong).is_err());
}

#[test]
fn a_tool_that_publishes_describes_its_types() {
    let world = World::new();
    let battery = schema("robot_msgs/msg/Battery");
    let tool = world.peer("tool");
    let described = TypeService::start(&*tool, &world.time.base()).unwrap();
    described.add(&battery);
    let wanted = endpoint(
        Some("tool"),
        "robot_msgs/msg/Battery",
        battery.type_hash().ok(),
    );
    let found = finder(&world).find_blocking(&wanted).unwrap();
    assert_eq!(found.ros2msg().unwrap(), battery.ros2msg().unwrap());
}
