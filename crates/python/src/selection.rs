//! Which topics are recorded or played, from Python.

use std::collections::BTreeSet;

use fancy_regex::Regex;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use timeloom_node::{MatchedNames, TopicSelection};

use crate::arguments::arguments;

arguments! {
    /// The fields of `timeloom.Selection`.
    pub(crate) struct Selection {
        topics: Vec<String>,
        services: Vec<String>,
        actions: Vec<String>,
        topic_types: Vec<String>,
        regex: Option<String>,
        exclude_topics: Vec<String>,
        exclude_services: Vec<String>,
        exclude_actions: Vec<String>,
        exclude_topic_types: Vec<String>,
        exclude_regex: Option<String>,
        include_hidden_topics: bool,
        lineage: bool,
    }
}

/// Names with the slash that people leave out.
fn names(given: &[String]) -> BTreeSet<String> {
    let full = |name: &String| format!("/{}", name.trim_start_matches('/'));
    given.iter().map(full).collect()
}

fn expression(text: Option<&String>, whole: bool) -> PyResult<Option<Regex>> {
    let compile = |text: &String| {
        let compiled = if whole {
            Regex::new(&format!("^(?:{text})$"))
        } else {
            Regex::new(text)
        };
        compiled.map_err(|error| PyValueError::new_err(format!("regex {text}: {error}")))
    };
    text.map(compile).transpose()
}

impl Selection {
    fn is_empty(&self) -> bool {
        self.topics.is_empty()
            && self.services.is_empty()
            && self.actions.is_empty()
            && self.topic_types.is_empty()
            && self.regex.is_none()
    }

    fn build(&self, whole: bool) -> PyResult<TopicSelection> {
        let all = self.is_empty();
        Ok(TopicSelection {
            all_topics: all,
            all_services: all,
            all_actions: all,
            topics: names(&self.topics),
            services: names(&self.services),
            actions: names(&self.actions),
            topic_types: self.topic_types.iter().cloned().collect(),
            lineage: self.lineage,
            regex: expression(self.regex.as_ref(), whole)?,
            exclude_topics: names(&self.exclude_topics),
            exclude_services: names(&self.exclude_services),
            exclude_actions: names(&self.exclude_actions),
            exclude_topic_types: self.exclude_topic_types.iter().cloned().collect(),
            exclude_regex: expression(self.exclude_regex.as_ref(), whole)?,
            include_hidden_topics: self.include_hidden_topics,
            ..TopicSelection::default()
        })
    }

    /// By the rules of `ros2 bag record`; nothing chosen means everything.
    pub(crate) fn for_recorder(&self) -> PyResult<TopicSelection> {
        self.build(false)
    }

    /// By the rules of `ros2 bag play`: topics, services and actions are chosen apart, unless there is an expression,
    /// which must match the whole name of the topic in the bag.
    pub(crate) fn for_player(&self) -> PyResult<TopicSelection> {
        let mut selection = self.named_for_player()?;
        if self.regex.is_none() {
            selection.all_topics |= self.topics.is_empty() && self.topic_types.is_empty();
            selection.all_services |= self.services.is_empty();
            selection.all_actions |= self.actions.is_empty();
        }
        Ok(selection)
    }

    /// What is chosen by name: services that are played because nothing is said of them need no subscription.
    pub(crate) fn named_for_player(&self) -> PyResult<TopicSelection> {
        Ok(TopicSelection {
            matched_names: MatchedNames::Topics,
            include_hidden_topics: true,
            include_recorder_events: true,
            ..self.build(true)?
        })
    }
}
