//! Which flags make sense together.

use super::arguments::{Arguments, SelectionArguments};
use crate::failure::Failure;

/// Refuses what contradicts itself; gives what is only worth a warning.
pub(super) fn check(arguments: &Arguments) -> Result<Vec<String>, Failure> {
    selection(&arguments.selection)?;
    exclusions(&arguments.selection)?;
    triggers(arguments)?;
    behaviour(arguments)?;
    output(arguments)?;
    Ok(warnings(arguments))
}

fn wrong(text: impl Into<String>, hint: &str) -> Result<(), Failure> {
    Err(Failure::usage(text).hint(hint))
}

fn selection(given: &SelectionArguments) -> Result<(), Failure> {
    if given.is_empty() {
        return wrong(
            "nothing is selected",
            "-a records everything; --topics, --services, --actions, --topic-types and --regex choose",
        );
    }
    Ok(())
}

/// An exclusion needs a selection that it can exclude from.
fn exclusions(given: &SelectionArguments) -> Result<(), Failure> {
    let wide = given.all || given.regex.is_some();
    let topics = wide || given.all_topics || !given.topic_types.is_empty();
    let services = wide || given.all_services;
    let actions = wide || given.all_actions;
    let rules = [
        (
            "--exclude-topics",
            !given.exclude_topics.is_empty(),
            topics,
            "-a, --all-topics, --topic-types or --regex",
        ),
        (
            "--exclude-topic-types",
            !given.exclude_topic_types.is_empty(),
            topics,
            "-a, --all-topics, --topic-types or --regex",
        ),
        (
            "--exclude-services",
            !given.exclude_services.is_empty(),
            services,
            "-a, --all-services or --regex",
        ),
        (
            "--exclude-actions",
            !given.exclude_actions.is_empty(),
            actions,
            "-a, --all-actions or --regex",
        ),
        (
            "--exclude-regex",
            given.exclude_regex.is_some(),
            topics || services || actions,
            "-a, --all-topics, --all-services, --all-actions, --topic-types or --regex",
        ),
    ];
    for (flag, is_given, has_something, needed) in rules {
        if is_given && !has_something {
            let text = format!(
                "{flag} has no effect: only named topics, services and actions are recorded"
            );
            return wrong(text, &format!("use it together with {needed}"));
        }
    }
    Ok(())
}

fn triggers(arguments: &Arguments) -> Result<(), Failure> {
    let (given, behaviour) = (&arguments.triggers, &arguments.behaviour);
    if given.is_empty() {
        return match given.flags().first() {
            Some(flag) => wrong(
                format!("{flag} has no effect without a trigger"),
                "add --trigger 'NAME: CONDITION' or --triggers FILE",
            ),
            None => Ok(()),
        };
    }
    if behaviour.snapshot_mode {
        return wrong(
            "--snapshot-mode and triggers both decide when the cache is written",
            "leave out --snapshot-mode: with triggers, ~/snapshot and the key s work, too",
        );
    }
    if behaviour.max_cache_size == Some(0) {
        return wrong(
            "triggers keep messages in the cache, and --max-cache-size 0 leaves no room",
            "give the cache a size",
        );
    }
    if behaviour.max_cache_duration.is_some() {
        return wrong(
            "--max-cache-duration has no effect with triggers",
            "--before says how long messages are kept",
        );
    }
    Ok(())
}

fn behaviour(arguments: &Arguments) -> Result<(), Failure> {
    let behaviour = &arguments.behaviour;
    if arguments.discovery.no_discovery && behaviour.use_sim_time {
        return wrong(
            "--no-discovery and --use-sim-time contradict each other: topics can be found only once /clock runs",
            "leave out one of them",
        );
    }
    if behaviour.snapshot_mode && behaviour.max_cache_size == Some(0) {
        return wrong(
            "--snapshot-mode keeps messages in the cache, and --max-cache-size 0 leaves no room",
            "give the cache a size",
        );
    }
    let policies = behaviour.drop_policy.is_some() || !behaviour.topic_drop_policy.is_empty();
    if policies && behaviour.max_cache_size == Some(0) {
        return wrong(
            "a drop policy needs a cache: with --max-cache-size 0 nothing is dropped and everything waits",
            "leave out one of them",
        );
    }
    if policies && behaviour.snapshot_mode {
        return wrong(
            "a drop policy has no effect in snapshot mode: the oldest messages are dropped",
            "leave out one of them",
        );
    }
    let rate = arguments.statistics_rate();
    if !(0.0..=1000.0).contains(&rate) {
        let text =
            format!("--stats_max_publishing_rate {rate} is out of range: expected 0 to 1000");
        return wrong(text, "0 publishes no statistics");
    }
    let limits = &arguments.limits;
    let guarded = limits.min_free_space.is_some() || limits.min_free_space_percent.is_some();
    if limits.low_free_space_action.is_some() && !guarded {
        return wrong(
            "--low-free-space-action has no effect without a limit",
            "add --min-free-space or --min-free-space-percent",
        );
    }
    Ok(())
}

fn output(arguments: &Arguments) -> Result<(), Failure> {
    let output = &arguments.output;
    if let Some(format) = output.serialization_format.as_deref()
        && !matches!(format, "" | "cdr")
    {
        let text = format!("the serialization format \"{format}\" is not known (known: cdr)");
        return wrong(text, "messages are recorded as they come");
    }
    let splits = output.max_bag_size.is_some_and(|size| size > 0)
        || output.max_bag_duration.is_some_and(|duration| duration > 0);
    if output.max_bag_files.is_some() && !splits {
        return wrong(
            "--max-bag-files has no effect: the bag is not split",
            "add --max-bag-size or --max-bag-duration",
        );
    }
    let path = output.output.as_deref();
    if let Some(path) = path.filter(|path| path.exists()) {
        let text = format!("{} exists already", path.display());
        return wrong(
            text,
            "choose another output, or remove this one: bags are never overwritten",
        );
    }
    Ok(())
}

fn warnings(arguments: &Arguments) -> Vec<String> {
    let given = &arguments.selection;
    let mut warnings = Vec::new();
    let all_topics = given.all || given.all_topics;
    let lists = [
        ("--topics", all_topics && given.names_topics()),
        ("--topic-types", all_topics && !given.topic_types.is_empty()),
        (
            "--services",
            (given.all || given.all_services) && !given.services.is_empty(),
        ),
        (
            "--actions",
            (given.all || given.all_actions) && !given.actions.is_empty(),
        ),
        ("--regex", given.all && given.regex.is_some()),
    ];
    for (flag, overridden) in lists {
        if overridden {
            warnings.push(format!("{flag} has no effect: everything is recorded"));
        }
    }
    if arguments
        .output
        .compression_threads_priority
        .is_some_and(|nice| nice != 0)
    {
        warnings.push("--compression-threads-priority has no effect here".into());
    }
    warnings
}

impl SelectionArguments {
    pub(super) fn names_topics(&self) -> bool {
        !self.topics.is_empty() || !self.topics_positional.is_empty()
    }

    fn is_empty(&self) -> bool {
        let all = self.all || self.all_topics || self.all_services || self.all_actions;
        let named = self.names_topics()
            || !self.services.is_empty()
            || !self.actions.is_empty()
            || !self.topic_types.is_empty();
        let other = self.regex.is_some() || self.static_topics_path.is_some() || self.trace;
        !(all || named || other)
    }
}
