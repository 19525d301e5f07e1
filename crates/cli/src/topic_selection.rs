//! Which topics and services are wanted.

use fancy_regex::Regex;
use timeloom_bag::TopicInfo;
use timeloom_text::nearest;

use crate::failure::Failure;

/// Whether hidden topics, those with a part that starts with `_`, are taken.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) enum Hidden {
    /// They are topics like all others.
    #[default]
    Taken,
    /// They are left out, as rosbag2 does unless it is told otherwise.
    LeftOut,
}

/// Which name of a service or action an expression matches.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) enum MatchedNames {
    /// That of the service or action, as for `ros2 bag record`.
    #[default]
    Services,
    /// That of the topic that carries it, as for `ros2 bag play`.
    Topics,
}

/// A selection: included by any of the lists, unless excluded by any of the others.
#[derive(Debug, Clone, Default)]
pub(crate) struct TopicSelection {
    /// All topics, whatever the lists say.
    pub(crate) all_topics: bool,
    /// All services, whatever the lists say.
    pub(crate) all_services: bool,
    /// All actions, whatever the lists say.
    pub(crate) all_actions: bool,
    pub(crate) topics: Vec<String>,
    pub(crate) services: Vec<String>,
    pub(crate) actions: Vec<String>,
    pub(crate) topic_types: Vec<String>,
    pub(crate) regex: Option<Regex>,
    pub(crate) exclude_topics: Vec<String>,
    pub(crate) exclude_services: Vec<String>,
    pub(crate) exclude_actions: Vec<String>,
    pub(crate) exclude_topic_types: Vec<String>,
    pub(crate) exclude_regex: Option<Regex>,
    pub(crate) hidden: Hidden,
    pub(crate) matched_names: MatchedNames,
}

impl TopicSelection {
    /// Whether a topic is wanted.
    pub(crate) fn takes(&self, topic: &TopicInfo) -> bool {
        let action = action_name(&topic.name);
        let excluded = |name: &str| matches(self.exclude_regex.as_ref(), self.matched(topic, name));
        if action.is_some_and(|action| contains(&self.exclude_actions, action) || excluded(action))
        {
            return false;
        }
        let by_action = action.is_some_and(|action| {
            self.all_actions
                || contains(&self.actions, action)
                || matches(self.regex.as_ref(), self.matched(topic, action))
        });
        if let Some(service) = topic.service_name() {
            let named = contains(&self.services, service)
                || matches(self.regex.as_ref(), self.matched(topic, service));
            // The topic that carries the events may be named too.
            let included = self.all_services || named || contains(&self.topics, &topic.name);
            return (included || by_action)
                && !contains(&self.exclude_services, service)
                && !contains(&self.exclude_topics, &topic.name)
                && !excluded(service);
        }
        let named = contains(&self.topics, &topic.name)
            || contains(&self.topic_types, &topic.type_name)
            || matches(self.regex.as_ref(), &topic.name);
        let visible = self.hidden == Hidden::Taken || !is_hidden(&topic.name);
        (((self.all_topics || named) && visible) || by_action)
            && !contains(&self.exclude_topics, &topic.name)
            && !contains(&self.exclude_topic_types, &topic.type_name)
            && !excluded(&topic.name)
    }

    /// The name that expressions match, for a topic of the service or action `name`.
    fn matched<'a>(&self, topic: &'a TopicInfo, name: &'a str) -> &'a str {
        match self.matched_names {
            MatchedNames::Services => name,
            MatchedNames::Topics => &topic.name,
        }
    }

    /// Whether a topic is left out only because it is hidden.
    pub(crate) fn hides(&self, topic: &TopicInfo) -> bool {
        let open = Self {
            hidden: Hidden::Taken,
            ..self.clone()
        };
        !self.takes(topic) && open.takes(topic)
    }

    /// Refuses names that the bag does not have, with the nearest one that it has, and expressions that run away.
    pub(crate) fn check_names(&self, topics: &[TopicInfo]) -> Result<(), Failure> {
        self.check_expressions(topics)?;
        let names: Vec<&str> = topics.iter().map(|topic| topic.name.as_str()).collect();
        let types: Vec<&str> = topics
            .iter()
            .map(|topic| topic.type_name.as_str())
            .collect();
        let services: Vec<&str> = topics.iter().filter_map(TopicInfo::service_name).collect();
        let actions: Vec<&str> = names.iter().filter_map(|name| action_name(name)).collect();
        for (what, wanted, known) in [
            ("topic", &self.topics, &names),
            ("service", &self.services, &services),
            ("action", &self.actions, &actions),
            ("type", &self.topic_types, &types),
        ] {
            if let Some(name) = wanted.iter().find(|name| !known.contains(&name.as_str())) {
                return Err(unknown(what, name, known));
            }
        }
        Ok(())
    }

    /// Refuses an expression that takes too long on one of the names.
    pub(crate) fn check_expressions(&self, topics: &[TopicInfo]) -> Result<(), Failure> {
        for regex in self.regex.iter().chain(&self.exclude_regex) {
            for topic in topics {
                let others = topic
                    .service_name()
                    .into_iter()
                    .chain(action_name(&topic.name));
                for name in others.chain([topic.name.as_str()]) {
                    let failed =
                        |error| Failure::new(format!("cannot match {name} by {regex}: {error}"));
                    regex.is_match(name).map_err(failed)?;
                }
            }
        }
        Ok(())
    }

    /// Refuses a selection that takes nothing.
    pub(crate) fn check_not_empty(&self, topics: &[TopicInfo]) -> Result<(), Failure> {
        if topics.is_empty() || topics.iter().any(|topic| self.takes(topic)) {
            return Ok(());
        }
        let text = format!(
            "the selection takes none of the {} topics of the bag",
            topics.len()
        );
        Err(Failure::new(text).hint("`timeloom info -t <bag>` lists the topics"))
    }
}

fn unknown(what: &str, name: &str, known: &[&str]) -> Failure {
    let hint = match nearest(name, known.iter().copied()) {
        Some(near) => format!("did you mean {near}?"),
        None if known.is_empty() => format!("the bag has no {what}s"),
        None if known.len() <= 8 => format!("the bag has {}", known.join(", ")),
        None => "`timeloom info <bag>` lists what there is".into(),
    };
    Failure::new(format!("no {what} {name} in the bag")).hint(hint)
}

fn contains(names: &[String], name: &str) -> bool {
    names.iter().any(|known| known == name)
}

fn matches(regex: Option<&Regex>, name: &str) -> bool {
    // What an expression cannot decide was refused by `check_names`.
    regex.is_some_and(|regex| regex.is_match(name).unwrap_or(false))
}

/// The action that a topic or a service event topic belongs to.
fn action_name(topic: &str) -> Option<&str> {
    let (action, part) = topic.split_once("/_action/")?;
    let part = part.strip_suffix("/_service_event").unwrap_or(part);
    matches!(
        part,
        "feedback" | "status" | "send_goal" | "cancel_goal" | "get_result"
    )
    .then_some(action)
}

fn is_hidden(name: &str) -> bool {
    name.split('/').any(|part| part.starts_with('_'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hidden_topics_are_left_out_on_request() {
        let hidden = TopicInfo::new("/_hidden", "std_msgs/msg/String");
        let selection = TopicSelection {
            all_topics: true,
            hidden: Hidden::LeftOut,
            ..TopicSelection::default()
        };
        assert!(!selection.takes(&hidden));
        assert!(selection.hides(&hidden));
        assert!(!selection.hides(&TopicInfo::new("/chatter", "std_msgs/msg/String")));
    }

    #[test]
    fn expressions_match_the_service_or_its_event_topic() {
        use MatchedNames::{Services, Topics};

        let add = TopicInfo::new("/add/_service_event", "p/srv/Add_Event");
        let selection = |regex: &str, matched_names| TopicSelection {
            regex: Some(Regex::new(regex).unwrap()),
            matched_names,
            ..TopicSelection::default()
        };
        assert!(selection("^/add$", Services).takes(&add));
        assert!(!selection("^/add$", Topics).takes(&add));
        assert!(selection("^/add/_service_event$", Topics).takes(&add));
        assert!(!selection("^/add/_service_event$", Services).takes(&add));
    }

    #[test]
    fn actions_are_their_topics_and_services() {
        let parts = ["feedback", "status", "send_goal/_service_event"];
        let types = [
            "p/action/Go_FeedbackMessage",
            "action_msgs/msg/GoalStatusArray",
            "p/action/Go_SendGoal_Event",
        ];
        let topics: Vec<TopicInfo> = parts
            .iter()
            .zip(types)
            .map(|(part, ty)| TopicInfo::new(format!("/go/_action/{part}"), ty))
            .collect();
        let taken = |selection: &TopicSelection| {
            topics.iter().filter(|topic| selection.takes(topic)).count()
        };
        let hidden = Hidden::LeftOut;
        let none = TopicSelection {
            all_topics: true,
            hidden,
            ..TopicSelection::default()
        };
        let all = TopicSelection {
            all_actions: true,
            hidden,
            ..TopicSelection::default()
        };
        let named = TopicSelection {
            actions: vec!["/go".into()],
            ..TopicSelection::default()
        };
        let excluded = TopicSelection {
            all_topics: true,
            exclude_actions: vec!["/go".into()],
            ..all.clone()
        };
        assert_eq!([&none, &all, &named, &excluded].map(taken), [0, 3, 3, 0]);
        assert!(named.check_names(&topics).is_ok());
        assert!(named.check_names(&topics[..0]).is_err());
    }
}
