//! Parameters from outside: services and events.

use std::sync::{Arc, Mutex};

use timeloom_msg::value::{Array, Struct, Text};
use timeloom_msg::{Definitions, QosProfile, Value};
use timeloom_node::{NodeOptions, ParameterAccess, ParameterValue, RosNode};
use timeloom_wire::Node;

use crate::world::{World, listen, topic, values};

const EVENT: &str = "rcl_interfaces/msg/ParameterEvent";

fn names(list: &[&str]) -> Array {
    Array::String(list.iter().map(|&name| Text::from(name)).collect())
}

fn parameters(list: &[(&str, ParameterValue)]) -> Array {
    let schema = Definitions::builtin()
        .schema("rcl_interfaces/msg/Parameter")
        .expect("it works in tests");
    let message = |(name, value): &(&str, ParameterValue)| {
        let values = vec![
            Value::from(*name),
            value.to_value().expect("it works in tests"),
        ];
        Struct::new(Arc::clone(schema.root()), values)
    };
    Array::Struct(list.iter().map(message).collect())
}

struct Setting {
    world: World,
    node: RosNode,
    peer: Arc<dyn Node>,
}

impl Setting {
    fn new() -> Self {
        let world = World::new();
        let mut options = NodeOptions::new("node");
        options.parameters.insert("depth".into(), 5_i64.into());
        let node = world.node(options);
        node.declare_parameter("frame.id", "map")
            .expect("it works in tests");
        let fixed = ParameterAccess::ReadOnly;
        node.declare_parameter_with("serial", "x1", "Of the device", fixed)
            .expect("it works in tests");
        let peer = world.peer("peer");
        Self { world, node, peer }
    }

    fn call(&self, service: &str, name: &str, field: &str, value: Array) -> Value {
        let type_name = format!("rcl_interfaces/srv/{name}");
        let fill = |request: &mut Value| request.set(field, value).expect("it works in tests");
        self.world
            .call(&self.peer, &format!("/node/{service}"), &type_name, fill)
            .expect("it works in tests")
    }
}

fn json(value: &Value, path: &str) -> String {
    value.get(path).expect("it works in tests").to_json()
}

#[test]
fn parameters_are_listed_read_and_described() {
    let setting = Setting::new();
    let list = setting.call("list_parameters", "ListParameters", "prefixes", names(&[]));
    assert_eq!(
        json(&list, "result"),
        r#"{"names":["depth","frame.id","qos_overrides./parameter_events.publisher.depth","qos_overrides./parameter_events.publisher.durability","qos_overrides./parameter_events.publisher.history","qos_overrides./parameter_events.publisher.reliability","serial","start_type_description_service","use_sim_time"],"prefixes":["frame","qos_overrides./parameter_events.publisher"]}"#
    );
    let wanted = names(&["depth", "use_sim_time"]);
    let got = setting.call("get_parameters", "GetParameters", "names", wanted.clone());
    assert_eq!(got.get("values[0].integer_value"), Some(Value::Int64(5)));
    assert_eq!(got.get("values[1].type"), Some(Value::Uint8(1)));
    let types = setting.call("get_parameter_types", "GetParameterTypes", "names", wanted);
    assert_eq!(types.get("types[0]"), Some(Value::Uint8(2)));
    let described = names(&["serial"]);
    let described = setting.call(
        "describe_parameters",
        "DescribeParameters",
        "names",
        described,
    );
    assert_eq!(
        json(&described, "descriptors[0].description"),
        r#""Of the device""#
    );
    assert_eq!(json(&described, "descriptors[0].read_only"), "true");
    let unknown = names(&["depth", "no"]);
    let unknown = setting.call("get_parameters", "GetParameters", "names", unknown);
    assert_eq!(json(&unknown, "values"), "[]");
}

#[test]
fn each_of_a_request_is_set_or_refused_by_itself() {
    let setting = Setting::new();
    let wanted = parameters(&[
        ("depth", 7_i64.into()),
        ("serial", "y2".into()),
        ("no", true.into()),
        ("frame.id", 1.5.into()),
    ]);
    let reply = setting.call("set_parameters", "SetParameters", "parameters", wanted);
    let ok = |n: usize| json(&reply, &format!("results[{n}].successful"));
    assert_eq!(
        [ok(0), ok(1), ok(2), ok(3)],
        ["true", "false", "false", "false"]
    );
    assert!(json(&reply, "results[1].reason").contains("read-only"));
    assert_eq!(setting.node.parameter("depth"), Some(7_i64.into()));
    assert_eq!(setting.node.parameter("serial"), Some("x1".into()));
}

#[test]
fn atomically_is_all_or_nothing() {
    let setting = Setting::new();
    let set = |list: &[(&str, ParameterValue)]| {
        let service = "set_parameters_atomically";
        let reply = setting.call(
            service,
            "SetParametersAtomically",
            "parameters",
            parameters(list),
        );
        json(&reply, "result.successful")
    };
    assert_eq!(
        set(&[("depth", 7_i64.into()), ("no", true.into())]),
        "false"
    );
    assert_eq!(setting.node.parameter("depth"), Some(5_i64.into()));
    assert_eq!(
        set(&[("depth", 7_i64.into()), ("frame.id", "odom".into())]),
        "true"
    );
    assert_eq!(setting.node.parameter("depth"), Some(7_i64.into()));
    assert_eq!(setting.node.parameter("frame.id"), Some("odom".into()));
}

#[test]
fn a_guard_refuses_and_listeners_get_accepted_changes() {
    let setting = Setting::new();
    setting.node.guard_parameters(|wanted| {
        let deep = |(name, value): &(String, ParameterValue)| {
            name == "depth" && *value == ParameterValue::Integer(0)
        };
        let refused = wanted.iter().any(deep);
        if refused {
            Err("depth is 1 at least".into())
        } else {
            Ok(())
        }
    });
    let heard = Arc::new(Mutex::new(Vec::new()));
    let log = Arc::clone(&heard);
    setting.node.on_parameter_change(move |name, value| {
        log.lock().unwrap().push(format!("{name}={value}"));
    });
    let refused = setting.node.set_parameter("depth", 0_i64).unwrap_err();
    assert_eq!(
        refused.to_string(),
        "parameter `depth`: depth is 1 at least"
    );
    for depth in [2_i64, 2, 3] {
        setting.node.set_parameter("depth", depth).unwrap();
    }
    assert_eq!(*heard.lock().unwrap(), ["depth=2", "depth=3"]);
}

#[test]
fn changes_are_events() {
    let setting = Setting::new();
    let spec = topic("/parameter_events", EVENT, QosProfile::PARAMETERS);
    let (_subscription, heard) = listen(&setting.peer, &spec);
    setting.world.pass(10);
    setting.node.set_parameter("depth", 9_i64).unwrap();
    setting.node.set_parameter("depth", 9_i64).unwrap();
    setting.node.declare_parameter("new", true).unwrap();
    setting.world.pass(10);
    let heard = values(&heard, EVENT);
    assert_eq!(heard.len(), 2, "a change without effect is not an event");
    assert_eq!(json(&heard[0], "node"), r#""/node""#);
    assert_eq!(json(&heard[0], "changed_parameters[0].name"), r#""depth""#);
    assert_eq!(
        json(&heard[0], "changed_parameters[0].value.integer_value"),
        "9"
    );
    assert_eq!(json(&heard[1], "new_parameters[0].name"), r#""new""#);
}

#[test]
fn a_parameter_of_the_wrong_type_is_refused_at_the_start() {
    let world = World::new();
    let mut options = NodeOptions::new("node");
    let wrong = ("use_sim_time".to_owned(), "yes".into());
    options.parameters.extend([wrong]);
    let error = RosNode::new(world.participant("x"), options).unwrap_err();
    assert_eq!(
        error.to_string(),
        "parameter `use_sim_time`: expected bool, found string"
    );
}
