//! Topic names on DDS: `rt/chatter`, `rq/add_two_intsRequest`, `rr/add_two_intsReply`.

/// Last part of the topic on which a service publishes its events.
const SERVICE_EVENT: &str = "/_service_event";

/// The kind of a DDS topic, by its prefix.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum DdsTopicKind {
    /// `rt/`: a topic.
    Topic,
    /// `rq/`…`Request`: the requests of a service.
    ServiceRequest,
    /// `rr/`…`Reply`: the replies of a service.
    ServiceReply,
}

/// The DDS name of a ROS topic: `/chatter` becomes `rt/chatter`.
pub fn dds_topic(topic: &str) -> String {
    format!("rt{topic}")
}

/// The DDS names of a service's request and reply topics.
pub fn dds_service_topics(service: &str) -> (String, String) {
    (format!("rq{service}Request"), format!("rr{service}Reply"))
}

/// The kind and the ROS name of a DDS topic, or `None` when it is not a ROS name.
pub fn ros_topic(dds: &str) -> Option<(DdsTopicKind, &str)> {
    let (prefix, name) = dds.split_at_checked(2)?;
    if !name.starts_with('/') {
        return None;
    }
    match prefix {
        "rt" => Some((DdsTopicKind::Topic, name)),
        "rq" => Some((DdsTopicKind::ServiceRequest, name.strip_suffix("Request")?)),
        "rr" => Some((DdsTopicKind::ServiceReply, name.strip_suffix("Reply")?)),
        _ => None,
    }
}

/// The topic that carries the introspection events of a service.
pub fn service_event_topic(service: &str) -> String {
    format!("{service}{SERVICE_EVENT}")
}

/// The service whose events a topic carries, or `None` for any other topic.
pub fn service_of_event_topic(topic: &str) -> Option<&str> {
    topic
        .strip_suffix(SERVICE_EVENT)
        .filter(|service| !service.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn topics_and_services_both_ways() {
        assert_eq!(dds_topic("/chatter"), "rt/chatter");
        assert_eq!(
            ros_topic("rt/chatter"),
            Some((DdsTopicKind::Topic, "/chatter"))
        );
        let (request, reply) = dds_service_topics("/add_two_ints");
        assert_eq!(
            ros_topic(&request),
            Some((DdsTopicKind::ServiceRequest, "/add_two_ints"))
        );
        assert_eq!(
            ros_topic(&reply),
            Some((DdsTopicKind::ServiceReply, "/add_two_ints"))
        );
    }

    #[test]
    fn foreign_names_are_not_ros() {
        for name in [
            "ros_discovery_info",
            "rtx",
            "r",
            "",
            "rq/x",
            "DCPSTopic",
            "é/x",
        ] {
            assert_eq!(ros_topic(name), None, "{name}");
        }
    }

    #[test]
    fn service_events() {
        assert_eq!(
            service_event_topic("/add_two_ints"),
            "/add_two_ints/_service_event"
        );
        assert_eq!(
            service_of_event_topic("/add_two_ints/_service_event"),
            Some("/add_two_ints")
        );
        assert_eq!(service_of_event_topic("/_service_event"), None);
        assert_eq!(service_of_event_topic("/chatter"), None);
    }
}
