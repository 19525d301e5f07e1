//! The topics that carry lineage, and their main topics.

use crate::tag::TAG_TYPE;

/// The suffix of the topic of tags after its main topic.
pub const TAG_SUFFIX: &str = "/message_tracking_tag";
/// The type of Autoware's time of publication of a message.
pub const PUBLISHED_TIME_TYPE: &str = "autoware_internal_msgs/msg/PublishedTime";
/// The suffix of the topic of such times after its main topic.
pub const PUBLISHED_TIME_SUFFIX: &str = "/debug/published_time";

/// The topic that carries the tags of a main topic.
pub fn tag_topic(topic: &str) -> String {
    format!("{topic}{TAG_SUFFIX}")
}

/// The main topic of a topic of tags or of Autoware's publish times, by its name.
pub fn main_topic(topic: &str) -> Option<&str> {
    topic
        .strip_suffix(TAG_SUFFIX)
        .or_else(|| topic.strip_suffix(PUBLISHED_TIME_SUFFIX))
        .filter(|main| !main.is_empty())
}

/// Whether a topic carries lineage: by its type, because names are free.
pub fn is_lineage_type(type_name: &str) -> bool {
    matches!(type_name, TAG_TYPE | PUBLISHED_TIME_TYPE)
}

/// The lineage topics among all existing ones (name and type) that belong to the selected topics.
///
/// A topic belongs to another if it is its tag topic or its topic of publish times. Lineage topics without a main topic
/// belong to everything: leaving them out would silently lose links.
///
/// ```
/// let all = [
///     ("/points", "sensor_msgs/msg/PointCloud2"),
///     ("/points/message_tracking_tag", "tilde_msg/msg/MessageTrackingTag"),
///     ("/imu/message_tracking_tag", "tilde_msg/msg/MessageTrackingTag"),
/// ];
/// let tags = timeloom_trace::lineage_topics(all, |topic| topic == "/points");
/// assert_eq!(tags, ["/points/message_tracking_tag"]);
/// ```
pub fn lineage_topics<'a>(
    all: impl IntoIterator<Item = (&'a str, &'a str)>,
    wanted: impl Fn(&str) -> bool,
) -> Vec<&'a str> {
    all.into_iter()
        .filter(|(_, type_name)| is_lineage_type(type_name))
        .filter(|(name, _)| main_topic(name).is_none_or(&wanted))
        .map(|(name, _)| name)
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn topics_of_lineage_are_known_by_type() {
        let all = [
            ("/a/message_tracking_tag", TAG_TYPE),
            ("/b/message_tracking_tag", "std_msgs/msg/String"),
            ("/free/name", TAG_TYPE),
            ("/a/debug/published_time", PUBLISHED_TIME_TYPE),
            ("/c/debug/published_time", PUBLISHED_TIME_TYPE),
        ];
        assert_eq!(
            lineage_topics(all, |topic| topic == "/a"),
            [
                "/a/message_tracking_tag",
                "/free/name",
                "/a/debug/published_time"
            ]
        );
        assert_eq!(main_topic(&tag_topic("/a")), Some("/a"));
        assert_eq!(main_topic("/message_tracking_tag"), None);
    }
}
