use timeloom_msg::StampProgram;

use crate::tag::TAG_TYPE;
use crate::topics::{PUBLISHED_TIME_TYPE, main_topic};

/// What a topic means to lineage.
#[derive(Clone, Debug)]
pub enum Content {
    /// Tags of any main topic.
    Tags,
    /// Autoware's publish times of this main topic.
    PublishedTimes(String),
    /// Messages, and how their stamps are found, if they have any.
    Messages(Option<StampProgram>),
}

impl Content {
    /// The content of a topic of lineage by its type; none for any other, and for publish times of no main topic.
    pub fn of_lineage(topic: &str, type_name: &str) -> Option<Self> {
        match type_name {
            TAG_TYPE => Some(Self::Tags),
            PUBLISHED_TIME_TYPE => Some(Self::PublishedTimes(main_topic(topic)?.to_owned())),
            _ => None,
        }
    }

    /// The main topic that it tells of, where the name says so.
    pub fn main_topic<'a>(&'a self, topic: &'a str) -> Option<&'a str> {
        match self {
            Self::Tags => main_topic(topic),
            Self::PublishedTimes(main) => Some(main),
            Self::Messages(_) => Some(topic),
        }
    }
}
