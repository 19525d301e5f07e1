use timeloom_msg::StampProgram;
use timeloom_time::{Ros, Time};

use crate::tag::TAG_TYPE;
use crate::topics::{PUBLISHED_TIME_TYPE, main_topic};

/// The content of a topic, for lineage.
#[derive(Clone, Debug)]
pub enum Content {
    /// Tags of any main topic.
    Tags,
    /// Autoware's publish times of this main topic.
    PublishedTimes(String),
    /// Messages, and the program that reads their stamps, if they have any.
    Messages(Option<StampProgram>),
}

impl Content {
    /// The content of a lineage topic, by its type; `None` for other topics.
    pub fn of_lineage(topic: &str, type_name: &str) -> Option<Self> {
        match type_name {
            TAG_TYPE => Some(Self::Tags),
            PUBLISHED_TIME_TYPE => Some(Self::PublishedTimes(main_topic(topic)?.to_owned())),
            _ => None,
        }
    }

    /// The stamp of a message, if it has one.
    pub fn stamp(&self, payload: &[u8]) -> Option<Time<Ros>> {
        let Self::Messages(Some(program)) = self else {
            return None;
        };
        let stamp = program.read(payload).ok()?;
        Some(Time::from_nanos(stamp.nanos()))
    }

    /// The main topic that it belongs to, if its name has one.
    pub fn main_topic<'a>(&'a self, topic: &'a str) -> Option<&'a str> {
        match self {
            Self::Tags => main_topic(topic),
            Self::PublishedTimes(main) => Some(main),
            Self::Messages(_) => Some(topic),
        }
    }
}
