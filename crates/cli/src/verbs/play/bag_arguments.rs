//! The flags that `play` and `burst` have in common: the bags, what is taken from them, and the node.

use std::fs;
use std::path::PathBuf;

use anyhow::Context as _;
use clap::Args;
use fancy_regex::Regex;
use timeloom_bag::{BagReader, StorageReader as _};
use timeloom_msg::Distro;
use timeloom_msg::qos::parse_overrides;
use timeloom_node::player::{Options, ReadAheadLimits, Selection, SettleWait};
use timeloom_node::{NodeOptions, Remap};
use timeloom_time::Duration;

use crate::bags::Bags;
use crate::context::Context;
use crate::decode::resolver;
use crate::environment::text;
use crate::failure::Failure;
use crate::files;
use crate::live::seconds;
use crate::log_level::LogLevel;
use crate::params_file::{Given, NodeFlags};
use crate::selection_arguments::{SelectionArguments, absolute};
use crate::topic_selection::{CheckSelection as _, MatchedNames, TopicSelection};
use crate::verbs::convert::inputs::OptionalInputArguments;
use crate::verbs::info::check_storage;

/// Bags and what becomes of their topics.
#[derive(Debug, Args)]
#[command(
    mut_arg("regex", |regex| regex.help("Only topics whose whole name matches; a service is known by its event topic")),
    mut_arg("exclude_regex", |regex| regex.help("No topics whose whole name matches"))
)]
pub(crate) struct BagArguments {
    #[command(flatten)]
    inputs: OptionalInputArguments,
    /// The storage that the bags must have: mcap or sqlite3
    #[arg(short, long, value_name = "STORAGE")]
    storage: Option<String>,
    /// Number of messages to read ahead [default: those of --read-ahead-seconds, at most 1000]
    #[arg(long, value_name = "COUNT", value_parser = clap::value_parser!(u32).range(1..))]
    read_ahead_queue_size: Option<u32>,
    /// Largest read-ahead, in MiB [default: that of --read-ahead-seconds, at most 128]
    #[arg(long, value_name = "MIB", value_parser = clap::value_parser!(u32).range(1..))]
    read_ahead_mib: Option<u32>,
    /// Seconds of playing to read ahead, and at least 4 MiB
    /// [default: 0.5; no bound with --read-ahead-queue-size or --read-ahead-mib]
    #[arg(long, value_name = "SECONDS", value_parser = seconds)]
    read_ahead_seconds: Option<Duration>,
    #[command(flatten)]
    selection: SelectionArguments,
    /// QoS per topic, instead of the recorded one: a YAML file as for `ros2 bag play`
    #[arg(long, value_name = "FILE")]
    qos_profile_overrides_path: Option<PathBuf>,
    /// Publish under another name: old:=new, for topics, services, `__node` and `__ns`; repeatable
    #[arg(short = 'm', long, num_args = 1.., value_name = "OLD:=NEW")]
    remap: Vec<Remap>,
    /// Accepted for compatibility with ros2 bag; has no effect
    #[arg(long, value_name = "FILE")]
    storage_config_file: Option<PathBuf>,
    /// The name of the node
    #[arg(long, value_name = "NAME", default_value = "rosbag2_player")]
    node_name: String,
    /// The parameters `play.*` and `storage.*` of rosbag2's player, from a YAML file; flags override them
    #[arg(long, value_name = "FILE")]
    params_file: Vec<PathBuf>,
    /// Show timeline, rates and topics full screen; ? lists the keys
    #[arg(long, conflicts_with = "disable_keyboard_controls")]
    pub(crate) tui: bool,
    /// The ROS distribution of the service types [default: `ROS_DISTRO`, else jazzy]
    #[arg(long, value_name = "NAME", value_parser = distro)]
    ros_distro: Option<Distro>,
    /// Disable the keys, also on a terminal
    #[arg(long)]
    pub(crate) disable_keyboard_controls: bool,
    /// Accepted for compatibility with ros2 bag; has no effect
    #[arg(long, hide = true)]
    disable_loan_message: bool,
    /// Verbosity on stderr: debug, info, warn, error or fatal [default: info]
    #[arg(long, value_enum, value_name = "LEVEL", hide_possible_values = true)]
    log_level: Option<LogLevel>,
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
            check_storage(self.storage.as_deref().unwrap_or_default(), found)?;
        }
        let topics = &reader.info().topics;
        let selection = self.selected()?;
        selection.check_names(topics)?;
        selection.check_not_empty(topics)?;
        Ok(reader)
    }

    /// The bag for hints.
    pub(crate) fn first(&self) -> &std::path::Path {
        self.inputs.0.first()
    }

    /// A bound that is given replaces the default one of time: it is what the user wants, not the most that is needed.
    fn read_ahead(&self) -> ReadAheadLimits {
        let default = ReadAheadLimits::default();
        let (messages, mib) = (self.read_ahead_queue_size, self.read_ahead_mib);
        let is_given = messages.is_some() || mib.is_some();
        ReadAheadLimits {
            messages: messages.map_or(default.messages, |count| {
                usize::try_from(count).unwrap_or(usize::MAX)
            }),
            bytes: mib.map_or(default.bytes, |mib| u64::from(mib) << 20),
            time: self
                .read_ahead_seconds
                .or(default.time.filter(|_| !is_given)),
        }
    }

    /// The player's options as far as these flags say.
    pub(crate) fn options(&self) -> anyhow::Result<Options> {
        let selection = self.selected()?;
        let named = self.named()?;
        let mut options = Options {
            peers: Some(self.distro()),
            settle: Some(SettleWait::NETWORK),
            named_topics: selection.topics.iter().cloned().collect(),
            selection: Selection::new(move |topic| selection.takes(topic)),
            waited_for: Selection::new(move |topic| named.takes(topic)),
            read_ahead: self.read_ahead(),
            types: resolver(),
            ..Options::default()
        };
        if let Some(path) = &self.qos_profile_overrides_path {
            let text = files::read(path)?;
            options.qos_overrides =
                parse_overrides(&text).with_context(|| path.display().to_string())?;
        }
        Ok(options)
    }

    /// Whose layouts the services speak.
    pub(crate) fn distro(&self) -> Distro {
        distro_or_environment(self.ros_distro)
    }

    /// The node with its parameters. The log level holds from now on.
    pub(crate) fn node(&self, context: &mut Context) -> anyhow::Result<NodeOptions> {
        let flags = NodeFlags {
            node: NodeOptions {
                remaps: self.remap.clone(),
                ..NodeOptions::new(&self.node_name)
            },
            params_files: &self.params_file,
            log_level: self.log_level,
        };
        flags.read(context)
    }

    /// Fills in a parameter of the player where no flag says it; false if it is about something else.
    pub(crate) fn fill_in(&mut self, given: &Given<'_>) -> Result<bool, Failure> {
        let selection = &mut self.selection;
        match given.key {
            "storage.uri" => {
                let mut bag = None;
                given.path(&mut bag)?;
                if let Some(bag) = bag {
                    self.inputs.0.fill(bag);
                }
            }
            "storage.storage_id" => given.text(&mut self.storage)?,
            "storage.storage_config_uri" => given.path(&mut self.storage_config_file)?,
            "play.read_ahead_queue_size" => given.positive(&mut self.read_ahead_queue_size)?,
            "play.topics_to_filter" => given.list(&mut selection.topics)?,
            "play.services_to_filter" => given.list(&mut selection.services)?,
            "play.actions_to_filter" => given.list(&mut selection.actions)?,
            "play.regex_to_filter" => given.regex(&mut selection.regex)?,
            "play.exclude_regex_to_filter" => given.regex(&mut selection.exclude_regex)?,
            "play.exclude_topics_to_filter" => given.list(&mut selection.exclude_topics)?,
            "play.exclude_services_to_filter" => given.list(&mut selection.exclude_services)?,
            "play.exclude_actions_to_filter" => given.list(&mut selection.exclude_actions)?,
            "play.qos_profile_overrides_path" => {
                given.path(&mut self.qos_profile_overrides_path)?;
            }
            "play.disable_keyboard_controls" => given.flag(&mut self.disable_keyboard_controls)?,
            "play.disable_loan_message" => given.flag(&mut self.disable_loan_message)?,
            _ => return Ok(false),
        }
        Ok(true)
    }

    /// The selection by the rules of `ros2 bag play`: a list of topics does not affect services, nor the other way
    /// round, unless there is an expression; and an expression must match the whole name of a topic, which for a
    /// service or an action is that of its event, feedback or status topic.
    fn selected(&self) -> Result<TopicSelection, Failure> {
        let mut selection = self.named()?;
        if selection.regex.is_none() {
            selection.all_topics |= selection.topics.is_empty() && selection.topic_types.is_empty();
            selection.all_services |= selection.services.is_empty();
            selection.all_actions |= selection.actions.is_empty();
        }
        Ok(selection)
    }

    /// The selected names, or all without flags: services that are played because no flag mentions them need no
    /// subscription.
    fn named(&self) -> Result<TopicSelection, Failure> {
        let mut selection = self.selection.selection();
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

/// The flag, else `ROS_DISTRO`, else the default.
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
