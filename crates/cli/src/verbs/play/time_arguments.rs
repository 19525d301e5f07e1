//! The flags of `play` about time: range, rate and clock.

use clap::Args;
use timeloom_node::player::sane_rate;
use timeloom_time::{Duration, PlaybackRate};

use super::plan::LoopRange;
use crate::failure::Failure;
use crate::live::seconds;
use crate::time_argument::TimeArgument;
use crate::time_range::TimeRangeArguments;

/// Range, rate and clock.
#[derive(Debug, Args)]
#[command(next_help_heading = "Time")]
#[expect(
    clippy::struct_excessive_bools,
    reason = "the switches of a command line, independent of each other"
)]
pub(crate) struct TimeArguments {
    /// The playback rate [default: 1.0]
    #[arg(short, long, value_name = "RATE", value_parser = rate, allow_hyphen_values = true)]
    pub(super) rate: Option<PlaybackRate>,
    #[command(flatten)]
    pub(super) range: TimeRangeArguments,
    /// Start this many seconds after the first message
    #[arg(long, value_name = "SECONDS", value_parser = seconds, conflicts_with = "start", allow_hyphen_values = true)]
    pub(super) start_offset: Option<Duration>,
    /// Play this many seconds of the bag; negative: all
    #[arg(long, value_name = "SECONDS", value_parser = maybe_seconds, allow_hyphen_values = true, conflicts_with = "end")]
    pub(super) playback_duration: Option<MaybeTime>,
    /// Play up to this time, in seconds since the epoch; with a duration, the later end applies
    #[arg(long, value_name = "SECONDS", value_parser = maybe_seconds, allow_hyphen_values = true, conflicts_with_all = ["playback_until_nsec", "end"])]
    pub(super) playback_until_sec: Option<MaybeTime>,
    /// Play up to this time, in nanoseconds since the epoch
    #[arg(
        long,
        value_name = "NANOSECONDS",
        allow_hyphen_values = true,
        conflicts_with = "end"
    )]
    pub(super) playback_until_nsec: Option<i64>,
    /// Restart at the end; a lap over a single point in time takes a second
    #[arg(short = 'l', long = "loop")]
    pub(super) repeat: bool,
    /// Repeat a range: from..to, in the formats of --start
    #[arg(long, value_name = "A..B", allow_hyphen_values = true)]
    pub(super) loop_range: Option<LoopRange>,
    /// Let time continue in a loop, instead of jumping back
    #[arg(long)]
    pub(super) loop_monotonic: bool,
    /// Start paused
    #[arg(short = 'p', long)]
    pub(super) start_paused: bool,
    /// Wait this many seconds before the first message [default: 0]
    #[arg(short, long, value_name = "SECONDS", value_parser = seconds, allow_hyphen_values = true)]
    pub(super) delay: Option<Duration>,
    /// Start at this system time, for example on several machines at once
    #[arg(long, value_name = "TIME")]
    pub(super) start_at: Option<TimeArgument>,
    /// Publish /clock this many times per second; a recorded /clock is not played. Its message ends in 2038
    #[arg(long, value_name = "HERTZ", num_args = 0..=1, default_missing_value = "40", value_parser = hertz,
        conflicts_with_all = ["clock_topics", "clock_topics_all"])]
    pub(super) clock: Option<f64>,
    /// Publish /clock before each message of these topics
    #[arg(long, num_args = 1.., value_delimiter = ',', value_name = "TOPIC", conflicts_with = "clock_topics_all")]
    pub(super) clock_topics: Vec<String>,
    /// Publish /clock before each message
    #[arg(long)]
    pub(super) clock_topics_all: bool,
    /// Follow the /clock of a simulator or another player, which alone can pause, seek and change the rate; a recorded
    /// /clock is not played
    #[arg(long, conflicts_with_all = ["clock", "clock_topics", "clock_topics_all", "start_paused", "delay", "start_at", "loop_monotonic", "loop_range"])]
    pub(super) use_sim_time: bool,
    /// With --use-sim-time: let time run on between samples of /clock, for at most one period
    #[arg(long)]
    pub(super) extrapolate_ros_time: bool,
    /// With --use-sim-time: skip the messages of steps of /clock that are larger than this many seconds (5 without a
    /// number), and exit with 3 [default: they are published at once]
    #[arg(long, value_name = "SECONDS", num_args = 0..=1, default_missing_value = "5", value_parser = seconds)]
    pub(super) skip_clock_steps: Option<Duration>,
}

/// A time where a negative number means none.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct MaybeTime(pub(super) Option<Duration>);

impl TimeArguments {
    pub(super) fn rate(&self) -> PlaybackRate {
        self.rate.unwrap_or(PlaybackRate::REAL_TIME)
    }

    /// Refuses parameters that contradict each other, as clap does for flags.
    fn check_sim_time(&self) -> Result<(), Failure> {
        let own = [
            (
                "a frequency of /clock",
                self.clock.is_some_and(|hertz| hertz > 0.0),
            ),
            (
                "/clock before messages",
                self.clock_topics_all || !self.clock_topics.is_empty(),
            ),
            ("a start in pause", self.start_paused),
            (
                "a delay",
                self.delay.is_some_and(|delay| delay > Duration::ZERO),
            ),
        ];
        match own.into_iter().find(|(_, given)| *given) {
            Some((what, _)) => Err(Failure::usage(format!(
                "use_sim_time and {what} contradict each other: with use_sim_time, /clock comes from another node"
            ))),
            None => Ok(()),
        }
    }

    /// Flags that have no effect.
    pub(super) fn idle_flags(&self) -> Vec<&'static str> {
        let flags = [
            ("--extrapolate-ros-time", self.extrapolate_ros_time),
            ("--skip-clock-steps", self.skip_clock_steps.is_some()),
        ];
        let given = flags.into_iter().filter(|(_, given)| *given);
        given
            .map(|(flag, _)| flag)
            .filter(|_| !self.use_sim_time)
            .collect()
    }

    /// Refuses flags that contradict each other.
    pub(super) fn check(&self) -> Result<(), Failure> {
        let endless = self.repeat || self.loop_range.is_some();
        if self.loop_monotonic && !endless {
            let text = "--loop-monotonic requires a loop";
            return Err(Failure::usage(text).hint("add --loop, or --loop-range"));
        }
        if self.use_sim_time {
            self.check_sim_time()?;
        }
        if self.use_sim_time && self.rate() != PlaybackRate::REAL_TIME {
            let text = "--rate cannot be used with --use-sim-time: time follows /clock";
            return Err(Failure::usage(text).hint(
                "set the rate of the node that publishes /clock: `timeloom clock drive rate`",
            ));
        }
        Ok(())
    }
}

pub(super) fn rate(text: &str) -> Result<PlaybackRate, String> {
    let number: f64 = text
        .parse()
        .map_err(|error| format!("expected a number: {error}"))?;
    sane_rate(number).map_err(|refusal| refusal.to_string())
}

/// A number of times per second.
pub(super) fn hertz(text: &str) -> Result<f64, String> {
    let number: f64 = text
        .parse()
        .map_err(|error| format!("expected a number: {error}"))?;
    if number > 0.0 && number <= 10_000.0 {
        Ok(number)
    } else {
        Err(
            "expected a number above 0 and up to 10000; without the flag /clock is not published"
                .to_owned(),
        )
    }
}

fn maybe_seconds(text: &str) -> Result<MaybeTime, String> {
    let number: f64 = text
        .parse()
        .map_err(|error| format!("expected a number of seconds: {error}"))?;
    if number < 0.0 {
        return Ok(MaybeTime(None));
    }
    seconds(text).map(|time| MaybeTime(Some(time)))
}
