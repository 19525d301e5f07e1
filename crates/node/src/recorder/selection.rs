use std::collections::BTreeSet;

use fancy_regex::Regex;
use timeloom_msg::is_recorder_event;
use timeloom_msg::name::{action_of, service_of_event_topic};
use timeloom_trace::is_lineage_type;

/// Which topics, services and actions are recorded: included by any of the lists, unless excluded by any of the others.
///
/// The rules are those of `ros2 bag record`. Expressions match anywhere in a name.
#[derive(Clone, Debug, Default)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "the independent switches of rosbag2"
)]
pub struct Selection {
    /// All topics, whatever the lists say; but events of recorders and players only where another rule asks for them.
    pub all_topics: bool,
    /// The events of all services, whatever the lists say.
    pub all_services: bool,
    /// All actions, whatever the lists say.
    pub all_actions: bool,
    /// These topics.
    pub topics: BTreeSet<String>,
    /// The events of these services.
    pub services: BTreeSet<String>,
    /// These actions: their feedback, status and service events.
    pub actions: BTreeSet<String>,
    /// Topics of these types.
    pub topic_types: BTreeSet<String>,
    /// The lineage of messages, whatever else is selected: tracking tags and publish times.
    pub lineage: bool,
    /// Topics, services and actions whose name contains a match.
    pub regex: Option<Regex>,
    /// Not these topics.
    pub exclude_topics: BTreeSet<String>,
    /// Not the events of these services.
    pub exclude_services: BTreeSet<String>,
    /// Not these actions.
    pub exclude_actions: BTreeSet<String>,
    /// Not topics of these types.
    pub exclude_topic_types: BTreeSet<String>,
    /// Nothing whose name contains a match.
    pub exclude_regex: Option<Regex>,
    /// Topics with a part that begins with `_`, too.
    pub include_hidden_topics: bool,
    /// Topics that nobody publishes yet, too.
    pub include_unpublished_topics: bool,
    /// Topics that nobody subscribes to are left out.
    pub ignore_leaf_topics: bool,
}

/// What the graph says of a topic.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Candidate {
    pub(super) name: String,
    /// The types that its endpoints name.
    pub(super) types: BTreeSet<String>,
    pub(super) publishers: usize,
    /// Subscriptions of others than the recorder.
    pub(super) subscriptions: usize,
}

/// What becomes of a topic.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Verdict {
    /// It is recorded, with this type.
    Take(String),
    /// It is not asked for, or not yet.
    Leave,
    /// It has several types: its messages are counted and not recorded. One of the types, and the reason in words.
    Conflict(String, String),
}

impl Selection {
    /// Whether nothing at all is asked for.
    pub fn is_empty(&self) -> bool {
        !(self.all_topics || self.all_services || self.all_actions || self.lineage)
            && self.topics.is_empty()
            && self.services.is_empty()
            && self.actions.is_empty()
            && self.topic_types.is_empty()
            && self.regex.is_none()
    }

    /// What becomes of a topic of the graph.
    pub(super) fn judge(&self, topic: &Candidate) -> Verdict {
        let Some(type_name) = topic.types.first() else {
            return Verdict::Leave;
        };
        if !self.takes(&topic.name, type_name) {
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

    /// The topics, services and actions that were asked for by name and are not among these topics.
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

    /// Whether a topic of that name and type is asked for.
    pub fn takes(&self, name: &str, type_name: &str) -> bool {
        if let Some((action, _)) = action_of(name) {
            return (self.all_actions || named(&self.actions, self.regex.as_ref(), action))
                && !named(&self.exclude_actions, self.exclude_regex.as_ref(), action)
                && !self.exclude_topics.contains(name);
        }
        if let Some(service) = event_service(name, type_name) {
            return (self.all_services || named(&self.services, self.regex.as_ref(), service))
                && !named(&self.exclude_services, self.exclude_regex.as_ref(), service);
        }
        let lineage = self.lineage && is_lineage_type(type_name);
        let listed = lineage
            || named(&self.topics, self.regex.as_ref(), name)
            || self.topic_types.contains(type_name);
        ((self.all_topics && !is_recorder_event(type_name)) || listed)
            && !self.exclude_topic_types.contains(type_name)
            && !named(&self.exclude_topics, self.exclude_regex.as_ref(), name)
            && (self.include_hidden_topics || lineage || !is_hidden(name))
    }
}

/// The service whose events a topic carries.
fn event_service<'a>(name: &'a str, type_name: &str) -> Option<&'a str> {
    service_of_event_topic(name).filter(|_| type_name.ends_with("_Event"))
}

fn named(list: &BTreeSet<String>, regex: Option<&Regex>, name: &str) -> bool {
    // An expression that gives up on a name does not match it.
    list.contains(name) || regex.is_some_and(|regex| regex.is_match(name).unwrap_or(false))
}

fn is_hidden(name: &str) -> bool {
    name.split('/').any(|part| part.starts_with('_'))
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

    fn all() -> Selection {
        Selection {
            all_topics: true,
            all_services: true,
            all_actions: true,
            ..Selection::default()
        }
    }

    #[test]
    fn names_that_never_appeared_are_found() {
        let selection = Selection {
            topics: set(&["/a", "/b"]),
            services: set(&["/add", "/sub"]),
            actions: set(&["/go", "/stay"]),
            ..Selection::default()
        };
        let seen = ["/a", "/add/_service_event", "/go/_action/feedback"];
        assert_eq!(selection.absent(seen.into_iter()), ["/b", "/sub", "/stay"]);
        assert_eq!(all().absent(std::iter::empty()), Vec::<String>::new());
    }

    #[test]
    fn lists_add_up_and_exclusions_win() {
        let regex = |text| Some(Regex::new(text).unwrap());
        let selection = Selection {
            topics: set(&["/a", "/b"]),
            topic_types: set(&["sensor_msgs/msg/Imu"]),
            regex: regex("cam"),
            exclude_topics: set(&["/b"]),
            exclude_regex: regex("info$"),
            exclude_topic_types: set(&["sensor_msgs/msg/Image"]),
            ..Selection::default()
        };
        let taken = [
            ("/a", STRING, true),
            ("/b", STRING, false),
            ("/imu", "sensor_msgs/msg/Imu", true),
            ("/my/camera", STRING, true),
            ("/camera/info", STRING, false),
            ("/camera", "sensor_msgs/msg/Image", false),
            ("/other", STRING, false),
        ];
        for (name, type_name, expected) in taken {
            assert_eq!(selection.takes(name, type_name), expected, "{name}");
        }
    }

    #[test]
    fn services_and_actions_are_their_hidden_topics() {
        let event = "/add/_service_event";
        let event_type = "example_interfaces/srv/AddTwoInts_Event";
        assert!(all().takes(event, event_type));
        assert!(!all().takes("/x/_service_event", STRING), "only hidden");
        assert!(all().takes("/go/_action/feedback", "p/action/Go_FeedbackMessage"));
        let topics = Selection {
            all_topics: true,
            ..Selection::default()
        };
        assert!(!topics.takes(event, event_type));
        assert!(!topics.takes("/go/_action/status", "action_msgs/msg/GoalStatusArray"));
        let without = Selection {
            exclude_services: set(&["/add"]),
            exclude_actions: set(&["/go"]),
            ..all()
        };
        assert!(!without.takes(event, event_type));
        assert!(!without.takes("/go/_action/status", "action_msgs/msg/GoalStatusArray"));
        let one = Selection {
            actions: set(&["/go"]),
            ..Selection::default()
        };
        let goal = "/go/_action/send_goal/_service_event";
        assert!(one.takes(goal, "p/action/Go_SendGoal_Event"));
    }

    #[test]
    fn hidden_unpublished_and_leaf_topics() {
        let take = Verdict::Take(STRING.to_owned());
        let hidden = candidate("/a/_b");
        assert_eq!(all().judge(&hidden), Verdict::Leave);
        let open = Selection {
            include_hidden_topics: true,
            ..all()
        };
        assert_eq!(open.judge(&hidden), take);
        let unpublished = Candidate {
            publishers: 0,
            ..candidate("/a")
        };
        assert_eq!(all().judge(&unpublished), Verdict::Leave);
        let any = Selection {
            include_unpublished_topics: true,
            ..all()
        };
        assert_eq!(any.judge(&unpublished), take);
        let no_leaves = Selection {
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
    fn events_of_recorders_are_recorded_only_when_asked_for() {
        let (split, event) = (
            "/events/write_split",
            "rosbag2_interfaces/msg/WriteSplitEvent",
        );
        assert!(!all().takes(split, event));
        let by_name = Selection {
            topics: set(&[split]),
            ..all()
        };
        let by_type = Selection {
            topic_types: set(&[event]),
            ..all()
        };
        let by_expression = Selection {
            regex: Some(Regex::new("/events/").unwrap()),
            ..Selection::default()
        };
        for selection in [by_name, by_type, by_expression] {
            assert!(selection.takes(split, event));
        }
    }

    #[test]
    fn lineage_comes_with_whatever_is_selected() {
        let tag = "tilde_msg/msg/MessageTrackingTag";
        let one = Selection {
            topics: set(&["/a"]),
            ..Selection::default()
        };
        assert!(!one.takes("/b/message_tracking_tag", tag));
        let traced = Selection {
            lineage: true,
            exclude_topics: set(&["/c/message_tracking_tag"]),
            ..one
        };
        assert!(traced.takes("/a", STRING) && !traced.takes("/b", STRING));
        assert!(traced.takes("/b/message_tracking_tag", tag));
        assert!(traced.takes("/_b/message_tracking_tag", tag), "hidden");
        assert!(!traced.takes("/b/message_tracking_tag", STRING));
        assert!(!traced.takes("/c/message_tracking_tag", tag), "excluded");
    }

    #[test]
    fn a_topic_with_two_types_is_refused_in_words() {
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
