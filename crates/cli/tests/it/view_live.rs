//! `timeloom view` with a running robot over DDS: topics, rates, losses, services, and a bag that is published.

use crate::foreign::python;
use crate::live_node::until;
use crate::robot::Robot;
use crate::view::{Viewer, peer};

fn row(viewer: &Viewer, topic: &str) -> Option<serde_json::Value> {
    let status = viewer.status();
    let topics = status["topics"].as_array().unwrap();
    topics.iter().find(|row| row["name"] == topic).cloned()
}

#[test]
fn a_robots_topics_are_counted_and_its_messages_reach_a_foreign_client() {
    let robot = Robot::new();
    let _talker = robot.publisher("/chatter", &[]);
    let viewer = Viewer::start(&mut robot.command(&["view"]));
    until("messages are counted", || {
        row(&viewer, "/chatter").is_some_and(|row| row["count"].as_u64() > Some(20))
    });
    let chatter = row(&viewer, "/chatter").unwrap();
    assert_eq!(chatter["type"], "std_msgs/msg/String");
    assert_eq!(chatter["lostWire"], 0);
    assert_eq!(viewer.status()["state"], "live");
    if let Some(python) = python() {
        let said = peer(&python, "view_robot.py", &[&viewer.url, "/chatter", "hi"]);
        assert_eq!(said, "10 messages\n");
    }
    let run = viewer.interrupt();
    assert_eq!(run.code, 0, "{run}");
}

#[test]
fn a_bag_is_published_and_steered_through_the_viewer() {
    let robot = Robot::new();
    let bag = crate::support::bags().join("mcap_plain");
    let arguments = [
        "view",
        bag.to_str().unwrap(),
        "--publish",
        "--loop",
        "--clock",
    ];
    let viewer = Viewer::start(&mut robot.command(&arguments));
    // Others hear it,
    let echo = ["topic", "echo", "/chatter", "--once"];
    let run = robot.until(&echo, |run| run.code == 0 && !run.stdout.is_empty());
    assert!(run.stdout.contains("\"data\""), "{run}");
    // and its services answer.
    let call = [
        "service",
        "call",
        "/rosbag2_player/is_paused",
        "rosbag2_interfaces/srv/IsPaused",
    ];
    let run = robot.until(&call, |run| run.code == 0);
    assert_eq!(run.stdout, "{\"paused\":false}\n");
    let pause = [
        "service",
        "call",
        "/rosbag2_player/pause",
        "rosbag2_interfaces/srv/Pause",
    ];
    robot.until(&pause, |run| run.code == 0);
    until("the page sees the pause", || {
        viewer.status()["state"] == "paused"
    });
}
