//! Checks of a selection against the topics of a bag.

use timeloom_bag::TopicInfo;
use timeloom_msg::name::action_of;
pub(crate) use timeloom_node::{MatchedNames, TopicSelection};
use timeloom_text::nearest;

use crate::failure::Failure;

/// Refuses selections that do not fit a bag, with a hint.
pub(crate) trait CheckSelection {
    /// Refuses names that the bag does not have, with the nearest one that it has, and expressions that take too long.
    fn check_names(&self, topics: &[TopicInfo]) -> Result<(), Failure>;

    /// Refuses an expression that takes too long on one of the names.
    fn check_expressions(&self, topics: &[TopicInfo]) -> Result<(), Failure>;

    /// Refuses a selection that takes none of the topics.
    fn check_not_empty(&self, topics: &[TopicInfo]) -> Result<(), Failure>;
}

impl CheckSelection for TopicSelection {
    fn check_names(&self, topics: &[TopicInfo]) -> Result<(), Failure> {
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

    fn check_expressions(&self, topics: &[TopicInfo]) -> Result<(), Failure> {
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

    fn check_not_empty(&self, topics: &[TopicInfo]) -> Result<(), Failure> {
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
        None => "`timeloom info <bag>` lists them".into(),
    };
    Failure::new(format!("no {what} {name} in the bag")).hint(hint)
}

/// The action that a topic or a service event topic belongs to.
fn action_name(topic: &str) -> Option<&str> {
    action_of(topic).map(|(action, _)| action)
}

#[cfg(test)]
mod tests {
    use super::*;

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
        let none = TopicSelection {
            all_topics: true,
            ..TopicSelection::default()
        };
        let all = TopicSelection {
            all_actions: true,
            ..TopicSelection::default()
        };
        let named = TopicSelection {
            actions: ["/go".to_owned()].into(),
            ..TopicSelection::default()
        };
        let excluded = TopicSelection {
            all_topics: true,
            exclude_actions: ["/go".to_owned()].into(),
            ..all.clone()
        };
        assert_eq!([&none, &all, &named, &excluded].map(taken), [0, 3, 3, 0]);
        assert!(named.check_names(&topics).is_ok());
        assert!(named.check_names(&topics[..0]).is_err());
    }
}
