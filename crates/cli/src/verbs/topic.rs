//! `timeloom topic`: the topics of a running robot.

mod bw;
mod echo;
mod hz;
mod info;
mod left_out;
mod list;
mod measure;
mod publish;
mod window;

use clap::{Args, Subcommand};

use crate::context::Context;
use crate::outcome::Outcome;

const EXAMPLES: &str = "\
EXAMPLES
  timeloom topic list -t                                  the topics of the domain with their types
  timeloom topic info /scan -v                            who publishes and subscribes, with which QoS
  timeloom topic echo /odom --field pose.pose.position    one line of JSON for each message
  timeloom topic hz /camera/image_raw                     the rate, and what was lost
  timeloom topic pub /chatter std_msgs/msg/String '{\"data\": \"hello\"}' --once

The domain and the network are those of ROS: ROS_DOMAIN_ID, ROS_AUTOMATIC_DISCOVERY_RANGE, ROS_STATIC_PEERS,
CYCLONEDDS_URI.";

/// Look at the topics of a running robot, and publish: list, info, echo, hz, bw, pub
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Arguments {
    #[command(subcommand)]
    verb: Verb,
}

#[derive(Debug, Subcommand)]
enum Verb {
    List(list::Arguments),
    Info(info::Arguments),
    Echo(echo::Arguments),
    Hz(hz::Arguments),
    Bw(bw::Arguments),
    Pub(publish::Arguments),
}

pub(crate) fn run(arguments: Arguments, context: &mut Context) -> anyhow::Result<Outcome> {
    match arguments.verb {
        Verb::List(arguments) => list::run(&arguments, context),
        Verb::Info(arguments) => info::run(&arguments, context),
        Verb::Echo(arguments) => echo::run(&arguments, context),
        Verb::Hz(arguments) => hz::run(&arguments, context),
        Verb::Bw(arguments) => bw::run(&arguments, context),
        Verb::Pub(arguments) => publish::run(&arguments, context),
    }
}
