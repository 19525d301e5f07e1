//! Services and parameters that users of the vendor's driver know.

use timeloom_lidar::{LidarNode, LidarOptions};
use timeloom_msg::Value;
use timeloom_msg::value::Array;
use timeloom_node::{NodeOptions, ParameterValue};
use timeloom_pf::simulator::Product;
use timeloom_pf::{LidarSettings, LinkState, TimesyncMethod};
use timeloom_sync::Averaging;
use timeloom_testkit::transport::values;
use timeloom_time::Duration;

use super::{Robot, SCAN, float, until, wait_for};

/// Calls a service of the driver as another node would.
fn call(robot: &Robot, service: &str, type_name: &str, fields: &[(&str, &str)]) -> Value {
    let node = robot.node(NodeOptions::new("user"));
    let name = format!("/pf_driver/pfsdp_{service}");
    let type_name = format!("pf_interfaces/srv/Pfsdp{type_name}");
    let client = node.client(&name, &type_name).expect("a client");
    let mut request = client.request().expect("a request");
    for (field, value) in fields {
        request.set(field, *value).expect("a field");
    }
    let patience = Duration::from_secs(40);
    assert!(client.wait_for_server(patience), "no {name}");
    client.call(&request, patience).expect("an answer")
}

fn code(answer: &Value) -> i64 {
    answer
        .get("error_code")
        .and_then(|code| code.as_i64())
        .expect("a code")
}

fn text(answer: &Value, field: &str) -> String {
    let value = answer.get(field).expect("a field");
    value.as_str().expect("a text").to_owned()
}

fn texts(answer: &Value, field: &str) -> Vec<String> {
    let Some(Value::Array(Array::String(items))) = answer.get(field) else {
        panic!("no {field}");
    };
    let items = items.iter();
    items
        .map(|item| item.to_string_lossy().into_owned())
        .collect()
}

#[test]
fn the_ten_services_ask_the_device() {
    let robot = Robot::new(Product::R2000);
    let node = robot.node(NodeOptions::new("pf_driver"));
    let mut settings = robot.settings();
    settings.request_timeout = Duration::from_secs(30);
    let lidar = LidarNode::new(&node, LidarOptions::new(settings)).expect("a lidar");
    let info = call(&robot, "get_protocol_info", "GetProtocolInfo", &[]);
    assert_eq!(text(&info, "protocol_name"), "pfsdp");
    assert!(texts(&info, "commands").contains(&"list_iq_parameters".to_owned()));
    let list = call(&robot, "list_parameters", "ListParameters", &[]);
    assert!(texts(&list, "parameters").contains(&"scan_frequency".to_owned()));
    let get = |name: &str| call(&robot, "get_parameter", "GetParameter", &[("name", name)]);
    assert_eq!(text(&get("samples_per_scan"), "value"), "720");
    let unknown = get("speed");
    assert_eq!(
        (code(&unknown), text(&unknown, "value")),
        (110, String::new())
    );
    let wanted = [("name", "samples_per_scan"), ("value", "360")];
    assert_eq!(
        code(&call(&robot, "set_parameter", "SetParameter", &wanted)),
        0
    );
    assert_eq!(text(&get("samples_per_scan"), "value"), "360");
    let wrong = [("name", "samples_per_scan"), ("value", "1")];
    let refused = call(&robot, "set_parameter", "SetParameter", &wrong);
    assert_eq!(code(&refused), 210);
    assert!(!text(&refused, "error_text").is_empty());
    let name = [("name", "samples_per_scan")];
    assert_eq!(
        code(&call(&robot, "reset_parameter", "ResetParameter", &name)),
        0
    );
    assert_eq!(text(&get("samples_per_scan"), "value"), "3600");
    let list = call(&robot, "list_iq_parameters", "ListIqParameters", &[]);
    assert_eq!(
        texts(&list, "iq_parameters"),
        ["iq1_polarity", "iq2_polarity"]
    );
    let wanted = [("name", "iq2_polarity"), ("value", "active_low")];
    assert_eq!(
        code(&call(&robot, "set_iq_parameter", "SetIqParameter", &wanted)),
        0
    );
    let name = [("name", "iq2_polarity")];
    let value = call(&robot, "get_iq_parameter", "GetIqParameter", &name);
    assert_eq!(text(&value, "value"), "active_low");
    until("scans", || lidar.published() > 0);
    assert_eq!(code(&call(&robot, "factory_reset", "FactoryReset", &[])), 0);
    until("a restart", || robot.device.boots() == 2);
    until("scans again", || lidar.status().connections >= 2);
    assert_eq!(code(&call(&robot, "reboot_device", "RebootDevice", &[])), 0);
    until("a restart", || robot.device.boots() == 3);
    // While it is away, the answer says that it did not reach the device.
    let away = call(&robot, "list_parameters", "ListParameters", &[]);
    assert!([-1, 0].contains(&code(&away)), "{}", code(&away));
}

#[test]
fn parameters_are_settable_where_the_vendors_are() {
    let robot = Robot::new(Product::R2000);
    let (_scans, scans) = robot.listen("/scan", SCAN);
    let node = robot.node(NodeOptions::new("pf_driver"));
    let lidar = LidarNode::new(&node, LidarOptions::new(robot.settings())).expect("a lidar");
    wait_for(&scans, 5);
    node.set_parameter("skip_scans", 4_i64).expect("settable");
    until("every fifth scan", || {
        let newest = values(&scans, SCAN).pop().expect("a scan");
        (float(&newest, "scan_time") - 0.1).abs() < 1e-3
    });
    let pairs = ParameterValue::Strings(vec!["samples_per_scan=360".into()]);
    node.set_parameter("pfsdp_init", pairs).expect("settable");
    until("fewer points", || {
        let newest = values(&scans, SCAN).pop().expect("a scan");
        let ranges = newest.get("ranges").expect("ranges");
        ranges.as_array().map(Array::len) == Some(360)
    });
    until("a connection", || lidar.status().link == LinkState::Running);
    let connections = lidar.status().connections;
    let epoch = lidar.status().clock.expect("samples").newest.epoch;
    node.set_parameter("timesync_offset_usec", 1_000_000_i64)
        .expect("settable");
    node.set_parameter("timesync_averaging", "regression")
        .expect("settable");
    node.set_parameter("timesync_method", "average")
        .expect("settable");
    let timesync = lidar.options().settings.timesync;
    assert_eq!(
        timesync.method,
        TimesyncMethod::Average(Averaging::Regression)
    );
    assert_eq!(timesync.offset, Duration::from_secs(1));
    until("a new epoch", || {
        let clock = lidar.status().clock;
        clock.is_some_and(|clock| clock.newest.epoch > epoch)
    });
    assert_eq!(
        lidar.status().connections,
        connections,
        "stamps need no reconnection"
    );
    for (name, value, text) in [
        (
            "packet_type",
            ParameterValue::from("D"),
            "unknown packet type",
        ),
        ("timesync_method", "magic".into(), "unknown timesync_method"),
        (
            "skip_scans",
            (-1_i64).into(),
            "-1 is not a number within its range",
        ),
        ("scan_topic", "/other".into(), "read-only"),
        ("apply_correction", true.into(), "read-only"),
    ] {
        let error = node.set_parameter(name, value).expect_err(name).to_string();
        assert!(error.contains(text), "{name}: {error}");
    }
    assert_eq!(lidar.options().settings.timesync, timesync);
}

#[test]
fn the_topics_of_an_r2000_exist_before_it_answers() {
    let robot = Robot::new(Product::R2000);
    let (scans, _) = robot.listen("/scan", SCAN);
    let node = robot.node(NodeOptions::new("pf_driver"));
    // Port 9 of this host discards, if anything listens there at all.
    let mut options = LidarOptions::new(LidarSettings::new("127.0.0.1:9"));
    options.device = "R2000".into();
    let lidar = LidarNode::new(&node, options).expect("a lidar");
    until("a publisher", || scans.matched() == 1);
    assert_eq!(lidar.status().connections, 0);
}

#[test]
fn another_device_than_the_one_that_is_expected_is_warned_of() {
    let robot = Robot::new(Product::R2300);
    let mut options = NodeOptions::new("pf_driver");
    let device = ("device".to_owned(), "R2000".into());
    options.parameters.extend([device]);
    let node = robot.node(options);
    let words = std::sync::Arc::new(std::sync::Mutex::new(Vec::new()));
    let heard = std::sync::Arc::clone(&words);
    node.set_reporter(move |_, text| heard.lock().unwrap().push(text.to_owned()));
    let _lidar = LidarNode::new(&node, LidarOptions::new(robot.settings())).expect("a lidar");
    until("a warning", || {
        let words = words.lock().unwrap();
        words.iter().any(|text| {
            text.starts_with("parameter device is R2000, but the device is a OMD10M-R2300")
        })
    });
}
