//! `timeloom burst`: publish messages as fast as possible.

use clap::Args;
use timeloom_node::player::{AckWait, Options, PlayRange, PlayStart};
use timeloom_time::Duration;

use super::play::bag_arguments::BagArguments;
use super::play::params_file;
use super::play::session::{Beginning, Session};
use crate::context::Context;
use crate::live::{LiveArguments, seconds};
use crate::outcome::Outcome;

const EXAMPLES: &str = "\
EXAMPLES
  timeloom burst my_bag                          all messages, as fast as possible
  timeloom burst my_bag -n 100 --topics /imu     the first hundred of a topic
  timeloom burst my_bag --start-offset 10 -n 1

On a terminal it keeps running, with the keys of `timeloom play`; otherwise it exits after the last message.";

/// Timeout for reliable subscriptions to acknowledge the messages.
const PATIENCE: Duration = Duration::from_secs(10);

/// Publish messages at once, without waiting for their time
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Arguments {
    #[command(flatten)]
    bag: BagArguments,
    /// Number of messages; 0 for all
    #[arg(short, long, value_name = "COUNT", default_value = "0")]
    num_messages: u64,
    /// Start this many seconds after the first message
    #[arg(long, value_name = "SECONDS", value_parser = seconds, allow_hyphen_values = true)]
    start_offset: Option<Duration>,
    /// Wait until each topic has this many subscriptions
    #[arg(long, value_name = "COUNT", num_args = 0..=1, default_missing_value = "1", default_value = "0")]
    wait_for_subscribers: usize,
    #[command(flatten)]
    live: LiveArguments,
}

pub(crate) fn run(mut arguments: Arguments, context: &mut Context) -> anyhow::Result<Outcome> {
    let node = arguments.bag.node(context)?;
    params_file::fill_in_bag(&mut arguments.bag, &node.parameters)?;
    let arguments = &arguments;
    let reader = arguments.bag.open(&context.bags)?;
    let options = Options {
        start_paused: true,
        range: PlayRange {
            start: arguments.start_offset.map(PlayStart::Offset),
            ..PlayRange::default()
        },
        wait_for_subscribers: arguments.wait_for_subscribers,
        // Reliable means that it arrives, also when the process ends at once.
        wait_for_acks: AckWait::For(PATIENCE),
        ..arguments.bag.options()?
    };
    let session = Session {
        bag: &arguments.bag,
        live: &arguments.live,
        node,
        reader,
        options,
        line_rate: 10.0,
        beginning: Beginning::Burst(arguments.num_messages),
        parameters: None,
    };
    session.run(context)
}
