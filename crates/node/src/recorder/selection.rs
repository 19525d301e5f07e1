use std::collections::BTreeSet;

use timeloom_msg::name::{action_of, service_of_event_topic};

use crate::TopicSelection;

/// A topic of the graph.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Candidate {
    pub(super) name: String,
    /// The types that its endpoints name.
    pub(super) types: BTreeSet<String>,
    pub(super) publishers: usize,
    /// Subscriptions of others than the recorder.
    pub(super) subscriptions: usize,
}

/// Whether a topic of the graph is recorded.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Verdict {
    /// It is recorded, with this type.
    Take(String),
    /// It is not selected, or not yet.
    Leave,
    /// It has several types: its messages are counted and not recorded. One of the types, and the reason in words.
    Conflict(String, String),
}

impl TopicSelection {
    /// Decides about a topic of the graph.
    pub(super) fn judge(&self, topic: &Candidate) -> Verdict {
        let Some(type_name) = topic.types.first() else {
            return Verdict::Leave;
        };
        if !self.takes_named(&topic.name, type_name) {
            return Verdict::Leave;
        }
        if topic.types.len() > 1 {
            let types: Vec<_> = topic.types.iter().map(String::as_str).collect();
            let reason = format!(
                "{} has {} types ({}) and is not recorded",
                topic.name,
                types.len(),
                types.join(", ")
            );
            return Verdict::Conflict(type_name.clone(), reason);
        }
        let unpublished = topic.publishers == 0 && !self.include_unpublished_topics;
        let leaf = topic.subscriptions == 0 && self.ignore_leaf_topics;
        if unpublished || leaf {
            Verdict::Leave
        } else {
            Verdict::Take(type_name.clone())
        }
    }

    /// The topics, services and actions that are selected by name and are not among these topics.
    pub(super) fn absent<'a>(&self, topics: impl Iterator<Item = &'a str>) -> Vec<String> {
        let mut absent: Vec<BTreeSet<&String>> = [&self.topics, &self.services, &self.actions]
            .map(|names| names.iter().collect())
            .into();
        for topic in topics {
            let names = [
                Some(topic),
                service_of_event_topic(topic),
                action_of(topic).map(|(action, _)| action),
            ];
            for (absent, name) in absent.iter_mut().zip(names) {
                absent.retain(|wanted| Some(wanted.as_str()) != name);
            }
        }
        absent.into_iter().flatten().cloned().collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const STRING: &str = "std_msgs/msg/String";

    fn set(names: &[&str]) -> BTreeSet<String> {
        names.iter().map(|name| (*name).to_owned()).collect()
    }

    fn candidate(name: &str) -> Candidate {
        Candidate {
            name: name.into(),
            types: set(&[STRING]),
            publishers: 1,
            subscriptions: 0,
        }
    }

    fn all() -> TopicSelection {
        TopicSelection {
            all_topics: true,
            all_services: true,
            all_actions: true,
            ..TopicSelection::default()
        }
    }

    #[test]
    fn names_that_never_appeared_are_found() {
        let selection = TopicSelection {
            topics: set(&["/a", "/b"]),
            services: set(&["/add", "/sub"]),
            actions: set(&["/go", "/stay"]),
            ..TopicSelection::default()
        };
        let seen = ["/a", "/add/_service_event", "/go/_action/feedback"];
        assert_eq!(selection.absent(seen.into_iter()), ["/b", "/sub", "/stay"]);
        assert_eq!(all().absent(std::iter::empty()), Vec::<String>::new());
    }

    #[test]
    fn hidden_unpublished_and_leaf_topics() {
        let take = Verdict::Take(STRING.to_owned());
        let hidden = candidate("/a/_b");
        assert_eq!(all().judge(&hidden), Verdict::Leave);
        let open = TopicSelection {
            include_hidden_topics: true,
            ..all()
        };
        assert_eq!(open.judge(&hidden), take);
        let unpublished = Candidate {
            publishers: 0,
            ..candidate("/a")
        };
        assert_eq!(all().judge(&unpublished), Verdict::Leave);
        let any = TopicSelection {
            include_unpublished_topics: true,
            ..all()
        };
        assert_eq!(any.judge(&unpublished), take);
        let no_leaves = TopicSelection {
            ignore_leaf_topics: true,
            ..all()
        };
        assert_eq!(no_leaves.judge(&candidate("/a")), Verdict::Leave);
        let heard = Candidate {
            subscriptions: 1,
            ..candidate("/a")
        };
        assert_eq!(no_leaves.judge(&heard), take);
    }

    #[test]
    fn a_topic_with_two_types_is_refused_with_a_reason() {
        let mut topic = candidate("/a");
        topic.types.insert("std_msgs/msg/Int8".into());
        let Verdict::Conflict(_, reason) = all().judge(&topic) else {
            panic!("refused");
        };
        assert_eq!(
            reason,
            "/a has 2 types (std_msgs/msg/Int8, std_msgs/msg/String) and is not recorded"
        );
    }
}
