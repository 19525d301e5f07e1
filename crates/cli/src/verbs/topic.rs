//! `timeloom topic`: the topics of a running robot.

mod bw;
mod echo;
mod hz;
mod info;
mod list;
mod measure;
mod publish;

const EXAMPLES: &str = "\
EXAMPLES
  timeloom topic list -t                                  the topics of the domain with their types
  timeloom topic info /scan -v                            who publishes and subscribes, with which QoS
  timeloom topic echo /odom --field pose.pose.position    one line of JSON for each message
  timeloom topic hz /camera/image_raw                     the rate, and what was lost
  timeloom topic pub /chatter std_msgs/msg/String '{\"data\": \"hello\"}' --once

The domain and the network are those of ROS: ROS_DOMAIN_ID, ROS_AUTOMATIC_DISCOVERY_RANGE, ROS_STATIC_PEERS,
CYCLONEDDS_URI.";

crate::verbs::subverbs! {
    /// Look at the topics of a running robot, and publish: list, info, echo, hz, bw, pub
    #[command(after_help = EXAMPLES)]
    {
        List => list,
        Info => info,
        Echo => echo,
        Hz => hz,
        Bw => bw,
        Pub => publish,
    }
}
