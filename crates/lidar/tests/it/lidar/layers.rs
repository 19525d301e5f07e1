//! The additional topics of an R2300 with four layers.

use timeloom_lidar::{LidarNode, LidarOptions};
use timeloom_msg::qos::Durability;
use timeloom_msg::value::{Array, Struct};
use timeloom_msg::{QosProfile, Value};
use timeloom_node::NodeOptions;
use timeloom_pf::simulator::Product;
use timeloom_testkit::transport::{listen, topic, values};

use super::{Robot, SCAN, float, stamp, until, wait_for};

const CLOUD: &str = "sensor_msgs/msg/PointCloud2";
const FRAMES: &str = "tf2_msgs/msg/TFMessage";

/// The points of a cloud: x, y, z and intensity.
fn points(cloud: &Value) -> Vec<[f32; 4]> {
    let Some(Value::Array(Array::Uint8(data))) = cloud.get("data") else {
        panic!("no data");
    };
    let numbers: Vec<f32> = data
        .chunks_exact(4)
        .map(|bytes| f32::from_le_bytes(bytes.try_into().expect("four bytes")))
        .collect();
    numbers
        .chunks_exact(4)
        .map(|point| point.try_into().expect("four numbers"))
        .collect()
}

/// The elevations of points in 1/10000 degree, each once.
fn elevations(points: &[[f32; 4]]) -> Vec<i32> {
    let near_ahead = |point: &&[f32; 4]| point[1].abs() < 0.02 && point[0] > 0.0;
    let ahead = points.iter().filter(near_ahead);
    #[expect(clippy::cast_possible_truncation, reason = "angles are small")]
    let elevation = |point: &[f32; 4]| {
        let degrees = f64::from(point[2]).atan2(f64::from(point[0])).to_degrees();
        (degrees * 10.0).round() as i32 * 1_000
    };
    let mut found: Vec<i32> = ahead.map(elevation).collect();
    found.sort_unstable();
    found.dedup();
    found
}

fn clouds(correction: bool) -> (Vec<Value>, Vec<Value>) {
    let robot = Robot::new(Product::R2300);
    let (_cloud, cloud) = robot.listen("/pf/cloud", CLOUD);
    let (_scan, scans) = robot.listen("/pf/cloud_1", SCAN);
    let mut options = NodeOptions::new("pf_driver");
    let topic = ("scan_topic".to_owned(), "/pf/cloud".into());
    let correction = ("apply_correction".to_owned(), correction.into());
    options.parameters.extend([topic, correction]);
    let node = robot.node(options);
    let _lidar = LidarNode::new(&node, LidarOptions::new(robot.settings())).expect("a lidar");
    wait_for(&cloud, 4);
    wait_for(&scans, 6);
    (values(&cloud, CLOUD), values(&scans, SCAN))
}

#[test]
fn the_layers_of_a_turn_are_one_cloud_on_the_scan_topic() {
    let (clouds, scans) = clouds(false);
    // The first turn may have begun before it was listened to.
    let cloud = &clouds[2];
    assert_eq!(
        cloud.get("header.frame_id").expect("a frame").as_str(),
        Some("scanner_link")
    );
    let points = points(cloud);
    assert_eq!(
        cloud.get("width"),
        Some(Value::Uint32(u32::try_from(points.len()).expect("few")))
    );
    assert_eq!(cloud.get("point_step"), Some(Value::Uint32(16)));
    assert!(points.len() > 4 * 600, "{}", points.len());
    assert_eq!(elevations(&points), [-45_000, -15_000, 15_000, 45_000]);
    // Its time is that of its first layer.
    let stamps: Vec<i64> = scans.iter().map(stamp).collect();
    assert!(stamps.contains(&stamp(cloud)), "{stamps:?}");
    assert!((float(&scans[1], "scan_time") - 0.08).abs() < 1e-3);
}

#[test]
fn the_correction_moves_points_a_little() {
    let plain = clouds(false).0;
    let corrected = clouds(true).0;
    let (plain, corrected) = (points(&plain[2]), points(&corrected[2]));
    assert_ne!(elevations(&plain), elevations(&corrected));
    // Straight ahead the manufacturer's values are half a degree from the plane at most.
    for elevation in elevations(&corrected) {
        let near = [-45_000, -15_000, 15_000, 45_000]
            .iter()
            .any(|plane: &i32| (plane - elevation).abs() <= 7_000);
        assert!(near, "{elevation}");
    }
}

#[test]
fn every_layer_has_a_latched_frame() {
    let robot = Robot::new(Product::R2300);
    let (_scan, scans) = robot.listen("/scan_4", SCAN);
    let node = robot.node(NodeOptions::new("pf_driver"));
    let _lidar = LidarNode::new(&node, LidarOptions::new(robot.settings())).expect("a lidar");
    wait_for(&scans, 3);
    let latched = QosProfile {
        durability: Durability::TransientLocal,
        ..QosProfile::DEFAULT
    };
    let (_frames, frames) = listen(&robot.peer, &topic("/tf_static", FRAMES, latched));
    let all = |message: &Value| -> Vec<Struct> {
        match message.get("transforms") {
            Some(Value::Array(Array::Struct(transforms))) => transforms,
            _ => Vec::new(),
        }
    };
    until("frames", || {
        let newest = values(&frames, FRAMES).pop();
        newest.is_some_and(|newest| all(&newest).len() == 4)
    });
    let transforms = all(&values(&frames, FRAMES).pop().expect("a message"));
    for (index, transform) in transforms.into_iter().enumerate() {
        let transform = Value::Struct(transform);
        let child = transform.get("child_frame_id").expect("a frame");
        let wanted = format!("scanner_link_{}", index + 1);
        assert_eq!(child.as_str(), Some(wanted.as_str()));
        let sine = float(&transform, "transform.rotation.y");
        let cosine = float(&transform, "transform.rotation.w");
        let degrees = (2.0 * sine.atan2(cosine)).to_degrees();
        let inclination = [-4.5, -1.5, 1.5, 4.5][index];
        assert!((degrees - inclination).abs() < 1e-9, "{degrees}");
    }
}
