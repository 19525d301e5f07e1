//! The YAML file of `ros2 bag convert`: a list of output bags.

use std::path::{Path, PathBuf};

use anyhow::Context as _;
use fancy_regex::Regex;
use timeloom_bag::TopicInfo;
use timeloom_bag::yaml::{self, Node};

use super::conversion::Conversion;
use super::writer_settings::WriterSettings;
use crate::context::Context;
use crate::failure::Failure;
use crate::files;
use crate::selection_arguments::{absolute, full_types};
use crate::time_range::TimeRange;
use crate::topic_selection::{CheckSelection as _, TopicSelection};

/// Keys that steer a recorder and mean nothing for a conversion.
const WITHOUT_EFFECT: [&str; 10] = [
    "compression_queue_size",
    "disable_keyboard_controls",
    "ignore_leaf_topics",
    "include_unpublished_topics",
    "is_discovery_disabled",
    "max_cache_size",
    "node_prefix",
    "snapshot_mode",
    "topic_polling_interval",
    "topic_qos_profile_overrides",
];
/// All other keys.
const KEYS: [&str; 31] = [
    "uri",
    "storage_id",
    "max_bagfile_size",
    "max_bagfile_duration",
    "storage_preset_profile",
    "storage_config_uri",
    "start_time_ns",
    "end_time_ns",
    "custom_data",
    "all",
    "all_topics",
    "topics",
    "topic_types",
    "all_services",
    "services",
    "all_actions",
    "actions",
    "rmw_serialization_format",
    "input_serialization_format",
    "output_serialization_format",
    "regex",
    "exclude",
    "exclude_regex",
    "exclude_topics",
    "exclude_topic_types",
    "exclude_services",
    "exclude_actions",
    "compression_mode",
    "compression_format",
    "compression_threads",
    "include_hidden_topics",
];

/// Reads the outputs of a file; `topics` are those of the inputs.
pub(super) fn read(
    path: &Path,
    topics: &[TopicInfo],
    context: &mut Context,
) -> anyhow::Result<Vec<Conversion>> {
    let text = files::read(path)?;
    let document = yaml::parse(&text).with_context(|| path.display().to_string())?;
    let conversions = outputs(&document).with_context(|| path.display().to_string())?;
    for plan in &conversions {
        plan.selection.check_expressions(topics)?;
        let hidden: Vec<&str> = topics
            .iter()
            .filter(|t| plan.selection.hides(t))
            .map(|t| t.name.as_str())
            .collect();
        if !hidden.is_empty() {
            let names = hidden.join(", ");
            context.printer.warning(&format!(
                "hidden topics are left out, set include_hidden_topics to keep them: {names}"
            ));
        }
        if !topics.is_empty() && !topics.iter().any(|topic| plan.selection.takes(topic)) {
            let text = format!(
                "{} gets no topics: set all_topics, topics, topic_types or regex",
                plan.directory.display()
            );
            context.printer.warning(&text);
        }
    }
    Ok(conversions)
}

/// Reads a text as such a file.
#[cfg(any(test, fuzzing))]
pub(crate) fn fuzz_options(text: &str) {
    if let Ok(document) = yaml::parse(text) {
        drop(outputs(&document));
    }
}

fn outputs(document: &Node) -> anyhow::Result<Vec<Conversion>> {
    let shape = "expected one key `output_bags` with a list of bags";
    let entries = document.as_map().ok_or_else(|| Failure::new(shape))?;
    if let Some((key, _)) = entries.iter().find(|(key, _)| key != "output_bags") {
        return Err(Failure::new(format!("unknown key {key}: {shape}")).into());
    }
    let list = document
        .get("output_bags")
        .and_then(Node::as_sequence)
        .unwrap_or_default();
    if list.is_empty() {
        return Err(Failure::new(shape).into());
    }
    list.iter()
        .enumerate()
        .map(|(index, node)| plan(node).with_context(|| format!("output_bags[{index}]")))
        .collect()
}

fn plan(node: &Node) -> anyhow::Result<Conversion> {
    let entries = node
        .as_map()
        .ok_or_else(|| Failure::new("expected keys and values"))?;
    for (key, _) in entries {
        if !KEYS.contains(&key.as_str()) && !WITHOUT_EFFECT.contains(&key.as_str()) {
            return Err(Failure::new(format!("unknown key {key}"))
                .suggest(key, KEYS)
                .into());
        }
    }
    let bag = Entry(node);
    let uri = bag.text("uri")?;
    if uri.is_empty() {
        return Err(Failure::new("uri is missing: every output needs its directory").into());
    }
    for key in [
        "rmw_serialization_format",
        "input_serialization_format",
        "output_serialization_format",
    ] {
        let format = bag.text(key)?;
        if !matches!(format.as_str(), "" | "cdr") {
            return Err(Failure::new(format!("{key}: {format} is not known, only cdr")).into());
        }
    }
    let time = |key: &str| anyhow::Ok(bag.number(key)?.filter(|time| *time >= 0));
    let range = TimeRange {
        start_ns: time("start_time_ns")?,
        end_ns: time("end_time_ns")?,
    };
    range.check()?;
    Ok(Conversion {
        directory: PathBuf::from(uri),
        options: settings(&bag)?.bag_options()?,
        selection: selection(&bag)?,
        remap: Vec::new(),
        range,
    })
}

fn settings(bag: &Entry<'_>) -> anyhow::Result<WriterSettings> {
    let count = |key: &str| -> anyhow::Result<u64> {
        let number = bag.number(key)?.unwrap_or(0);
        u64::try_from(number)
            .ok()
            .ok_or_else(|| Failure::new(format!("{key}: {number} is negative")).into())
    };
    let config = bag.text("storage_config_uri")?;
    let seconds = i64::try_from(count("max_bagfile_duration")?).unwrap_or(i64::MAX);
    Ok(WriterSettings {
        storage: bag.text("storage_id")?,
        preset: bag.text("storage_preset_profile")?,
        config_file: (!config.is_empty()).then(|| PathBuf::from(config)),
        compression_mode: bag.text("compression_mode")?,
        compression_format: bag.text("compression_format")?,
        compression_threads: usize::try_from(count("compression_threads")?).unwrap_or(0),
        max_file_size: count("max_bagfile_size")?,
        max_file_duration_ns: seconds.saturating_mul(1_000_000_000),
        metadata_version: None,
        custom_data: bag.pairs("custom_data")?,
    })
}

/// Nothing selected is nothing written, as in rosbag2.
fn selection(bag: &Entry<'_>) -> anyhow::Result<TopicSelection> {
    let all = bag.flag("all")?;
    let excluded = bag.regex("exclude_regex")?;
    Ok(TopicSelection {
        all_topics: all || bag.flag("all_topics")?,
        all_services: all || bag.flag("all_services")?,
        topics: absolute(&bag.list("topics")?).into_iter().collect(),
        all_actions: all || bag.flag("all_actions")?,
        services: absolute(&bag.list("services")?).into_iter().collect(),
        actions: absolute(&bag.list("actions")?).into_iter().collect(),
        topic_types: full_types(&bag.list("topic_types")?).into_iter().collect(),
        regex: bag.regex("regex")?,
        exclude_topics: absolute(&bag.list("exclude_topics")?).into_iter().collect(),
        exclude_services: absolute(&bag.list("exclude_services")?)
            .into_iter()
            .collect(),
        exclude_actions: absolute(&bag.list("exclude_actions")?)
            .into_iter()
            .collect(),
        exclude_topic_types: full_types(&bag.list("exclude_topic_types")?)
            .into_iter()
            .collect(),
        exclude_regex: if excluded.is_some() {
            excluded
        } else {
            bag.regex("exclude")?
        },
        include_hidden_topics: bag.flag("include_hidden_topics")?,
        include_recorder_events: true,
        ..TopicSelection::default()
    })
}

/// Typed access to the keys of one output; a missing key is empty.
struct Entry<'a>(&'a Node);

impl Entry<'_> {
    fn wrong(key: &str, expected: &str) -> anyhow::Error {
        Failure::new(format!("{key}: expected {expected}")).into()
    }

    fn value(&self, key: &str) -> Option<&Node> {
        self.0.get(key).filter(|node| !node.is_null())
    }

    fn text(&self, key: &str) -> anyhow::Result<String> {
        let Some(node) = self.value(key) else {
            return Ok(String::new());
        };
        node.as_str()
            .map(str::to_owned)
            .ok_or_else(|| Self::wrong(key, "a text"))
    }

    fn number(&self, key: &str) -> anyhow::Result<Option<i64>> {
        let Some(node) = self.value(key) else {
            return Ok(None);
        };
        let number = node.as_str().and_then(|text| text.parse().ok());
        number
            .map(Some)
            .ok_or_else(|| Self::wrong(key, "an integer"))
    }

    fn flag(&self, key: &str) -> anyhow::Result<bool> {
        match self.text(key)?.to_ascii_lowercase().as_str() {
            "true" | "yes" | "on" => Ok(true),
            "" | "false" | "no" | "off" => Ok(false),
            _ => Err(Self::wrong(key, "true or false")),
        }
    }

    fn list(&self, key: &str) -> anyhow::Result<Vec<String>> {
        let Some(node) = self.value(key) else {
            return Ok(Vec::new());
        };
        let items = node
            .as_sequence()
            .ok_or_else(|| Self::wrong(key, "a list"))?;
        let text = |item: &Node| {
            item.as_str()
                .map(str::to_owned)
                .ok_or_else(|| Self::wrong(key, "a list of names"))
        };
        items.iter().map(text).collect()
    }

    fn pairs(&self, key: &str) -> anyhow::Result<Vec<(String, String)>> {
        let Some(node) = self.value(key) else {
            return Ok(Vec::new());
        };
        let entries = node
            .as_map()
            .ok_or_else(|| Self::wrong(key, "keys and values"))?;
        let pair = |(name, value): &(String, Node)| {
            let text = value
                .as_str()
                .ok_or_else(|| Self::wrong(key, "texts as values"))?;
            anyhow::Ok((name.clone(), text.to_owned()))
        };
        entries.iter().map(pair).collect()
    }

    fn regex(&self, key: &str) -> anyhow::Result<Option<Regex>> {
        let text = self.text(key)?;
        if text.is_empty() {
            return Ok(None);
        }
        Regex::new(&text).map(Some).with_context(|| key.to_owned())
    }
}
