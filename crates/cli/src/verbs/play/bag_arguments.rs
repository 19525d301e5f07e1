//! The flags that `play` and `burst` have in common: the bags, what is taken from them, and the node.

use std::fs;
use std::path::PathBuf;

use anyhow::Context as _;
use clap::{Args, ValueEnum};
use fancy_regex::Regex;
use timeloom_bag::{BagReader, StorageReader as _};
use timeloom_msg::Distro;
use timeloom_msg::qos::parse_overrides;
use timeloom_node::player::{Options, ReadAheadLimits, Selection, SettleWait};
use timeloom_node::{NodeOptions, Remap};

use crate::bags::Bags;
use crate::environment::text;
use crate::failure::Failure;
use crate::selection_arguments::{SelectionArguments, absolute};
use crate::topic_selection::{MatchedNames, TopicSelection};
use crate::verbs::convert::inputs::InputArguments;
use crate::verbs::info::check_storage;

/// Bags and what becomes of their topics.
#[derive(Debug, Args)]
pub(crate) struct BagArguments {
    #[command(flatten)]
    inputs: InputArguments,
    /// The storage that the bags must have: mcap or sqlite3
    #[arg(
        short,
        long,
        value_name = "STORAGE",
        default_value = "",
        hide_default_value = true
    )]
    storage: String,
    /// How many messages are read in advance
    #[arg(long, value_name = "COUNT", default_value = "1000", value_parser = clap::value_parser!(u32).range(1..))]
    read_ahead_queue_size: u32,
    /// How many MiB are read in advance at most, however few messages that is
    #[arg(long, value_name = "MIB", default_value = "128", value_parser = clap::value_parser!(u32).range(1..))]
    read_ahead_mib: u32,
    #[command(flatten)]
    selection: SelectionArguments,
    /// QoS by topic, in place of the recorded one: a YAML file as `ros2 bag play` takes it
    #[arg(long, value_name = "FILE")]
    qos_profile_overrides_path: Option<PathBuf>,
    /// Publish under another name: old:=new, for topics, services, `__node` and `__ns`; several may be given
    #[arg(short = 'm', long, num_args = 1.., value_name = "OLD:=NEW")]
    remap: Vec<Remap>,
    /// As in ros2 bag; reading needs no settings, so nothing changes
    #[arg(long, value_name = "FILE")]
    storage_config_file: Option<PathBuf>,
    /// The name of the node
    #[arg(long, value_name = "NAME", default_value = "rosbag2_player")]
    node_name: String,
    /// Show timeline, rates and topics in the whole terminal; ? lists the keys
    #[arg(long, conflicts_with = "disable_keyboard_controls")]
    pub(crate) tui: bool,
    /// The distribution whose layouts the services speak [default: `ROS_DISTRO`, else jazzy]
    #[arg(long, value_name = "NAME", value_parser = distro)]
    ros_distro: Option<Distro>,
    /// No keys, even on a terminal
    #[arg(long)]
    pub(crate) disable_keyboard_controls: bool,
    /// As in ros2 bag; messages are never loaned, so nothing changes
    #[arg(long, hide = true)]
    disable_loan_message: bool,
    /// What is told on stderr
    #[arg(long, value_enum, default_value_t, value_name = "LEVEL")]
    pub(crate) log_level: LogLevel,
}

/// What is told.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default, ValueEnum)]
pub(crate) enum LogLevel {
    /// Everything
    Debug,
    /// What happens, warnings and errors
    #[default]
    Info,
    /// Warnings and errors
    Warn,
    /// Errors
    Error,
    /// Errors
    Fatal,
}

impl BagArguments {
    /// Opens the bags and checks that what is asked for is there.
    pub(crate) fn open(&self, bags: &Bags) -> anyhow::Result<BagReader> {
        if let Some(path) = &self.storage_config_file {
            fs::metadata(path).with_context(|| format!("cannot read {}", path.display()))?;
        }
        let reader = self.inputs.open(bags)?;
        for bag in reader.bags() {
            let found = bag.files.first().map_or("", |file| file.storage.name());
            check_storage(&self.storage, found)?;
        }
        let topics = &reader.info().topics;
        let selection = self.selected()?;
        selection.check_names(topics)?;
        selection.check_not_empty(topics)?;
        Ok(reader)
    }

    /// The bag for hints.
    pub(crate) fn first(&self) -> &std::path::Path {
        self.inputs.first()
    }

    /// The player's options as far as these flags say.
    pub(crate) fn options(&self) -> anyhow::Result<Options> {
        let selection = self.selected()?;
        let mut options = Options {
            peers: Some(self.distro()),
            settle: Some(SettleWait::NETWORK),
            named_topics: selection.topics.iter().cloned().collect(),
            selection: Selection::new(move |topic| selection.takes(topic)),
            read_ahead: ReadAheadLimits {
                messages: usize::try_from(self.read_ahead_queue_size).unwrap_or(usize::MAX),
                bytes: u64::from(self.read_ahead_mib) << 20,
            },
            ..Options::default()
        };
        if let Some(path) = &self.qos_profile_overrides_path {
            let text = fs::read_to_string(path)
                .with_context(|| format!("cannot read {}", path.display()))?;
            options.qos_overrides =
                parse_overrides(&text).with_context(|| path.display().to_string())?;
        }
        Ok(options)
    }

    /// Whose layouts the services speak.
    pub(crate) fn distro(&self) -> Distro {
        distro_or_environment(self.ros_distro)
    }

    /// The node.
    pub(crate) fn node(&self) -> NodeOptions {
        NodeOptions {
            remaps: self.remap.clone(),
            ..NodeOptions::new(&self.node_name)
        }
    }

    /// The selection by the rules of `ros2 bag play`: a list of topics says nothing of services, nor the other way
    /// round, unless there is an expression; and an expression must match the whole name of a topic, which for a
    /// service or an action is that of its event, feedback or status topic.
    fn selected(&self) -> Result<TopicSelection, Failure> {
        let mut selection = self.selection.selection();
        if selection.regex.is_none() {
            selection.all_topics |= selection.topics.is_empty() && selection.topic_types.is_empty();
            selection.all_services |= selection.services.is_empty();
            selection.all_actions |= selection.actions.is_empty();
        }
        selection.matched_names = MatchedNames::Topics;
        selection.regex = selection.regex.as_ref().map(whole).transpose()?;
        selection.exclude_regex = selection.exclude_regex.as_ref().map(whole).transpose()?;
        Ok(selection)
    }
}

pub(crate) fn distro(text: &str) -> Result<Distro, String> {
    text.parse()
        .map_err(|error: timeloom_msg::Error| error.to_string())
}

/// What was asked for, else `ROS_DISTRO`, else the default.
pub(crate) fn distro_or_environment(asked: Option<Distro>) -> Distro {
    asked.unwrap_or_else(|| text("ROS_DISTRO").parse().unwrap_or_default())
}

/// The same expression for a whole name.
fn whole(regex: &Regex) -> Result<Regex, Failure> {
    Regex::new(&format!("^(?:{})$", regex.as_str()))
        .map_err(|error| Failure::usage(format!("{}: {error}", regex.as_str())))
}

/// Names of topics as they are in a bag.
pub(crate) fn topic_names(names: &[String]) -> Vec<String> {
    absolute(names)
}
