//! The parameters of rosbag2's recorder node, from `--params-file` and `--ros-args`, for what no flag says.

use timeloom_node::{NodeOptions, ParameterValue};

use super::arguments::{Arguments, LowSpace};
use crate::context::Context;
use crate::failure::Failure;
use crate::params_file::{self, Given, NodeFlags};

/// All keys that mean something here.
const KEYS: [&str; 55] = [
    "record.all",
    "record.all_topics",
    "record.all_services",
    "record.all_actions",
    "record.is_discovery_disabled",
    "record.topics",
    "record.topic_types",
    "record.services",
    "record.actions",
    "record.exclude_topics",
    "record.exclude_topic_types",
    "record.exclude_services",
    "record.exclude_actions",
    "record.rmw_serialization_format",
    "record.topic_polling_interval.sec",
    "record.topic_polling_interval.nsec",
    "record.regex",
    "record.exclude_regex",
    "record.node_prefix",
    "record.compression_mode",
    "record.compression_format",
    "record.compression_queue_size",
    "record.compression_threads",
    "record.compression_threads_priority",
    "record.qos_profile_overrides_path",
    "record.static_topics_path",
    "record.include_hidden_topics",
    "record.include_unpublished_topics",
    "record.ignore_leaf_topics",
    "record.start_paused",
    "record.use_sim_time",
    "record.disable_keyboard_controls",
    "record.repeat_transient_local",
    "record.repeat_all_transient_local",
    "record.statistics_max_publishing_rate",
    "record.topic_throttle_frequency",
    "storage.uri",
    "storage.storage_id",
    "storage.storage_config_uri",
    "storage.max_bagfile_size",
    "storage.max_bagfile_duration",
    "storage.max_bag_files",
    "storage.max_cache_size",
    "storage.max_cache_duration",
    "storage.storage_preset_profile",
    "storage.snapshot_mode",
    "storage.custom_data",
    "storage.start_time_ns",
    "storage.end_time_ns",
    "storage.min_free_space_bytes",
    "storage.min_free_space_percent",
    "storage.low_free_space_action",
    "storage.max_recording_duration",
    "storage.max_recording_size",
    "storage.max_recording_messages",
];

/// The parameters of the node, and warnings.
pub(super) struct FilledIn {
    /// The node, with all parameters that are meant for it.
    pub(super) node: NodeOptions,
    pub(super) warnings: Vec<String>,
}

/// Reads the parameters and fills in what no flag says.
pub(super) fn fill_in(
    arguments: &mut Arguments,
    context: &mut Context,
) -> anyhow::Result<FilledIn> {
    let flags = NodeFlags {
        node: NodeOptions::new(&arguments.behaviour.node_name),
        params_files: &arguments.behaviour.params_file,
        log_level: arguments.behaviour.log_level,
    };
    let mut node = flags.read(context)?;
    let mut warnings = Vec::new();
    for (key, value) in &node.parameters {
        let given = Given { key, value };
        match key.as_str() {
            "use_sim_time" => given.flag(&mut arguments.behaviour.use_sim_time)?,
            "record.topic_polling_interval.sec" | "record.topic_polling_interval.nsec" => {}
            "record.node_prefix" if given.string()?.is_empty() => {}
            "record.node_prefix" => warnings.push(format!("{key} has no effect here")),
            "storage.start_time_ns" | "storage.end_time_ns" => no_time(&given)?,
            key if key.starts_with("record.") => record(arguments, &given)?,
            key if key.starts_with("storage.") => storage(arguments, &given)?,
            // A parameter that only others read.
            _ => {}
        }
    }
    let polling = "record.topic_polling_interval";
    let polling_ns = params_file::seconds_and_nanos(&node.parameters, polling)?.unwrap_or(0);
    if polling_ns > 0 && arguments.discovery.polling_interval.is_none() {
        let millis = u32::try_from((polling_ns / 1_000_000).max(1)).unwrap_or(u32::MAX);
        arguments.discovery.polling_interval = Some(millis);
    }
    let simulated = arguments.behaviour.use_sim_time;
    let flag = ParameterValue::Bool(simulated);
    node.use_sim_time = simulated;
    node.parameters.insert("use_sim_time".to_owned(), flag);
    Ok(FilledIn { node, warnings })
}

/// The range of a conversion; a recording has none.
fn no_time(given: &Given<'_>) -> Result<(), Failure> {
    if given.whole::<i64>()? < 0 {
        return Ok(());
    }
    Err(Failure::usage(format!(
        "{} applies to `convert` only: a recording starts now",
        given.key
    ))
    .hint("cut the bag afterwards with `timeloom convert --start … --end …`"))
}

fn record(arguments: &mut Arguments, given: &Given<'_>) -> Result<(), Failure> {
    let selection = &mut arguments.selection;
    let (output, discovery) = (&mut arguments.output, &mut arguments.discovery);
    let behaviour = &mut arguments.behaviour;
    let (_, name) = given.key.split_once('.').unwrap_or_default();
    match name {
        "all" => given.flag(&mut selection.all),
        "all_topics" => given.flag(&mut selection.all_topics),
        "all_services" => given.flag(&mut selection.all_services),
        "all_actions" => given.flag(&mut selection.all_actions),
        "is_discovery_disabled" => given.flag(&mut discovery.no_discovery),
        "topics" if selection.topics_positional.is_empty() => given.list(&mut selection.topics),
        "topics" => Ok(()),
        "topic_types" => given.list(&mut selection.topic_types),
        "services" => given.list(&mut selection.services),
        "actions" => given.list(&mut selection.actions),
        "exclude_topics" => given.list(&mut selection.exclude_topics),
        "exclude_topic_types" => given.list(&mut selection.exclude_topic_types),
        "exclude_services" => given.list(&mut selection.exclude_services),
        "exclude_actions" => given.list(&mut selection.exclude_actions),
        "rmw_serialization_format" => given.text(&mut output.serialization_format),
        "regex" => given.regex(&mut selection.regex),
        "exclude_regex" => given.regex(&mut selection.exclude_regex),
        "compression_mode" => given.text(&mut output.compression_mode),
        "compression_format" => given.text(&mut output.compression_format),
        "compression_queue_size" => given.number(&mut output.compression_queue_size),
        "compression_threads" => given.number(&mut output.compression_threads),
        "compression_threads_priority" => given.number(&mut output.compression_threads_priority),
        "qos_profile_overrides_path" => given.path(&mut discovery.qos_profile_overrides_path),
        "static_topics_path" => given.path(&mut selection.static_topics_path),
        "include_hidden_topics" => given.flag(&mut selection.include_hidden_topics),
        "include_unpublished_topics" => given.flag(&mut selection.include_unpublished_topics),
        "ignore_leaf_topics" => given.flag(&mut selection.ignore_leaf_topics),
        "start_paused" => given.flag(&mut behaviour.start_paused),
        "use_sim_time" => given.flag(&mut behaviour.use_sim_time),
        "disable_keyboard_controls" => given.flag(&mut behaviour.disable_keyboard_controls),
        "repeat_transient_local" => given.pairs(&mut output.repeat_transient_local),
        "repeat_all_transient_local" => given.positive(&mut output.repeat_all_transient_local),
        "statistics_max_publishing_rate" => given.real(&mut behaviour.statistics_rate),
        "topic_throttle_frequency" => given.pairs(&mut behaviour.topic_throttle_frequency),
        _ => Err(params_file::unknown(given.key, KEYS)),
    }
}

fn storage(arguments: &mut Arguments, given: &Given<'_>) -> Result<(), Failure> {
    let output = &mut arguments.output;
    let (behaviour, limits) = (&mut arguments.behaviour, &mut arguments.limits);
    let (_, name) = given.key.split_once('.').unwrap_or_default();
    match name {
        "uri" => given.path(&mut output.output),
        "storage_id" => given.text(&mut output.storage),
        "storage_config_uri" => given.path(&mut output.storage_config_file),
        "max_bagfile_size" => given.number(&mut output.max_bag_size),
        "max_bagfile_duration" => given.seconds(&mut output.max_bag_duration),
        "max_bag_files" => given.positive(&mut output.max_bag_files),
        "max_cache_size" => given.number(&mut behaviour.max_cache_size),
        "max_cache_duration" => given.seconds(&mut behaviour.max_cache_duration),
        "storage_preset_profile" => given.text(&mut output.storage_preset_profile),
        "snapshot_mode" => given.flag(&mut behaviour.snapshot_mode),
        "custom_data" => given.pairs(&mut output.custom_data),
        "min_free_space_bytes" => given.positive(&mut limits.min_free_space),
        "min_free_space_percent" => given.positive(&mut limits.min_free_space_percent),
        "low_free_space_action" => low_space(given, &mut limits.low_free_space_action),
        "max_recording_duration" => given.seconds(&mut limits.max_recording_duration),
        "max_recording_size" => given.number(&mut limits.max_recording_size),
        "max_recording_messages" => given.number(&mut limits.max_recording_messages),
        _ => Err(params_file::unknown(given.key, KEYS)),
    }
}

fn low_space(given: &Given<'_>, slot: &mut Option<LowSpace>) -> Result<(), Failure> {
    let action = match given.string()? {
        "" => return Ok(()),
        "stop" => LowSpace::Stop,
        "delete_oldest_files" => LowSpace::DeleteOldestFiles,
        _ => return Err(given.wrong("stop or delete_oldest_files")),
    };
    slot.get_or_insert(action);
    Ok(())
}
