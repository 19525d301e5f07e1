//! The playback options of `view`.

use clap::Args;
use timeloom_bag::storage::FileInfo;
use timeloom_node::player::{
    ClockPublishing, Options, PlayRange, PlayStart, Repeat, Selection, SettleWait, sane_rate,
};
use timeloom_time::{Duration, PlaybackRate, Time};

use crate::decode::resolver;
use crate::failure::Failure;
use crate::time_range::TimeRangeArguments;
use crate::topic_selection::TopicSelection;
use crate::verbs::play::bag_arguments::distro_or_environment;

/// How a bag is played; the page and the clients change most of it later.
#[derive(Debug, Args)]
#[expect(clippy::struct_excessive_bools, reason = "each is a flag of its own")]
#[command(next_help_heading = "Playback")]
pub(crate) struct PlaybackArguments {
    /// The playback rate
    #[arg(short, long, value_name = "RATE", value_parser = rate, allow_hyphen_values = true)]
    rate: Option<PlaybackRate>,
    #[command(flatten)]
    range: TimeRangeArguments,
    /// Restart at the end
    #[arg(short = 'l', long = "loop")]
    repeat: bool,
    /// Start paused
    #[arg(short = 'p', long)]
    start_paused: bool,
    /// Publish on the ROS graph as well, as `timeloom play` does
    #[arg(long)]
    pub(super) publish: bool,
    /// Publish /clock this many times per second
    #[arg(long, value_name = "HERTZ", num_args = 0..=1, default_missing_value = "40", value_parser = hertz, requires = "publish")]
    clock: Option<Duration>,
    /// Exit at the end of the bag instead of waiting for a seek
    #[arg(long, conflicts_with = "repeat")]
    pub(super) exit_at_end: bool,
}

impl PlaybackArguments {
    /// The player's options.
    pub(super) fn options(
        &self,
        selection: TopicSelection,
        bag: &FileInfo,
    ) -> Result<Options, Failure> {
        let range = self.range.resolve(bag)?;
        Ok(Options {
            peers: self.publish.then(|| distro_or_environment(None)),
            settle: self.publish.then_some(SettleWait::NETWORK),
            named_topics: selection.topics.iter().cloned().collect(),
            selection: Selection::new(move |topic| selection.takes(topic)),
            rate: self.rate.unwrap_or(PlaybackRate::REAL_TIME),
            start_paused: self.start_paused,
            range: PlayRange {
                start: range.start_ns.map(|at| PlayStart::At(Time::from_nanos(at))),
                duration: None,
                until: range.end_ns.map(Time::from_nanos),
            },
            repeat: if self.repeat {
                Repeat::JumpBack
            } else {
                Repeat::Once
            },
            clock: ClockPublishing {
                period: self.clock,
                ..ClockPublishing::default()
            },
            types: resolver(),
            ..Options::default()
        })
    }

    /// Refuses what only a bag has.
    pub(super) fn check_live(&self) -> Result<(), Failure> {
        let given = [
            ("--rate", self.rate.is_some()),
            ("--start", self.range.start.is_some()),
            ("--end", self.range.end.is_some()),
            ("--loop", self.repeat),
            ("--start-paused", self.start_paused),
            ("--publish", self.publish),
            ("--exit-at-end", self.exit_at_end),
        ];
        match given.into_iter().find(|(_, given)| *given) {
            Some((flag, _)) => Err(Failure::usage(format!(
                "{flag} applies to bags, but none is given"
            ))
            .hint("give a bag, or leave out the flag")),
            None => Ok(()),
        }
    }
}

fn rate(text: &str) -> Result<PlaybackRate, String> {
    let number: f64 = text
        .parse()
        .map_err(|error| format!("expected a number: {error}"))?;
    sane_rate(number).map_err(|refusal| refusal.to_string())
}

/// A number of times per second, as the time between two.
fn hertz(text: &str) -> Result<Duration, String> {
    let number: f64 = text
        .parse()
        .map_err(|error| format!("expected a number: {error}"))?;
    let sane = (0.001..=10_000.0).contains(&number);
    let period = sane
        .then(|| Duration::try_from_hertz(number).ok())
        .flatten();
    period.ok_or_else(|| "expected a number from 0.001 to 10000".to_owned())
}
