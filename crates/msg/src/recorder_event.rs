/// Whether a message type is an event of a recorder or player: a split, lost messages, low disk space.
///
/// Such events describe a recording, not the robot.
pub fn is_recorder_event(type_name: &str) -> bool {
    let name = ["rosbag2_interfaces/msg/", "timeloom_interfaces/msg/"]
        .iter()
        .find_map(|package| type_name.strip_prefix(package));
    name.is_some_and(|name| name.ends_with("Event"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn events_of_recorders_are_recognised_by_their_type() {
        for event in [
            "rosbag2_interfaces/msg/WriteSplitEvent",
            "rosbag2_interfaces/msg/MessagesLostEvent",
            "timeloom_interfaces/msg/LowDiskSpaceEvent",
        ] {
            assert!(is_recorder_event(event), "{event}");
        }
        for other in [
            "rosbag2_interfaces/msg/TopicStatistics",
            "lifecycle_msgs/msg/TransitionEvent",
            "std_msgs/msg/String",
        ] {
            assert!(!is_recorder_event(other), "{other}");
        }
    }
}
