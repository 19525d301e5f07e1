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
    /// The content of a topic by its type. `messages` says how the stamp of an ordinary message is found; none means that
    /// such a topic is of no interest.
    pub fn of(
        topic: &str,
        type_name: &str,
        messages: impl FnOnce() -> Option<Option<StampProgram>>,
    ) -> Option<Self> {
        match type_name {
            TAG_TYPE => Some(Self::Tags),
            PUBLISHED_TIME_TYPE => Some(Self::PublishedTimes(main_topic(topic)?.to_owned())),
            _ => messages().map(Self::Messages),
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
