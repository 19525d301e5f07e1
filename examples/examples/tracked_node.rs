//! A node whose messages name their inputs, and a monitor that measures it.
//!
//! The robot is a loopback network in this process. With `timeloom_dds::DdsParticipant` or
//! `timeloom_zenoh::ZenohParticipant` in its place, the same program is a node of a real one.

use timeloom_msg::QosProfile;
use timeloom_node::{LineageMonitor, MonitorOptions, NodeOptions, RosNode, TrackedNode};
use timeloom_time::{Clock, Duration, Steady, VirtualTime};
use timeloom_trace::Report;
use timeloom_wire::loopback::LoopbackNetwork;

const IMU: &str = "sensor_msgs/msg/Imu";

type Outcome<T> = Result<T, Box<dyn std::error::Error>>;

/// A driver publishes ten messages, and a filter republishes each of them after 5 ms.
pub(crate) fn run() -> Outcome<Report> {
    // Virtual time: nothing here really waits.
    let time = VirtualTime::new();
    let _here = time.enter();
    let clock = Clock::<Steady>::on(&time.base());
    let network = LoopbackNetwork::new(&time.base());
    let node = |name: &str| -> Outcome<RosNode> {
        let participant = network.participant(name)?;
        Ok(RosNode::new(participant, NodeOptions::new(name))?)
    };

    let driver = TrackedNode::new(node("driver")?)?;
    let raw = driver.create_tracked_publisher("/imu", IMU, QosProfile::DEFAULT)?;

    let filter = TrackedNode::new(node("filter")?)?;
    let filtered = filter.create_tracked_publisher("/imu_filtered", IMU, QosProfile::DEFAULT)?;
    let working = clock.clone();
    let _subscription =
        filter.create_tracked_subscription("/imu", IMU, QosProfile::DEFAULT, move |imu| {
            let _woke = working.sleep_for(Duration::from_millis(5));
            // The tag of this message names `imu` as its input.
            let _sent = imu.value().and_then(|value| filtered.publish(&value));
        })?;

    let mut monitor = LineageMonitor::new(node("monitor")?, MonitorOptions::default())?;
    for _ in 0..10 {
        monitor.tick()?;
        let _woke = clock.sleep_for(Duration::from_millis(100));
        raw.publish(&raw.message()?)?;
    }
    let _woke = clock.sleep_for(Duration::from_millis(100));
    monitor.tick()?;
    Ok(monitor.report())
}

#[expect(clippy::print_stdout, reason = "an example for people")]
pub(crate) fn main() -> Outcome<()> {
    for hop in run()?.hops {
        let median = timeloom_trace::span_text(hop.total.p50_ns);
        let node = hop.nodes.join(", ");
        println!("{} → {} by {node}: {median}", hop.from, hop.to);
    }
    Ok(())
}
