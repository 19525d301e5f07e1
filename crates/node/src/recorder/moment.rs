/// When something is to happen: as soon as a message has that time.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Moment {
    /// The time in nanoseconds.
    pub time_ns: i64,
    /// Which time of a message counts.
    pub stamp: Stamp,
    /// Whose messages count; all without a name.
    pub topic: Option<String>,
}

/// Which time counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Stamp {
    /// The recorder's own clock, whether messages come or not.
    Node,
    /// When a message was published.
    Publish,
    /// When a message came.
    Receive,
}

/// A moment with the place of its topic.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Trigger {
    pub(super) time_ns: i64,
    pub(super) stamp: Stamp,
    pub(super) topic: Option<u32>,
}

impl Trigger {
    /// Whether a message begins what comes after the moment.
    pub(super) fn is_reached_by(&self, topic: u32, log_time_ns: i64, publish_time_ns: i64) -> bool {
        match self.stamp {
            Stamp::Node => log_time_ns >= self.time_ns,
            _ if self.topic.is_some_and(|own| own != topic) => false,
            Stamp::Publish => publish_time_ns >= self.time_ns,
            Stamp::Receive => log_time_ns >= self.time_ns,
        }
    }

    /// Whether the recorder's clock alone says that it is time.
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
