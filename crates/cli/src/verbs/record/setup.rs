//! From flags to the recorder's options.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use anyhow::Context as _;
use timeloom_bag::yaml::{self, Node};
use timeloom_bag::{BagOptions, ENVIRONMENT_KEY};
use timeloom_msg::qos::parse_overrides;
use timeloom_msg::{Distro, QosProfile, TypeName};
use timeloom_node::host_clock::HostClockProbe;
use timeloom_node::recorder::{
    DiscoveryMode, DiskGuard, DropPolicy, HostClockSource, Limits, LowSpaceAction, Options,
    RecordedState, Selection, TriggerOptions,
};
use timeloom_node::{RosNode, TypeFinder};
use timeloom_time::{Clock, Duration, System};

use super::arguments::{Arguments, LowSpace, SelectionArguments, span};
use super::key_value::KeyValue;
use super::recording_environment;
use super::triggers;
use crate::context::Context;
use crate::decode::resolver;
use crate::environment;
use crate::failure::Failure;
use crate::selection_arguments::{absolute, full_types};
use crate::verbs::convert::writer_settings::WriterSettings;

/// All that was read from flags and files, checked.
pub(super) struct Setup<'a> {
    arguments: &'a Arguments,
    output: PathBuf,
    writer: WriterSettings,
    max_files: usize,
    ros_distro: String,
    static_topics: Vec<(String, TypeName)>,
    qos_overrides: BTreeMap<String, QosProfile>,
    drop_policies: BTreeMap<String, DropPolicy>,
    throttle: BTreeMap<String, Duration>,
    repeat: BTreeMap<String, usize>,
    triggers: Option<TriggerOptions>,
}

impl<'a> Setup<'a> {
    pub(super) fn read(arguments: &'a Arguments) -> anyhow::Result<Self> {
        let setup = Self {
            output: output(arguments)?,
            writer: writer(arguments)?,
            max_files: usize::try_from(arguments.output.max_bag_files.unwrap_or(0))?,
            ros_distro: distro(arguments),
            static_topics: static_topics(&arguments.selection)?,
            qos_overrides: qos_overrides(arguments)?,
            drop_policies: values(&arguments.behaviour.topic_drop_policy, "POLICY", |text| {
                text.parse()
                    .map_err(|error: timeloom_node::Error| error.to_string())
            })?,
            throttle: values(&arguments.behaviour.topic_throttle_frequency, "HZ", period)?,
            repeat: repeat(&arguments.output.repeat_transient_local)?,
            triggers: triggers::read(&arguments.triggers)?,
            arguments,
        };
        // Once now, so that errors are reported before anything is created.
        setup.bag_options()?;
        Ok(setup)
    }

    fn bag_options(&self) -> anyhow::Result<BagOptions> {
        Ok(BagOptions {
            max_files: self.max_files,
            ros_distro: self.ros_distro.clone(),
            ..self.writer.bag_options()?
        })
    }

    /// The distribution whose message layouts the services and events have.
    pub(super) fn distro(&self) -> Distro {
        self.ros_distro.parse().unwrap_or_default()
    }

    pub(super) fn options(&self, node: &RosNode) -> anyhow::Result<Options> {
        let behaviour = &self.arguments.behaviour;
        let limits = &self.arguments.limits;
        let (writer, max_files, distro) =
            (self.writer.clone(), self.max_files, self.ros_distro.clone());
        let guarded = limits.min_free_space.is_some() || limits.min_free_space_percent.is_some();
        let mut selection = selection(&self.arguments.selection);
        triggers::select(&mut selection, self.triggers.as_ref());
        let base = Options::new(&self.output, selection, Arc::new(types(node)));
        Ok(Options {
            bag: Arc::new(move || BagOptions {
                max_files,
                ros_distro: distro.clone(),
                // The same settings were accepted above.
                ..writer.bag_options().unwrap_or_default()
            }),
            static_topics: self.static_topics.clone(),
            qos_overrides: self.qos_overrides.clone(),
            discovery: if self.arguments.discovery.no_discovery {
                DiscoveryMode::Once
            } else {
                DiscoveryMode::Continuous
            },
            polling_interval: match self.arguments.discovery.polling_interval {
                Some(millis) => Duration::from_millis(millis.into()),
                None => base.polling_interval,
            },
            max_cache_bytes: match behaviour.max_cache_size {
                Some(size) => usize::try_from(size)?,
                None => base.max_cache_bytes,
            },
            max_cache_duration: span(behaviour.max_cache_duration),
            snapshot_mode: behaviour.snapshot_mode,
            triggers: self.triggers.clone(),
            start_paused: behaviour.start_paused,
            drop_policy: behaviour.drop_policy.unwrap_or_default(),
            drop_policies: self.drop_policies.clone(),
            throttle: self.throttle.clone(),
            repeat: self.repeat.clone(),
            repeat_all: match self.arguments.output.repeat_all_transient_local {
                Some(depth) => Some(usize::try_from(depth)?),
                None => None,
            },
            limits: Limits {
                duration: span(limits.max_recording_duration),
                bytes: limits.max_recording_size.unwrap_or(0),
                messages: limits.max_recording_messages.unwrap_or(0),
            },
            disk_guard: guarded.then(|| DiskGuard {
                min_free_bytes: limits.min_free_space.unwrap_or(0),
                min_free_percent: limits.min_free_space_percent.unwrap_or(0),
                action: match limits.low_free_space_action {
                    Some(LowSpace::DeleteOldestFiles) => LowSpaceAction::DeleteOldestFiles,
                    Some(LowSpace::Stop) | None => LowSpaceAction::Stop,
                },
            }),
            log_clock: behaviour.use_sim_time.then(|| node.clock()),
            names: Some(node.names().clone()),
            host_clock: Some(host_clock(node)),
            state: if self.arguments.output.no_state {
                RecordedState::Nothing
            } else {
                RecordedState::GraphAndParameters
            },
            ..base
        })
    }
}

/// The discipline of the clock of this host.
fn host_clock(node: &RosNode) -> HostClockSource {
    let probe = HostClockProbe::new(&node.participant().time_base());
    Arc::new(move || probe.look())
}

/// Built in, installed, or sent by the publishing node.
fn types(node: &RosNode) -> TypeFinder {
    let participant = Arc::clone(node.participant());
    TypeFinder::new(participant, Arc::clone(node.wire()), resolver())
}

/// The output path: as requested, or the default name of rosbag2.
fn output(arguments: &Arguments) -> anyhow::Result<PathBuf> {
    if let Some(output) = &arguments.output.output {
        crate::bags::check_writable(output)?;
        return Ok(output.clone());
    }
    let now = Clock::<System>::new().now().nanos();
    let now = jiff::Timestamp::from_nanosecond(now.into())?;
    let local = now.to_zoned(Context::time_zone());
    Ok(local
        .strftime("rosbag2_%Y_%m_%d-%H_%M_%S")
        .to_string()
        .into())
}

fn writer(arguments: &Arguments) -> anyhow::Result<WriterSettings> {
    let output = &arguments.output;
    let mut custom_data = Vec::new();
    for KeyValue { key, value } in &output.custom_data {
        let value = value.as_ref().ok_or_else(|| {
            Failure::usage(format!("--custom-data {key} has no value")).hint("write KEY=VALUE")
        })?;
        custom_data.push((key.clone(), value.clone()));
    }
    if !output.no_state {
        let text = recording_environment::read().to_text();
        custom_data.push((ENVIRONMENT_KEY.to_owned(), text));
    }
    Ok(WriterSettings {
        storage: output.storage.clone().unwrap_or_default(),
        preset: output.storage_preset_profile.clone().unwrap_or_default(),
        config_file: output.storage_config_file.clone(),
        compression_mode: output.compression_mode.clone().unwrap_or_default(),
        compression_format: output.compression_format.clone().unwrap_or_default(),
        compression_threads: output.compression_threads.unwrap_or(0),
        max_file_size: output.max_bag_size.unwrap_or(0),
        max_file_duration_ns: output.max_bag_duration.unwrap_or(0),
        metadata_version: output.metadata_version,
        custom_data,
    })
}

/// The distribution in the metadata: the flag, the environment, or the default.
fn distro(arguments: &Arguments) -> String {
    let set = environment::text("ROS_DISTRO");
    match arguments.output.ros_distro {
        Some(distro) => distro.as_str().to_owned(),
        None if !set.is_empty() => set,
        None => Distro::default().as_str().to_owned(),
    }
}

fn selection(given: &SelectionArguments) -> Selection {
    let names = |list: &[String]| -> BTreeSet<String> { absolute(list).into_iter().collect() };
    let types = |list: &[String]| -> BTreeSet<String> { full_types(list).into_iter().collect() };
    let mut topics = names(&given.topics);
    topics.extend(names(&given.topics_positional));
    Selection {
        all_topics: given.all || given.all_topics,
        all_services: given.all || given.all_services,
        all_actions: given.all || given.all_actions,
        topics,
        services: names(&given.services),
        actions: names(&given.actions),
        topic_types: types(&given.topic_types),
        lineage: given.trace,
        regex: given.regex.clone(),
        exclude_topics: names(&given.exclude_topics),
        exclude_services: names(&given.exclude_services),
        exclude_actions: names(&given.exclude_actions),
        exclude_topic_types: types(&given.exclude_topic_types),
        exclude_regex: given.exclude_regex.clone(),
        include_hidden_topics: given.include_hidden_topics,
        include_unpublished_topics: given.include_unpublished_topics,
        ignore_leaf_topics: given.ignore_leaf_topics,
        ..Selection::default()
    }
}

fn read(path: &Path) -> anyhow::Result<String> {
    std::fs::read_to_string(path).with_context(|| format!("cannot read {}", path.display()))
}

fn qos_overrides(arguments: &Arguments) -> anyhow::Result<BTreeMap<String, QosProfile>> {
    match &arguments.discovery.qos_profile_overrides_path {
        Some(path) => {
            parse_overrides(&read(path)?).with_context(|| format!("cannot use {}", path.display()))
        }
        None => Ok(BTreeMap::new()),
    }
}

/// The file with pairs of topic and type.
fn static_topics(given: &SelectionArguments) -> anyhow::Result<Vec<(String, TypeName)>> {
    const KEY: &str = "static_topics_and_types_list";
    let Some(path) = &given.static_topics_path else {
        return Ok(Vec::new());
    };
    let document = yaml::parse(&read(path)?)?;
    let pairs = document.get(KEY).and_then(Node::as_sequence);
    let wrong = |what: &str| {
        let text = format!("{}: {what}", path.display());
        let hint = format!("it looks like\n{KEY}:\n  - [/chatter, std_msgs/msg/String]");
        Failure::new(text).hint(hint)
    };
    let pairs = pairs.ok_or_else(|| wrong(&format!("no list {KEY}")))?;
    let mut topics = Vec::new();
    for pair in pairs {
        let [topic, type_name] = pair.as_sequence().unwrap_or_default() else {
            return Err(wrong("not a pair of topic and type").into());
        };
        let text = |node: &Node| node.as_str().unwrap_or_default().to_owned();
        let name = absolute(&[text(topic)]).remove(0);
        timeloom_msg::name::validate_full_topic_name(&name)?;
        topics.push((name, TypeName::parse(&text(type_name))?));
    }
    Ok(topics)
}

fn values<T>(
    given: &[KeyValue],
    what: &str,
    parse: impl Fn(&str) -> Result<T, String>,
) -> anyhow::Result<BTreeMap<String, T>> {
    let mut values = BTreeMap::new();
    for KeyValue { key, value } in given {
        let topic = absolute(std::slice::from_ref(key)).remove(0);
        let wrong = |reason: String| Failure::usage(format!("{key}: {reason}"));
        let text = value.as_deref();
        let text = text.ok_or_else(|| wrong(format!("has no value: write {key}={what}")))?;
        values.insert(topic, parse(text).map_err(wrong)?);
    }
    Ok(values)
}

fn period(text: &str) -> Result<Duration, String> {
    let hertz: f64 = text
        .parse()
        .map_err(|_number| format!("`{text}` is not a number of Hz"))?;
    Duration::try_from_hertz(hertz).map_err(|error| error.to_string())
}

fn repeat(given: &[KeyValue]) -> anyhow::Result<BTreeMap<String, usize>> {
    let mut topics = BTreeMap::new();
    for KeyValue { key, value } in given {
        let depth = value.as_deref().map_or(Ok(1), str::parse);
        let depth: usize = depth.ok().filter(|depth| *depth > 0).ok_or_else(|| {
            Failure::usage(format!("{key}: expected a depth of 1 or more"))
                .hint("write TOPIC or TOPIC=DEPTH")
        })?;
        topics.insert(absolute(std::slice::from_ref(key)).remove(0), depth);
    }
    Ok(topics)
}
