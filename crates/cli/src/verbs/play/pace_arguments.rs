//! The flags of `play` about keeping up: who is waited for, and what happens to late messages.

use clap::{Args, ValueEnum};
use timeloom_node::player::{AckWait, Pace};
use timeloom_time::Duration;

use crate::failure::Failure;
use crate::live::{full_name, seconds};

/// Subscriptions to wait for, and the fate of late messages.
#[derive(Debug, Args)]
#[command(next_help_heading = "Pace")]
pub(crate) struct PaceArguments {
    /// Wait until each topic that the selection names has this many subscriptions
    #[arg(long, value_name = "COUNT", num_args = 0..=1, default_missing_value = "1", default_value = "0")]
    wait_for_subscribers: usize,
    /// At the end, wait so many milliseconds for the acknowledgements of reliable subscriptions; 0 for ever [default: a
    /// second, and without them the exit code is 0 all the same]
    #[arg(long, value_name = "MILLISECONDS", allow_hyphen_values = true,
        value_parser = clap::value_parser!(i64).range(0..))]
    pub(super) wait_for_all_acked: Option<i64>,
    /// What to do when publishing cannot keep up with time
    #[arg(long, value_enum, default_value_t, value_name = "POLICY")]
    pace: Policy,
    /// Seconds that a message may be late with --pace drop [default: 0.1]
    #[arg(long, value_name = "SECONDS", value_parser = seconds)]
    pace_tolerance: Option<Duration>,
    /// The topic that --pace lockstep waits for
    #[arg(long, value_name = "TOPIC")]
    sync_topic: Option<String>,
    /// Seconds that --pace lockstep may be ahead of that topic [default: 0.1]
    #[arg(long, value_name = "SECONDS", value_parser = seconds)]
    sync_window: Option<Duration>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, ValueEnum)]
enum Policy {
    /// Publish late messages at once, time does not wait; as ros2 bag does
    #[default]
    CatchUp,
    /// Time waits for late messages: all topics slow down
    KeepOrder,
    /// Drop and count messages that are too late
    Drop,
    /// Time waits until each message was acknowledged
    WaitAcked,
    /// Time waits for a topic that another node publishes
    Lockstep,
}

const TENTH: Duration = Duration::from_millis(100);

impl PaceArguments {
    /// Refuses what makes no sense together.
    pub(super) fn check(&self) -> Result<(), Failure> {
        let wrong = |flag: &str, policy: &str| {
            Err(Failure::usage(format!("{flag} is for --pace {policy}")))
        };
        if self.pace_tolerance.is_some() && self.pace != Policy::Drop {
            return wrong("--pace-tolerance", "drop");
        }
        if self.sync_window.is_some() && self.pace != Policy::Lockstep {
            return wrong("--sync-window", "lockstep");
        }
        match (&self.sync_topic, self.pace) {
            (Some(_), policy) if policy != Policy::Lockstep => wrong("--sync-topic", "lockstep"),
            (None, Policy::Lockstep) => {
                let text = "--pace lockstep needs the topic to wait for";
                Err(Failure::usage(text).hint("add --sync-topic"))
            }
            _ => Ok(()),
        }
    }

    pub(super) fn subscribers(&self) -> usize {
        self.wait_for_subscribers
    }

    pub(super) fn acks(&self) -> AckWait {
        match self.wait_for_all_acked {
            None => AckWait::Briefly,
            Some(0) => AckWait::Forever,
            Some(millis) => AckWait::For(Duration::from_millis(millis)),
        }
    }

    pub(super) fn pace(&self) -> anyhow::Result<Pace> {
        Ok(match self.pace {
            Policy::CatchUp => Pace::CatchUp,
            Policy::KeepOrder => Pace::KeepOrder,
            Policy::Drop => Pace::Drop {
                tolerance: self.pace_tolerance.unwrap_or(TENTH),
            },
            Policy::WaitAcked => Pace::WaitAcked,
            Policy::Lockstep => Pace::Lockstep {
                topic: full_name(self.sync_topic.as_deref().unwrap_or_default())?,
                window: self.sync_window.unwrap_or(TENTH),
            },
        })
    }
}
