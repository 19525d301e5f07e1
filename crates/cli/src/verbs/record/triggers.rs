//! `--trigger` and `--triggers`: when the recorder writes what its cache holds.

use std::path::PathBuf;

use anyhow::Context as _;
use clap::Args;
use timeloom_node::recorder::{Selection, TriggerOptions};
use timeloom_node::trigger::{SyntaxError, TopicOrService, Trigger, TriggerDefaults};
use timeloom_time::Duration;

use crate::failure::Failure;
use crate::verbs::convert::writer_settings::duration;

#[derive(Debug, Args)]
#[command(next_help_heading = "Triggers")]
pub(super) struct TriggerArguments {
    /// Record only around the times at which a condition becomes true; repeatable
    #[arg(long, value_name = "NAME: CONDITION")]
    pub(super) trigger: Vec<String>,
    /// YAML file with triggers
    #[arg(long, value_name = "FILE")]
    pub(super) triggers: Option<PathBuf>,
    /// Time before a trigger that is recorded; bounded by --max-cache-size, too [default: 30s]
    #[arg(long, value_name = "DURATION", value_parser = duration)]
    pub(super) before: Option<i64>,
    /// Time after a trigger that is recorded [default: 10s]
    #[arg(long, value_name = "DURATION", value_parser = duration)]
    pub(super) after: Option<i64>,
    /// Shortest time between two firings of a trigger
    #[arg(long, value_name = "DURATION", value_parser = duration)]
    pub(super) cooldown: Option<i64>,
    /// End after this number of windows
    #[arg(long, value_name = "COUNT", value_parser = clap::value_parser!(u32).range(1..))]
    pub(super) max_windows: Option<u32>,
}

impl TriggerArguments {
    pub(super) fn is_empty(&self) -> bool {
        self.trigger.is_empty() && self.triggers.is_none()
    }

    /// Flags that mean nothing without a trigger.
    pub(super) fn flags(&self) -> Vec<&'static str> {
        let flags = [
            ("--before", self.before.is_some()),
            ("--after", self.after.is_some()),
            ("--cooldown", self.cooldown.is_some()),
            ("--max-windows", self.max_windows.is_some()),
        ];
        let given = flags.into_iter().filter(|(_, given)| *given);
        given.map(|(flag, _)| flag).collect()
    }
}

/// Reads all triggers; `None` without one.
pub(super) fn read(given: &TriggerArguments) -> anyhow::Result<Option<TriggerOptions>> {
    if given.is_empty() {
        return Ok(None);
    }
    let defaults = TriggerDefaults::default();
    let time = |given: Option<i64>, default| given.map_or(default, Duration::from_nanos);
    let defaults = TriggerDefaults {
        before: time(given.before, defaults.before),
        after: time(given.after, defaults.after),
        cooldown: time(given.cooldown, defaults.cooldown),
    };
    let mut triggers = Vec::new();
    for text in &given.trigger {
        triggers.push(Trigger::parse(text, &defaults).map_err(failure)?);
    }
    if let Some(path) = &given.triggers {
        let text = std::fs::read_to_string(path)
            .with_context(|| format!("cannot read {}", path.display()))?;
        let read = Trigger::parse_file(&text, &defaults);
        triggers.extend(
            read.map_err(|reason| Failure::usage(format!("{}: {reason}", path.display())))?,
        );
    }
    let options = TriggerOptions {
        triggers,
        max_windows: given.max_windows.unwrap_or(0),
    };
    options
        .check()
        .map_err(|error| Failure::usage(error.to_string()))?;
    Ok(Some(options))
}

fn failure(error: SyntaxError) -> Failure {
    let failure = Failure::usage(error.to_string());
    match error.hint {
        Some(hint) => failure.hint(hint),
        None => failure,
    }
}

/// Adds the topics and services that conditions name: a trigger on a topic that is not recorded would never fire.
pub(super) fn select(selection: &mut Selection, options: Option<&TriggerOptions>) {
    let triggers = options.into_iter().flat_map(|options| &options.triggers);
    for input in triggers.flat_map(Trigger::inputs) {
        match input {
            TopicOrService::Topic(topic) => selection.topics.insert(topic),
            TopicOrService::Service(service) => selection.services.insert(service),
        };
    }
}
