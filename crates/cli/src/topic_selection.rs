//! Which topics and services are wanted.

use clap::Args;
use fancy_regex::Regex;
use timeloom_bag::TopicInfo;

use crate::failure::Failure;
use crate::suggestion::nearest;

/// The selection flags, spelled as in `ros2 bag`.
#[derive(Debug, Args, Default)]
#[command(next_help_heading = "Selection")]
pub(crate) struct SelectionArguments {
    /// Only these topics; the list ends at the next flag, so the bag stands before it
    #[arg(long, num_args = 1.., value_delimiter = ',', value_name = "TOPIC")]
    topics: Vec<String>,
    /// Only the events of these services
    #[arg(long, num_args = 1.., value_delimiter = ',', value_name = "SERVICE")]
    services: Vec<String>,
    /// Only topics of these types
    #[arg(long, num_args = 1.., value_delimiter = ',', value_name = "TYPE")]
    topic_types: Vec<String>,
    /// Only topics and services whose name contains a match
    #[arg(short = 'e', long, value_name = "REGEX")]
    regex: Option<Regex>,
    /// Not these topics
    #[arg(long, num_args = 1.., value_delimiter = ',', value_name = "TOPIC")]
    exclude_topics: Vec<String>,
    /// Not the events of these services
    #[arg(long, num_args = 1.., value_delimiter = ',', value_name = "SERVICE")]
    exclude_services: Vec<String>,
    /// Not topics of these types
    #[arg(long, num_args = 1.., value_delimiter = ',', value_name = "TYPE")]
    exclude_topic_types: Vec<String>,
    /// No topics and services whose name contains a match
    #[arg(short = 'x', long, value_name = "REGEX")]
    exclude_regex: Option<Regex>,
}

/// Whether hidden topics, those with a part that starts with `_`, are taken.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) enum Hidden {
    /// They are topics like all others.
    #[default]
    Taken,
    /// They are left out, as rosbag2 does unless it is told otherwise.
    LeftOut,
}

/// A selection: included by any of the lists, unless excluded by any of the others.
#[derive(Debug, Clone, Default)]
pub(crate) struct TopicSelection {
    /// All topics, whatever the lists say.
    pub(crate) all_topics: bool,
    /// All services, whatever the lists say.
    pub(crate) all_services: bool,
    pub(crate) topics: Vec<String>,
    pub(crate) services: Vec<String>,
    pub(crate) topic_types: Vec<String>,
    pub(crate) regex: Option<Regex>,
    pub(crate) exclude_topics: Vec<String>,
    pub(crate) exclude_services: Vec<String>,
    pub(crate) exclude_topic_types: Vec<String>,
    pub(crate) exclude_regex: Option<Regex>,
    pub(crate) hidden: Hidden,
}

impl SelectionArguments {
    /// The selection; without any including flag it takes everything.
    pub(crate) fn selection(&self) -> TopicSelection {
        let including = !self.topics.is_empty()
            || !self.services.is_empty()
            || !self.topic_types.is_empty()
            || self.regex.is_some();
        TopicSelection {
            all_topics: !including,
            all_services: !including,
            topics: absolute(&self.topics),
            services: absolute(&self.services),
            topic_types: full_types(&self.topic_types),
            regex: self.regex.clone(),
            exclude_topics: absolute(&self.exclude_topics),
            exclude_services: absolute(&self.exclude_services),
            exclude_topic_types: full_types(&self.exclude_topic_types),
            exclude_regex: self.exclude_regex.clone(),
            hidden: Hidden::Taken,
        }
    }

    /// Whether any flag was given.
    pub(crate) fn is_given(&self) -> bool {
        let selection = self.selection();
        let excluding = !self.exclude_topics.is_empty()
            || !self.exclude_services.is_empty()
            || !self.exclude_topic_types.is_empty()
            || self.exclude_regex.is_some();
        !selection.all_topics || excluding
    }
}

/// Names in a bag are absolute; people leave the slash out.
pub(crate) fn absolute(names: &[String]) -> Vec<String> {
    let absolute = |name: &String| {
        if name.starts_with('/') {
            name.clone()
        } else {
            format!("/{name}")
        }
    };
    names.iter().map(absolute).collect()
}

/// `std_msgs/String` means `std_msgs/msg/String`.
pub(crate) fn full_types(names: &[String]) -> Vec<String> {
    let full = |name: &String| {
        timeloom_msg::TypeName::parse(name).map_or_else(|_| name.clone(), |name| name.to_string())
    };
    names.iter().map(full).collect()
}

impl TopicSelection {
    /// Whether a topic is wanted.
    pub(crate) fn takes(&self, topic: &TopicInfo) -> bool {
        if let Some(service) = topic.service_name() {
            let named = contains(&self.services, service) || matches(self.regex.as_ref(), service);
            // The topic that carries the events may be named too.
            let included = self.all_services || named || contains(&self.topics, &topic.name);
            return included
                && !contains(&self.exclude_services, service)
                && !contains(&self.exclude_topics, &topic.name)
                && !matches(self.exclude_regex.as_ref(), service);
        }
        let named = contains(&self.topics, &topic.name)
            || contains(&self.topic_types, &topic.type_name)
            || matches(self.regex.as_ref(), &topic.name);
        (self.all_topics || named)
            && !contains(&self.exclude_topics, &topic.name)
            && !contains(&self.exclude_topic_types, &topic.type_name)
            && !matches(self.exclude_regex.as_ref(), &topic.name)
            && (self.hidden == Hidden::Taken || !is_hidden(&topic.name))
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
        for (what, wanted, known) in [
            ("topic", &self.topics, &names),
            ("service", &self.services, &services),
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
                let service = topic.service_name().into_iter();
                for name in service.chain([topic.name.as_str()]) {
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

fn is_hidden(name: &str) -> bool {
    name.split('/').any(|part| part.starts_with('_'))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn taken(arguments: &SelectionArguments) -> Vec<String> {
        let topics = [
            TopicInfo::new("/imu/data", "sensor_msgs/msg/Imu"),
            TopicInfo::new("/chatter", "std_msgs/msg/String"),
            TopicInfo::new("/_hidden", "std_msgs/msg/String"),
            TopicInfo::new(
                "/add/_service_event",
                "example_interfaces/srv/AddTwoInts_Event",
            ),
        ];
        let selection = arguments.selection();
        topics
            .iter()
            .filter(|topic| selection.takes(topic))
            .map(|topic| topic.name.clone())
            .collect()
    }

    fn list(names: &[&str]) -> Vec<String> {
        names.iter().map(|name| (*name).to_owned()).collect()
    }

    #[test]
    fn nothing_asked_for_is_everything() {
        assert_eq!(taken(&SelectionArguments::default()).len(), 4);
    }

    #[test]
    fn lists_add_up_and_exclusions_win() {
        let by_name = SelectionArguments {
            topics: list(&["chatter"]),
            ..SelectionArguments::default()
        };
        assert_eq!(taken(&by_name), ["/chatter"]);
        let by_type = SelectionArguments {
            topic_types: list(&["std_msgs/String"]),
            ..SelectionArguments::default()
        };
        assert_eq!(taken(&by_type), ["/chatter", "/_hidden"]);
        let service = SelectionArguments {
            services: list(&["/add"]),
            ..SelectionArguments::default()
        };
        assert_eq!(taken(&service), ["/add/_service_event"]);
        let regex = SelectionArguments {
            regex: Some(Regex::new("a").unwrap()),
            exclude_topics: list(&["/chatter"]),
            ..SelectionArguments::default()
        };
        assert_eq!(taken(&regex), ["/imu/data", "/add/_service_event"]);
        let without = SelectionArguments {
            exclude_regex: Some(Regex::new("^/add$").unwrap()),
            exclude_topic_types: list(&["sensor_msgs/msg/Imu"]),
            ..SelectionArguments::default()
        };
        assert_eq!(taken(&without), ["/chatter", "/_hidden"]);
    }

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
}
