//! `timeloom clock publish`.

use std::sync::Arc;

use clap::Args;
use timeloom_msg::Distro;
use timeloom_node::player::{ClockOwner, ClockOwnerOptions, sane_rate};
use timeloom_node::{NodeOptions, Remap, RosNode};
use timeloom_time::{Clock, Duration, Event, PlaybackRate, System, Time};
use timeloom_tui::{KeyCode, Keyboard};

use crate::context::Context;
use crate::failure::Failure;
use crate::live::{Live, LiveArguments, Notices, seconds};
use crate::outcome::Outcome;
use crate::time_argument::TimeArgument;
use crate::verbs::play::bag_arguments::{distro, distro_or_environment};
use crate::verbs::play::keys;

const EXAMPLES: &str = "\
EXAMPLES
  timeloom clock publish                          the machine's time, 40 times a second
  timeloom clock publish -r 10 --frequency 100    ten times as fast
  timeloom clock publish --start 2026-11-15T14:00:00 --start-paused
  timeloom clock drive pause                      from another terminal; rate 0.5, seek +10s and frequency 100 too

KEYS
  SPACE pause, resume    ↑ ↓ rate ×1.1, ÷1.1    < > half, double    1 rate 1    , . ∓1 s    PgUp PgDn ±10 s    q end

It offers the services of a player that control time: ~/pause, resume, toggle_paused, is_paused, get_rate, set_rate,
seek, get_clock_publish_frequency, set_clock_publish_frequency. The message of /clock cannot hold times after
2038-01-19: it then stays at its maximum, with a warning.";

/// Interval of printing notices.
const LOOK: Duration = Duration::from_millis(200);

/// Publish /clock: time that can be paused, moved and scaled
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Arguments {
    /// Messages per second of system time
    #[arg(short, long, value_name = "HERTZ", default_value = "40")]
    frequency: f64,
    /// The rate of time
    #[arg(short, long, value_name = "RATE", default_value = "1.0", value_parser = rate, allow_hyphen_values = true)]
    rate: PlaybackRate,
    /// The first time: nanoseconds, a date or a time of day [default: now]
    #[arg(long, value_name = "TIME", allow_hyphen_values = true)]
    start: Option<TimeArgument>,
    /// Start paused
    #[arg(short = 'p', long)]
    start_paused: bool,
    /// End after this many seconds
    #[arg(long, value_name = "SECONDS", value_parser = seconds)]
    duration: Option<Duration>,
    /// The name of the node
    #[arg(long, value_name = "NAME", default_value = "timeloom_clock")]
    node_name: String,
    /// Publish under another name, such as /clock:=/sim/clock
    #[arg(short = 'm', long, num_args = 1.., value_name = "OLD:=NEW")]
    remap: Vec<Remap>,
    /// The ROS distribution of the service types [default: `ROS_DISTRO`, else jazzy]
    #[arg(long, value_name = "NAME", value_parser = distro)]
    ros_distro: Option<Distro>,
    /// Disable the keys, also on a terminal
    #[arg(long)]
    disable_keyboard_controls: bool,
    #[command(flatten)]
    live: LiveArguments,
}

fn rate(text: &str) -> Result<PlaybackRate, String> {
    let number: f64 = text
        .parse()
        .map_err(|error| format!("expected a number: {error}"))?;
    sane_rate(number).map_err(|refusal| refusal.to_string())
}

pub(crate) fn run(arguments: &Arguments, context: &mut Context) -> anyhow::Result<Outcome> {
    let options = options(arguments)?;
    let named = context.node(NodeOptions {
        remaps: arguments.remap.clone(),
        ..NodeOptions::new(&arguments.node_name)
    })?;
    let live = Live::join_beside(&arguments.live, context)?;
    let node = RosNode::new(Arc::clone(live.participant()), named)?;
    let notices = Notices::default();
    let distro = distro_or_environment(arguments.ros_distro);
    let owner = Arc::new(ClockOwner::start(
        &node,
        &options,
        distro,
        notices.reporter(),
    )?);
    let end = Event::new(&live.base());
    let ended = end.clone();
    live.interrupt().wakes(move || ended.set());
    let keyboard = if arguments.disable_keyboard_controls {
        None
    } else {
        keyboard(&owner, &notices, &end)?
    };
    let text = format!(
        "publishing {} as {}; Ctrl-C ends",
        node.resolve_topic("/clock")?,
        node.name().full()
    );
    context.printer.note(&text);
    let clock = live.clock();
    let until = arguments
        .duration
        .map(|duration| clock.now().saturating_add(duration));
    loop {
        let left = until.map_or(LOOK, |until| LOOK.min(until - clock.now()));
        if left <= Duration::ZERO || end.wait_for(left) {
            break;
        }
        notices.print(context);
    }
    notices.print(context);
    drop(keyboard);
    Ok(Outcome::Done)
}

fn options(arguments: &Arguments) -> Result<ClockOwnerOptions, Failure> {
    let now = Clock::<System>::new().now().nanos();
    let start = match arguments.start {
        None => Some(now),
        Some(time) => time.resolve(now, now, &Context::time_zone()),
    };
    let start = start.ok_or_else(|| Failure::usage("--start is out of range"))?;
    if start <= 0 {
        let text =
            "--start must be after the epoch: for nodes, zero means that there is no time yet";
        return Err(Failure::usage(text));
    }
    let period = Duration::try_from_hertz(arguments.frequency).ok();
    let period = period.filter(|_| (0.01..=10_000.0).contains(&arguments.frequency));
    Ok(ClockOwnerOptions {
        start: Time::from_nanos(start),
        rate: arguments.rate,
        period: period
            .ok_or_else(|| Failure::usage("--frequency must be between 0.01 and 10000"))?,
        start_paused: arguments.start_paused,
    })
}

fn keyboard(
    owner: &Arc<ClockOwner>,
    notices: &Notices,
    end: &Event,
) -> anyhow::Result<Option<Keyboard>> {
    let (owner, notices, end) = (Arc::clone(owner), notices.clone(), end.clone());
    Ok(Keyboard::open(move |key| {
        if key == KeyCode::Char('q') {
            end.set();
            return;
        }
        let Some(control) = keys::of_time(key, owner.rate()) else {
            return;
        };
        if let Err(refusal) = owner.control(&control) {
            notices.warn(refusal.to_string());
        }
    })?)
}
