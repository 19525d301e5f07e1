//! The lidar node with a simulated device on 127.0.0.1, over the loopback of ROS. Sockets need the machine's time.

mod layers;
mod output;
mod setups;
mod vendor;

use std::sync::Arc;

use timeloom_lidar::{Incomplete, LidarNode, LidarOptions};
use timeloom_msg::value::Array;
use timeloom_msg::{QosProfile, Value};
use timeloom_node::{NodeOptions, ParameterValue, RosNode};
use timeloom_pf::simulator::{Faults, Product, SimulatedLidar, SimulatorOptions};
use timeloom_pf::{LidarSettings, TimesyncMethod};
use timeloom_sync::{Averaging, Health};
use timeloom_testkit::transport::{Collector, listen, topic, values};
use timeloom_testkit::until;
use timeloom_time::{Clock, Duration, SourceId, Steady, System, Time, TimeBase};
use timeloom_wire::loopback::LoopbackNetwork;
use timeloom_wire::{Node, NodeName, Subscription};

const SCAN: &str = "sensor_msgs/msg/LaserScan";
const ARRAY: &str = "diagnostic_msgs/msg/DiagnosticArray";

struct Robot {
    network: LoopbackNetwork,
    peer: Arc<dyn Node>,
    device: SimulatedLidar,
}

impl Robot {
    fn new(product: Product) -> Self {
        let base = TimeBase::machine();
        let network = LoopbackNetwork::new(&base);
        let name = NodeName::new("/", "peer").expect("a name");
        let peer = network.participant("peer").expect("it joins");
        let options = SimulatorOptions {
            product,
            scan_frequency: 50.0,
            samples_per_scan: 720,
            ..SimulatorOptions::default()
        };
        Self {
            peer: peer.node(name).expect("a node"),
            network,
            device: SimulatedLidar::start(options, &base).expect("a device"),
        }
    }

    fn settings(&self) -> LidarSettings {
        let mut settings = LidarSettings::new(self.device.address().to_string());
        settings.timesync.interval = Duration::from_millis(50);
        settings
    }

    fn node(&self, options: NodeOptions) -> RosNode {
        let participant = self.network.participant("lidar").expect("it joins");
        RosNode::new(participant, options).expect("a node")
    }

    fn listen(&self, name: &str, type_name: &str) -> (Box<dyn Subscription>, Arc<Collector>) {
        let qos = QosProfile {
            depth: 1_000,
            ..QosProfile::SENSOR_DATA
        };
        listen(&self.peer, &topic(name, type_name, qos))
    }
}

/// Waits until so many have come.
fn wait_for(collector: &Collector, count: usize) {
    until("messages", || collector.samples().len() >= count);
}

fn stamp(message: &Value) -> i64 {
    let part = |name| {
        message
            .get(name)
            .and_then(|part| part.as_i64())
            .expect("a number")
    };
    part("header.stamp.sec") * 1_000_000_000 + part("header.stamp.nanosec")
}

/// The stamps of so many scans from the first one with the time of a tick on. The scans before it, which were taken
/// before the tick, have the old time: on a busy machine these are many.
fn stamps_from(
    scans: &Collector,
    so_far: usize,
    count: usize,
    is_new: impl Fn(i64) -> bool,
) -> Vec<i64> {
    let stamps = || -> Vec<i64> {
        let messages = values(scans, SCAN);
        let stamps = messages[so_far..].iter().map(stamp);
        stamps.skip_while(|stamp| !is_new(*stamp)).collect()
    };
    until("scans of the new time", || stamps().len() >= count);
    stamps()
}

fn float(message: &Value, name: &str) -> f64 {
    message
        .get(name)
        .and_then(|value| value.as_f64())
        .expect("a number")
}

/// The values of a status in the newest diagnostics.
fn diagnostics(collector: &Collector, what: &str) -> Vec<(String, String)> {
    let array = values(collector, ARRAY).pop().expect("diagnostics");
    let Some(Value::Array(Array::Struct(statuses))) = array.get("status") else {
        panic!("no status");
    };
    let text = |value: Option<&Value>| value.and_then(Value::as_str).unwrap_or("").to_owned();
    let wanted = statuses
        .iter()
        .find(|status| text(status.get("name")).ends_with(what));
    let status = wanted.expect("a status");
    let mut pairs = vec![("message".to_owned(), text(status.get("message")))];
    let Some(Value::Array(Array::Struct(items))) = status.get("values") else {
        panic!("no values");
    };
    pairs.extend(
        items
            .iter()
            .map(|item| (text(item.get("key")), text(item.get("value")))),
    );
    pairs
}

fn value_of(pairs: &[(String, String)], key: &str) -> String {
    let found = pairs.iter().find(|(name, _)| name == key);
    let Some((_, value)) = found else {
        panic!("no {key} in {pairs:?}");
    };
    value.clone()
}

#[test]
fn scans_have_the_time_of_their_first_point() {
    let robot = Robot::new(Product::R2000);
    let (_scans, scans) = robot.listen("/scan", SCAN);
    let header_type = "pf_interfaces/msg/PFR2000Header";
    let (_headers, headers) = robot.listen("/r2000_header", header_type);
    let node = robot.node(NodeOptions::new("pf_driver"));
    let lidar = LidarNode::new(&node, LidarOptions::new(robot.settings())).expect("a lidar");
    wait_for(&scans, 60);
    wait_for(&headers, 100);
    let messages = values(&scans, SCAN);
    let device = robot.device.clock();
    // Steady and system time are read apart, and one of them may be slewed.
    let system_now = Clock::<System>::new().now().nanos();
    let between = system_now - Clock::<Steady>::new().now().nanos();
    let firsts: Vec<u64> = values(&headers, header_type)
        .iter()
        .filter(|header| header.get("header.packet_number") == Some(Value::Uint16(1)))
        .filter_map(|header| header.get("timestamp_raw").and_then(|raw| raw.as_u64()))
        .collect();
    let truths: Vec<i64> = firsts
        .iter()
        .map(|raw| device.host_of(*raw).nanos() + between)
        .collect();
    for message in &messages[20..] {
        let nearest = truths
            .iter()
            .map(|truth| stamp(message) - truth)
            .min_by_key(|error| error.abs());
        // Half a turn would be ten milliseconds; the smallest delay of a packet is in it.
        assert!(nearest.expect("a truth").abs() < 5_000_000, "{nearest:?}");
    }
    let message = messages.last().expect("a scan");
    assert_eq!(
        message
            .get("header.frame_id")
            .and_then(|id| id.as_str().map(str::to_owned))
            .as_deref(),
        Some("scanner_link")
    );
    assert!((float(message, "angle_min") + std::f64::consts::PI).abs() < 1e-6);
    assert!((float(message, "angle_increment") - std::f64::consts::TAU / 720.0).abs() < 1e-6);
    assert!((float(message, "scan_time") - 0.02).abs() < 1e-4);
    assert!((float(message, "time_increment") - 0.02 / 720.0).abs() < 1e-7);
    assert!((float(message, "range_max") - 60.0).abs() < 1e-6);
    let Some(Value::Array(Array::Float32(ranges))) = message.get("ranges") else {
        panic!("no ranges");
    };
    assert_eq!(ranges.len(), 720);
    assert!(
        ranges
            .iter()
            .all(|range| *range > 1.0 && (*range < 5.1 || range.is_infinite()))
    );
    assert!(
        ranges.iter().any(|range| range.is_infinite()),
        "the open door"
    );
    assert!(lidar.published() >= 60);
    assert_eq!(lidar.unpublished(), 0);
}

#[test]
fn diagnostics_tell_of_clock_and_connection() {
    let robot = Robot::new(Product::R2000);
    let (_diagnostics, arrays) = robot.listen("/diagnostics", ARRAY);
    let node = robot.node(NodeOptions::new("pf_driver"));
    let mut options = LidarOptions::new(robot.settings());
    options.diagnostics_period = Duration::from_millis(50);
    let lidar = LidarNode::new(&node, options).expect("a lidar");
    wait_for(&arrays, 1);
    let mut clock = diagnostics(&arrays, "clock");
    until("lock", || {
        clock = diagnostics(&arrays, "clock");
        value_of(&clock, "message") == Health::Locked.name()
    });
    let number = |key: &str| value_of(&clock, key).parse::<f64>().expect("a number");
    assert!(number("bound [us]") > 0.0);
    assert!(number("jitter [us]") > 0.0);
    assert!(number("drift [ppm]").abs() < 2_000.0, "{clock:?}");
    assert!(number("offset to ROS time [s]") > 1e9);
    assert_eq!(value_of(&clock, "epoch"), "0");
    let connection = diagnostics(&arrays, "connection");
    assert_eq!(value_of(&connection, "message"), "receiving scans");
    assert_eq!(value_of(&connection, "packets lost"), "0");
    robot.device.set_faults(Faults {
        status: 1 << 11,
        ..Faults::default()
    });
    until("warning", || {
        value_of(&diagnostics(&arrays, "connection"), "message") == "high temperature warning"
    });
    robot.device.reboot(Duration::from_secs(3_600));
    until("failure", || {
        let message = value_of(&diagnostics(&arrays, "connection"), "message");
        message.contains("packet") || message.contains("answer") || message.contains("connect")
    });
    until("holdover", || {
        value_of(&diagnostics(&arrays, "clock"), "message") == Health::Holdover.name()
    });
    drop(lidar);
}

#[test]
fn a_jump_of_ros_time_moves_the_stamps_and_nothing_else() {
    let robot = Robot::new(Product::R2000);
    let (_scans, scans) = robot.listen("/scan", SCAN);
    let node = robot.node(NodeOptions::new("pf_driver"));
    let lidar = LidarNode::new(&node, LidarOptions::new(robot.settings())).expect("a lidar");
    wait_for(&scans, 20);
    let sink = node.time_hub().sink(SourceId::named("test"));
    node.time_hub().activate();
    for second in [1_000, 50, 5_000_i64] {
        let so_far = scans.samples().len();
        sink.tick(Time::from_nanos(second * 1_000_000_000));
        let before = |stamp: i64| second * 1_000_000_000 - stamp;
        let is_new = |stamp: i64| (0..2_000_000_000).contains(&before(stamp));
        for stamp in stamps_from(&scans, so_far, 10, is_new) {
            let before = before(stamp);
            assert!(is_new(stamp), "{before} ns before the clock's time");
        }
    }
    let newest = || lidar.status().clock.expect("samples").newest;
    assert_eq!(newest().epoch, 0, "the estimate did not notice");
    // Stalls of a busy machine degrade it, too, but not for good.
    until("estimate that is not degraded", || {
        newest().health != Health::Degraded
    });
}

#[test]
fn stamps_of_simulated_time_are_never_negative_and_never_go_back() {
    let robot = Robot::new(Product::R2000);
    let (_scans, scans) = robot.listen("/scan", SCAN);
    let mut options = NodeOptions::new("pf_driver");
    options.use_sim_time = true;
    let node = robot.node(options);
    let _lidar = LidarNode::new(&node, LidarOptions::new(robot.settings())).expect("a lidar");
    wait_for(&scans, 20);
    for message in &values(&scans, SCAN) {
        assert_eq!(stamp(message), 0, "there is no time yet");
    }
    // One tick, and then the clock stands still.
    let sink = node.time_hub().sink(SourceId::named("test"));
    let so_far = scans.samples().len();
    sink.tick(Time::from_nanos(1_000_000_000_000));
    let stamps = stamps_from(&scans, so_far, 50, |stamp| stamp > 999_000_000_000);
    let back = stamps.windows(2).find(|pair| pair[1] < pair[0]);
    assert_eq!(back, None, "{stamps:?}");
}

#[test]
fn each_layer_of_an_r2300_has_its_topic() {
    let robot = Robot::new(Product::R2300);
    let layers: Vec<_> = (1..=4)
        .map(|layer| robot.listen(&format!("/pf/scan_{layer}"), SCAN))
        .collect();
    let (_headers, headers) = robot.listen("/r2300_header", "pf_interfaces/msg/PFR2300Header");
    let mut options = NodeOptions::new("pf_driver");
    options
        .parameters
        .insert("scan_topic".into(), "/pf/scan".into());
    options.parameters.insert("frame_id".into(), "front".into());
    let node = robot.node(options);
    let _lidar = LidarNode::new(&node, LidarOptions::new(robot.settings())).expect("a lidar");
    for (layer, (_, collector)) in layers.iter().enumerate() {
        wait_for(collector, 3);
        let message = values(collector, SCAN).pop().expect("a scan");
        let frame = message.get("header.frame_id").expect("a frame");
        let wanted = format!("front_{}", layer + 1);
        assert_eq!(frame.as_str(), Some(wanted.as_str()));
    }
    wait_for(&headers, 12);
    let header = values(&headers, "pf_interfaces/msg/PFR2300Header")
        .pop()
        .expect("a header");
    assert_eq!(
        header.get("header.packet_type"),
        Some(Value::Uint16(0x3143))
    );
    assert_ne!(header.get("layer_inclination"), Some(Value::Int32(0)));
}

#[test]
fn parameters_of_the_vendors_driver_are_understood() {
    let robot = Robot::new(Product::R2000);
    let mut options = NodeOptions::new("pf_driver");
    let host = robot.device.address().to_string();
    for (name, value) in [
        ("scanner_ip", ParameterValue::from(host.as_str())),
        ("transport", "tcp".into()),
        ("packet_type", "B".into()),
        ("watchdogtimeout", 5_000_i64.into()),
        ("timesync_method", "requests".into()),
        ("timesync_regression", true.into()),
        ("timesync_interval", 100_i64.into()),
        ("timesync_period", 20_000_i64.into()),
        ("timesync_offset_usec", (-3_000_i64).into()),
        (
            "pfsdp_init",
            ParameterValue::Strings(vec!["samples_per_scan=360".into()]),
        ),
    ] {
        options.parameters.insert(name.into(), value);
    }
    let node = robot.node(options);
    let (_scans, scans) = robot.listen("/scan", SCAN);
    let elsewhere = LidarSettings::new("192.0.2.1");
    let lidar = LidarNode::new(&node, LidarOptions::new(elsewhere)).expect("a lidar");
    wait_for(&scans, 3);
    let timesync = lidar.options().settings.timesync;
    assert_eq!(
        timesync.method,
        TimesyncMethod::Requests(Averaging::Regression)
    );
    assert_eq!(timesync.interval, Duration::from_millis(100));
    assert_eq!(timesync.period, Duration::from_secs(20));
    assert_eq!(timesync.offset, Duration::from_micros(-3_000));
    let message = values(&scans, SCAN).pop().expect("a scan");
    let count = message
        .get("ranges")
        .and_then(|ranges| ranges.as_array().map(Array::len));
    assert_eq!(count, Some(360));
    assert!(
        node.set_parameter("scanner_ip", "192.0.2.2").is_err(),
        "read when it starts"
    );
}

#[test]
fn a_regression_alone_is_used() {
    let robot = Robot::new(Product::R2000);
    let mut options = NodeOptions::new("pf_driver");
    let regression = ("timesync_regression".into(), true.into());
    options.parameters.extend([regression]);
    let node = robot.node(options);
    let lidar = LidarNode::new(&node, LidarOptions::new(robot.settings())).expect("a lidar");
    let method = lidar.options().settings.timesync.method;
    assert_eq!(method, TimesyncMethod::Average(Averaging::Regression));
}

#[test]
fn invalid_parameters_are_refused_with_a_message() {
    let robot = Robot::new(Product::R2000);
    for (name, value, text) in [
        (
            "transport",
            ParameterValue::from("serial"),
            "unknown transport \"serial\", expected one of udp, tcp",
        ),
        (
            "packet_type",
            "D".into(),
            "unknown packet type \"D\", expected one of A, B, C, C1",
        ),
        (
            "timesync_method",
            "magic".into(),
            "unknown timesync_method \"magic\"",
        ),
        (
            "timesync_averaging",
            "median".into(),
            "parameter `timesync_averaging`: median is not mean or regression",
        ),
        (
            "port",
            70_000_i64.into(),
            "parameter `port`: 70000 is not a number within its range",
        ),
        (
            "watchdogtimeout",
            1_i64.into(),
            "invalid watchdogtimeout = 1 ms",
        ),
        (
            "pfsdp_init",
            ParameterValue::Strings(vec!["speed".into()]),
            "parameter `pfsdp_init`: speed is not name=value",
        ),
        (
            "timesync_interval",
            (-5_i64).into(),
            "invalid timesync_interval = -5 ms",
        ),
    ] {
        let mut options = NodeOptions::new("pf_driver");
        options.parameters.insert(name.into(), value);
        let node = robot.node(options);
        let refused = LidarNode::new(&node, LidarOptions::new(robot.settings()));
        let error = refused
            .err()
            .map(|error| error.to_string())
            .unwrap_or_default();
        assert!(error.starts_with(text), "{name}: {error}");
    }
}

#[test]
fn scans_with_holes_are_published_or_counted() {
    for incomplete in [Incomplete::Publish, Incomplete::Drop] {
        let robot = Robot::new(Product::R2000);
        let (_scans, scans) = robot.listen("/scan", SCAN);
        robot.device.set_faults(Faults {
            lose_one_in: 5,
            ..Faults::default()
        });
        let node = robot.node(NodeOptions::new("pf_driver"));
        let mut options = LidarOptions::new(robot.settings());
        options.incomplete = incomplete;
        let lidar = LidarNode::new(&node, options).expect("a lidar");
        wait_for(&scans, 30);
        until("holes", || lidar.status().scans.scans_incomplete > 3);
        let holes = |message: &Value| match message.get("ranges") {
            Some(Value::Array(Array::Float32(ranges))) => ranges.iter().any(|range| range.is_nan()),
            _ => false,
        };
        let with_holes = values(&scans, SCAN)
            .iter()
            .filter(|message| holes(message))
            .count();
        match incomplete {
            Incomplete::Publish => assert!(with_holes > 0 && lidar.unpublished() == 0),
            Incomplete::Drop => assert!(with_holes == 0 && lidar.unpublished() > 0),
        }
    }
}
