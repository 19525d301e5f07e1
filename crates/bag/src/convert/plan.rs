//! The output file of `ros2 bag convert`: what each output bag shall be.

use std::path::{Path, PathBuf};

use super::ConvertOutput;
use crate::yaml::{self, Node};
use crate::{BagOptions, CompressionMode, Error, Result, StorageId, StorageOptions, TopicInfo};

/// One entry of `output_bags`: the storage and record options of rosbag2 under their own names.
///
/// Regular expressions stay text: whoever executes the plan brings the engine.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct OutputPlan {
    /// Directory of the new bag.
    pub uri: String,
    /// `mcap` or `sqlite3`; empty for `mcap`.
    pub storage_id: String,
    /// Bytes of a file; 0 for no limit.
    pub max_bagfile_size: u64,
    /// Seconds of a file; 0 for no limit.
    pub max_bagfile_duration: u64,
    /// Preset of the storage.
    pub storage_preset_profile: String,
    /// Configuration file of the storage.
    pub storage_config_uri: String,
    /// Earliest log time, inclusive.
    pub start_time_ns: Option<i64>,
    /// Latest log time, inclusive.
    pub end_time_ns: Option<i64>,
    /// `none`, `file` or `message`.
    pub compression_mode: String,
    /// The user's own keys.
    pub custom_data: Vec<(String, String)>,
    /// Which topics go into it.
    pub selection: Selection,
}

/// Which topics of the inputs go into an output; by default none does.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "the independent switches of rosbag2"
)]
pub struct Selection {
    /// All topics that are not service events.
    pub all_topics: bool,
    /// All service events.
    pub all_services: bool,
    /// Topics by name.
    pub topics: Vec<String>,
    /// Topics by type.
    pub topic_types: Vec<String>,
    /// Services by name.
    pub services: Vec<String>,
    /// Topics and services whose name matches.
    pub regex: String,
    /// Not those whose name matches.
    pub exclude_regex: String,
    /// Not these topics.
    pub exclude_topics: Vec<String>,
    /// Not topics of these types.
    pub exclude_topic_types: Vec<String>,
    /// Not these services.
    pub exclude_services: Vec<String>,
    /// Also topics with a part that begins with `_`.
    pub include_hidden_topics: bool,
    /// Also topics without messages.
    pub include_unpublished_topics: bool,
}

impl Selection {
    /// Whether a topic with so many messages is wanted. `matches` tells whether a pattern is found in a name.
    pub fn wants(
        &self,
        topic: &TopicInfo,
        messages: u64,
        matches: &dyn Fn(&str, &str) -> bool,
    ) -> bool {
        let service = topic.service_name();
        let name = service.unwrap_or(&topic.name);
        let found = |pattern: &str| !pattern.is_empty() && matches(pattern, name);
        let listed = |list: &[String], name: &str| list.iter().any(|entry| entry == name);
        let (included, excluded) = if service.is_some() {
            (
                self.all_services || listed(&self.services, name),
                listed(&self.exclude_services, name),
            )
        } else {
            let included = self.all_topics
                || listed(&self.topics, name)
                || listed(&self.topic_types, &topic.type_name);
            let excluded = listed(&self.exclude_topics, name)
                || listed(&self.exclude_topic_types, &topic.type_name);
            (included, excluded)
        };
        let hidden = service.is_none() && name.split('/').any(|part| part.starts_with('_'));
        (included || found(&self.regex))
            && !excluded
            && !found(&self.exclude_regex)
            && (self.include_hidden_topics || !hidden)
            && (self.include_unpublished_topics || messages > 0)
    }
}

impl OutputPlan {
    /// Reads the text of an output file.
    pub fn parse_all(text: &str) -> Result<Vec<Self>> {
        let document = yaml::parse(text)?;
        let bags = document.get("output_bags").and_then(Node::as_sequence);
        let bags = bags.ok_or_else(|| config("output_bags", "is missing or not a list"))?;
        bags.iter().map(Self::parse).collect()
    }

    fn parse(node: &Node) -> Result<Self> {
        let entries = node
            .as_map()
            .ok_or_else(|| config("output_bags", "is not a list of maps"))?;
        let mut plan = Self::default();
        for (key, value) in entries {
            plan.take(key, value)?;
        }
        if plan.uri.is_empty() {
            return Err(config("uri", "is missing"));
        }
        Ok(plan)
    }

    fn take(&mut self, key: &str, value: &Node) -> Result<()> {
        let selection = &mut self.selection;
        match key {
            "uri" => self.uri = text(key, value)?,
            "storage_id" => self.storage_id = text(key, value)?,
            "max_bagfile_size" => self.max_bagfile_size = number(key, value)?,
            "max_bagfile_duration" => self.max_bagfile_duration = number(key, value)?,
            "storage_preset_profile" => self.storage_preset_profile = text(key, value)?,
            "storage_config_uri" => self.storage_config_uri = text(key, value)?,
            // -1 is rosbag2's way to say nothing.
            "start_time_ns" => {
                self.start_time_ns = Some(number(key, value)?).filter(|time| *time >= 0);
            }
            "end_time_ns" => self.end_time_ns = Some(number(key, value)?).filter(|time| *time >= 0),
            "compression_mode" => self.compression_mode = text(key, value)?,
            "custom_data" => {
                let entries = value.as_map().ok_or_else(|| config(key, "is not a map"))?;
                let pair = |(name, value): &(String, Node)| Ok((name.clone(), text(name, value)?));
                self.custom_data = entries.iter().map(pair).collect::<Result<_>>()?;
            }
            "all" => {
                selection.all_topics = flag(key, value)?;
                selection.all_services = selection.all_topics;
            }
            "all_topics" => selection.all_topics = flag(key, value)?,
            "all_services" => selection.all_services = flag(key, value)?,
            "topics" => selection.topics = list(key, value)?,
            "topic_types" => selection.topic_types = list(key, value)?,
            "services" => selection.services = list(key, value)?,
            "regex" => selection.regex = text(key, value)?,
            "exclude_regex" | "exclude" => selection.exclude_regex = text(key, value)?,
            "exclude_topics" => selection.exclude_topics = list(key, value)?,
            "exclude_topic_types" => selection.exclude_topic_types = list(key, value)?,
            "exclude_services" => selection.exclude_services = list(key, value)?,
            "include_hidden_topics" => selection.include_hidden_topics = flag(key, value)?,
            "include_unpublished_topics" => {
                selection.include_unpublished_topics = flag(key, value)?;
            }
            // Nothing that a conversion here would do differently.
            "rmw_serialization_format"
            | "compression_format"
            | "compression_queue_size"
            | "compression_threads"
            | "compression_threads_priority"
            | "max_cache_size"
            | "snapshot_mode"
            | "ignore_leaf_topics" => {}
            other => return Err(config(other, "is not a key of output_bags")),
        }
        Ok(())
    }

    /// How the output is written.
    pub fn bag_options(&self) -> Result<BagOptions> {
        let id = if self.storage_id.is_empty() {
            "mcap"
        } else {
            &self.storage_id
        };
        let mut storage =
            StorageOptions::preset(StorageId::from_name(id)?, &self.storage_preset_profile)?;
        if !self.storage_config_uri.is_empty() {
            storage.apply_config_file(Path::new(&self.storage_config_uri))?;
        }
        let seconds = i64::try_from(self.max_bagfile_duration).unwrap_or(i64::MAX);
        Ok(BagOptions {
            storage,
            compression: CompressionMode::from_name(&self.compression_mode)?,
            max_file_size: self.max_bagfile_size,
            max_file_duration_ns: seconds.saturating_mul(1_000_000_000),
            custom_data: self.custom_data.clone(),
            ..BagOptions::default()
        })
    }

    /// The output for [`convert`](super::convert). `matches` tells whether a pattern is found in a name.
    pub fn into_output(
        self,
        matches: impl Fn(&str, &str) -> bool + 'static,
    ) -> Result<ConvertOutput> {
        let mut output = ConvertOutput::new(PathBuf::from(&self.uri), self.bag_options()?);
        output.start_ns = self.start_time_ns;
        output.end_ns = self.end_time_ns;
        let selection = self.selection;
        output.topics = Box::new(move |topic, messages| selection.wants(topic, messages, &matches));
        Ok(output)
    }
}

fn config(key: &str, reason: &str) -> Error {
    Error::Config {
        key: key.to_owned(),
        reason: reason.to_owned(),
    }
}

fn text(key: &str, value: &Node) -> Result<String> {
    if value.is_null() {
        return Ok(String::new());
    }
    value
        .as_str()
        .map(str::to_owned)
        .ok_or_else(|| config(key, "is not a text"))
}

fn number<T: std::str::FromStr>(key: &str, value: &Node) -> Result<T> {
    value
        .as_str()
        .and_then(|text| text.parse().ok())
        .ok_or_else(|| config(key, "is not a number in range"))
}

fn flag(key: &str, value: &Node) -> Result<bool> {
    match value.as_str() {
        Some("true" | "True" | "yes" | "on") => Ok(true),
        Some("false" | "False" | "no" | "off") => Ok(false),
        _ => Err(config(key, "is neither true nor false")),
    }
}

fn list(key: &str, value: &Node) -> Result<Vec<String>> {
    let items = value
        .as_sequence()
        .ok_or_else(|| config(key, "is not a list"))?;
    items.iter().map(|item| text(key, item)).collect()
}
