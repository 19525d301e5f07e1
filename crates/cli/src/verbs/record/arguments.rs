//! The flags of `record`, spelt as in `ros2 bag record`.

use std::path::PathBuf;

use clap::{Args, ValueEnum};
use fancy_regex::Regex;
use timeloom_msg::Distro;
use timeloom_node::recorder::DropPolicy;
use timeloom_time::Duration;

use super::key_value::KeyValue;
use super::triggers::TriggerArguments;
use crate::live::LiveArguments;
use crate::log_level::LogLevel;
use crate::verbs::convert::writer_settings::{duration, size};
use crate::verbs::info::Format;

const EXAMPLES: &str = "\
EXAMPLES
  timeloom record -a                                     everything, into rosbag2_<date and time>
  timeloom record --topics /tf /tf_static /scan -o drive
  timeloom record -e '^/camera' --exclude-regex compressed$
  timeloom record -a -d 10m --max-bag-files 6            the last hour, in files of ten minutes
  timeloom record -a --snapshot-mode --max-cache-duration 30s    `s` writes the last half minute
  timeloom record -a --trigger 'low: /battery.voltage < 11.5 for 2s' --before 30s --after 10s
  timeloom record -a --min-free-space 2GiB               ends before the disk is full
  timeloom record --topics /cmd_vel --trace              with the lineage, for `timeloom trace report`
  timeloom record -a -d 1m --upload s3://robots/r2/ --delete-uploaded    each closed file goes to object storage
  timeloom record --params-file recorder.yaml            what a launch file gave to rosbag2's recorder

Lists end at the next flag. Every message is accounted for: recorded, lost on the wire, lost in the recorder, left out
on purpose, or unknown; live, in the bag (`timeloom info -v`), on events/rosbag2_messages_lost (before Lyrical:
_timeloom/rosbag2_messages_lost, once subscribed to) and by ~/get_recorder_statistics. The exit code is 3 when a message was lost; messages that were left out on purpose and what
is unknown do not change it. Ctrl-C and SIGTERM close the bag.";

/// Record the topics, services and actions of a running robot into a bag
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Arguments {
    #[command(flatten)]
    pub(super) selection: SelectionArguments,
    #[command(flatten)]
    pub(super) output: OutputArguments,
    #[command(flatten)]
    pub(super) discovery: DiscoveryArguments,
    #[command(flatten)]
    pub(super) triggers: TriggerArguments,
    #[command(flatten)]
    pub(super) behaviour: BehaviourArguments,
    #[command(flatten)]
    pub(super) limits: LimitArguments,
    #[command(flatten)]
    pub(super) upload: crate::verbs::upload::RecordArguments,
    #[command(flatten)]
    pub(crate) live: LiveArguments,
}

#[derive(Debug, Args)]
#[command(next_help_heading = "What is recorded")]
#[expect(
    clippy::struct_excessive_bools,
    reason = "the independent switches of rosbag2"
)]
pub(super) struct SelectionArguments {
    /// Topics; `--topics` is the same
    #[arg(value_name = "TOPIC", conflicts_with = "topics")]
    pub(super) topics_positional: Vec<String>,
    /// These topics
    #[arg(long, num_args = 1.., value_name = "TOPIC")]
    pub(super) topics: Vec<String>,
    /// The events of these services
    #[arg(long, num_args = 1.., value_name = "SERVICE")]
    pub(super) services: Vec<String>,
    /// These actions: feedback, status and service events
    #[arg(long, num_args = 1.., value_name = "ACTION")]
    pub(super) actions: Vec<String>,
    /// Topics of these types
    #[arg(long, num_args = 1.., value_name = "TYPE")]
    pub(super) topic_types: Vec<String>,
    /// All topics, services and actions
    #[arg(short, long)]
    pub(super) all: bool,
    /// All topics
    #[arg(long)]
    pub(super) all_topics: bool,
    /// The events of all services
    #[arg(long)]
    pub(super) all_services: bool,
    /// All actions
    #[arg(long)]
    pub(super) all_actions: bool,
    /// Topics, services and actions whose name contains a match
    #[arg(short = 'e', long, value_name = "REGEX")]
    pub(super) regex: Option<Regex>,
    /// Nothing whose name contains a match
    #[arg(short = 'x', long, value_name = "REGEX")]
    pub(super) exclude_regex: Option<Regex>,
    /// Not topics of these types
    #[arg(long, num_args = 1.., value_name = "TYPE")]
    pub(super) exclude_topic_types: Vec<String>,
    /// Not these topics
    #[arg(long, num_args = 1.., value_name = "TOPIC")]
    pub(super) exclude_topics: Vec<String>,
    /// Not the events of these services
    #[arg(long, num_args = 1.., value_name = "SERVICE")]
    pub(super) exclude_services: Vec<String>,
    /// Not these actions
    #[arg(long, num_args = 1.., value_name = "ACTION")]
    pub(super) exclude_actions: Vec<String>,
    /// YAML file with topics and types that are subscribed to at once, published or not
    #[arg(long, visible_alias = "static-topics-list", value_name = "FILE")]
    pub(super) static_topics_path: Option<PathBuf>,
    /// The lineage of messages, too: all topics of tracking tags, for `timeloom trace`
    #[arg(long, visible_alias = "record-trace")]
    pub(super) trace: bool,
    /// Also topics without a publisher
    #[arg(long)]
    pub(super) include_unpublished_topics: bool,
    /// Also hidden topics: with a part that begins with an underscore
    #[arg(long)]
    pub(super) include_hidden_topics: bool,
    /// Ignore topics without another subscription
    #[arg(long)]
    pub(super) ignore_leaf_topics: bool,
}

#[derive(Debug, Args)]
#[command(next_help_heading = "The bag")]
pub(super) struct OutputArguments {
    /// The directory of the bag; `rosbag2_` with date and time unless given
    #[arg(short, long, value_name = "DIRECTORY")]
    pub(super) output: Option<PathBuf>,
    /// mcap or sqlite3 [default: mcap]
    #[arg(short, long, value_name = "STORAGE")]
    pub(super) storage: Option<String>,
    /// YAML file with options of the storage
    #[arg(long, value_name = "FILE")]
    pub(super) storage_config_file: Option<PathBuf>,
    /// Preset of the storage; `timeloom list storage -v` shows them
    #[arg(long, value_name = "PRESET")]
    pub(super) storage_preset_profile: Option<String>,
    /// Encoding of messages; only cdr
    #[arg(short = 'f', long, value_name = "FORMAT")]
    pub(super) serialization_format: Option<String>,
    /// Begin a new file at this size: bytes, or 500MB, 1GiB …
    #[arg(short = 'b', long, value_name = "SIZE", value_parser = size)]
    pub(super) max_bag_size: Option<u64>,
    /// Begin a new file after this time: seconds, or 10m, 1h …
    #[arg(short = 'd', long, value_name = "DURATION", value_parser = duration)]
    pub(super) max_bag_duration: Option<i64>,
    /// Keep this many files and delete the oldest
    #[arg(long, value_name = "COUNT", value_parser = clap::value_parser!(u32).range(1..))]
    pub(super) max_bag_files: Option<u32>,
    /// Begin each further file and snapshot with the last messages of latched topics
    #[arg(long, num_args = 1.., value_name = "TOPIC[=DEPTH]")]
    pub(super) repeat_transient_local: Vec<KeyValue>,
    /// The same for every latched topic
    #[arg(long, value_name = "DEPTH", value_parser = clap::value_parser!(u32).range(1..))]
    pub(super) repeat_all_transient_local: Option<u32>,
    /// Additional keys in the metadata
    #[arg(long, num_args = 1.., value_name = "KEY=VALUE")]
    pub(super) custom_data: Vec<KeyValue>,
    /// Do not record the state of the robot: graph, parameters of the nodes, host and settings
    #[arg(long)]
    pub(super) no_state: bool,
    /// none, file or message
    #[arg(long, value_name = "MODE")]
    pub(super) compression_mode: Option<String>,
    /// zstd
    #[arg(long, value_name = "FORMAT")]
    pub(super) compression_format: Option<String>,
    /// Accepted for compatibility with ros2; has no effect: messages wait for compression in the cache
    #[arg(long, value_name = "COUNT", hide_short_help = true)]
    pub(super) compression_queue_size: Option<u64>,
    /// Threads that compress chunks; 0 for as many as there are cores
    #[arg(long, value_name = "COUNT")]
    pub(super) compression_threads: Option<usize>,
    /// Accepted for compatibility with ros2; has no effect
    #[arg(
        long,
        value_name = "NICE",
        hide_short_help = true,
        allow_negative_numbers = true
    )]
    pub(super) compression_threads_priority: Option<i32>,
    /// 4 to 10; 10 is refused by strict readers; every version holds the account [default: that of `ROS_DISTRO`, else 9]
    #[arg(long, value_name = "VERSION", value_parser = clap::value_parser!(u32).range(4..=10))]
    pub(super) metadata_version: Option<u32>,
    /// The ROS distribution in the metadata and of the service types [default: `ROS_DISTRO`, else jazzy]
    #[arg(long, value_name = "NAME", value_parser = distro)]
    pub(super) ros_distro: Option<Distro>,
}

#[derive(Debug, Args)]
#[command(next_help_heading = "Discovery and QoS")]
pub(super) struct DiscoveryArguments {
    /// Record only topics that exist at the start
    #[arg(long)]
    pub(super) no_discovery: bool,
    /// Interval of retries for topics that failed, in milliseconds; new topics are seen at once [default: 100]
    #[arg(short, long, value_name = "MILLISECONDS", value_parser = clap::value_parser!(u32).range(1..))]
    pub(super) polling_interval: Option<u32>,
    /// YAML file with the QoS to request, by topic
    #[arg(long, value_name = "FILE")]
    pub(super) qos_profile_overrides_path: Option<PathBuf>,
}

#[derive(Debug, Args)]
#[command(next_help_heading = "Behaviour")]
#[expect(
    clippy::struct_excessive_bools,
    reason = "the independent switches of rosbag2"
)]
pub(super) struct BehaviourArguments {
    /// Size of the queue between receiving and writing; with 0, each message is written before the next
    #[arg(long, value_name = "SIZE", value_parser = size)]
    pub(super) max_cache_size: Option<u64>,
    /// Maximum time in the queue
    #[arg(long, value_name = "DURATION", value_parser = duration)]
    pub(super) max_cache_duration: Option<i64>,
    /// Which messages to drop when the queue is full: newest, oldest, or block to wait [default: newest]
    #[arg(long, value_name = "POLICY")]
    pub(super) drop_policy: Option<DropPolicy>,
    /// The same for one topic
    #[arg(long, num_args = 1.., value_name = "TOPIC=POLICY")]
    pub(super) topic_drop_policy: Vec<KeyValue>,
    /// Highest recorded rate of a topic, in Hz
    #[arg(long, num_args = 1.., value_name = "TOPIC=HZ")]
    pub(super) topic_throttle_frequency: Vec<KeyValue>,
    /// Keep the newest messages in the cache and write them on ~/snapshot or the key `s`
    #[arg(long)]
    pub(super) snapshot_mode: bool,
    /// Record nothing until ~/resume or the space bar
    #[arg(long)]
    pub(super) start_paused: bool,
    /// Join a fleet: `timeloom fleet` starts, stops and shows all recorders of this name
    #[arg(long, value_name = "NAME", value_parser = crate::verbs::fleet::name)]
    pub(super) fleet: Option<String>,
    /// Stamp messages with /clock
    #[arg(long)]
    pub(super) use_sim_time: bool,
    /// The name of the node
    #[arg(long, value_name = "NAME", default_value = "rosbag2_recorder")]
    pub(super) node_name: String,
    /// YAML file with parameters of rosbag2's recorder (`record.*`, `storage.*`); flags take precedence
    #[arg(long, value_name = "FILE")]
    pub(super) params_file: Vec<PathBuf>,
    /// Maximum rate of published loss statistics, in Hz; 0 for never [default: 1]
    #[arg(long = "stats_max_publishing_rate", visible_aliases = ["stats-max-publishing-rate", "statistics-update-rate"],
        value_name = "HZ")]
    pub(super) statistics_rate: Option<f64>,
    /// Show topics, rates and losses in the whole terminal; ? lists the keys
    #[arg(long, conflicts_with = "disable_keyboard_controls")]
    pub(super) tui: bool,
    /// Do not read the keyboard
    #[arg(long)]
    pub(super) disable_keyboard_controls: bool,
    /// Format of the account at the end: text on stderr; json prints one line per bag on stdout as well
    #[arg(long, value_enum, default_value_t, value_name = "FORMAT")]
    pub(super) format: Format,
    /// Level of messages on stderr: debug, info, warn, error or fatal [default: info]
    #[arg(long, value_enum, value_name = "LEVEL", hide_possible_values = true)]
    pub(super) log_level: Option<LogLevel>,
}

#[derive(Debug, Args)]
#[command(next_help_heading = "Limits")]
pub(super) struct LimitArguments {
    /// End after this time
    #[arg(long, value_name = "DURATION", value_parser = duration)]
    pub(super) max_recording_duration: Option<i64>,
    /// End at this size of all files
    #[arg(long, value_name = "SIZE", value_parser = size)]
    pub(super) max_recording_size: Option<u64>,
    /// End after this number of messages
    #[arg(long, value_name = "COUNT")]
    pub(super) max_recording_messages: Option<u64>,
    /// Least free space on the disk
    #[arg(long, value_name = "SIZE", value_parser = size)]
    pub(super) min_free_space: Option<u64>,
    /// Least free space, in percent of the disk
    #[arg(long, value_name = "PERCENT", value_parser = clap::value_parser!(u8).range(1..=99))]
    pub(super) min_free_space_percent: Option<u8>,
    /// Action when less space is free [default: stop]
    #[arg(long, value_enum, value_name = "ACTION")]
    pub(super) low_free_space_action: Option<LowSpace>,
}

/// The action when the disk is nearly full.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
#[value(rename_all = "snake_case")]
pub(super) enum LowSpace {
    /// End the recording
    Stop,
    /// Delete the oldest files of the recording
    DeleteOldestFiles,
}

fn distro(text: &str) -> Result<Distro, String> {
    text.parse()
        .map_err(|error: timeloom_msg::Error| error.to_string())
}

impl Arguments {
    /// Whether messages are kept in the cache until they are asked for.
    pub(super) fn has_ring(&self) -> bool {
        self.behaviour.snapshot_mode || !self.triggers.is_empty()
    }

    /// How often losses are published at most, in Hz.
    pub(super) fn statistics_rate(&self) -> f64 {
        self.behaviour.statistics_rate.unwrap_or(1.0)
    }
}

/// A duration that was given in nanoseconds, or none.
pub(super) fn span(nanoseconds: Option<i64>) -> Duration {
    Duration::from_nanos(nanoseconds.unwrap_or(0))
}
