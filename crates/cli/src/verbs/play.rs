//! `timeloom play`: publishes the messages of bags at their times.

pub(crate) mod bag_arguments;
mod full_screen;
pub(crate) mod keys;
mod pace_arguments;
pub(crate) mod params_file;
mod plan;
pub(crate) mod playback;
pub(crate) mod set_parameters;
mod status_line;
mod time_arguments;

use clap::{Args, ValueEnum};

use self::bag_arguments::BagArguments;
use self::pace_arguments::PaceArguments;
use self::playback::{Beginning, Playback};
use self::set_parameters::ParameterArguments;
use self::time_arguments::TimeArguments;
use crate::context::Context;
use crate::live::LiveArguments;
use crate::outcome::Outcome;

const EXAMPLES: &str = "\
EXAMPLES
  timeloom play my_bag                                     like `ros2 bag play my_bag`
  timeloom play my_bag -r 2 --clock                        twice as fast, with /clock at 40 Hz
  timeloom play my_bag --start 14:03:05 --end 14:03:30     by time of day; also +10s and nanoseconds
  timeloom play my_bag --loop-range +10s..+15s             repeat these five seconds
  timeloom play my_bag -l --loop-monotonic                 repeat without time jumping back
  timeloom play -i a -i b --message-order sent             two bags merged, in the order of publishing
  timeloom play my_bag --wait-for-subscribers --wait-for-all-acked 0   lose nothing
  timeloom play my_bag --pace keep-order                   slow down all topics instead of falling behind
  timeloom play my_bag --set-parameters                    first give the nodes the parameters of the recording; asks
  timeloom play other_bag --use-sim-time                   follow the /clock of a simulator or another player
  timeloom play --params-file player.yaml                  the parameters play.* and storage.* of rosbag2's player

A running player also has the services of rosbag2: ~/pause, resume, toggle_paused, is_paused, get_rate, set_rate, play,
play_next, burst, seek, stop, and in addition ~/get_clock_publish_frequency and ~/set_clock_publish_frequency (of types
GetRate and SetRate); `timeloom clock drive` calls them. With --use-sim-time the player refuses to change time: control
the node that publishes /clock instead.

KEYS
  SPACE pause, resume    → next message    ← message before    ↑ ↓ rate ×1.1, ÷1.1    < > half, double    1 rate 1
  PgUp PgDn ±10 s        , . ∓1 s          Home start          [ ] begin and end of a loop      \\ no loop     q end

Exit code 1: a parameter of --set-parameters was refused, or its node is absent; the counts are printed.
Exit code 3: a bag is damaged, a topic or request could not be played, messages were dropped, skipped, refused or not
acknowledged, or /clock was past the end of the bag; the counts are printed.";

/// Publish the messages of bags at their times; pause, step, seek, loop and change the rate
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Arguments {
    #[command(flatten)]
    bag: BagArguments,
    #[command(flatten)]
    time: TimeArguments,
    #[command(flatten)]
    pace: PaceArguments,
    /// The time that orders and times messages [default: received]
    #[arg(long, value_enum, value_name = "ORDER")]
    message_order: Option<Order>,
    /// Call recorded services again, instead of publishing their events
    #[arg(long)]
    publish_service_requests: bool,
    /// Send recorded action goals again, instead of publishing feedback and status
    #[arg(long)]
    send_actions_as_client: bool,
    /// The side whose events are replayed as calls [default: `service_introspection`]
    #[arg(long, value_enum, value_name = "SOURCE")]
    service_requests_source: Option<Source>,
    /// Updates of the progress line per second; 0 disables it [default: 10]
    #[arg(long, value_name = "HERTZ", allow_hyphen_values = true)]
    progress_bar_update_rate: Option<f64>,
    #[command(flatten)]
    parameters: ParameterArguments,
    #[command(flatten)]
    live: LiveArguments,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, ValueEnum)]
enum Order {
    /// The time of reception by the recorder
    #[default]
    Received,
    /// The time of publishing, sorted within the read-ahead
    Sent,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, ValueEnum)]
#[value(rename_all = "snake_case")]
enum Source {
    /// Events of the servers
    #[default]
    ServiceIntrospection,
    /// Events of the clients
    ClientIntrospection,
}

pub(crate) fn run(mut arguments: Arguments, context: &mut Context) -> anyhow::Result<Outcome> {
    let node = arguments.bag.node(context)?;
    params_file::fill_in(&mut arguments, &node.parameters)?;
    let arguments = &arguments;
    arguments.time.check()?;
    arguments.pace.check()?;
    for flag in arguments.time.idle_flags() {
        let text = format!("{flag} has no effect without --use-sim-time");
        context.printer.warning(&text);
    }
    let mut reader = arguments.bag.open(&context.bags)?;
    let options = plan::options(arguments, &reader)?;
    let start_ns = plan::start_ns(&options, &reader);
    let parameters = arguments.parameters.read(&mut reader, start_ns)?;
    let session = Playback {
        bag: &arguments.bag,
        live: &arguments.live,
        node,
        reader,
        options,
        line_rate: arguments.progress_bar_update_rate.unwrap_or(10.0),
        beginning: Beginning::Play,
        parameters,
    };
    session.run(context)
}
