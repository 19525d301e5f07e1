//! `timeloom view`: bags and running robots in a browser, in Foxglove, Lichtblick and `PlotJuggler`.

mod bag;
mod live;
mod playback_arguments;
mod server_arguments;
mod wait;

use std::path::PathBuf;

use clap::Args;
use timeloom_time::Duration;

use self::playback_arguments::PlaybackArguments;
use self::server_arguments::ServerArguments;
use crate::context::Context;
use crate::live::{LiveArguments, seconds};
use crate::outcome::Outcome;
use crate::selection_arguments::SelectionArguments;

const EXAMPLES: &str = "\
EXAMPLES
  timeloom view my_bag --open                    play a bag in the browser: timeline, rates, losses, sync, lineage
  timeloom view my_bag -r 0.5 -l --start +10s    at half speed, in a loop, from the tenth second on
  timeloom view my_bag --contract contract.yaml  mark on the timeline where the bag violates a contract
  timeloom view my_bag --publish --clock         publish it on the ROS graph as well, steered from the browser
  timeloom view                                  a running robot: its topics, rates and losses
  timeloom view --on-demand                      the same, subscribing only to topics that a client shows
  timeloom view my_bag --port 0                  any free port; the address is printed on stdout
  timeloom view my_bag --address 0.0.0.0         for other machines too: everyone who reaches it can control it

In Foxglove, Lichtblick and PlotJuggler open a connection (\"Foxglove WebSocket\") to ws://127.0.0.1:8765. Foxglove's
own playback bar plays, pauses, seeks and sets the rate; elsewhere the player's services do. A bag is played in this
process alone: no ROS, no network. http://127.0.0.1:8765/status.json has the numbers for programs.

Exit code 3: a bag is damaged, messages were lost on the wire, or a client was too slow; how many is printed.";

/// Show bags and running robots in a browser, in Foxglove and its relatives
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Arguments {
    /// The bags, played as one; without any, the running robot is shown
    #[arg(value_name = "BAG")]
    bags: Vec<PathBuf>,
    /// Show the running robot; the default without a bag
    #[arg(long, conflicts_with = "bags")]
    live: bool,
    #[command(flatten)]
    server: ServerArguments,
    #[command(flatten)]
    playback: PlaybackArguments,
    #[command(flatten)]
    robot: live::RobotArguments,
    /// Show on the timeline where a bag violates this contract; see `timeloom check`
    #[arg(long, value_name = "FILE", requires = "bags")]
    contract: Option<PathBuf>,
    #[command(flatten)]
    selection: SelectionArguments,
    /// Stop after this time [default: at Ctrl-C]
    #[arg(long, value_name = "SECONDS", value_parser = seconds)]
    duration: Option<Duration>,
    #[command(flatten)]
    network: LiveArguments,
}

pub(crate) fn run(arguments: &Arguments, context: &mut Context) -> anyhow::Result<Outcome> {
    if arguments.bags.is_empty() {
        arguments.playback.check_live()?;
        live::run(arguments, context)
    } else {
        arguments.robot.check_bag()?;
        bag::run(arguments, context)
    }
}
