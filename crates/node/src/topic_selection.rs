use std::collections::BTreeSet;

use fancy_regex::Regex;
use timeloom_bag::TopicInfo;
use timeloom_msg::is_recorder_event;
use timeloom_msg::name::{action_of, service_of_event_topic};
use timeloom_trace::is_lineage_type;

/// A selection of topics, services and actions to record, play or copy: included by any of the lists, unless excluded
/// by any of the others.
///
/// The rules are those of `ros2 bag record`. In addition, the full name of a topic in `topics` also takes a topic of an
/// action or of service events. Expressions match anywhere in a name.
///
/// ```
/// use timeloom_node::TopicSelection;
///
/// let selection = TopicSelection {
///     all_topics: true,
///     exclude_topics: ["/camera".to_owned()].into(),
///     ..TopicSelection::default()
/// };
/// assert!(selection.takes_named("/scan", "sensor_msgs/msg/LaserScan"));
/// assert!(!selection.takes_named("/camera", "sensor_msgs/msg/Image"));
/// ```
#[derive(Clone, Debug, Default)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "the independent switches of rosbag2"
)]
pub struct TopicSelection {
    /// All topics.
    pub all_topics: bool,
    /// The events of all services.
    pub all_services: bool,
    /// All actions.
    pub all_actions: bool,
    /// Topics by name.
    pub topics: BTreeSet<String>,
    /// Services by name, for their events.
    pub services: BTreeSet<String>,
    /// Actions by name, for their feedback, status and service events.
    pub actions: BTreeSet<String>,
    /// Topics by type.
    pub topic_types: BTreeSet<String>,
    /// The lineage of messages, in addition to any selection: tracking tags and publish times.
    pub lineage: bool,
    /// Topics, services and actions whose name contains a match.
    pub regex: Option<Regex>,
    /// Excluded topics.
    pub exclude_topics: BTreeSet<String>,
    /// Services whose events are excluded.
    pub exclude_services: BTreeSet<String>,
    /// Excluded actions.
    pub exclude_actions: BTreeSet<String>,
    /// Excluded types of topics.
    pub exclude_topic_types: BTreeSet<String>,
    /// Excludes topics, services and actions whose name contains a match.
    pub exclude_regex: Option<Regex>,
    /// The name of a service or an action that the expressions match.
    pub matched_names: MatchedNames,
    /// Also hidden topics: a part of their name begins with `_`.
    pub include_hidden_topics: bool,
    /// `all_topics` also takes the events of recorders and players.
    pub include_recorder_events: bool,
    /// Also topics without a publisher, in a live graph.
    pub include_unpublished_topics: bool,
    /// No topics without a subscription, in a live graph.
    pub ignore_leaf_topics: bool,
}

/// The name of a service or an action that an expression matches.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum MatchedNames {
    /// The name of the service or action, as for `ros2 bag record`.
    #[default]
    Services,
    /// The name of the topic that carries it, as for `ros2 bag play`.
    Topics,
}

impl TopicSelection {
    /// Whether nothing is included.
    pub fn is_empty(&self) -> bool {
        !(self.all_topics || self.all_services || self.all_actions || self.lineage)
            && self.topics.is_empty()
            && self.services.is_empty()
            && self.actions.is_empty()
            && self.topic_types.is_empty()
            && self.regex.is_none()
    }

    /// Whether a topic of a bag is selected.
    pub fn takes(&self, topic: &TopicInfo) -> bool {
        self.takes_named(&topic.name, &topic.type_name)
    }

    /// Whether a topic is left out only because it is hidden.
    pub fn hides(&self, topic: &TopicInfo) -> bool {
        let open = Self {
            include_hidden_topics: true,
            ..self.clone()
        };
        !self.takes(topic) && open.takes(topic)
    }

    /// Whether a topic of that name and type is selected.
    pub fn takes_named(&self, name: &str, type_name: &str) -> bool {
        let excluded = self.exclude_topics.contains(name);
        if let Some((action, _)) = action_of(name) {
            let service = service_of_event_topic(name);
            let named =
                |services: &BTreeSet<String>| service.is_some_and(|it| services.contains(it));
            // With hidden topics, feedback and status are topics like all others.
            let as_topic = self.include_hidden_topics && service.is_none();
            let by_topic = self.all_topics
                || self.topic_types.contains(type_name)
                || is_match(self.regex.as_ref(), name);
            return (self.all_actions
                || self.actions.contains(action)
                || self.topics.contains(name)
                || named(&self.services)
                || (as_topic && by_topic)
                || is_match(self.regex.as_ref(), self.matched(name, action)))
                && !excluded
                && !self.exclude_actions.contains(action)
                && !self.exclude_topic_types.contains(type_name)
                && !named(&self.exclude_services)
                && !(as_topic && is_match(self.exclude_regex.as_ref(), name))
                && !is_match(self.exclude_regex.as_ref(), self.matched(name, action));
        }
        if let Some(service) = event_service(name, type_name) {
            return (self.all_services
                || self.services.contains(service)
                || self.topics.contains(name)
                || is_match(self.regex.as_ref(), self.matched(name, service)))
                && !excluded
                && !self.exclude_services.contains(service)
                && !is_match(self.exclude_regex.as_ref(), self.matched(name, service));
        }
        let lineage = self.lineage && is_lineage_type(type_name);
        let listed = lineage
            || self.topics.contains(name)
            || self.topic_types.contains(type_name)
            || is_match(self.regex.as_ref(), name);
        let all =
            self.all_topics && (self.include_recorder_events || !is_recorder_event(type_name));
        (all || listed)
            && (self.include_hidden_topics || lineage || !is_hidden(name))
            && !excluded
            && !self.exclude_topic_types.contains(type_name)
            && !is_match(self.exclude_regex.as_ref(), name)
    }

    /// The name that expressions match, for a topic of the service or action `owner`.
    fn matched<'a>(&self, topic: &'a str, owner: &'a str) -> &'a str {
        match self.matched_names {
            MatchedNames::Services => owner,
            MatchedNames::Topics => topic,
        }
    }
}

/// The service whose events a topic carries.
fn event_service<'a>(name: &'a str, type_name: &str) -> Option<&'a str> {
    service_of_event_topic(name).filter(|_| type_name.ends_with("_Event"))
}

fn is_match(regex: Option<&Regex>, name: &str) -> bool {
    // An expression that fails on a name does not match it.
    regex.is_some_and(|regex| regex.is_match(name).unwrap_or(false))
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

    fn all() -> TopicSelection {
        TopicSelection {
            all_topics: true,
            all_services: true,
            all_actions: true,
            ..TopicSelection::default()
        }
    }

    #[test]
    fn inclusions_add_up_and_exclusions_win() {
        let regex = |text| Some(Regex::new(text).unwrap());
        let selection = TopicSelection {
            topics: set(&["/a", "/b"]),
            topic_types: set(&["sensor_msgs/msg/Imu"]),
            regex: regex("cam"),
            exclude_topics: set(&["/b"]),
            exclude_regex: regex("info$"),
            exclude_topic_types: set(&["sensor_msgs/msg/Image"]),
            ..TopicSelection::default()
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
            assert_eq!(selection.takes_named(name, type_name), expected, "{name}");
        }
    }

    #[test]
    fn services_and_actions_are_selected_by_their_hidden_topics() {
        let event = "/add/_service_event";
        let event_type = "example_interfaces/srv/AddTwoInts_Event";
        assert!(all().takes_named(event, event_type));
        assert!(
            !all().takes_named("/x/_service_event", STRING),
            "only hidden"
        );
        assert!(all().takes_named("/go/_action/feedback", "p/action/Go_FeedbackMessage"));
        let topics = TopicSelection {
            all_topics: true,
            ..TopicSelection::default()
        };
        assert!(!topics.takes_named(event, event_type));
        assert!(!topics.takes_named("/go/_action/status", "action_msgs/msg/GoalStatusArray"));
        let without = TopicSelection {
            exclude_services: set(&["/add"]),
            exclude_actions: set(&["/go"]),
            ..all()
        };
        assert!(!without.takes_named(event, event_type));
        assert!(!without.takes_named("/go/_action/status", "action_msgs/msg/GoalStatusArray"));
        let one = TopicSelection {
            actions: set(&["/go"]),
            ..TopicSelection::default()
        };
        let goal = "/go/_action/send_goal/_service_event";
        assert!(one.takes_named(goal, "p/action/Go_SendGoal_Event"));
    }

    #[test]
    fn events_of_recorders_are_recorded_only_on_request() {
        let (split, event) = (
            "/events/write_split",
            "rosbag2_interfaces/msg/WriteSplitEvent",
        );
        assert!(!all().takes_named(split, event));
        let by_name = TopicSelection {
            topics: set(&[split]),
            ..all()
        };
        let by_type = TopicSelection {
            topic_types: set(&[event]),
            ..all()
        };
        let by_expression = TopicSelection {
            regex: Some(Regex::new("/events/").unwrap()),
            ..TopicSelection::default()
        };
        for selection in [by_name, by_type, by_expression] {
            assert!(selection.takes_named(split, event));
        }
    }

    #[test]
    fn lineage_is_added_to_any_selection() {
        let tag = "tilde_msg/msg/MessageTrackingTag";
        let one = TopicSelection {
            topics: set(&["/a"]),
            ..TopicSelection::default()
        };
        assert!(!one.takes_named("/b/message_tracking_tag", tag));
        let traced = TopicSelection {
            lineage: true,
            exclude_topics: set(&["/c/message_tracking_tag"]),
            ..one
        };
        assert!(traced.takes_named("/a", STRING) && !traced.takes_named("/b", STRING));
        assert!(traced.takes_named("/b/message_tracking_tag", tag));
        assert!(
            traced.takes_named("/_b/message_tracking_tag", tag),
            "hidden"
        );
        assert!(!traced.takes_named("/b/message_tracking_tag", STRING));
        assert!(
            !traced.takes_named("/c/message_tracking_tag", tag),
            "excluded"
        );
    }

    #[test]
    fn a_topic_of_an_action_or_a_service_is_taken_by_its_full_name() {
        let feedback = ("/go/_action/feedback", "p/action/Go_FeedbackMessage");
        let event = ("/add/_service_event", "p/srv/Add_Event");
        let goal = (
            "/go/_action/send_goal/_service_event",
            "p/action/Go_SendGoal_Event",
        );
        for (name, type_name) in [feedback, event, goal] {
            let one = TopicSelection {
                topics: set(&[name]),
                ..TopicSelection::default()
            };
            assert!(one.takes_named(name, type_name), "{name}");
            assert!(!one.takes_named("/go/_action/status", "p/msg/Status"));
            let excluded = TopicSelection {
                exclude_topics: set(&[name]),
                ..all()
            };
            assert!(!excluded.takes_named(name, type_name), "{name}");
        }
        let by_service = TopicSelection {
            services: set(&["/go/_action/send_goal"]),
            ..TopicSelection::default()
        };
        assert!(by_service.takes_named(goal.0, goal.1));
    }

    #[test]
    fn hidden_topics_are_left_out_on_request() {
        let hidden = TopicInfo::new("/_hidden", STRING);
        assert!(!all().takes(&hidden));
        assert!(all().hides(&hidden));
        assert!(!all().hides(&TopicInfo::new("/chatter", STRING)));
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
}
