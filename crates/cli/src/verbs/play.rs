//! `timeloom play`: publish what bags hold, as its time comes.

pub(crate) mod bag_arguments;
mod full_screen;
pub(crate) mod keys;
mod pace_arguments;
pub(crate) mod params_file;
mod plan;
pub(crate) mod session;
mod status_line;
mod time_arguments;

use clap::{Args, ValueEnum};

use self::bag_arguments::BagArguments;
use self::pace_arguments::PaceArguments;
use self::session::{Beginning, Session};
use self::time_arguments::TimeArguments;
use crate::context::Context;
use crate::live::LiveArguments;
use crate::outcome::Outcome;

const EXAMPLES: &str = "\
EXAMPLES
  timeloom play my_bag                                     as `ros2 bag play my_bag`
  timeloom play my_bag -r 2 --clock                        twice as fast, with /clock at 40 Hz
  timeloom play my_bag --start 14:03:05 --end 14:03:30     by time of day; +10s and nanoseconds work too
  timeloom play my_bag --loop-range +10s..+15s             the same five seconds again and again
  timeloom play my_bag -l --loop-monotonic                 again and again, and time never jumps back
  timeloom play -i a -i b --message-order sent             two bags as one, in the order of sending
  timeloom play my_bag --wait-for-subscribers --wait-for-all-acked 0   lose nothing
  timeloom play my_bag --pace keep-order                   slow down for all topics alike, rather than fall behind
  timeloom play other_bag --use-sim-time                   in step with a simulator, or with another player's --clock
  timeloom play --params-file player.yaml                  the parameters play.* and storage.* of rosbag2's player

A running player is controlled by the services of rosbag2 too: ~/pause, resume, toggle_paused, is_paused, get_rate,
set_rate, play, play_next, burst, seek, stop, and by ~/get_clock_publish_frequency and ~/set_clock_publish_frequency
(of the types GetRate and SetRate); `timeloom clock drive` calls them. With --use-sim-time all that is about time is
refused: control the node that publishes /clock.

KEYS
  SPACE pause, resume    → next message    ← message before    ↑ ↓ rate ×1.1, ÷1.1    < > half, double    1 rate 1
  PgUp PgDn ±10 s        , . ∓1 s          Home start          [ ] begin and end of a loop      \\ no loop     q end

Exit code 3: a bag is damaged, a topic or request could not be played, messages were dropped, skipped, refused or not
acknowledged, or /clock was past the end of the bag; how many is printed.";

/// Publish the messages of bags as their time comes: pause, step, seek, loop, change the rate
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Arguments {
    #[command(flatten)]
    bag: BagArguments,
    #[command(flatten)]
    time: TimeArguments,
    #[command(flatten)]
    pace: PaceArguments,
    /// By which stamp messages are ordered and timed [default: received]
    #[arg(long, value_enum, value_name = "ORDER")]
    message_order: Option<Order>,
    /// Call recorded services again, instead of publishing their events
    #[arg(long)]
    publish_service_requests: bool,
    /// Send recorded goals again, instead of publishing their events
    #[arg(long)]
    send_actions_as_client: bool,
    /// The events that count as calls [default: `service_introspection`]
    #[arg(long, value_enum, value_name = "SOURCE")]
    service_requests_source: Option<Source>,
    /// Updates per second of the line with position and rate; 0 for never [default: 10]
    #[arg(long, value_name = "HERTZ", allow_hyphen_values = true)]
    progress_bar_update_rate: Option<f64>,
    #[command(flatten)]
    live: LiveArguments,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, ValueEnum)]
enum Order {
    /// When the recorder received them
    #[default]
    Received,
    /// When they were sent, as far as the read-ahead reaches
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
    let reader = arguments.bag.open(&context.bags)?;
    let options = plan::options(arguments, &reader)?;
    let session = Session {
        bag: &arguments.bag,
        live: &arguments.live,
        node,
        reader,
        options,
        line_rate: arguments.progress_bar_update_rate.unwrap_or(10.0),
        beginning: Beginning::Play,
    };
    session.run(context)
}
