//! The flags of `play` about pace: what playing waits for, and what happens to late messages.

use clap::{Args, ValueEnum};
use timeloom_node::player::{AckWait, Pace};
use timeloom_time::Duration;

use crate::failure::Failure;
use crate::live::{full_name, seconds};

/// What playing waits for, and what happens to late messages.
#[derive(Debug, Args)]
#[command(next_help_heading = "Pace")]
pub(crate) struct PaceArguments {
    /// Wait until each selected topic has this many subscriptions
    #[arg(long, value_name = "COUNT", num_args = 0..=1, default_missing_value = "1", default_value = "0")]
    wait_for_subscribers: usize,
    /// At the end, wait this many milliseconds for the acknowledgements of reliable subscriptions; 0 waits forever
    /// [default: 1000, and missing acknowledgements do not change the exit code]
    #[arg(long, value_name = "MILLISECONDS", allow_hyphen_values = true,
        value_parser = clap::value_parser!(i64).range(0..))]
    pub(super) wait_for_all_acked: Option<i64>,
    /// Policy for late messages
    #[arg(long, value_enum, default_value_t, value_name = "POLICY")]
    pace: Policy,
    /// With --pace drop: drop messages that are later than this, in seconds [default: 0.1]
    #[arg(long, value_name = "SECONDS", value_parser = seconds)]
    pace_tolerance: Option<Duration>,
    /// With --pace lockstep: the topic to wait for
    #[arg(long, value_name = "TOPIC")]
    sync_topic: Option<String>,
    /// With --pace lockstep: how far time may be ahead of the topic, in seconds [default: 0.1]
    #[arg(long, value_name = "SECONDS", value_parser = seconds)]
    sync_window: Option<Duration>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, ValueEnum)]
enum Policy {
    /// Publish late messages at once; time does not wait; like ros2 bag
    #[default]
    CatchUp,
    /// Time waits for late messages: all topics slow down
    KeepOrder,
    /// Drop and count messages that are too late
    Drop,
    /// Time waits until each message is acknowledged
    WaitAcked,
    /// Time waits for a topic of another node
    Lockstep,
}

const TENTH: Duration = Duration::from_millis(100);

impl PaceArguments {
    /// Refuses flags that contradict each other.
    pub(super) fn check(&self) -> Result<(), Failure> {
        let wrong = |flag: &str, policy: &str| {
            Err(Failure::usage(format!("{flag} requires --pace {policy}")))
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
                let text = "--pace lockstep requires the topic to wait for";
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
