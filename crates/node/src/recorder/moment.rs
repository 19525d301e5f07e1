/// A moment of a recording: the first message with that time, or the recorder's own clock.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Moment {
    /// The time in nanoseconds.
    pub time_ns: i64,
    /// The clock of `time_ns`.
    pub stamp: Stamp,
    /// Only messages of this topic count; `None` for all topics.
    pub topic: Option<String>,
}

/// The clock of a [`Moment`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Stamp {
    /// The recorder's own clock, with or without messages.
    Node,
    /// The publish time of messages.
    Publish,
    /// The receive time of messages.
    Receive,
}

/// A moment with the index of its topic.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Trigger {
    pub(super) time_ns: i64,
    pub(super) stamp: Stamp,
    pub(super) topic: Option<u32>,
}

impl Trigger {
    /// Whether a message is at or after the moment.
    pub(super) fn is_reached_by(&self, topic: u32, log_time_ns: i64, publish_time_ns: i64) -> bool {
        match self.stamp {
            Stamp::Node => log_time_ns >= self.time_ns,
            _ if self.topic.is_some_and(|own| own != topic) => false,
            Stamp::Publish => publish_time_ns >= self.time_ns,
            Stamp::Receive => log_time_ns >= self.time_ns,
        }
    }

    /// Whether the moment is reached by the recorder's own clock.
    pub(super) fn is_reached_at(&self, now_ns: i64) -> bool {
        self.stamp == Stamp::Node && now_ns >= self.time_ns
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_time_that_was_asked_for_counts() {
        let trigger = |stamp, topic| Trigger {
            time_ns: 10,
            stamp,
            topic,
        };
        assert!(trigger(Stamp::Node, Some(1)).is_reached_by(2, 10, 0));
        assert!(trigger(Stamp::Receive, None).is_reached_by(2, 10, 0));
        assert!(!trigger(Stamp::Receive, Some(1)).is_reached_by(2, 10, 10));
        assert!(trigger(Stamp::Publish, Some(2)).is_reached_by(2, 0, 10));
        assert!(!trigger(Stamp::Publish, Some(2)).is_reached_by(2, 10, 9));
        assert!(trigger(Stamp::Node, None).is_reached_at(10));
        assert!(!trigger(Stamp::Node, None).is_reached_at(9));
        assert!(!trigger(Stamp::Publish, None).is_reached_at(11));
    }
}
