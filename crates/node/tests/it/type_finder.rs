//! Definitions from nodes that know them.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use timeloom_msg::{QosProfile, Schema, TypeHash, Value};
use timeloom_node::{LocalTypes, NodeOptions, RosNode, ServiceTypes, TypeFinder};
use timeloom_time::{Clock, Duration, Steady};
use timeloom_wire::{EndpointInfo, EndpointKind, Gid, NodeName};

use crate::world::World;

const DESCRIBE: &str = "type_description_interfaces/srv/GetTypeDescription";

/// A type that is built in nowhere.
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
    TypeFinder::new(
        world.peer("asker"),
        &world.time.base(),
        LocalTypes::default(),
    )
}

/// A node that knows these types.
fn publisher(world: &World, name: &str, schemas: &[&Arc<Schema>]) -> RosNode {
    let node = world.node(NodeOptions::new(name));
    for schema in schemas {
        node.register_type(schema);
    }
    node
}

#[test]
fn the_publisher_is_asked_for_what_is_not_at_hand() {
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
fn what_is_built_in_needs_no_node() {
    let world = World::new();
    let finder = finder(&world);
    let imu = finder.local().by_name("sensor_msgs/msg/Imu").unwrap();
    for hash in [None, imu.type_hash().ok()] {
        let wanted = endpoint(None, "sensor_msgs/msg/Imu", hash);
        assert!(finder.find_blocking(&wanted).is_ok());
    }
}

#[test]
fn who_was_asked_and_why_there_is_nothing_is_said() {
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
        "no definition of robot_msgs/msg/Battery, and no node to ask for it"
    );
    let told = "no definition of robot_msgs/msg/Battery: not built in, not below AMENT_PREFIX_PATH, and /driver does \
                not tell it: ";
    let reason = error(Some("driver"), Some(hash));
    assert_eq!(
        reason,
        format!("{told}Type not currently in use by this node")
    );
    let reason = error(Some("driver"), None);
    assert_eq!(reason, format!("{told}the hash of the type is not known"));
    let reason = error(Some("nobody"), Some(hash));
    assert!(
        reason.ends_with("there is no service /nobody/get_type_description"),
        "{reason}"
    );
}

#[test]
fn a_lie_is_not_believed() {
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
fn one_question_is_asked_once_and_a_silent_node_holds_up_nobody_else() {
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
fn more_nodes_than_threads_are_all_asked() {
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
fn a_finder_ends_while_it_asks_and_inside_its_own_callback() {
    let world = World::new();
    let hash = schema("robot_msgs/msg/Battery").type_hash().ok();
    let silent = endpoint(Some("silent"), "robot_msgs/msg/Battery", hash);
    let clock = Clock::<Steady>::on(&world.time.base());
    let asking = finder(&world);
    asking.find(&silent, |_| panic!("nobody waits for this"));
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
