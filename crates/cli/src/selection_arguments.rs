//! The flags that choose topics and services.

use clap::Args;
use fancy_regex::Regex;

use crate::topic_selection::TopicSelection;

/// The selection flags, spelled as in `ros2 bag`.
#[derive(Debug, Args, Default)]
#[command(next_help_heading = "Selection")]
pub(crate) struct SelectionArguments {
    /// Only these topics; the list ends at the next flag, so give the bag first
    #[arg(long, num_args = 1.., value_delimiter = ',', value_name = "TOPIC")]
    pub(crate) topics: Vec<String>,
    /// Only the events of these services
    #[arg(long, num_args = 1.., value_delimiter = ',', value_name = "SERVICE")]
    pub(crate) services: Vec<String>,
    /// Only these actions: their feedback, status and service events
    #[arg(long, num_args = 1.., value_delimiter = ',', value_name = "ACTION")]
    pub(crate) actions: Vec<String>,
    /// Only topics of these types
    #[arg(long, num_args = 1.., value_delimiter = ',', value_name = "TYPE")]
    pub(crate) topic_types: Vec<String>,
    /// Only topics and services whose name contains a match
    #[arg(short = 'e', long, value_name = "REGEX")]
    pub(crate) regex: Option<Regex>,
    /// Not these topics
    #[arg(long, num_args = 1.., value_delimiter = ',', value_name = "TOPIC")]
    pub(crate) exclude_topics: Vec<String>,
    /// Not the events of these services
    #[arg(long, num_args = 1.., value_delimiter = ',', value_name = "SERVICE")]
    pub(crate) exclude_services: Vec<String>,
    /// Not these actions
    #[arg(long, num_args = 1.., value_delimiter = ',', value_name = "ACTION")]
    pub(crate) exclude_actions: Vec<String>,
    /// Not topics of these types
    #[arg(long, num_args = 1.., value_delimiter = ',', value_name = "TYPE")]
    pub(crate) exclude_topic_types: Vec<String>,
    /// No topics and services whose name contains a match
    #[arg(short = 'x', long, value_name = "REGEX")]
    pub(crate) exclude_regex: Option<Regex>,
}

impl SelectionArguments {
    /// The selection; without any including flag it takes everything.
    pub(crate) fn selection(&self) -> TopicSelection {
        let including = !self.topics.is_empty()
            || !self.services.is_empty()
            || !self.actions.is_empty()
            || !self.topic_types.is_empty()
            || self.regex.is_some();
        TopicSelection {
            all_topics: !including,
            all_services: !including,
            all_actions: !including,
            topics: absolute(&self.topics).into_iter().collect(),
            services: absolute(&self.services).into_iter().collect(),
            actions: absolute(&self.actions).into_iter().collect(),
            topic_types: full_types(&self.topic_types).into_iter().collect(),
            regex: self.regex.clone(),
            exclude_topics: absolute(&self.exclude_topics).into_iter().collect(),
            exclude_services: absolute(&self.exclude_services).into_iter().collect(),
            exclude_actions: absolute(&self.exclude_actions).into_iter().collect(),
            exclude_topic_types: full_types(&self.exclude_topic_types).into_iter().collect(),
            exclude_regex: self.exclude_regex.clone(),
            include_hidden_topics: true,
            include_recorder_events: true,
            ..TopicSelection::default()
        }
    }

    /// Whether any flag was given.
    pub(crate) fn is_given(&self) -> bool {
        let selection = self.selection();
        let excluding = !self.exclude_topics.is_empty()
            || !self.exclude_services.is_empty()
            || !self.exclude_actions.is_empty()
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

#[cfg(test)]
mod tests {
    use timeloom_bag::TopicInfo;

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
    fn an_empty_selection_is_everything() {
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
}
